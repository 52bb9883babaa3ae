//! The error bars of one target, along the drift and sampled, with their calibration and without it.

use diffgp_train::calibration::with_calibration;
use diffgp_train::evaluate::{Known, OutputFigures, Sampling, score};
use diffgp_train::model_file::ModelFile;
use diffgp_train::threads::Threads;
use serde::{Deserialize, Serialize};

/// Figures of held-out rows. Those without calibration are null if there is none.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Bars {
    /// Rows that the calibration rests on; 0 if there is none.
    pub(super) calibration_rows: usize,
    pub(super) drift: OutputFigures,
    pub(super) sampled: OutputFigures,
    pub(super) uncalibrated_drift: Option<OutputFigures>,
    pub(super) uncalibrated_sampled: Option<OutputFigures>,
}

impl Bars {
    /// Of a model with one real target; of others nothing.
    pub(super) fn of(
        file: &ModelFile,
        calibration_rows: usize,
        rows: &[Known<'_>],
        sampled: Sampling,
        threads: &Threads,
    ) -> anyhow::Result<Option<Self>> {
        let plain = ModelFile::new(&with_calibration(file.bytes(), None)?)?;
        let figures = |file: &ModelFile, sampling| -> anyhow::Result<Option<OutputFigures>> {
            Ok(score(&file.model(), rows, sampling, threads)?.only_output().copied())
        };
        let before = |sampling| if calibration_rows > 0 { figures(&plain, sampling) } else { Ok(None) };
        let ways = figures(file, Sampling::Drift)?.zip(figures(file, sampled)?);
        let Some((drift, sampled_figures)) = ways else { return Ok(None) };
        Ok(Some(Self {
            calibration_rows,
            drift,
            sampled: sampled_figures,
            uncalibrated_drift: before(Sampling::Drift)?,
            uncalibrated_sampled: before(sampled)?,
        }))
    }

    /// Of all splits together; `None` if one of them has none.
    pub(super) fn pooled(splits: &[Option<Self>]) -> Option<Self> {
        let all: Vec<Self> = splits.iter().copied().collect::<Option<_>>()?;
        let of = |part: fn(&Self) -> Option<OutputFigures>| {
            let figures: Option<Vec<OutputFigures>> = all.iter().map(part).collect();
            OutputFigures::pooled(&figures?)
        };
        Some(Self {
            calibration_rows: all.iter().map(|bars| bars.calibration_rows).min()?,
            drift: of(|bars| Some(bars.drift))?,
            sampled: of(|bars| Some(bars.sampled))?,
            uncalibrated_drift: of(|bars| bars.uncalibrated_drift),
            uncalibrated_sampled: of(|bars| bars.uncalibrated_sampled),
        })
    }
}
