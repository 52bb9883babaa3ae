//! A model file in memory, and predictions with it.

use diffgp_core::blob::Blob;
use diffgp_infer::{Model, ParseError};

use crate::aligned::AlignedBytes;
use crate::evaluate::{Answer, CHUNK, Row, RowError, Sampling, evaluate};
use crate::export::ExportError;
use crate::threads::Threads;

/// The bytes of a `.dgp` file, checked once.
#[derive(Clone, Debug)]
pub struct ModelFile {
    bytes: AlignedBytes,
}

/// Why rows cannot be predicted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// The values do not make whole rows.
    #[error("{values} values do not make rows of {inputs} inputs")]
    Shape {
        /// Values given.
        values: usize,
        /// Inputs of the model.
        inputs: usize,
    },
    /// The runtime refuses a row.
    #[error(transparent)]
    Row(#[from] RowError),
    /// A trained model cannot be exported.
    #[error(transparent)]
    Export(#[from] ExportError),
}

impl ModelFile {
    /// Checks the bytes of a model. They may be a copy of a longer region of flash: the model ends where it says.
    pub fn new(bytes: &[u8]) -> Result<Self, ParseError> {
        let mut bytes = AlignedBytes::new(bytes);
        Model::parse(bytes.as_slice())?;
        bytes.truncate(Blob::length_from_prelude(bytes.as_slice())?);
        Ok(Self { bytes })
    }

    /// The bytes of the model.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// The model, as the device sees it.
    pub fn model(&self) -> Model<'_> {
        Model::parse(self.bytes()).expect("these bytes were a model in `new`")
    }

    /// Predictions for raw rows (row-major, D values each), by the device's own code.
    ///
    /// Row i, counted from 0, has the noise of row i in a file, whatever rows stand before it.
    pub fn predict(&self, rows: &[f32], sampling: Sampling, threads: &Threads) -> Result<Vec<Answer>, PredictError> {
        let model = self.model();
        let inputs = model.inputs();
        if !rows.len().is_multiple_of(inputs) {
            return Err(PredictError::Shape { values: rows.len(), inputs });
        }
        let rows: Vec<Row<'_>> =
            rows.chunks_exact(inputs).enumerate().map(|(i, x)| Row { number: i as u32, x }).collect();
        let mut predictions = Vec::with_capacity(rows.len());
        for chunk in rows.chunks(CHUNK) {
            let evaluated = evaluate(&model, chunk, sampling, threads)?;
            predictions.extend(evaluated.into_iter().map(|evaluated| evaluated.answer));
        }
        Ok(predictions)
    }
}
