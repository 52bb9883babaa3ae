//! Cases in which the bound is known by other means.

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use diffgp_train::elbo::{Batch, ElboError, predict_latent, value_and_gradient};
use diffgp_train::gradient::Gradient;
use diffgp_train::params::{Likelihood, Posterior, Temporal};
use diffgp_train::threads::Threads;
use nalgebra::{DMatrix, DVector};

use crate::elbo_goldens::relative_error;
use crate::goldens::named_arrays;
use crate::models::{Problem, Spec, problem};
use crate::naive;
use crate::random_models::Normals;
use crate::tolerances::{
    EXACT_PROCESS, NAIVE_VALUE, REORDERED, SINGLE_GRADIENT, SINGLE_OFFSET, SINGLE_SHORT_SCALE, SINGLE_VALUE,
};

#[test]
fn whitened_equals_the_unwhitened_definition() {
    let threads = Threads::new(1).unwrap();
    for kind in [KernelKind::Rbf, KernelKind::Matern32, KernelKind::Matern52] {
        for (times, per_dimension, bernoulli) in
            [(0, false, false), (0, true, false), (3, false, true), (2, true, false)]
        {
            let scheme = if times == 0 && per_dimension { Scheme::Midpoint } else { Scheme::EulerMaruyama };
            let problem = problem(Spec { kind, times, per_dimension, bernoulli, scheme, ..Spec::SMALL }, 11);
            let (found, expected) = (problem.evaluate::<f64>(&threads).elbo, naive::elbo(&problem));
            assert!((found / expected - 1.0).abs() < NAIVE_VALUE, "{kind:?} {times}: {found} against {expected}");
        }
    }
}

#[test]
fn several_outputs_equal_the_unwhitened_definition() {
    let threads = Threads::new(1).unwrap();
    for (softmax, per_output) in [(false, false), (false, true), (true, false), (true, true)] {
        let problem = problem(Spec { outputs: 3, softmax, per_output, ..Spec::SMALL }, 24);
        let (found, expected) = (problem.evaluate::<f64>(&threads).elbo, naive::elbo(&problem));
        assert!((found / expected - 1.0).abs() < NAIVE_VALUE, "{softmax} {per_output}: {found} against {expected}");
    }
}

#[test]
fn several_gaussian_outputs_are_as_many_models_on_one_flow() {
    let threads = Threads::new(1).unwrap();
    for per_output in [false, true] {
        let both = problem(Spec { outputs: 2, per_output, ..Spec::SMALL }, 25);
        let together = both.evaluate::<f64>(&threads);
        let latent = predict_latent(&both.params, &both.x, both.paths, Some(&both.eps), &threads).unwrap();
        let (mut sum, mut flow_slopes) = (together.kl_flow, Vec::new());
        for output in 0..2 {
            let mut alone = both.clone();
            let predictor = &mut alone.params.predictor;
            predictor.kernels = vec![both.params.predictor.kernel(output).clone()];
            predictor.posteriors = vec![both.params.predictor.posteriors[output].clone()];
            alone.params.likelihood = Likelihood::Gaussian { noise: vec![both.params.likelihood.noise()[output]] };
            alone.y = both.y.iter().skip(output).step_by(2).copied().collect();
            let evaluation = alone.evaluate::<f64>(&threads);
            // The flow is counted once, not twice.
            sum += evaluation.elbo;
            let slope = evaluation.gradient.noise[0];
            assert!((together.gradient.noise[output] / slope - 1.0).abs() < REORDERED);
            let slopes = &evaluation.gradient.predictor.posteriors[0];
            let of_both = &together.gradient.predictor.posteriors[output];
            assert!(relative_error(slopes.factor.as_slice(), of_both.factor.as_slice()) < REORDERED);
            flow_slopes.push(evaluation.gradient.flow.unwrap().field.kernels[0].variance);
            let of_one = predict_latent(&alone.params, &alone.x, alone.paths, Some(&alone.eps), &threads).unwrap();
            let column = |values: &[f64]| values.iter().skip(output).step_by(2).copied().collect::<Vec<_>>();
            assert!(relative_error(&column(&latent.mean), &of_one.mean) < REORDERED);
            assert!(relative_error(&column(&latent.variance), &of_one.variance) < REORDERED);
        }
        assert!((together.elbo / sum - 1.0).abs() < REORDERED, "{} against {sum}", together.elbo);
        // s_f² is in no divergence: its slopes add up.
        let slope = together.gradient.flow.unwrap().field.kernels[0].variance;
        assert!((slope / flow_slopes.iter().sum::<f64>() - 1.0).abs() < REORDERED);
    }
}

