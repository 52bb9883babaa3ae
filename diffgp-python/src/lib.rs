//! `diffgp._diffgp`: the trainer and the runtime of the device for Python. The package around it, `python/diffgp`, gives
//! them the manners of scikit-learn.
//!
//! Whatever takes long runs on a thread that never touches Python ([`work`]), while the interpreter is free, hears news
//! and looks for Ctrl-C.

mod answers;
mod compress;
mod fit;
mod model;
mod options;
mod pages;
mod pool;
mod rows;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _diffgp {
    #[pymodule_export]
    use crate::answers::Answers;
    #[pymodule_export]
    use crate::compress::compressed;
    #[pymodule_export]
    use crate::fit::{fit_classes, fit_numbers};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::options::options;
    #[pymodule_export]
    use crate::pages::{error_bars, explore, flow_picture, inspect_json, inspect_text, report, to_c};
    #[pymodule_export]
    use crate::pool::seconds_of_the_library;
    #[pymodule_export]
    use crate::work::panic_on_purpose;

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::PyModuleMethods;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
