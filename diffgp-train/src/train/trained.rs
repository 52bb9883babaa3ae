//! What training gives: the model, its score, its predictions and its file.

use super::compact::Compaction;
use super::config::Task;
use super::cut::Cut;
use super::objective::{Paths, Standardised};
use crate::calibration::{Calibration, with_calibration};
use crate::comparison::Gain;
use crate::data::{Dataset, Scaling};
use crate::discretisation::Discretisation;
use crate::elbo::ElboError;
use crate::evaluate::{Answer, Sampling};
use crate::export::{ExportError, Exported, Metadata, export};
use crate::model_file::{ModelFile, PredictError};
use crate::noise::NoiseKey;
use crate::params::Params;
use crate::philox::Purpose;
use crate::score::Score;
use crate::threads::Threads;

/// Training rows on which an exported model is compared with the float64 model.
const CHECKED_ROWS: usize = 500;

/// A trained model, in standardised units, with all that is needed to export it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// The model; its flow has the exported number of steps.
    pub params: Params,
    /// From raw units to the model's, and the ranges of the inputs.
    pub scaling: Scaling,
    /// What it predicts.
    pub task: Task,
    /// Names of the inputs, if the data had them.
    pub names: Option<Vec<String>>,
    /// Names of the targets, if the data had them.
    pub target_names: Option<Vec<String>>,
    /// Names of the classes, in their order, if the data had them.
    pub classes: Option<Vec<String>>,
    /// The iteration of the last stage whose parameters were kept.
    pub iteration: u64,
    /// Their score on the validation rows, before those rows were trained on.
    pub validation_log_likelihood: Option<f64>,
    /// What the flow adds to the log-likelihood of a validation row, kept or not, if it was to be chosen.
    pub flow_gain: Option<Gain>,
    /// What the last candidate kernel adds to it, used or not, if kernels were to be chosen.
    pub kernel_gain: Option<Gain>,
    /// What the last fit of σ² added to it, if there was one.
    pub noise_gain: Option<Gain>,
    /// How far the steps of the flow are from the solution of its equation, if there is a flow.
    pub discretisation: Option<Discretisation>,
    /// What was left out of the variances, if anything was.
    pub compaction: Option<Compaction>,
    /// The calibration of its error bars, if there is one.
    pub calibration: Option<Calibration>,
    /// Where training was ended before its plan did, if it was.
    pub cut: Option<Cut>,
}

impl Trained {
    /// The score on other rows, with `paths` sample paths per row.
    pub fn score(&self, data: &Dataset, paths: usize, seed: u64, threads: &Threads) -> Result<Score, ElboError> {
        let rows: Vec<usize> = (0..data.rows()).collect();
        let key = NoiseKey { seed, purpose: Purpose::Validation, iteration: 0 };
        Standardised { data, scaling: &self.scaling }.score(&self.params, &rows, Paths { count: paths, key, threads })
    }

    /// The model file, with the names of the columns, compared with the float64 model on up to 500 rows of `data`
    /// (the training rows are the natural choice).
    pub fn export(&self, data: &Dataset) -> Result<Exported, ExportError> {
        let names = self.names.iter().flatten().chain(self.target_names.iter().flatten()).cloned().collect::<Vec<_>>();
        self.export_with(&names, self.classes.as_deref().unwrap_or(&[]), data)
    }

    /// Like [`Trained::export`], without the names.
    pub fn export_without_names(&self, data: &Dataset) -> Result<Exported, ExportError> {
        self.export_with(&[], &[], data)
    }

    /// Predictions for raw rows (row-major, D values each), computed as the device will compute them.
    ///
    /// Exports the model every time; for many calls, export it once and use [`ModelFile::predict`].
    pub fn predict(&self, rows: &[f32], sampling: Sampling, threads: &Threads) -> Result<Vec<Answer>, PredictError> {
        let metadata =
            Metadata { scaling: &self.scaling, names: &[], classes: &[], model_id: &[], discretisation: None };
        let exported = export(&self.params, &metadata, &[])?;
        let bytes = with_calibration(&exported.bytes, self.calibration.as_ref()).map_err(ExportError::Refused)?;
        ModelFile::new(&bytes).map_err(ExportError::Refused)?.predict(rows, sampling, threads)
    }

    fn export_with(&self, names: &[String], classes: &[String], data: &Dataset) -> Result<Exported, ExportError> {
        let (expected, found) = (self.params.inputs(), data.inputs());
        if found != expected {
            return Err(ExportError::Metadata { what: "rows to check", expected, found });
        }
        let count = data.rows().min(CHECKED_ROWS);
        let rows: Vec<f32> = (0..count).flat_map(|i| data.input_row(i * data.rows() / count)).copied().collect();
        let metadata =
            Metadata { scaling: &self.scaling, names, classes, model_id: &[], discretisation: self.discretisation };
        let exported = export(&self.params, &metadata, &rows)?;
        let bytes = with_calibration(&exported.bytes, self.calibration.as_ref())?;
        Ok(Exported { bytes, ..exported })
    }
}
