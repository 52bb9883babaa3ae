//! C classes on C outputs: p(y | g) = exp(g_y) / Σ_c exp(g_c), with g_c ~ N(m_c, v_c) independent.
//!
//! Training: E_q[log p(y|g)] = m_y − E_q[log Σ exp(g_c)], the latter by a cubature that is the same for every row,
//!
//! ```text
//! E_q[f(g)] ≈ 1/(2n) Σᵢ f(m + √v εᵢ) + f(m − √v εᵢ)         Σᵢ εᵢ εᵢᵀ = n I
//! ```
//!
//! exact for polynomials of degree three. The εᵢ are normal numbers, made orthogonal. The derivatives are those of the
//! cubature.
//!
//! Prediction: p(c|q) = E_q[σ(g_c − log Σ_{k≠c} exp g_k)], the difference taken as a Gaussian; see [`Softmax`]'s
//! `probabilities`. Cost: 2nC exponentials per row to train on, 6C to predict. What else was tried, with measurements:
//! `docs/derivations.md`.

use std::f64::consts::PI;
use std::sync::OnceLock;

use nalgebra::DMatrix;

use super::{Density, Latent, Slopes};
use crate::data::MAX_CLASSES;
use crate::noise::{self, NoiseKey};
use crate::philox::Purpose;

pub(super) struct Softmax;

/// n of the cubature at least, and how many more than classes: fewer could not be orthogonal.
const PAIRS: usize = 16;
const SPARE: usize = 6;

/// Equally spaced nodes for E[f(x)], x standard normal: Σ_j WEIGHTS[|j|] f(j·SPACING), j = −3 … 3. The weights go with
/// exp(−(0.9 j)²/2); the spacing makes the variance 1. A sigmoid that is steep between two nodes of a Gauss–Hermite rule
/// costs these less.
const SPACING: f64 = 0.906252918147016;
const WEIGHTS: [f64; 4] = [0.3594544264507258, 0.23974776700306713, 0.07113556337444547, 0.009389456397124511];

impl Density for Softmax {
    fn number(&self) -> u8 {
        2
    }

    fn has_closed_form(&self) -> bool {
        false
    }

    fn classes(&self, outputs: usize) -> Option<usize> {
        Some(outputs)
    }

    fn expectation(&self, y: &[f64], at: Latent<'_>, slopes: &mut Slopes<'_>) -> f64 {
        let Latent { mean, variance } = at;
        let class = (y[0] as usize).min(mean.len() - 1);
        let nodes = nodes(mean.len());
        let share = 0.5 * mean.len() as f64 / nodes.len() as f64;
        let deviation: Vec<f64> = variance.iter().map(|v| v.sqrt()).collect();
        let mut g = vec![0.0; mean.len()];
        let mut log_sum = 0.0;
        slopes.mean.fill(0.0);
        slopes.variance.fill(0.0);
        for node in nodes.chunks_exact(mean.len()) {
            for sign in [1.0, -1.0] {
                for (c, g) in g.iter_mut().enumerate() {
                    *g = mean[c] + sign * deviation[c] * node[c];
                }
                log_sum += softmax(&mut g);
                for (c, p) in g.iter().enumerate() {
                    slopes.mean[c] -= share * p;
                    slopes.variance[c] -= share * p * sign * node[c];
                }
            }
        }
        slopes.mean[class] += 1.0;
        slopes.variance.iter_mut().zip(&deviation).for_each(|(slope, deviation)| *slope *= 0.5 / deviation);
        mean[class] - share * log_sum
    }

    /// With top the largest of the other means, r_k = √(1 + (π/8) v_k) and q the softmax of (m_k − top)/r_k over the other
    /// classes k,
    ///
    /// ```text
    /// log Σ_{k≠c} exp g_k ~ N(log Σ exp m_k + ½ Σ q_k (1 − q_k) v_k/r_k,  Σ q_k² v_k)
    /// ```
    ///
    /// and E[σ(difference)] by seven equally spaced nodes, a geometric progression; then normalised to sum 1. `top` is one
    /// number for all classes but the most probable, so 6C exponentials suffice; here they are taken as they come.
    fn probabilities(&self, at: Latent<'_>, out: &mut [f64]) {
        let Latent { mean, variance } = at;
        let roots: Vec<f64> = variance.iter().map(|v| (1.0 + PI / 8.0 * v).sqrt()).collect();
        for (class, probability) in out.iter_mut().enumerate() {
            let others = || (0..mean.len()).filter(|&k| k != class);
            let top = others().map(|k| mean[k]).fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = others().map(|k| (mean[k] - top).exp()).sum();
            let shrunk = |k: usize| ((mean[k] - top) / roots[k]).exp();
            let shrunk_sum: f64 = others().map(shrunk).sum();
            let (mut shift, mut spread) = (0.0, variance[class]);
            for k in others() {
                let q = shrunk(k) / shrunk_sum;
                shift += 0.5 * q * (1.0 - q) * variance[k] / roots[k];
                spread += q * q * variance[k];
            }
            // σ(d) = 1/(1 + Σ exp(m_k − top) · exp(top + shift − m_c − √spread x))
            let at_node = |j: i32| {
                let x = SPACING * f64::from(j);
                let exponent = top + shift - mean[class] - spread.sqrt() * x;
                WEIGHTS[j.unsigned_abs() as usize] / (1.0 + sum * exponent.exp())
            };
            // Never zero: its logarithm is a score.
            *probability = (-3..=3).map(at_node).sum::<f64>().max(f64::MIN_POSITIVE);
        }
        let sum: f64 = out.iter().sum();
        out.iter_mut().for_each(|probability| *probability /= sum);
    }
}

/// ε of the cubature for C classes: `[n][C]`.
fn nodes(classes: usize) -> &'static [f64] {
    static NODES: [OnceLock<Vec<f64>>; MAX_CLASSES + 1] = [const { OnceLock::new() }; MAX_CLASSES + 1];
    let make = || {
        let pairs = PAIRS.max(classes + SPARE);
        let key = NoiseKey { seed: 0, purpose: Purpose::Cubature, iteration: 0 };
        let (mut normals, rows) = (Vec::new(), (0..pairs).collect::<Vec<_>>());
        noise::fill(&mut normals, key, &rows, 1, 1, classes);
        let normals = DMatrix::from_row_iterator(pairs, classes, normals.into_iter().map(f64::from));
        // Gram and Schmidt: the columns of Q √n.
        let orthogonal = normals.qr().q() * (pairs as f64).sqrt();
        orthogonal.transpose().as_slice().to_vec()
    };
    NODES[classes.min(MAX_CLASSES)].get_or_init(make)
}

/// Replaces numbers by their softmax; the logarithm of the sum of their exponentials.
fn softmax(values: &mut [f64]) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values.iter_mut().for_each(|value| *value = (*value - top).exp());
    let sum: f64 = values.iter().sum();
    values.iter_mut().for_each(|value| *value /= sum);
    top + sum.ln()
}
