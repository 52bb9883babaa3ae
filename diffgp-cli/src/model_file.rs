//! Model files: read with every check, or made from what training gave.

use std::fs;
use std::path::Path;

use diffgp_core::blob::Blob;
use diffgp_infer::Model;
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::data::Dataset;
use diffgp_train::export::{Errors, Exported, MEAN_WARNING, Metadata, VARIANCE_WARNING, export};
use diffgp_train::train::Trained;

use super::failure::mistake;

/// Training rows on which an exported model is compared with the float64 model.
const CHECKED_ROWS: usize = 500;

/// Bytes that were a valid model when they were read.
pub(crate) struct ModelFile {
    bytes: AlignedBytes,
}

impl ModelFile {
    /// Reads and checks a file.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let bytes = fs::read(path).map_err(|error| {
            mistake(format!("{shown}: {error}; expected a model file (.dgp) written by `diffgp train`"))
        })?;
        Self::new(&bytes).map_err(|error| mistake(format!("{shown}: {error:#}")))
    }

    /// Checks bytes from memory.
    pub(crate) fn new(bytes: &[u8]) -> anyhow::Result<Self> {
        let bytes = AlignedBytes::new(bytes);
        Model::parse(bytes.as_slice())?;
        // The file may be a copy of a longer region of flash; the model ends where it says.
        let length = Blob::length_from_prelude(bytes.as_slice())?;
        Ok(Self { bytes: AlignedBytes::new(&bytes.as_slice()[..length]) })
    }

    /// The bytes of the model.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// The model.
    pub(crate) fn model(&self) -> Model<'_> {
        Model::parse(self.bytes()).expect("these bytes were a model in `new`")
    }
}

/// Makes the blob and compares it with the float64 model on training rows.
pub(crate) fn export_trained(trained: &Trained, data: &Dataset, with_names: bool) -> anyhow::Result<Exported> {
    let mut names = Vec::new();
    if let (true, Some(inputs), Some(target)) = (with_names, &trained.names, &trained.target_name) {
        names.extend(inputs.iter().cloned());
        names.push(target.clone());
    }
    let count = data.rows().min(CHECKED_ROWS);
    let rows: Vec<f32> = (0..count).flat_map(|i| data.input_row(i * data.rows() / count)).copied().collect();
    let metadata = Metadata { scaling: &trained.scaling, names: &names, model_id: &[] };
    Ok(export(&trained.params, &metadata, &rows)?)
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
