//! The mixture over paths: its moments and class probabilities, updated path by path, so that the memory does not grow
//! with their number.
//!
//! Two classes: P(y = 1) = e + (1 − 2e) Φ(m/√(1 + v)) for g ~ N(m, v), which is exact. More, with independent
//! g_c ~ N(m_c, v_c): p_c = E[σ(g_c − log Σ_{k≠c} exp g_k)], the logarithm taken as one Gaussian, the expectation by seven
//! equally spaced nodes, and normalised. `docs/derivations.md` says how far that is from the integral. With t the largest
//! mean of the others, r_k = √(1 + (π/8) v_k), a_k = exp((m_k − t)/r_k) and A = Σ a_k, all over k ≠ c,
//!
//! ```text
//! shift  = ½ Σ (a_k/A)(1 − a_k/A) v_k/r_k        spread = v_c + Σ (a_k/A)² v_k        s = Σ exp(m_k − t)
//! p_c    ∝ Σ_j w_|j| / (1 + s exp(t + shift − m_c − √spread · 0.906 j)),              j = −3 … 3
//! ```

use core::f32::consts::{LOG2_E, PI};

use diffgp_core::device::{exp2_neg, keep_rolled, sqrt};
use diffgp_core::normal;

use crate::model::Likelihood;
use crate::workspace::Column;

/// Pieces of work at the end of a path: one for every output and, for more than two classes, one for every class.
pub(crate) fn pieces(likelihood: Likelihood, outputs: usize) -> usize {
    if likelihood == Likelihood::Softmax { 2 * outputs } else { outputs }
}

/// Nodes at multiples of it, and their weights from the middle outwards.
const SPACING: f32 = 0.906_252_9;
const WEIGHTS: [f32; 4] = [0.359_454_43, 0.239_747_77, 0.071_135_56, 0.009_389_456];

/// p_c of class c, not yet normalised; zero for one that is out of reach.
#[inline(never)]
pub(crate) fn share(columns: &mut [Column], class: usize) {
    let Some(&[mean, variance, ..]) = columns.get(class) else { return };
    let mut top = f32::MIN;
    for (m, _) in others(columns, class) {
        keep_rolled();
        top = if m > top { m } else { top };
    }
    // s, A, Σ a v/r, Σ a² v/r, Σ a² v
    let [mut s, mut total, mut first, mut second, mut square] = [0.0_f32; 5];
    for (m, v) in others(columns, class) {
        keep_rolled();
        let root = sqrt(1.0 + (PI / 8.0) * v);
        s += exp(m - top);
        let a = exp((m - top) / root);
        total += a;
        first += a * v / root;
        second += a * a * v / root;
        square += a * a * v;
    }
    let shift = 0.5 * (first / total - second / (total * total));
    let spread = sqrt(variance + square / (total * total));
    let mut sum = 0.0;
    for (j, weight) in WEIGHTS.iter().enumerate() {
        keep_rolled();
        let away = spread * SPACING * j as f32;
        let middle = top + shift - mean;
        sum += weight / (1.0 + s * exp(middle - away));
        if j > 0 {
            sum += weight / (1.0 + s * exp(middle + away));
        }
    }
    if let Some([_, _, share, ..]) = columns.get_mut(class) {
        *share = sum;
    }
}

/// Means and variances of the classes but one.
fn others(columns: &[Column], class: usize) -> impl Iterator<Item = (f32, f32)> {
    let others = columns.iter().enumerate().filter(move |&(k, _)| k != class);
    others.map(|(_, &[mean, variance, ..])| (mean, variance))
}

/// e^x, between 2⁻¹²⁶ and 2¹²⁶.
#[inline(never)]
fn exp(x: f32) -> f32 {
    let size = exp2_neg((x * LOG2_E).abs());
    if x > 0.0 { 1.0 / size } else { size }
}

/// Adds the end of one path, the `count`th. Probabilities of classes beyond two were not normalised yet.
#[inline(never)]
pub(crate) fn add(columns: &mut [Column], likelihood: Likelihood, epsilon: f32, count: u32) {
    let weight = 1.0 / count as f32;
    let mut total = 1.0;
    if cfg!(feature = "classes") && likelihood == Likelihood::Softmax {
        total = columns.iter().map(|[_, _, share, ..]| share).sum();
    }
    for [mean_of_path, variance_of_path, share, mean, scatter, variance, probability] in columns {
        keep_rolled();
        if cfg!(feature = "classes") && likelihood == Likelihood::Bernoulli {
            *share = epsilon + (1.0 - 2.0 * epsilon) * normal::cdf(*mean_of_path / sqrt(1.0 + *variance_of_path));
        }
        let difference = *mean_of_path - *mean;
        *mean += difference * weight;
        *scatter += difference * (*mean_of_path - *mean);
        *variance += (*variance_of_path - *variance) * weight;
        if cfg!(feature = "classes") {
            *probability += (*share / total - *probability) * weight;
        }
    }
}
