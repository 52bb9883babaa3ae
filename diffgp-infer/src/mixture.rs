//! The mixture over paths: its moments and class probabilities, updated path by path, so that the memory does not grow
//! with their number.
//!
//! Two classes: P(y = 1) = e + (1 − 2e) Φ(m/√(1 + v)) for g ~ N(m, v), which is exact. More: p_c = E[softmax_c(g)] for
//! independent g_c ~ N(m_c, v_c), approximated pair by pair,
//!
//! ```text
//! p_c ∝ 1 / Σ_k exp(−(m_c − m_k)/√(1 + π/8 (v_c + v_k)))
//! ```
//!
//! and normalised; `docs/derivations.md` says where that comes from and how far it is from the integral.

use core::f32::consts::{LOG2_E, PI};

use diffgp_core::device::{exp2_neg, keep_rolled, sqrt};
use diffgp_core::normal;

use crate::model::Likelihood;
use crate::workspace::Column;

/// Pieces of work at the end of a path: one for every output and, for more than two classes, one for every class.
pub(crate) fn pieces(likelihood: Likelihood, outputs: usize) -> usize {
    if likelihood == Likelihood::Softmax { 2 * outputs } else { outputs }
}

/// 1 / Σ_k exp(−(m_c − m_k)/√(1 + π/8 (v_c + v_k))) of class c. At least 1/C for the class with the largest mean, and
/// zero for one that is out of reach.
#[inline(never)]
pub(crate) fn share(columns: &mut [Column], class: usize) {
    let Some(&[mean, variance, ..]) = columns.get(class) else { return };
    let mut sum = 0.0;
    for [other_mean, other_variance, ..] in &*columns {
        keep_rolled();
        let spread = sqrt(1.0 + (PI / 8.0) * (variance + other_variance));
        let ahead = (mean - other_mean) / spread * LOG2_E;
        let ratio = exp2_neg(ahead.abs());
        sum += if ahead < 0.0 { 1.0 / ratio } else { ratio };
    }
    if let Some([_, _, share, ..]) = columns.get_mut(class) {
        *share = 1.0 / sum;
    }
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
