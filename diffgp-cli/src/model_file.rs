//! Model files: read with every check, and what is said about a new one.

use std::fs;
use std::path::Path;

use diffgp_train::export::{Errors, MEAN_WARNING, VARIANCE_WARNING};
use diffgp_train::model_file::ModelFile;

use super::failure::mistake;

/// Reads and checks a file.
pub(crate) fn read(path: &Path) -> anyhow::Result<ModelFile> {
    let shown = path.display();
    let bytes = fs::read(path).map_err(|error| {
        mistake(format!("{shown}: {error}; expected a model file (.dgp) written by `diffgp train`"))
    })?;
    ModelFile::new(&bytes).map_err(|error| mistake(format!("{shown}: {error}")))
}

/// What to say when the device's numbers are too far from the trainer's.
pub(crate) fn export_warning(errors: &Errors) -> Option<String> {
    errors.deserves_warning().then(|| {
        format!(
            "32-bit floats cost accuracy on this model: the mean is off by up to {:.1e} standard deviations (limit \
             {MEAN_WARNING:.0e}), the variance by up to {:.1} % (limit {:.0} %); fewer inducing points or noisier \
             targets help",
            errors.mean,
            100.0 * errors.variance,
            100.0 * VARIANCE_WARNING
        )
    })
}