#[test]
fn without_a_flow_the_model_is_a_sparse_process() {
    let threads = Threads::new(1).unwrap();
    for bernoulli in [false, true] {
        let problem = problem(Spec { steps: 0, paths: 1, bernoulli, ..Spec::SMALL }, 12);
        let (found, expected) = (problem.evaluate::<f64>(&threads).elbo, naive::elbo(&problem));
        assert!((found / expected - 1.0).abs() < NAIVE_VALUE, "{found} against {expected}");
    }
}

/// A sparse process with its inducing points at the data and the optimal q(v).
fn process_at_the_data(n: usize, jitter: f64) -> (Problem, DMatrix<f64>, DVector<f64>, f64) {
    let mut problem = problem(Spec { steps: 0, paths: 1, rows: n, inducing: n, ..Spec::SMALL }, 13);
    let x = DMatrix::from_row_slice(n, 2, &problem.x);
    let y = DVector::from_column_slice(&problem.y);
    let noise = problem.params.likelihood.noise()[0];
    problem.params.jitter = jitter;
    problem.total_rows = n;
    let predictor = &mut problem.params.predictor;
    predictor.inducing = x.clone();
    // v | y: precision I + AᵀA/σ², mean its inverse times Aᵀy/σ², A = k(X,Z) Lz⁻ᵀ
    let gram = naive::gram(predictor.kernel(0), &x, &x);
    let root = (&gram + DMatrix::identity(n, n) * jitter).cholesky().unwrap().l();
    let a = root.solve_lower_triangular(&gram).unwrap().transpose();
    let covariance = (DMatrix::identity(n, n) + a.transpose() * &a / noise).try_inverse().unwrap();
    predictor.posteriors[0] = Posterior {
        mean: &covariance * a.transpose() * &y / noise,
        factor: ((&covariance + covariance.transpose()) * 0.5).cholesky().unwrap().l(),
    };
    (problem, gram, y, noise)
}

#[test]
fn inducing_points_at_the_data_give_the_marginal_likelihood() {
    let (n, jitter) = (12, 1e-8);
    let (problem, gram, y, noise) = process_at_the_data(n, jitter);
    let total = (&gram + DMatrix::identity(n, n) * noise).cholesky().unwrap();
    let log_det = 2.0 * total.l().diagonal().map(f64::ln).sum();
    let evidence = -0.5 * (y.dot(&total.solve(&y)) + log_det + n as f64 * (2.0 * std::f64::consts::PI).ln());
    let found = problem.evaluate::<f64>(&Threads::new(1).unwrap()).elbo;
    // The bound uses Q = K (K + jI)⁻¹ K with 0 ≤ K − Q ≤ j I, which costs at most this.
    let (n, j) = (n as f64, jitter);
    let slack = n * j / noise + j * y.norm_squared() / (2.0 * noise * noise);
    let gap = evidence - found;
    assert!(gap > -EXACT_PROCESS && gap < slack + EXACT_PROCESS, "gap {gap:e}, allowed {slack:e}");
}

#[test]
fn inducing_points_at_the_data_give_the_exact_posterior() {
    let n = 12;
    let (problem, gram, y, noise) = process_at_the_data(n, 1e-10);
    let total = (&gram + DMatrix::identity(n, n) * noise).try_inverse().unwrap();
    let x = Normals::new(14).vector(2 * 9);
    let found = predict_latent(&problem.params, &x, 1, None, &Threads::new(1).unwrap()).unwrap();
    let kernel = problem.params.predictor.kernel(0);
    let at = DMatrix::from_row_slice(9, 2, &x);
    let cross = naive::gram(kernel, &at, &problem.params.predictor.inducing);
    for row in 0..9 {
        let k = cross.row(row).transpose();
        let (mean, variance) = (k.dot(&(&total * &y)), kernel.variance - k.dot(&(&total * &k)));
        assert!((found.mean[row] - mean).abs() < EXACT_PROCESS, "mean {} against {mean}", found.mean[row]);
        assert!((found.variance[row] - variance).abs() < EXACT_PROCESS, "{} against {variance}", found.variance[row]);
    }
}

