//! The bound, its gradient and every value on the way, against the golden cases, in float64.

use diffgp_train::elbo::{Batch, Evaluation, trace, value_and_gradient};
use diffgp_train::threads::Threads;

use crate::goldens::{Expected, Golden, all, named_arrays};
use crate::tolerances::{GOLDEN_GRADIENT, GOLDEN_VALUE};

/// Largest difference over largest magnitude.
pub(crate) fn relative_error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = |values: &mut dyn Iterator<Item = f64>| {
        values.fold(0.0, |a: f64, b| if b.is_nan() { b } else { a.max(b.abs()) })
    };
    let difference = largest(&mut found.iter().zip(expected).map(|(a, b)| a - b));
    let magnitude = largest(&mut expected.iter().copied());
    if difference == 0.0 { 0.0 } else { difference / magnitude }
}

/// Sampled and drift-only, with the number of paths and the noise of each.
fn settings(case: &Golden) -> [(&'static str, &Expected, usize, Option<&[f64]>); 2] {
    [("sampled", &case.sampled, case.paths, Some(case.eps.as_slice())), ("deterministic", &case.deterministic, 1, None)]
}

fn evaluate(case: &Golden, paths: usize, noise: Option<&[f64]>, threads: &Threads) -> Evaluation {
    let batch = Batch { x: &case.x, y: &case.y, total_rows: case.total_rows };
    value_and_gradient(&case.params, &batch, paths, noise, threads).unwrap()
}

#[test]
fn values_agree_with_every_golden() {
    let threads = Threads::new(2).unwrap();
    let mut worst = 0.0_f64;
    for case in all() {
        for (setting, expected, paths, noise) in settings(&case) {
            let found = trace(&case.params, &case.x, paths, noise, &threads).unwrap();
            let bound = evaluate(&case, paths, noise, &threads);
            let mut values = vec![
                ("path", found.path),
                ("g_mean", found.latent.mean),
                ("g_var", found.latent.variance),
                ("elbo", vec![bound.elbo]),
                ("KL_g", vec![bound.kl_predictor]),
                ("KL_f", vec![bound.kl_flow]),
            ];
            if case.params.flow.is_some() {
                values.push(("drift", found.drift));
                // The drift-only flow has no use for the variance and does not compute it.
                if noise.is_some() {
                    values.push(("diff_var", found.diffusion_variance));
                }
            }
            for (name, found) in values {
                let error = relative_error(&found, expected.result(name));
                assert!(error < GOLDEN_VALUE, "{} {setting} {name}: {error:e}", case.name);
                worst = worst.max(error);
            }
            assert_eq!(bound.jitter_raised, None, "{}", case.name);
        }
    }
    println!("worst relative error of a value: {worst:.1e}");
}

#[test]
fn gradients_agree_with_every_golden() {
    let threads = Threads::new(2).unwrap();
    let mut worst = 0.0_f64;
    for case in all() {
        for (setting, expected, paths, noise) in settings(&case) {
            let found = named_arrays(&evaluate(&case, paths, noise, &threads).gradient);
            assert_eq!(found.len(), expected.gradient.len(), "{} {setting}", case.name);
            for (name, found) in found {
                let error = relative_error(&found, &expected.gradient[name]);
                assert!(error < GOLDEN_GRADIENT, "{} {setting} {name}: {error:e}", case.name);
                worst = worst.max(error);
            }
        }
    }
    println!("worst relative error of a gradient: {worst:.1e}");
}
