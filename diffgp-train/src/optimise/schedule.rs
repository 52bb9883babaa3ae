//! Learning rates over a phase of n iterations.

use serde::{Deserialize, Serialize};

/// How the learning rate develops.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Schedule {
    /// The same rate throughout.
    Constant,
    /// rate·(f + (1 − f)(1 + cos(π i/n))/2): from the full rate to a fraction f of it.
    Cosine {
        /// f, in [0, 1].
        final_fraction: f64,
    },
}

impl Schedule {
    /// The factor on the learning rate in iteration `i` of `n`.
    pub fn factor(self, i: u64, n: u64) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Cosine { final_fraction } => {
                let progress = i.min(n) as f64 / n.max(1) as f64;
                final_fraction + (1.0 - final_fraction) * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * progress))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_middle() {
        let cosine = Schedule::Cosine { final_fraction: 0.1 };
        assert_eq!(cosine.factor(0, 100), 1.0);
        assert!((cosine.factor(50, 100) - 0.55).abs() < 1e-12);
        assert!((cosine.factor(100, 100) - 0.1).abs() < 1e-12);
        assert_eq!(Schedule::Constant.factor(7, 10), 1.0);
    }
}