#[test]
fn one_inducing_time_with_a_long_scale_is_no_time_at_all() {
    let threads = Threads::new(1).unwrap();
    let still = problem(Spec::SMALL, 15);
    let mut temporal = still.clone();
    let flow = temporal.params.flow.as_mut().unwrap();
    flow.temporal = Some(Temporal { times: vec![0.7], length_scale: 1e7 });
    // With one inducing time aₜ = 1/√(1+j): the jitter shrinks the mean by that and I − S by its square.
    let shrink = 1.0 / (1.0 + still.params.jitter);
    let mut expected = still.clone();
    for q in &mut expected.params.flow.as_mut().unwrap().field.posteriors {
        let identity = DMatrix::identity(q.mean.len(), q.mean.len());
        q.mean *= shrink.sqrt();
        let covariance = &identity + (&q.factor * q.factor.transpose() - &identity) * shrink;
        q.factor = covariance.cholesky().unwrap().l();
    }
    let found = temporal.evaluate::<f64>(&threads).expected_log_likelihood;
    let expected = expected.evaluate::<f64>(&threads).expected_log_likelihood;
    assert!((found / expected - 1.0).abs() < NAIVE_VALUE, "{found} against {expected}");
}

#[test]
fn single_precision_follows_double_precision() {
    let threads = Threads::new(2).unwrap();
    let spec = Spec { inputs: 4, inducing: 30, steps: 10, rows: 100, paths: 1, ..Spec::SMALL };
    let several = Spec { outputs: 3, per_output: true, ..spec };
    for spec in [spec, Spec { per_dimension: true, ..spec }, several, Spec { softmax: true, ..several }] {
        let problem = problem(spec, 16);
        let (single, double) = (problem.evaluate::<f32>(&threads), problem.evaluate::<f64>(&threads));
        let value = (single.elbo / double.elbo - 1.0).abs();
        assert!(value < SINGLE_VALUE, "{spec:?}, bound: {value:e}");
        for ((name, single), (_, double)) in named_arrays(&single.gradient).iter().zip(named_arrays(&double.gradient)) {
            let error = relative_error(single, &double);
            assert!(error < SINGLE_GRADIENT, "{spec:?}, {name}: {error:e}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for (times, per_dimension, softmax) in [(0, false, false), (0, true, true), (2, false, false)] {
        let outputs = if softmax { 4 } else { 1 };
        let shape = Spec { inputs: 3, inducing: 20, rows: 330, ..Spec::SMALL };
        let scheme = if times == 0 { Scheme::Midpoint } else { Scheme::EulerMaruyama };
        let spec = Spec { times, per_dimension, softmax, outputs, scheme, ..shape };
        let problem = problem(spec, 17);
        let bits = |threads: usize| -> Vec<u64> {
            let result = problem.evaluate::<f32>(&Threads::new(threads).unwrap());
            let gradient = named_arrays(&result.gradient);
            gradient.iter().flat_map(|(_, values)| values).chain([&result.elbo]).map(|v| v.to_bits()).collect()
        };
        let one = bits(1);
        assert!(one == bits(2) && one == bits(7) && one == bits(1), "{spec:?}");
    }
}

/// The rows `from..to` of a problem with one path, weighted one by one.
fn part(problem: &Problem, from: usize, to: usize) -> (f64, Gradient) {
    let flow = problem.params.flow.as_ref().unwrap();
    let (b, d) = (problem.y.len(), flow.inputs());
    let eps: Vec<f64> =
        (0..flow.steps).flat_map(|k| problem.eps[(k * b + from) * d..(k * b + to) * d].to_vec()).collect();
    let batch = Batch { x: &problem.x[from * d..to * d], y: &problem.y[from..to], total_rows: to - from };
    let result = value_and_gradient(&problem.params, &batch, 1, Some(&eps), &Threads::new(1).unwrap()).unwrap();
    (result.expected_log_likelihood, result.gradient)
}

#[test]
fn rows_count_the_same_wherever_a_chunk_ends() {
    let rows = 2 * 64 + 3;
    let problem = problem(Spec { rows, paths: 1, ..Spec::SMALL }, 18);
    let (whole, gradient) = part(&problem, 0, rows);
    for cut in [1, 63, 64, 65, rows - 1] {
        let ((left, left_gradient), (right, right_gradient)) = (part(&problem, 0, cut), part(&problem, cut, rows));
        assert!(((left + right) / whole - 1.0).abs() < REORDERED, "cut at {cut}");
        // Both parts hold the KL term's gradient: leave out the arrays that it touches.
        let arrays =
            named_arrays(&gradient).into_iter().zip(named_arrays(&left_gradient)).zip(named_arrays(&right_gradient));
        for (((name, whole), (_, left)), (_, right)) in
            arrays.filter(|(((name, _), _), _)| !name.starts_with(['m', 'L']))
        {
            let sum: Vec<f64> = left.iter().zip(&right).map(|(left, right)| left + right).collect();
            assert!(relative_error(&sum, &whole) < REORDERED, "cut at {cut}: {name}");
        }
    }
}

#[test]
fn coinciding_inducing_points_raise_the_jitter_and_are_reported() {
    let mut problem = problem(Spec::SMALL, 19);
    problem.params.jitter = 1e-18;
    let flow = problem.params.flow.as_mut().unwrap();
    let first = flow.field.inducing.row(0).into_owned();
    flow.field.inducing.set_row(1, &first);
    flow.field.inducing.set_row(2, &first);
    let result = problem.evaluate::<f64>(&Threads::new(1).unwrap());
    assert!(result.elbo.is_finite());
    assert!(result.jitter_raised.is_some_and(|jitter| jitter > 1e-18), "{:?}", result.jitter_raised);
}

#[test]
fn arrays_that_do_not_fit_are_named() {
    let problem = problem(Spec::SMALL, 20);
    let batch = Batch { x: &problem.x, y: &problem.y, total_rows: 7 };
    let error = value_and_gradient(&problem.params, &batch, 2, Some(&problem.eps[1..]), &Threads::new(1).unwrap());
    let expected = ElboError::Shape { array: "noise", found: problem.eps.len() - 1, expected: problem.eps.len() };
    assert_eq!(error.unwrap_err(), expected);
}

/// The worst error of each array of the gradient in float32.
fn single_errors(problem: &Problem) -> Vec<(&'static str, f64)> {
    let threads = Threads::new(1).unwrap();
    let (single, double) = (problem.evaluate::<f32>(&threads), problem.evaluate::<f64>(&threads));
    let arrays = named_arrays(&single.gradient).into_iter().zip(named_arrays(&double.gradient));
    arrays.map(|((name, single), (_, double))| (name, relative_error(&single, &double))).collect()
}

#[test]
fn an_offset_of_the_inputs_costs_no_precision() {
    for (per_dimension, offset) in [(false, 0.0), (false, 32.0), (false, 128.0), (true, 128.0)] {
        let spec = Spec { inputs: 4, inducing: 30, steps: 5, rows: 100, paths: 1, per_dimension, ..Spec::SMALL };
        let mut problem = problem(spec, 16);
        // Multiples of 2⁻¹²: float32 holds them with the offset and without.
        let shift = |x: &mut f64| *x = (*x * 4096.0).round() / 4096.0 + offset;
        problem.x.iter_mut().for_each(shift);
        problem.params.predictor.inducing.iter_mut().for_each(shift);
        problem.params.flow.as_mut().unwrap().field.inducing.iter_mut().for_each(shift);
        for (name, error) in single_errors(&problem) {
            assert!(error < SINGLE_OFFSET, "{offset}, per dimension: {per_dimension}, {name}: {error:e}");
        }
    }
}

#[test]
fn short_length_scales_keep_their_gradient_in_single_precision() {
    for inputs in [1, 4] {
        let mut problem = problem(Spec { inputs, inducing: 30, steps: 2, rows: 300, paths: 1, ..Spec::SMALL }, 22);
        let (flow, predictor) = (problem.params.flow.as_mut().unwrap(), &mut problem.params.predictor);
        predictor.inducing = flow.field.inducing.clone();
        // Rows within a length-scale of an inducing point, and a flow that leaves them there.
        let short = 0.01;
        for (place, x) in problem.x.iter_mut().enumerate() {
            *x = flow.field.inducing[(place / inputs % 30, place % inputs)] + short * *x;
        }
        flow.field.kernels.iter_mut().for_each(|kernel| kernel.variance *= short * short);
        for kernel in flow.field.kernels.iter_mut().chain(&mut predictor.kernels) {
            kernel.length_scales.iter_mut().for_each(|scale| *scale *= short);
        }
        for (name, error) in single_errors(&problem).into_iter().filter(|(name, _)| name.starts_with("ls")) {
            assert!(error < SINGLE_SHORT_SCALE, "{inputs} inputs, {name}: {error:e}");
        }
    }
}
