//! Published figures, to compare with: means over 20 random splits of 90 % and 10 %, and their standard errors.
//!
//! Hegde, Heinonen, Lähdesmäki, Kaski: Deep learning with differential Gaussian process flows, tables 1 and 2. The best
//! published elsewhere are those that the project set itself to beat.

/// A mean and its standard error.
#[derive(Clone, Copy)]
pub(super) struct Figure {
    pub(super) mean: f64,
    pub(super) error: f64,
}

/// Error and log-likelihood of a model.
#[derive(Clone, Copy)]
pub(super) struct Published {
    pub(super) rmse: Figure,
    pub(super) log_likelihood: Figure,
}

/// What is known of one data set.
pub(super) struct Set {
    pub(super) name: &'static str,
    pub(super) target: &'static str,
    /// Standard splits in its file.
    pub(super) splits: usize,
    /// The paper's sparse Gaussian process and its DiffGP with T = 1 to 5, M = 100.
    pub(super) published: [Published; 6],
    /// The best of the paper's deep Gaussian processes.
    pub(super) deep_rmse: f64,
    pub(super) deep_log_likelihood: f64,
    /// Best published elsewhere.
    pub(super) best_rmse: Option<f64>,
    pub(super) best_log_likelihood: Option<f64>,
}

/// From (mean, standard error) of error and log-likelihood. An error printed as 0.00 is taken for half a last digit.
const fn result(rmse: (f64, f64), log_likelihood: (f64, f64)) -> Published {
    Published {
        rmse: Figure { mean: rmse.0, error: rmse.1 },
        log_likelihood: Figure { mean: log_likelihood.0, error: log_likelihood.1 },
    }
}

impl Set {
    /// What the paper has for a flow time.
    pub(super) fn published(&self, flow_time: f64) -> Option<Published> {
        (0..).zip(self.published).find(|&(time, _)| f64::from(time) == flow_time).map(|(_, published)| published)
    }
}

/// Smallest first.
pub(super) const SETS: [Set; 8] = [
    Set {
        name: "boston",
        target: "medv",
        splits: 20,
        published: [
            result((2.87, 0.15), (-2.47, 0.05)),
            result((2.80, 0.13), (-2.36, 0.05)),
            result((2.68, 0.10), (-2.32, 0.04)),
            result((2.69, 0.14), (-2.31, 0.05)),
            result((2.67, 0.13), (-2.33, 0.06)),
            result((2.58, 0.12), (-2.30, 0.05)),
        ],
        deep_rmse: 2.90,
        deep_log_likelihood: -2.47,
        best_rmse: None,
        best_log_likelihood: None,
    },
    Set {
        name: "energy",
        target: "heating_load",
        splits: 20,
        published: [
            result((0.78, 0.02), (-1.29, 0.02)),
            result((0.49, 0.02), (-0.65, 0.03)),
            result((0.48, 0.02), (-0.63, 0.03)),
            result((0.47, 0.02), (-0.63, 0.02)),
            result((0.49, 0.02), (-0.65, 0.02)),
            result((0.50, 0.02), (-0.66, 0.02)),
        ],
        deep_rmse: 0.47,
        deep_log_likelihood: -0.73,
        best_rmse: Some(0.465),
        best_log_likelihood: Some(-0.34),
    },
    Set {
        name: "concrete",
        target: "strength",
        splits: 20,
        published: [
            result((5.97, 0.11), (-3.18, 0.02)),
            result((5.32, 0.10), (-3.05, 0.02)),
            result((4.96, 0.09), (-2.96, 0.02)),
            result((4.76, 0.12), (-2.93, 0.04)),
            result((4.65, 0.12), (-2.91, 0.04)),
            result((4.56, 0.12), (-2.90, 0.05)),
        ],
        deep_rmse: 5.61,
        deep_log_likelihood: -3.12,
        best_rmse: Some(4.82),
        best_log_likelihood: Some(-2.88),
    },
    Set {
        name: "wine_red",
        target: "quality",
        splits: 20,
        published: [
            result((0.63, 0.01), (-0.95, 0.01)),
            result((0.63, 0.01), (-0.96, 0.01)),
            result((0.63, 0.01), (-0.97, 0.02)),
            result((0.63, 0.01), (-0.97, 0.02)),
            result((0.63, 0.01), (-0.98, 0.02)),
            result((0.63, 0.01), (-0.98, 0.02)),
        ],
        deep_rmse: 0.63,
        deep_log_likelihood: -0.95,
        best_rmse: Some(0.616),
        best_log_likelihood: Some(-0.80),
    },
    Set {
        name: "power",
        target: "energy_output",
        splits: 20,
        published: [
            result((3.91, 0.03), (-2.75, 0.01)),
            result((3.76, 0.03), (-2.75, 0.01)),
            result((3.72, 0.03), (-2.74, 0.01)),
            result((3.68, 0.03), (-2.72, 0.01)),
            result((3.66, 0.03), (-2.72, 0.01)),
            result((3.65, 0.03), (-2.72, 0.01)),
        ],
        deep_rmse: 3.68,
        deep_log_likelihood: -2.73,
        best_rmse: None,
        best_log_likelihood: Some(-2.65),
    },
    Set {
        name: "kin8nm",
        target: "distance",
        splits: 20,
        published: [
            result((0.09, 0.005), (0.63, 0.01)),
            result((0.06, 0.005), (1.36, 0.01)),
            result((0.06, 0.005), (1.37, 0.005)),
            result((0.06, 0.005), (1.37, 0.01)),
            result((0.06, 0.005), (1.37, 0.01)),
            result((0.06, 0.005), (1.36, 0.01)),
        ],
        deep_rmse: 0.06,
        deep_log_likelihood: 1.38,
        best_rmse: Some(0.0632),
        best_log_likelihood: Some(1.40),
    },
    Set {
        name: "naval",
        target: "compressor_decay",
        splits: 20,
        published: [
            result((0.00, 0.005), (6.57, 0.15)),
            result((0.00, 0.005), (6.58, 0.02)),
            result((0.00, 0.005), (6.26, 0.03)),
            result((0.00, 0.005), (6.00, 0.03)),
            result((0.00, 0.005), (5.86, 0.02)),
            result((0.00, 0.005), (5.78, 0.02)),
        ],
        deep_rmse: 0.00,
        deep_log_likelihood: 6.76,
        best_rmse: Some(0.0001),
        best_log_likelihood: Some(8.20),
    },
    Set {
        name: "protein",
        target: "rmsd",
        splits: 5,
        published: [
            result((4.43, 0.03), (-2.91, 0.005)),
            result((4.04, 0.04), (-2.79, 0.04)),
            result((4.00, 0.04), (-2.78, 0.04)),
            result((3.92, 0.04), (-2.79, 0.005)),
            result((3.89, 0.04), (-2.78, 0.005)),
            result((3.87, 0.04), (-2.77, 0.005)),
        ],
        deep_rmse: 3.72,
        deep_log_likelihood: -2.71,
        best_rmse: Some(3.71),
        best_log_likelihood: Some(-2.47),
    },
];
