//! The schemes of the runtime converge in the strong sense: order ½, and 1 for additive noise; and along the drift with
//! order 1 (Euler–Maruyama) and 2 (midpoint).
//!
//! For each Brownian path, the end point with K steps is compared with a float64 reference of 4096 steps driven by the
//! same path; the mean absolute difference falls like K^(−order).

use std::ops::Range;

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use diffgp_infer::{Model, Replay, Workspace};
use diffgp_train::discretisation::Discretisation;
use diffgp_train::exact::Exact;
use diffgp_train::params::{Flow, Kernel, Likelihood, Params, Posterior, Process};
use diffgp_train::threads::Threads;
use nalgebra::{DMatrix, DVector};

use crate::random_models::Normals;
use crate::runtime_goldens::blob_of;
use crate::tolerances::REORDERED;

const FINE: usize = 4096;
const PATHS: usize = 400;
const COARSE: [usize; 5] = [8, 16, 32, 64, 128];

/// A one-dimensional flow with three inducing points, m = drift·(1, −1, ½) and L = factor·I.
fn params(scheme: Scheme, steps: usize, drift: f64, factor: f64) -> Params {
    let kernel = |variance| Kernel { kind: KernelKind::Rbf, variance, length_scales: vec![1.0] };
    let inducing = DMatrix::from_column_slice(3, 1, &[-1.5, 0.0, 1.5]);
    let posterior = |mean: [f64; 3], factor: f64| Posterior {
        mean: DVector::from_column_slice(&mean),
        factor: DMatrix::identity(3, 3) * factor,
    };
    Params {
        flow: Some(Flow {
            time: 1.0,
            steps,
            scheme,
            temporal: None,
            field: Process {
                inducing: inducing.clone(),
                kernels: vec![kernel(1.0)],
                posteriors: vec![posterior([drift, -drift, 0.5 * drift], factor)],
            },
        }),
        predictor: Process { inducing, kernels: vec![kernel(1.0)], posteriors: vec![posterior([0.0; 3], 1.0)] },
        likelihood: Likelihood::Gaussian { noise: vec![0.1] },
        jitter: 1e-6,
        variance_floor: 1e-12,
    }
}

/// Slope of log(mean |x_T − reference|) against log(1/K), by least squares.
fn measured_order(scheme: Scheme, drift: f64, factor: f64) -> f64 {
    let reference = params(Scheme::EulerMaruyama, FINE, drift, factor);
    let exact = Exact::new(&reference).unwrap();
    let blobs: Vec<_> = COARSE.iter().map(|&steps| blob_of(&params(scheme, steps, drift, factor))).collect();
    let mut errors = [0.0; COARSE.len()];
    let mut normals = Normals::new(5);
    for _ in 0..PATHS {
        let fine: Vec<f64> = (0..FINE).map(|_| normals.next()).collect();
        let start = 0.5 * normals.next();
        let end = exact.path(&[start], Some(&fine))[FINE][0];
        for ((error, blob), &steps) in errors.iter_mut().zip(&blobs).zip(&COARSE) {
            // ΔW of a coarse step is the sum of its fine ones: ε = Σ ε_fine / √(FINE/K).
            let share = FINE / steps;
            let coarse: Vec<f32> =
                fine.chunks(share).map(|c| (c.iter().sum::<f64>() / (share as f64).sqrt()) as f32).collect();
            let model = Model::parse(blob.as_slice()).unwrap();
            let mut workspace = Workspace::<1, 3>::new();
            let mut replay = Replay(&coarse);
            let mut flow = model.begin(&[start as f32], 1, &mut replay, &mut workspace).unwrap();
            while flow.step().unwrap() {}
            *error += (f64::from(flow.state()[0]) - end).abs() / PATHS as f64;
        }
    }
    println!("factor {factor}: mean errors {errors:.5?} at {COARSE:?} steps");
    slope(&COARSE, &errors)
}

