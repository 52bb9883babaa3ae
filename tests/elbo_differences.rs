//! The gradient of every parameter group against differences of the bound, on random models of every kind.

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use diffgp_train::optimise::slopes;
use diffgp_train::threads::Threads;

use crate::models::{Problem, Spec, coordinates, problem};
use crate::tolerances::{DIFFERENCE, DIFFERENCE_STEP};

/// Central differences of fourth order for every coordinate.
fn differences(problem: &Problem, threads: &Threads) -> Vec<f64> {
    let count = coordinates(&mut problem.params.clone()).len();
    let moved = |i: usize, by: f64| {
        let mut moved = problem.clone();
        *coordinates(&mut moved.params)[i].1 += by;
        moved.evaluate::<f64>(threads).elbo
    };
    let h = DIFFERENCE_STEP;
    let one = |i: usize| (8.0 * (moved(i, h) - moved(i, -h)) - (moved(i, 2.0 * h) - moved(i, -2.0 * h))) / (12.0 * h);
    (0..count).map(one).collect()
}

fn assert_gradient_matches_differences(spec: Spec, seed: u64) {
    let threads = Threads::new(1).unwrap();
    let mut problem = problem(spec, seed);
    let slopes = slopes(&problem.evaluate::<f64>(&threads).gradient);
    let expected = differences(&problem, &threads);
    let names = coordinates(&mut problem.params).into_iter().map(|(name, _)| name);
    let found: Vec<(&str, f64)> = names.zip(slopes).map(|(name, (_, slope))| (name, slope)).collect();
    assert_eq!(found.len(), expected.len());
    let mut groups: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
    groups.dedup();
    for group in groups {
        let pairs = || found.iter().zip(&expected).filter(|((name, _), _)| *name == group);
        let magnitude = pairs().map(|(_, e)| e.abs()).fold(0.0, f64::max);
        let difference = pairs().map(|((_, f), e)| (f - e).abs()).fold(0.0, f64::max);
        assert!(magnitude > 0.0, "{spec:?}: {group} has no effect");
        assert!(difference < DIFFERENCE * magnitude, "{spec:?} {group}: {difference:e} of {magnitude:e}");
    }
}

#[test]
fn shared_kernels() {
    for kind in [KernelKind::Rbf, KernelKind::Matern32, KernelKind::Matern52] {
        assert_gradient_matches_differences(Spec { kind, ..Spec::SMALL }, 1);
    }
}

#[test]
fn kernels_per_dimension() {
    for kind in [KernelKind::Rbf, KernelKind::Matern32, KernelKind::Matern52] {
        assert_gradient_matches_differences(Spec { kind, per_dimension: true, inputs: 3, ..Spec::SMALL }, 2);
    }
}

#[test]
fn midpoint_steps() {
    let midpoint = Spec { scheme: Scheme::Midpoint, ..Spec::SMALL };
    assert_gradient_matches_differences(midpoint, 41);
    assert_gradient_matches_differences(Spec { per_dimension: true, kind: KernelKind::Matern52, ..midpoint }, 42);
    // More outputs than inputs, and a single step.
    assert_gradient_matches_differences(Spec { outputs: 3, inputs: 1, steps: 1, ..midpoint }, 43);
}

#[test]
fn temporal_fields() {
    assert_gradient_matches_differences(Spec { times: 3, ..Spec::SMALL }, 3);
    assert_gradient_matches_differences(
        Spec { times: 2, per_dimension: true, kind: KernelKind::Matern52, ..Spec::SMALL },
        4,
    );
}

#[test]
fn bernoulli_likelihoods() {
    assert_gradient_matches_differences(Spec { bernoulli: true, ..Spec::SMALL }, 5);
    assert_gradient_matches_differences(Spec { bernoulli: true, times: 2, per_dimension: true, ..Spec::SMALL }, 6);
}

#[test]
fn sparse_processes_without_a_flow() {
    for kind in [KernelKind::Rbf, KernelKind::Matern32, KernelKind::Matern52] {
        assert_gradient_matches_differences(Spec { kind, steps: 0, ..Spec::SMALL }, 7);
    }
    assert_gradient_matches_differences(Spec { steps: 0, bernoulli: true, ..Spec::SMALL }, 8);
}

#[test]
fn one_input_and_a_single_step() {
    assert_gradient_matches_differences(Spec { inputs: 1, steps: 1, per_dimension: true, ..Spec::SMALL }, 9);
}

#[test]
fn several_outputs() {
    let two = Spec { outputs: 2, ..Spec::SMALL };
    assert_gradient_matches_differences(two, 31);
    assert_gradient_matches_differences(Spec { per_output: true, kind: KernelKind::Matern32, ..two }, 32);
    assert_gradient_matches_differences(Spec { per_output: true, times: 2, per_dimension: true, ..two }, 33);
    // More outputs than inputs.
    assert_gradient_matches_differences(Spec { outputs: 3, inputs: 1, kind: KernelKind::Matern52, ..two }, 34);
    assert_gradient_matches_differences(Spec { steps: 0, ..two }, 35);
}

#[test]
fn softmax_likelihoods() {
    let three = Spec { softmax: true, outputs: 3, ..Spec::SMALL };
    assert_gradient_matches_differences(three, 36);
    assert_gradient_matches_differences(Spec { per_output: true, per_dimension: true, ..three }, 37);
    assert_gradient_matches_differences(Spec { steps: 0, outputs: 6, ..three }, 38);
}
