//! The distribution that a calibrated error bar stands for, in float64.
//!
//! ```text
//! y = mean ± s h(|ε|)          ε ~ N(0, 1), either sign alike
//! log p(y) = log φ(u) − log h′(u) − log s          u = h⁻¹(|y − mean|/s)
//! ```
//!
//! h is straight between its knots, so its slope, and with it the density, jumps there. Beyond the last knot the tails are
//! those of a Gaussian with the last slope as its deviation.

use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

use diffgp_core::blob::CALIBRATED_DEVIATIONS;
use diffgp_infer::Output;

/// s and h.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    scale: f64,
    quantiles: [f32; 8],
}

/// A straight piece of h: from (u, q) on, with this slope, up to the end.
#[derive(Clone, Copy)]
struct Piece {
    from: f64,
    to: f64,
    at: f64,
    slope: f64,
}

fn density(u: f64) -> f64 {
    (-0.5 * u * u).exp() / (2.0 * PI).sqrt()
}

/// Φ; at infinity 1.
fn cdf(u: f64) -> f64 {
    0.5 * libm::erfc(-u * FRAC_1_SQRT_2)
}

/// u φ(u), which vanishes at infinity.
fn moment(u: f64) -> f64 {
    if u.is_finite() { u * density(u) } else { 0.0 }
}

impl Piece {
    /// ∫ h φ over the piece.
    fn first(self) -> f64 {
        let base = self.at - self.slope * self.from;
        base * (cdf(self.to) - cdf(self.from)) + self.slope * (density(self.from) - density(self.to))
    }

    /// ∫ h² φ over the piece.
    fn second(self) -> f64 {
        let base = self.at - self.slope * self.from;
        let share = cdf(self.to) - cdf(self.from);
        base * base * share
            + 2.0 * base * self.slope * (density(self.from) - density(self.to))
            + self.slope * self.slope * (share + moment(self.from) - moment(self.to))
    }

    /// ∫ Φ (1 − Φ) h′ over the piece, by parts: u Φ (1 − Φ) + φ (1 − 2Φ) + Φ(√2 u)/√π.
    fn spread(self) -> f64 {
        let primitive = |u: f64| {
            let below = cdf(u);
            let product = if u.is_finite() { u * below * cdf(-u) } else { 0.0 };
            product + density(u) * (1.0 - 2.0 * below) + cdf(SQRT_2 * u) / PI.sqrt()
        };
        self.slope * (primitive(self.to) - primitive(self.from))
    }
}

impl Distribution {
    /// Of errors in units of s, and h by its knots.
    pub fn new(scale: f64, quantiles: [f32; 8]) -> Self {
        Self { scale, quantiles }
    }

    /// That of a calibrated output.
    pub fn of(output: &Output) -> Option<Self> {
        let calibration = output.calibration()?;
        Some(Self { scale: f64::from(output.square()).sqrt(), quantiles: calibration.quantiles })
    }

