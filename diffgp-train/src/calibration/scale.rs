//! The local scale: how a model's deviation is to be read, depending on what it predicts.
//!
//! ```text
//! s² = (a σ² + b v) 2^(c m + d m²)
//! ```
//!
//! a, b, c, d and the tail ν maximise the likelihood of the errors under s·t_ν, with a weak ridge; ν keeps single rows from
//! deciding. They are used where five folds over the residuals gain at least 0.005 nats over one factor for all, and more
//! than the standard error of that gain.

use std::f64::consts::LN_2;

use diffgp_core::blob::limits;
use nalgebra::DVector;

use super::{Residual, student};
use crate::comparison::Gain;
use crate::optimise::{Ascent, Point, Surface};

/// What the scale must add to the log-likelihood of a row.
const WORTHWHILE: f64 = 0.005;
/// Folds that decide.
const FOLDS: usize = 5;
/// Fewer rows than this per fold say nothing.
const ROWS_PER_FOLD: usize = 10;
const ITERATIONS: usize = 60;
/// Standard deviations of the ridge: of log a and log b, of c, and of d.
const RIDGE: [f64; 4] = [2.0, 2.0, 1.0, 0.5];

/// The four numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) noise_factor: f64,
    pub(super) latent_factor: f64,
    pub(super) slope: f64,
    pub(super) curvature: f64,
}

impl Default for Scale {
    /// The model's own deviation.
    fn default() -> Self {
        Self { noise_factor: 1.0, latent_factor: 1.0, slope: 0.0, curvature: 0.0 }
    }
}

/// θ = (log a, log b, c, d, log ν).
#[derive(Clone, Copy, Debug)]
struct Fit {
    scale: Scale,
    nu: f64,
}

impl Fit {
    fn of(theta: &[f64]) -> Self {
        let scale =
            Scale { noise_factor: theta[0].exp(), latent_factor: theta[1].exp(), slope: theta[2], curvature: theta[3] };
        Self { scale, nu: theta[4].exp() }
    }

    /// log s² without the tilt's share, and its slopes along log a and log b.
    fn base(&self, row: &Residual) -> (f64, [f64; 2]) {
        let (noise, latent) = (self.scale.noise_factor * row.noise, self.scale.latent_factor * row.latent_variance);
        let sum = noise + latent;
        (sum.ln(), [noise / sum, latent / sum])
    }

    fn log_square(&self, row: &Residual) -> f64 {
        self.base(row).0 + LN_2 * (self.scale.slope * row.mean + self.scale.curvature * row.mean * row.mean)
    }

    /// log p(y) of a row.
    fn log_density(&self, row: &Residual) -> f64 {
        let half = 0.5 * self.log_square(row);
        student::log_density(row.error * (-half).exp(), self.nu) - half
    }
}

/// The likelihood of the errors, per row, along the first parameters of θ; one factor for all ties a to b and leaves c, d.
struct Likelihood<'a> {
    rows: &'a [Residual],
    local: bool,
}

impl Surface for Likelihood<'_> {
    type Note = ();

    fn at(&self, theta: &[f64]) -> Option<Point<()>> {
        let full = if self.local { theta.to_vec() } else { vec![theta[0], theta[0], 0.0, 0.0, theta[1]] };
        let fit = Fit::of(&full);
        let n = self.rows.len() as f64;
        let (mut value, mut slope) = (0.0, [0.0; 5]);
        for row in self.rows {
            let (_, shares) = fit.base(row);
            let half = 0.5 * fit.log_square(row);
            let z = row.error * (-half).exp();
            value += student::log_density(z, fit.nu) - half;
            // ∂/∂ log s² = ½ ((ν + 1) z²/(ν + z²) − 1)
            let along = 0.5 * ((fit.nu + 1.0) * z * z / (fit.nu + z * z) - 1.0);
            let parts = [shares[0], shares[1], LN_2 * row.mean, LN_2 * row.mean * row.mean];
            slope.iter_mut().zip(parts).for_each(|(slope, part)| *slope += along * part);
            // ν by differences: it has no short derivative.
            let step = 1e-4;
            let at = |log_nu: f64| student::log_density(z, log_nu.exp());
            slope[4] += (at(full[4] + step) - at(full[4] - step)) / (2.0 * step);
        }
        for ((slope, theta), deviation) in slope.iter_mut().zip(&full).zip(RIDGE) {
            value -= 0.5 * (theta / deviation).powi(2);
            *slope -= theta / (deviation * deviation);
        }
        let slope = if self.local { slope.to_vec() } else { vec![slope[0] + slope[1], slope[4]] };
        let slope = DVector::from_vec(slope) / n;
        (value.is_finite() && slope.iter().all(|slope| slope.is_finite())).then_some(Point {
            value: value / n,
            slope,
            note: (),
        })
    }
}

