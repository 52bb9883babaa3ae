//! Error bars from residuals: what rows that a model was not trained on say about its deviations.
//!
//! 1. A local scale (`scale`): s² = (a σ² + b v) 2^(c m + d m²), where folds over the residuals say that it pays.
//! 2. Conformal quantiles (`quantiles`) of |y − m|/s at eight probabilities; between and beyond them the distribution is
//!    that of s h(|ε|), ε standard normal, with h straight between its knots ([`Distribution`]).
//! 3. For classes, the least probability with which nine in ten rows of a class keep it in the prediction set (`sets`).
//!
//! Predictions along the drift and sampled ones are calibrated each by themselves. `docs/calibration.md` says what is
//! guaranteed and what is not. References: Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005;
//! Papadopoulos et al., "Inductive confidence machines for regression", ECML 2002.

mod distribution;
mod quantiles;
mod rewrite;
mod scale;
mod sets;
mod student;

use diffgp_core::blob::CalibrationRecord;
pub use diffgp_core::blob::{CALIBRATED_LEVELS, CalibrationSource};
use serde::{Deserialize, Serialize};

pub use distribution::Distribution;
pub use rewrite::{calibrate, with_calibration};

/// How far error bars are calibrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CalibrationMode {
    /// Not at all: bars are those of the model.
    None,
    /// Quantiles alone.
    Table,
    /// A local scale where it pays, then quantiles.
    #[default]
    Auto,
}

/// What was predicted of one real target of one row that the model was not trained on, and by how much it was off, in
/// units of the target's deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// m.
    pub mean: f64,
    /// v.
    pub latent_variance: f64,
    /// σ² of the model that predicted it.
    pub noise: f64,
    /// y − m.
    pub error: f64,
}

/// The class probabilities of one row that the model was not trained on, and its class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassResidual {
    /// Of every class.
    pub probabilities: Vec<f64>,
    /// The true one.
    pub class: usize,
}

/// Residuals of one way to predict.
#[derive(Clone, Debug, PartialEq)]
pub enum Residuals {
    /// Of every real target: `[O][n]`.
    Targets(Vec<Vec<Residual>>),
    /// Of a classifier with so many classes.
    Classes(usize, Vec<ClassResidual>),
}

/// A calibration: what the model file stores.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Rows that it rests on.
    pub rows: usize,
    /// Where they come from.
    pub source: CalibrationSource,
    /// Along the drift and, with a flow, of sampled predictions.
    pub ways: Vec<Bars>,
}

/// The bars of one way to predict.
#[derive(Clone, Debug, PartialEq)]
pub enum Bars {
    /// Of every real target.
    Targets(Vec<CalibrationRecord>),
    /// Of every class: its least probability in a prediction set.
    Classes(Vec<f32>),
}

/// Fewer residuals than this say nothing about quantiles.
pub const LEAST_ROWS: usize = 10;

impl Residuals {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        match self {
            Self::Targets(targets) => targets.first().map_or(0, Vec::len),
            Self::Classes(_, rows) => rows.len(),
        }
    }

    /// More residuals of the same kind.
    pub(crate) fn extend(&mut self, more: Self) {
        match (self, more) {
            (Self::Targets(all), Self::Targets(more)) => {
                all.iter_mut().zip(more).for_each(|(all, more)| all.extend(more));
            }
            (Self::Classes(_, all), Self::Classes(_, more)) => all.extend(more),
            _ => {}
        }
    }

    fn bars(&self, mode: CalibrationMode) -> Option<Bars> {
        Some(match self {
            Self::Targets(targets) => {
                Bars::Targets(targets.iter().map(|residuals| target(residuals, mode)).collect::<Option<_>>()?)
            }
            Self::Classes(classes, rows) => Bars::Classes(sets::thresholds(*classes, rows)),
        })
    }
}

impl Calibration {
    /// Of the residuals of every way to predict; `None` if nothing is asked for, or there are too few of them.
    pub fn fit(ways: &[Residuals], source: CalibrationSource, mode: CalibrationMode) -> Option<Self> {
        let rows = ways.iter().map(Residuals::rows).min()?;
        if mode == CalibrationMode::None || rows < LEAST_ROWS {
            return None;
        }
        Some(Self { rows, source, ways: ways.iter().map(|residuals| residuals.bars(mode)).collect::<Option<_>>()? })
    }
}