    /// The pieces of h, of u ≥ 0, of which the last has no end.
    fn pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        let knots = CALIBRATED_DEVIATIONS.iter().zip(&self.quantiles).map(|(&u, &q)| (f64::from(u), f64::from(q)));
        let mut last = Piece { from: 0.0, to: 0.0, at: 0.0, slope: 0.0 };
        let mut pieces: Vec<Piece> = knots
            .map(|(u, q)| {
                let (from, at) = (last.to, last.at + last.slope * (last.to - last.from));
                // Knots that coincide are a density without end: a slope that is not quite zero keeps it finite.
                last = Piece { from, to: u, at, slope: ((q - at) / (u - from)).max(1e-9) };
                last
            })
            .collect();
        if let Some(last) = pieces.last_mut() {
            last.to = f64::INFINITY;
        }
        pieces.into_iter()
    }

    /// E[(y − mean)²].
    pub fn variance(&self) -> f64 {
        2.0 * self.scale * self.scale * self.pieces().map(Piece::second).sum::<f64>()
    }

    /// The piece that holds |error|/s, and u there.
    fn place(&self, error: f64) -> (Piece, f64) {
        let z = error.abs() / self.scale;
        let holds = |piece: &Piece| z <= piece.at + piece.slope * (piece.to - piece.from);
        let mut pieces = self.pieces();
        let piece = pieces.find(holds).unwrap_or(Piece { from: 0.0, to: f64::INFINITY, at: 0.0, slope: 1.0 });
        (piece, piece.from + (z - piece.at) / piece.slope)
    }

    /// log p(y) at y − mean.
    pub fn log_density(&self, error: f64) -> f64 {
        let (piece, u) = self.place(error);
        -0.5 * (u * u + (2.0 * PI).ln()) - piece.slope.ln() - self.scale.ln()
    }

    /// The continuous ranked probability score at y − mean: E|X − y| − ½ E|X − X′|.
    ///
    /// With z = |y − mean|/s and u = h⁻¹(z): E|X − z| = z (2Φ(u) − 1) + 2 ∫_u^∞ h φ, and ½ E|X − X′| = 2 ∫₀^∞ Φ (1 − Φ) h′.
    pub fn crps(&self, error: f64) -> f64 {
        let (at, u) = self.place(error);
        let z = error.abs() / self.scale;
        let beyond = |piece: Piece| {
            if piece.to <= u {
                return 0.0;
            }
            let cut = piece.from == at.from;
            if cut { Piece { from: u, at: z, ..piece }.first() } else { piece.first() }
        };
        let tail: f64 = self.pieces().filter(|piece| piece.from >= at.from).map(beyond).sum();
        let spread: f64 = self.pieces().map(Piece::spread).sum();
        self.scale * (z * (2.0 * cdf(u) - 1.0) + 2.0 * tail - 2.0 * spread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{crps, log_density};

    const HEAVY: [f32; 8] = [0.2, 0.5, 0.8, 1.3, 1.9, 2.6, 4.5, 8.0];

    #[test]
    fn straight_h_is_a_gaussian() {
        let gaussian = Distribution::new(2.0, CALIBRATED_DEVIATIONS.map(|u| 1.5 * u));
        assert!((gaussian.variance() - 9.0).abs() < 1e-5, "{}", gaussian.variance());
        for error in [0.0, 0.3, -2.0, 5.0, 14.0] {
            let paths = [(0.0, 9.0)];
            let (found, expected) = (gaussian.log_density(error), log_density(error, &paths));
            assert!((found - expected).abs() < 1e-5, "{error}: {found} {expected}");
            let (found, expected) = (gaussian.crps(error), crps(error, &paths));
            assert!((found - expected).abs() < 1e-5, "{error}: {found} {expected}");
        }
    }

    /// By the trapezium rule over y.
    fn integral(mut of: impl FnMut(f64) -> f64) -> f64 {
        let width = 1e-3;
        (-80_000..80_000).map(|i| width * of((f64::from(i) + 0.5) * width)).sum()
    }

    #[test]
    fn density_variance_and_score_are_those_of_one_distribution() {
        let heavy = Distribution::new(0.7, HEAVY);
        let p = |y: f64| heavy.log_density(y).exp();
        assert!((integral(p) - 1.0).abs() < 1e-3);
        assert!((integral(|y| y * y * p(y)) / heavy.variance() - 1.0).abs() < 1e-3);
        // In the bars of a level lies its share.
        for (level, q) in super::super::CALIBRATED_LEVELS.into_iter().zip(HEAVY) {
            let share = integral(|y| if y.abs() <= 0.7 * f64::from(q) { p(y) } else { 0.0 });
            assert!((share - f64::from(level)).abs() < 1e-3, "{level}: {share}");
        }
        // ∫ (F(x) − [x ≥ y])² dx.
        for y in [0.0, 0.4, -1.1, 6.0] {
            let mut below = 0.0;
            let expected = integral(|x| {
                below += 1e-3 * p(x);
                (below - if x >= y { 1.0 } else { 0.0 }).powi(2)
            });
            assert!((heavy.crps(y) - expected).abs() < 2e-3, "{y}: {} {expected}", heavy.crps(y));
        }
    }
}