fn fit(rows: &[Residual], local: bool) -> Option<Fit> {
    let factor = (-12.0, 12.0);
    let nu = (student::LEAST_FREEDOM.ln(), student::MOST_FREEDOM.ln());
    // The exponent of two stays within the format's limits at every mean there is.
    let largest = rows.iter().map(|row| row.mean.abs()).fold(1.0, f64::max);
    let tilt = f64::from(*limits::TILT.end()).min(18.0 / largest);
    let curvature = f64::from(*limits::TILT.end()).min(18.0 / (largest * largest));
    let (start, bounds) = if local {
        (vec![0.0, 0.0, 0.0, 0.0, 2.0], vec![factor, factor, (-tilt, tilt), (-curvature, curvature), nu])
    } else {
        (vec![0.0, 2.0], vec![factor, nu])
    };
    let surface = Likelihood { rows, local };
    let mut ascent = Ascent::new(start, bounds, &surface)?;
    ascent.go_on(ITERATIONS, &surface);
    let theta = ascent.theta;
    Some(if local { Fit::of(theta.as_slice()) } else { Fit::of(&[theta[0], theta[0], 0.0, 0.0, theta[1]]) })
}

/// The local scale, if folds over the residuals say that it pays.
pub(super) fn worthwhile(rows: &[Residual]) -> Option<Scale> {
    if rows.len() < FOLDS * ROWS_PER_FOLD {
        return None;
    }
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for fold in 0..FOLDS {
        let (from, to) = (fold * rows.len() / FOLDS, (fold + 1) * rows.len() / FOLDS);
        let others: Vec<Residual> = rows[..from].iter().chain(&rows[to..]).copied().collect();
        let (local, single) = (fit(&others, true)?, fit(&others, false)?);
        with.extend(rows[from..to].iter().map(|row| local.log_density(row)));
        without.extend(rows[from..to].iter().map(|row| single.log_density(row)));
    }
    let pays = Gain::paired(&with, &without).is_some_and(|gain| gain.is_worth(WORTHWHILE));
    if pays { fit(rows, true).map(|fit| fit.scale) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diffgp_infer::{Keyed, Noise};

    fn rows(count: usize) -> Vec<Residual> {
        let mut normals = Keyed::new(5, 0);
        let mut normal = || f64::from(normals.normal());
        let mut row = || {
            let (mean, e, v) = (normal(), normal(), normal());
            let latent_variance = 0.2 * v * v;
            // a = 0.5, b = 2, c = 0.6, d = −0.2.
            let square = (0.5 * 0.3 + 2.0 * latent_variance) * (0.6 * mean - 0.2 * mean * mean).exp2();
            Residual { mean, latent_variance, noise: 0.3, error: square.sqrt() * e }
        };
        (0..count).map(|_| row()).collect()
    }

    #[test]
    fn slopes_are_those_of_finite_differences() {
        let rows = rows(30);
        for (local, theta) in [(true, vec![0.2, -0.3, 0.4, -0.1, 1.5]), (false, vec![0.3, 1.2])] {
            let surface = Likelihood { rows: &rows, local };
            let slope = surface.at(&theta).unwrap().slope;
            for index in 0..theta.len() {
                let moved = |by: f64| {
                    let mut theta = theta.clone();
                    theta[index] += by;
                    surface.at(&theta).unwrap().value
                };
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((slope[index] - expected).abs() < 1e-6, "{local} {index}: {} {expected}", slope[index]);
            }
        }
    }

    #[test]
    fn four_numbers_are_found_again() {
        let scale = worthwhile(&rows(8000)).unwrap();
        let expected = Scale { noise_factor: 0.5, latent_factor: 2.0, slope: 0.6, curvature: -0.2 };
        // Under a t distribution with many degrees of freedom, a and b are a few per cent smaller.
        assert!((scale.noise_factor / expected.noise_factor - 1.0).abs() < 0.15, "{scale:?}");
        assert!((scale.latent_factor / expected.latent_factor - 1.0).abs() < 0.15, "{scale:?}");
        assert!(
            (scale.slope - expected.slope).abs() < 0.1 && (scale.curvature - expected.curvature).abs() < 0.1,
            "{scale:?}"
        );
    }
}
