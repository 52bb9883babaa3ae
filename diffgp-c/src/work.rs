//! What a prediction takes.

use crate::memory::{object, put};
use crate::model::{self, diffgp_model};
use crate::status::{answer, diffgp_status};

/// What a prediction takes along the drift, and on one sampled path: multiply-adds that take about as long on a core with
/// floating-point hardware, 2.4 instructions each. It does not depend on the input. Looks at every record of the model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_work(model: *const diffgp_model, drift: *mut u64, path: *mut u64) -> diffgp_status {
    // SAFETY: the caller's promise.
    answer(unsafe { model::model(model) }.and_then(|model| {
        object(path)?;
        // SAFETY: the caller's promise.
        unsafe {
            put(drift, model.work().operations())?;
            put(path, model.work_per_path().operations())
        }
    }))
}
