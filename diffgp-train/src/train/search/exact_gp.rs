//! The marginal likelihood of an exact Gaussian process.
//!
//! For N rows X with targets y, K = s² ρ(X,X) + σ² I, α = K⁻¹ y and one y per target:
//!
//! ```text
//! marginal likelihood   L = −½ yᵀα − ½ log|K| − ½ N log 2π
//! its slope             ∂L/∂θ = ½ tr((α αᵀ − K⁻¹) ∂K/∂θ)
//! leave one out         log p(yᵢ | all others) = log N(yᵢ | yᵢ − αᵢ vᵢ, vᵢ),  vᵢ = 1/(K⁻¹)ᵢᵢ
//! ```
//!
//! Reference: Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, 5.4.

use diffgp_core::kernel::KernelKind;
use faer::Mat;
use nalgebra::DVector;

use crate::elbo::correlation::{correlation as correlation_of, slope as slope_of};
use crate::elbo::dense::{Factor, product};
use crate::optimise::{Point, Surface};
use crate::permutation::Permutation;
use crate::philox::Purpose;
use crate::train::config::Config;
use crate::train::objective::Standardised;

/// The choice of rows of this module among those that `Purpose::Inducing` makes.
const ROWS: u64 = 2;

/// Rows without repeated inputs.
pub(super) struct Rows {
    /// `[N, D]`.
    x: Vec<f64>,
    /// One column per target: `[N, O]`.
    y: Mat<f64>,
    pub(super) inputs: usize,
}

impl Rows {
    pub(super) fn gather(rows_of: Standardised<'_>, config: &Config) -> Self {
        let total = rows_of.data.rows();
        let order = Permutation::new(total, config.seed, Purpose::Inducing, ROWS);
        let wanted: Vec<usize> = (0..total.min(config.predictor.search_rows)).map(|index| order.at(index)).collect();
        let (x, y) = rows_of.gather(&wanted);
        let (inputs, outputs) = (x.len() / wanted.len(), y.len() / wanted.len());
        let mut place_of = std::collections::HashMap::new();
        let (mut kept, mut sums, mut counts) = (Vec::new(), Vec::<f64>::new(), Vec::<f64>::new());
        for (x, y) in x.chunks_exact(inputs).zip(y.chunks_exact(outputs)) {
            let bits: Vec<u32> = x.iter().map(|value| value.to_bits()).collect();
            let place = *place_of.entry(bits).or_insert(counts.len());
            if place == counts.len() {
                kept.extend(x.iter().copied().map(f64::from));
                sums.resize(sums.len() + outputs, 0.0);
                counts.push(0.0);
            }
            counts[place] += 1.0;
            for (sum, &y) in sums[place * outputs..].iter_mut().zip(y) {
                *sum += f64::from(y);
            }
        }
        let y = Mat::from_fn(counts.len(), outputs, |row, output| sums[row * outputs + output] / counts[row]);
        Self { x: kept, y, inputs }
    }

    pub(super) fn count(&self) -> usize {
        self.y.nrows()
    }
}

/// The marginal likelihood along θ, for one kernel; the note is the log-likelihood of a row given all others.
pub(super) struct ExactGp<'a> {
    pub(super) kind: KernelKind,
    pub(super) rows: &'a Rows,
}

impl Surface for ExactGp<'_> {
    type Note = f64;

    fn at(&self, theta: &[f64]) -> Option<Point<f64>> {
        evaluate(self.kind, theta, self.rows)
    }
}