/// The calibration of one target; `None` if the residuals are not finite.
fn target(residuals: &[Residual], mode: CalibrationMode) -> Option<CalibrationRecord> {
    let scale = match mode {
        CalibrationMode::Auto => scale::worthwhile(residuals),
        CalibrationMode::Table | CalibrationMode::None => None,
    };
    let scale = scale.unwrap_or_default();
    let means = || residuals.iter().map(|residual| residual.mean);
    let (low, high) = (means().fold(f64::INFINITY, f64::min), means().fold(f64::NEG_INFINITY, f64::max));
    let mut record = CalibrationRecord {
        noise_factor: scale.noise_factor as f32,
        latent_factor: scale.latent_factor as f32,
        slope: scale.slope as f32,
        curvature: scale.curvature as f32,
        low: low as f32,
        high: high as f32,
        spread: 1.0,
        quantiles: [1.0; 8],
    };
    // In units of the numbers as the device has them.
    let of = |residual: &Residual| {
        let [mean, latent, noise] = [residual.mean, residual.latent_variance, residual.noise].map(|value| value as f32);
        residual.error.abs() / f64::from(record.square(mean, latent, noise)).sqrt()
    };
    let mut sizes: Vec<f64> = residuals.iter().map(of).collect();
    if !sizes.iter().all(|size| size.is_finite()) {
        return None;
    }
    sizes.sort_by(f64::total_cmp);
    record.quantiles = quantiles::conformal(&sizes);
    record.spread = Distribution::new(1.0, record.quantiles).variance().clamp(1e-6, 1e6) as f32;
    Some(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use diffgp_infer::{Keyed, Noise};

    /// Rows whose errors are s(m) times the given quantile function of |ε|.
    fn residuals(
        count: usize,
        seed: u64,
        deviation: impl Fn(f64, f64) -> f64,
        h: impl Fn(f64) -> f64,
    ) -> Vec<Residual> {
        let mut normals = Keyed::new(seed, 0);
        let mut normal = || f64::from(normals.normal());
        (0..count)
            .map(|_| {
                let (mean, e) = (normal(), normal());
                let latent_variance = 0.1 * normal().abs();
                let error = deviation(mean, latent_variance) * e.signum() * h(e.abs());
                Residual { mean, latent_variance, noise: 0.25, error }
            })
            .collect()
    }

    /// The share of other rows in their intervals.
    fn coverage(record: &CalibrationRecord, rows: &[Residual], level: f32) -> f64 {
        let u = diffgp_core::normal::central_quantile(level).unwrap();
        let covered = rows.iter().filter(|row| {
            let square = record.square(row.mean as f32, row.latent_variance as f32, row.noise as f32);
            row.error.abs() <= f64::from(square.sqrt() * record.half_width(u))
        });
        covered.count() as f64 / rows.len() as f64
    }

    #[test]
    fn bars_that_were_right_stay_and_others_become_right() {
        let right = |_: f64, latent: f64| (0.25 + latent).sqrt();
        let heavy = |u: f64| u + 0.3 * u.powi(3);
        let fresh =
            |seed, deviation: &dyn Fn(f64, f64) -> f64, h: &dyn Fn(f64) -> f64| residuals(20_000, seed, deviation, h);
        let wider = |mean: f64, latent: f64| right(mean, latent) * (0.8 * mean).exp2();
        let deviations: [&dyn Fn(f64, f64) -> f64; 3] = [&right, &wider, &right];
        let shapes: [&dyn Fn(f64) -> f64; 3] = [&|u| u, &|u| u, &heavy];
        for (case, (deviation, h)) in deviations.into_iter().zip(shapes).enumerate() {
            let record = target(&residuals(2000, 1, deviation, h), CalibrationMode::Auto).unwrap();
            let rows = fresh(2, deviation, h);
            for level in [0.5_f32, 0.8, 0.9, 0.95, 0.99] {
                let found = coverage(&record, &rows, level);
                // Three standard errors of a quantile of 2000 rows, and of 20,000.
                let l = f64::from(level);
                let tolerance = 3.0 * (l * (1.0 - l) * (1.0 / 2000.0 + 1.0 / 20_000.0)).sqrt();
                assert!((found - l).abs() < tolerance, "case {case}, {level}: {found} ± {tolerance}");
            }
            // Only the second is wider at one end.
            assert_eq!(record.slope != 0.0, case == 1, "case {case}: {record:?}");
            if case == 1 {
                assert!((record.slope - 1.6).abs() < 0.2, "{record:?}");
                let upper: Vec<Residual> = rows.iter().copied().filter(|row| row.mean > 0.5).collect();
                assert!((coverage(&record, &upper, 0.9) - 0.9).abs() < 0.03);
            }
        }
    }

    #[test]
    fn the_table_alone_leaves_the_scale() {
        let rows = residuals(500, 3, |mean, _| (0.8 * mean).exp2(), |u| u);
        let record = target(&rows, CalibrationMode::Table).unwrap();
        assert_eq!((record.noise_factor, record.latent_factor, record.slope, record.curvature), (1.0, 1.0, 0.0, 0.0));
    }

    #[test]
    fn too_few_rows_or_numbers_that_are_none_give_no_calibration() {
        let rows = residuals(9, 3, |_, _| 1.0, |u| u);
        let fit = |rows: &[Residual]| {
            let residuals = Residuals::Targets(vec![rows.to_vec()]);
            Calibration::fit(&[residuals], CalibrationSource::Fresh, CalibrationMode::Auto)
        };
        assert!(fit(&rows).is_none());
        let mut rows = residuals(50, 3, |_, _| 1.0, |u| u);
        assert!(fit(&rows).is_some());
        rows[7].error = f64::NAN;
        assert!(fit(&rows).is_none());
    }
}
