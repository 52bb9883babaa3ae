//! Calibrations in and out of model files, and the calibration of a finished file on rows that it has not seen.

use diffgp_core::blob::{Blob, CHECKSUM_BYTES, FORMAT_VERSION, Header, MAGIC, PRELUDE_BYTES, checksum};
use diffgp_infer::{Model, ParseError};

use super::{Bars, Calibration, CalibrationMode, CalibrationSource, ClassResidual, Residual, Residuals};
use crate::aligned::AlignedBytes;
use crate::evaluate::{Answer, CHUNK, Known, Row, RowError, Sampling, evaluate};
use crate::threads::Threads;

impl Calibration {
    /// C1 to C11.
    fn words(&self) -> Vec<u32> {
        let of_way = |bars: &Bars| -> Vec<u32> {
            match bars {
                Bars::Targets(records) => records.iter().flat_map(|record| record.words()).collect(),
                Bars::Classes(thresholds) => thresholds.iter().map(|threshold| threshold.to_bits()).collect(),
            }
        };
        let head = [self.rows as u32, self.source.number()];
        head.into_iter().chain(self.ways.iter().flat_map(of_way)).collect()
    }
}

/// The same model with this calibration, or with none.
///
/// # Errors
///
/// If the bytes are no model.
pub fn with_calibration(bytes: &[u8], calibration: Option<&Calibration>) -> Result<Vec<u8>, ParseError> {
    let aligned = AlignedBytes::new(bytes);
    let blob = Blob::parse(aligned.as_slice())?;
    let words = calibration.map_or(Vec::new(), Calibration::words);
    let header = Header { calibration: u8::from(calibration.is_some()), ..*blob.header() };
    let encoded = postcard::to_allocvec(&header).expect("a header is plain data");

    let old = &aligned.as_slice()[..Blob::length_from_prelude(aligned.as_slice())?];
    let header_bytes = u32::from_le_bytes([old[12], old[13], old[14], old[15]]) as usize;
    let records = PRELUDE_BYTES + header_bytes.next_multiple_of(4);
    let behind = old.len() - blob.bytes_behind_calibration();
    let before = behind - blob.calibration_bytes();
    let calibration: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let body = [&old[records..before], &calibration, &old[behind..old.len() - CHECKSUM_BYTES]].concat();

    let padded = encoded.len().next_multiple_of(4);
    let total = PRELUDE_BYTES + padded + body.len() + CHECKSUM_BYTES;
    let mut blob = MAGIC.to_vec();
    blob.extend([FORMAT_VERSION, total as u32, encoded.len() as u32].into_iter().flat_map(u32::to_le_bytes));
    blob.extend(encoded);
    blob.resize(PRELUDE_BYTES + padded, 0);
    blob.extend(body);
    blob.extend(checksum(&blob).to_le_bytes());
    Ok(blob)
}

/// Calibrates a model file on rows that it was not trained on; `None` if there are too few of them.
///
/// `paths` and `seed` are those of the sampled predictions. The device's own code predicts.
///
/// # Errors
///
/// If the runtime refuses a row.
pub fn calibrate(
    model: &Model<'_>,
    rows: &[Known<'_>],
    source: CalibrationSource,
    mode: CalibrationMode,
    (paths, seed): (u32, u64),
    threads: &Threads,
) -> Result<Option<Calibration>, RowError> {
    let mut ways = vec![residuals(model, rows, Sampling::Drift, threads)?];
    if model.steps() > 0 {
        ways.push(residuals(model, rows, Sampling::Paths { count: paths, seed }, threads)?);
    }
    Ok(Calibration::fit(&ways, source, mode))
}

fn residuals(
    model: &Model<'_>,
    rows: &[Known<'_>],
    sampling: Sampling,
    threads: &Threads,
) -> Result<Residuals, RowError> {
    let mut residuals = if model.is_classifier() {
        Residuals::Classes(model.classes(), Vec::new())
    } else {
        Residuals::Targets(vec![Vec::new(); model.outputs()])
    };
    for chunk in rows.chunks(CHUNK) {
        let inputs: Vec<Row<'_>> = chunk.iter().map(|known| known.row).collect();
        for (known, evaluated) in chunk.iter().zip(evaluate(model, &inputs, sampling, threads)?) {
            residuals.add(model, known.targets, &evaluated.answer);
        }
    }
    Ok(residuals)
}

impl Residuals {
    /// One row, with its targets as in the data.
    fn add(&mut self, model: &Model<'_>, truth: &[f32], answer: &Answer) {
        match self {
            Self::Targets(targets) => {
                for (index, residuals) in targets.iter_mut().enumerate() {
                    let (target, output) = (model.blob().target(index), &answer.outputs()[index]);
                    let [offset, unit] = [target.mean, target.scale].map(f64::from);
                    let mean = f64::from(output.mean());
                    residuals.push(Residual {
                        mean: (mean - offset) / unit,
                        latent_variance: f64::from(output.latent_variance()) / (unit * unit),
                        noise: target.noise.into(),
                        error: (f64::from(truth[index]) - mean) / unit,
                    });
                }
            }
            Self::Classes(_, rows) => {
                let probabilities = answer.probabilities().iter().copied().map(f64::from).collect();
                rows.push(ClassResidual { probabilities, class: truth[0] as usize });
            }
        }
    }
}