/// Of log(error) against log(1/K), by least squares.
fn slope(steps: &[usize], errors: &[f64]) -> f64 {
    let x: Vec<f64> = steps.iter().map(|&k| -(k as f64).ln()).collect();
    let y: Vec<f64> = errors.iter().map(|e| e.ln()).collect();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let covariance: f64 = x.iter().zip(&y).map(|(a, b)| (a - mx) * (b - my)).sum();
    covariance / x.iter().map(|a| (a - mx).powi(2)).sum::<f64>()
}

fn assert_order_of_both(drift: f64, factor: f64, expected: Range<f64>) {
    for scheme in [Scheme::EulerMaruyama, Scheme::Midpoint] {
        let order = measured_order(scheme, drift, factor);
        println!("{scheme:?}: measured order {order:.3}");
        assert!(expected.contains(&order), "{scheme:?}: {order}");
    }
}

#[test]
fn order_is_one_half_when_the_diffusion_depends_on_the_state() {
    // L = 0.1 I: the variance is near zero at the inducing points and near s² between them. No drift: its error, of
    // order 1, would hide part of the other at these step sizes.
    assert_order_of_both(0.0, 0.1, 0.4..0.6);
}

#[test]
fn order_is_one_when_the_noise_is_additive() {
    // L = I: the posterior variance is the prior's, everywhere s².
    assert_order_of_both(1.0, 1.0, 0.9..1.1);
}

#[test]
fn along_the_drift_the_order_is_one_or_two() {
    // The solution, by Richardson's extrapolation of Euler steps: twice the end of 2K steps less that of K.
    let ends = [FINE, 2 * FINE].map(|steps| {
        let params = params(Scheme::EulerMaruyama, steps, 2.0, 1.0);
        Exact::new(&params).unwrap().path(&[0.4], None)[steps][0]
    });
    let solution = 2.0 * ends[1] - ends[0];
    let steps = [8, 16, 32, 64];
    for (scheme, order) in [(Scheme::EulerMaruyama, 0.85..1.15), (Scheme::Midpoint, 1.8..2.3)] {
        let errors = steps.map(|steps| {
            let blob = blob_of(&params(scheme, steps, 2.0, 1.0));
            let model = Model::parse(blob.as_slice()).unwrap();
            let mut workspace = Workspace::<1, 3>::new();
            let mut flow = model.begin_drift(&[0.4], &mut workspace).unwrap();
            while flow.step().unwrap() {}
            (f64::from(flow.state()[0]) - solution).abs()
        });
        let found = slope(&steps, &errors);
        println!("{scheme:?}: errors {errors:?} at {steps:?} steps, order {found:.3}");
        assert!(order.contains(&found), "{scheme:?}: {found}");
    }
}

#[test]
fn the_error_of_the_steps_is_that_of_the_float64_paths() {
    let rows = [-1.2, -0.3, 0.4, 0.9];
    let end = |params: &Params, x: f64| *Exact::new(params).unwrap().path(&[x], None).last().unwrap().first().unwrap();
    for scheme in [Scheme::EulerMaruyama, Scheme::Midpoint] {
        let (coarse, fine) = (params(scheme, 3, 2.0, 1.0), params(scheme, 150, 2.0, 1.0));
        let (mut missed, mut moved) = (0.0, 0.0);
        for &x in &rows {
            missed += (end(&coarse, x) - end(&fine, x)).powi(2);
            moved += (end(&fine, x) - x).powi(2);
        }
        let expected = (missed / moved).sqrt();
        let found = Discretisation::measure(&coarse, &rows, &Threads::new(1).unwrap()).unwrap().unwrap();
        println!("{scheme:?}: {:.3e}", found.error);
        assert_eq!(found.rows, rows.len());
        assert!((found.error / expected - 1.0).abs() < REORDERED, "{scheme:?}: {} for {expected}", found.error);
    }
    let without = Params { flow: None, ..params(Scheme::Midpoint, 3, 2.0, 1.0) };
    assert_eq!(Discretisation::measure(&without, &rows, &Threads::new(1).unwrap()).unwrap(), None);
}
