//! Recomputing activations in the backward pass gives the bits that keeping them gives.

use diffgp_core::kernel::KernelKind;
use nalgebra::{DMatrix, DVector};

use super::chunk::{LaneSums, PathRows};
use super::lanes::LaneTotals;
use super::prepared::Prepared;
use super::{assemble, lane};
use crate::params::{Flow, Kernel, Likelihood, Params, Posterior, Process};
use crate::threads::Threads;

const STEPS: usize = 5;

fn model() -> Params {
    let wave = |i: usize, j: usize| (1.0 + 2.3 * i as f64 + 3.1 * j as f64).sin();
    let kernel = |variance| Kernel { kind: KernelKind::Rbf, variance, length_scales: vec![1.1, 0.9] };
    let posterior = || Posterior {
        mean: DVector::from_fn(6, |i, _| wave(i, 7)),
        factor: DMatrix::from_fn(6, 6, |i, j| if i < j { 0.0 } else { 0.2 * wave(i, j) + 0.5 }),
    };
    Params {
        flow: Some(Flow {
            time: 1.0,
            steps: STEPS,
            scheme: diffgp_core::scheme::Scheme::EulerMaruyama,
            temporal: None,
            field: Process {
                inducing: DMatrix::from_fn(6, 2, wave),
                kernels: vec![kernel(0.1), kernel(0.2)],
                posteriors: vec![posterior(), posterior()],
            },
        }),
        predictor: Process {
            inducing: DMatrix::from_fn(6, 2, |i, j| wave(j, i)),
            kernels: vec![kernel(1.0)],
            posteriors: vec![posterior()],
        },
        likelihood: Likelihood::Gaussian { noise: vec![0.1] },
        jitter: 1e-6,
        variance_floor: 1e-10,
    }
}

#[test]
fn recomputed_activations_change_no_bit() {
    let (params, rows) = (model(), 70);
    let numbers = |count: usize| -> Vec<f64> { (0..count).map(|i| (1.7 * i as f64).sin()).collect() };
    let (x, y, noise) = (numbers(2 * rows), numbers(rows), numbers(STEPS * rows * 2));
    let threads = Threads::new(1).unwrap();
    let gradient = |slots: usize| {
        let mut prepared = Prepared::new(&params, &x, 1, Some(&noise)).unwrap();
        prepared.model.flow.as_mut().unwrap().slots = slots;
        let data = PathRows { x: &x, noise: Some(&noise), batch: rows };
        let lanes: Vec<LaneSums<f64>> =
            prepared.lanes(rows).iter().map(|chunks| lane(&prepared, data, &y, chunks, 1.0, &threads)).collect();
        let totals = LaneTotals::of(&prepared.model, &lanes, &threads).unwrap();
        assemble(&params, &prepared, &totals, 1.0).gradient
    };
    assert_eq!(gradient(STEPS), gradient(1));
}