/// L at θ = log (ℓ₁ … ℓ_D, s², σ²/s²); `None` if K cannot be factorised.
fn evaluate(kind: KernelKind, theta: &[f64], rows: &Rows) -> Option<Point<f64>> {
    let (n, d, outputs) = (rows.count(), rows.inputs, rows.y.ncols());
    let (variance, ratio) = (theta[d].exp(), theta[d + 1].exp());
    let scaled: Vec<f64> =
        rows.x.chunks_exact(d).flat_map(|x| x.iter().zip(theta).map(|(x, l)| x * (-l).exp())).collect();
    let of = |row: usize| &scaled[row * d..(row + 1) * d];
    let mut correlation = Mat::zeros(n, n);
    let mut slopes = Mat::zeros(n, n);
    for j in 0..n {
        for i in j..n {
            let r2: f64 = of(i).iter().zip(of(j)).map(|(a, b)| (a - b) * (a - b)).sum();
            let (rho, slope) = (correlation_of(kind, r2), slope_of(kind, r2));
            (correlation[(i, j)], correlation[(j, i)]) = (rho, rho);
            slopes[(i, j)] = slope;
        }
    }
    // K = s² (ρ + (σ²/s²) I) = s² R Rᵀ
    let factor = Factor::new(&correlation, ratio, "K of the exact Gaussian process").ok()?;
    if factor.raise > 1.0 {
        return None;
    }
    let mut inverse = product(factor.inverse.transpose(), factor.inverse.as_ref());
    inverse *= faer::Scale(1.0 / variance);
    let alpha = product(inverse.as_ref(), rows.y.as_ref());

    let log_determinant: f64 = (0..n).map(|i| 2.0 * factor.lower[(i, i)].ln()).sum::<f64>() + n as f64 * variance.ln();
    let log_2pi = (2.0 * std::f64::consts::PI).ln();
    let share = 1.0 / (n * outputs) as f64;
    let (mut fit, mut left_out) = (0.0, 0.0);
    for output in 0..outputs {
        for i in 0..n {
            fit += rows.y[(i, output)] * alpha[(i, output)];
            let v = 1.0 / inverse[(i, i)];
            left_out -= 0.5 * share * (log_2pi + v.ln() + alpha[(i, output)].powi(2) * v);
        }
    }
    let marginal = -0.5 * share * (fit + outputs as f64 * (log_determinant + n as f64 * log_2pi));

    // ½ tr(W ∂K), W = α αᵀ − K⁻¹ summed over targets; r² changes by −2 Δ²/ℓ² with log ℓ.
    let mut slope = DVector::zeros(d + 2);
    for j in 0..n {
        for i in j..n {
            let outer: f64 = (0..outputs).map(|output| alpha[(i, output)] * alpha[(j, output)]).sum();
            let w = outer - outputs as f64 * inverse[(i, j)];
            let twice = if i == j { 0.5 } else { 1.0 };
            slope[d] += twice * w * variance * correlation[(i, j)];
            if i == j {
                slope[d] += 0.5 * w * variance * ratio;
                slope[d + 1] += 0.5 * w * variance * ratio;
                continue;
            }
            let along = -2.0 * w * variance * slopes[(i, j)];
            for (slope, (a, b)) in slope.iter_mut().zip(of(i).iter().zip(of(j))) {
                *slope += along * (a - b) * (a - b);
            }
        }
    }
    slope *= share;
    let value = Point { value: marginal, slope, note: left_out };
    (marginal.is_finite() && left_out.is_finite() && value.slope.iter().all(|slope| slope.is_finite())).then_some(value)
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::optimise::Ascent;
    use crate::params::Kernel;

    fn rows(count: usize) -> Rows {
        let x: Vec<f64> = (0..2 * count).map(|i| ((i * 37) % 101) as f64 / 25.0 - 2.0).collect();
        let value = |row: usize, output: usize| (2.0 * x[2 * row]).sin() + 0.3 * x[2 * row + 1] * (output + 1) as f64;
        let y = Mat::from_fn(count, 2, value);
        Rows { x, y, inputs: 2 }
    }

    const KINDS: [KernelKind; 3] = [KernelKind::Rbf, KernelKind::Matern32, KernelKind::Matern52];

    #[test]
    fn slopes_are_those_of_finite_differences() {
        let (rows, theta) = (rows(20), [0.3, -0.2, 0.1, -2.0]);
        for kind in KINDS {
            let slope = evaluate(kind, &theta, &rows).unwrap().slope;
            for index in 0..theta.len() {
                let moved = |by: f64| {
                    let mut theta = theta;
                    theta[index] += by;
                    evaluate(kind, &theta, &rows).unwrap().value
                };
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((slope[index] - expected).abs() < 1e-7, "{kind:?} {index}: {} {expected}", slope[index]);
            }
        }
    }

    /// The definition: a Gaussian process on the other rows, row by row.
    #[test]
    fn rows_left_out_are_predicted_from_the_others() {
        let (rows, theta) = (rows(12), [0.3_f64, -0.2, 0.1, -2.0]);
        let (n, kind) = (rows.count(), KernelKind::Matern32);
        let kernel = Kernel { kind, variance: theta[2].exp(), length_scales: vec![theta[0].exp(), theta[1].exp()] };
        let point = |i: usize| &rows.x[2 * i..2 * i + 2];
        let k = |i: usize, j: usize| {
            let noise = if i == j { kernel.variance * theta[3].exp() } else { 0.0 };
            kernel.variance * crate::exact::correlation(&kernel, point(i), point(j)) + noise
        };
        let mut expected = 0.0;
        for out in 0..n {
            let others: Vec<usize> = (0..n).filter(|&i| i != out).collect();
            let gram = DMatrix::from_fn(n - 1, n - 1, |i, j| k(others[i], others[j])).cholesky().unwrap();
            let cross = DVector::from_fn(n - 1, |i, _| k(others[i], out));
            let weights = gram.solve(&cross);
            let variance = k(out, out) - cross.dot(&weights);
            for output in 0..2 {
                let mean: f64 = others.iter().zip(&weights).map(|(&i, w)| w * rows.y[(i, output)]).sum();
                let error = rows.y[(out, output)] - mean;
                expected -= 0.5 * ((2.0 * std::f64::consts::PI * variance).ln() + error * error / variance);
            }
        }
        let found = evaluate(kind, &theta, &rows).unwrap().note;
        assert!((found - expected / (2 * n) as f64).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn a_climb_ends_where_the_slope_is_zero() {
        let rows = rows(60);
        let surface = ExactGp { kind: KernelKind::Rbf, rows: &rows };
        let mut ascent = Ascent::new(
            vec![0.0, 0.0, 0.0, 0.1_f64.ln()],
            vec![(-7.0, 6.0), (-7.0, 6.0), (-4.0, 4.0), (-10.4, 3.0)],
            &surface,
        )
        .unwrap();
        let first = ascent.at.value;
        ascent.go_on(80, &surface);
        // One length-scale, or the noise, may be at its end.
        let free = ascent.theta.iter().zip(&ascent.at.slope).filter(|(theta, _)| ![6.0, -10.4].contains(*theta));
        let steepest = free.map(|(_, slope)| slope.abs()).fold(0.0, f64::max);
        assert!(ascent.at.value > first && steepest < 1e-3, "{first} {} {steepest}", ascent.at.value);
    }
}
