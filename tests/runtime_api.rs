//! What a caller of the runtime relies on.

use diffgp_infer::{DefaultRng, Error, FromFn, Keyed, Model, Noise, Replay, Workspace, keyed_rng};
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::export::{ExportError, Metadata, export};
use diffgp_train::params::{Params, Posterior};
use nalgebra::{DMatrix, DVector};

use crate::random_models::{Normals, Shape, input, model, names, scaling};
use crate::tolerances::SINGLE_ROUNDING;

fn blob(shape: &Shape) -> AlignedBytes {
    blob_of(shape, &model(shape))
}

fn blob_of(shape: &Shape, params: &Params) -> AlignedBytes {
    let scaling = scaling(shape);
    let metadata =
        Metadata { scaling: &scaling, names: &names(shape), classes: &[], model_id: &[], discretisation: None };
    AlignedBytes::new(&export(params, &metadata, &[]).unwrap().bytes)
}

fn some_input(shape: &Shape) -> Vec<f32> {
    input(&scaling(shape), &mut Normals::new(9))
}

#[test]
fn sizes_stay_within_their_bars() {
    assert_eq!(Workspace::<8, 100>::BYTES, 588);
    assert_eq!(Workspace::<8, 100, 6>::BYTES, 588 + 5 * 28);
    const { assert!(Workspace::<8, 100>::BYTES <= 640) };
    const { assert!(size_of::<Model<'_>>() <= 256) };
    println!("Workspace<8, 100>: {} bytes, Model: {} bytes", Workspace::<8, 100>::BYTES, size_of::<Model<'_>>());
}

#[test]
fn a_small_workspace_is_refused_with_the_size_it_should_have() {
    let bytes = blob(&Shape::SMALL);
    let model = Model::parse(bytes.as_slice()).unwrap();
    assert!(Workspace::<2, 6>::fits(&model) && !Workspace::<2, 5>::fits(&model) && !Workspace::<1, 6>::fits(&model));
    let x = some_input(&Shape::SMALL);
    let expected = Err(Error::Capacity { inputs: 2, features: 6, outputs: 1 });
    assert_eq!(model.predict(&x, &mut Workspace::<2, 5>::new()), expected);
    assert_eq!(model.predict(&x, &mut Workspace::<1, 6>::new()), expected);
    let (mut exact, mut large) = (Workspace::<2, 6>::new(), Workspace::<64, 1024>::new());
    assert_eq!(model.predict(&x, &mut exact).unwrap(), model.predict(&x, &mut large).unwrap());
}

#[test]
fn wrong_inputs_are_refused_by_name() {
    let bytes = blob(&Shape::SMALL);
    let model = Model::parse(bytes.as_slice()).unwrap();
    let mut workspace = Workspace::<2, 6>::new();
    for (x, error) in [
        (vec![], Error::InputLength { expected: 2, found: 0 }),
        (vec![1.0], Error::InputLength { expected: 2, found: 1 }),
        (vec![1.0; 3], Error::InputLength { expected: 2, found: 3 }),
        (vec![1.0, f32::NAN], Error::InputNotFinite { index: 1 }),
        (vec![f32::INFINITY, 1.0], Error::InputNotFinite { index: 0 }),
    ] {
        assert_eq!(model.predict(&x, &mut workspace), Err(error));
        assert_eq!(model.predict_sampled(&x, 3, &mut Keyed::new(0, 0), &mut workspace), Err(error));
    }
    let x = some_input(&Shape::SMALL);
    assert_eq!(model.predict_sampled(&x, 0, &mut Keyed::new(0, 0), &mut workspace), Err(Error::NoPaths));
}

#[test]
fn far_from_the_data_the_prior_comes_back() {
    let bytes = blob(&Shape::SMALL);
    let parsed = Model::parse(bytes.as_slice()).unwrap();
    let mut workspace = Workspace::<2, 6>::new();
    let far = parsed.predict(&[3e38, -3e38], &mut workspace).unwrap();
    let target = scaling(&Shape::SMALL).targets[0];
    let prior = f64::from(target.scale).powi(2) * model(&Shape::SMALL).predictor.kernel(0).variance;
    assert!(!far.in_range() && far.mean() == target.mean);
    assert!((f64::from(far.latent_variance()) - prior).abs() < SINGLE_ROUNDING * prior);
}

#[test]
fn an_overflow_is_an_error_and_not_a_number() {
    let shape = Shape::SMALL;
    let (mut params, mut scaling) = (model(&shape), scaling(&shape));
    // The variance is in squared units: beyond f32.
    (params.predictor.kernels[0].variance, scaling.targets[0].scale) = (1e6, 1e18);
    let metadata = Metadata { scaling: &scaling, names: &[], classes: &[], model_id: &[], discretisation: None };
    let bytes = AlignedBytes::new(&export(&params, &metadata, &[]).unwrap().bytes);
    let model = Model::parse(bytes.as_slice()).unwrap();
    let mut workspace = Workspace::<2, 6>::new();
    let x = some_input(&shape);
    assert_eq!(model.predict(&x, &mut workspace), Err(Error::NotFinite));
    assert_eq!(model.predict_sampled(&x, 2, &mut Keyed::new(0, 0), &mut workspace), Err(Error::NotFinite));
}

#[test]
fn steps_one_by_one_end_where_predict_ends() {
    for shape in [
        Shape::SMALL,
        Shape { per_dimension: false, ..Shape::SMALL },
        Shape { inducing_times: 2, steps: 2, ..Shape::SMALL },
        Shape { inducing_times: 2, steps: 20, ..Shape::SMALL },
        Shape { flow_inducing: 0, ..Shape::SMALL },
        Shape { classifier: true, ..Shape::SMALL },
    ] {
        let bytes = blob(&shape);
        let model = Model::parse(bytes.as_slice()).unwrap();
        let mut workspace = Workspace::<2, 10>::new();
        let x = some_input(&shape);
        let mut other = Workspace::<2, 10>::new();
        let at_once = model.predict(&x, &mut other).unwrap();
        let mut run = model.begin_drift(&x, &mut workspace).unwrap();
        let steps = run.steps();
        for taken in 0..steps {
            assert_eq!(run.steps_taken(), taken);
            assert_eq!(run.prediction(), Err(Error::Unfinished { paths: 1 }));
            assert!((run.time() - 1.5 * taken as f32 / steps as f32).abs() < 1e-6);
            assert!(run.step().unwrap());
        }
        assert!(!run.step().unwrap() && !run.is_ready());
        assert_eq!(run.finish().unwrap(), at_once, "{shape:?}");
    }
}

#[test]
fn looking_at_the_field_does_not_change_the_path() {
    for inducing_times in [0, 2] {
        let shape = Shape { inducing_times, steps: 2, ..Shape::SMALL };
        let bytes = blob(&shape);
        let model = Model::parse(bytes.as_slice()).unwrap();
        let (mut seen, mut unseen) = (Workspace::<2, 10>::new(), Workspace::<2, 10>::new());
        let x = some_input(&shape);
        let (mut one, mut other) =
            (model.begin_drift(&x, &mut seen).unwrap(), model.begin_drift(&x, &mut unseen).unwrap());
        while one.steps_taken() < one.steps() {
            let (mut drift, mut diffusion) = ([0.0; 2], [0.0; 2]);
            let before: Vec<f32> = one.state().to_vec();
            one.field(&mut drift, &mut diffusion).unwrap();
            one.step().unwrap();
            other.step().unwrap();
            assert_eq!(one.state(), other.state());
            for d in 0..2 {
                assert_eq!(one.state()[d], before[d] + drift[d] * (1.5 / 2.0));
                assert!(diffusion[d] > 0.0);
            }
        }
    }
}

#[test]
fn positions_begin_at_the_input() {
    let bytes = blob(&Shape::SMALL);
    let model = Model::parse(bytes.as_slice()).unwrap();
    let mut workspace = Workspace::<2, 6>::new();
    let x = some_input(&Shape::SMALL);
    let flow = model.begin_drift(&x, &mut workspace).unwrap();
    for (position, x) in flow.position().zip(&x) {
        assert!((position - x).abs() < SINGLE_ROUNDING as f32 * x.abs());
    }
}

#[test]
fn sampled_moments_are_those_of_the_mixture() {
    for classifier in [false, true] {
        let shape = Shape { classifier, ..Shape::SMALL };
        let bytes = blob(&shape);
        let model = Model::parse(bytes.as_slice()).unwrap();
        let mut workspace = Workspace::<2, 6>::new();
        let x = some_input(&shape);
        let paths = 50;
        let mut noise = Keyed::new(3, 7);
        let prediction = model.predict_sampled(&x, paths, &mut noise, &mut workspace).unwrap();
        // The same paths one by one, collected, in double precision.
        let mut ends = Vec::new();
        for path in 0..paths {
            let mut other = Workspace::<2, 6>::new();
            let mut of_path = keyed_rng(3, 7, path);
            let mut run = model.begin(&x, 1, &mut of_path, &mut other).unwrap();
            run.finish_path().unwrap();
            let latent = run.latents().next().unwrap();
            ends.push((f64::from(latent.mean), f64::from(latent.variance)));
        }
        let n = f64::from(paths);
        let average = |f: &dyn Fn(&(f64, f64)) -> f64| ends.iter().map(f).sum::<f64>() / n;
        let mean = average(&|e| e.0);
        let variance = average(&|e| e.1) + average(&|e| (e.0 - mean).powi(2));
        let target = scaling(&shape).targets[0];
        let (offset, scale) = (f64::from(target.mean), f64::from(target.scale));
        let close = |found: f32, expected: f64| (f64::from(found) - expected).abs() < 1e-5 * expected.abs().max(1e-3);
        assert!(close(prediction.mean(), offset + scale * mean));
        assert!(close(prediction.latent_variance(), scale * scale * variance));
        let noise_variance = if classifier { 0.0 } else { 0.05 };
        assert!(close(prediction.variance(), scale * scale * (variance + noise_variance)));
        let probit = |m: f64, v: f64| 0.5 * libm::erfc(-m / (2.0 * (1.0 + v)).sqrt());
        let probability = average(&|e| 1e-3 + (1.0 - 2e-3) * probit(e.0, e.1));
        match prediction.probability() {
            Some(p) => assert!(classifier && (f64::from(p) - probability).abs() < 1e-6, "{p} {probability}"),
            None => assert!(!classifier),
        }
    }
}

#[test]
fn every_source_of_the_same_words_gives_the_same_bits() {
    let bytes = blob(&Shape::SMALL);
    let model = Model::parse(bytes.as_slice()).unwrap();
    let mut workspace = Workspace::<2, 6>::new();
    let x = some_input(&Shape::SMALL);
    let mut rng: DefaultRng = keyed_rng(11, 0, 0);
    let mut first = Workspace::<2, 6>::new();
    let by_rng = model.predict_sampled(&x, 5, &mut rng, &mut first).unwrap();
    let mut copy = keyed_rng(11, 0, 0);
    let mut closure = FromFn(|| rand_core::Rng::next_u32(&mut copy));
    assert_eq!(by_rng, model.predict_sampled(&x, 5, &mut closure, &mut workspace).unwrap());
    let mut again = keyed_rng(11, 0, 0);
    let words: Vec<f32> = (0..5 * 4 * 2).map(|_| again.normal()).collect();
    assert_eq!(by_rng, model.predict_sampled(&x, 5, &mut Replay(&words), &mut workspace).unwrap());
    assert_ne!(by_rng, model.predict_sampled(&x, 5, &mut keyed_rng(12, 0, 0), &mut workspace).unwrap());
}

#[test]
fn a_model_without_flow_ignores_noise_and_paths() {
    let shape = Shape { flow_inducing: 0, ..Shape::SMALL };
    let bytes = blob(&shape);
    let model = Model::parse(bytes.as_slice()).unwrap();
    let mut workspace = Workspace::<2, 6>::new();
    let x = some_input(&shape);
    let mut calls = 0;
    let mut noise = FromFn(|| {
        calls += 1;
        0
    });
    let mut other = Workspace::<2, 6>::new();
    let sampled = model.predict_sampled(&x, u32::MAX, &mut noise, &mut other).unwrap();
    assert_eq!(sampled, model.predict(&x, &mut workspace).unwrap());
    assert_eq!(calls, 0);
}

#[test]
fn intervals_hold_what_they_say() {
    let bytes = blob(&Shape::SMALL);
    let model = Model::parse(bytes.as_slice()).unwrap();
    let mut workspace = Workspace::<2, 6>::new();
    let p = model.predict(&some_input(&Shape::SMALL), &mut workspace).unwrap();
    let (low, high) = p.interval(0.95).unwrap();
    let half = 1.959_964 * p.variance().sqrt();
    assert!((high - p.mean() - half).abs() < 1e-4 * half && (p.mean() - low - half).abs() < 1e-4 * half);
    assert_eq!((p.interval(0.0), p.interval(1.0), p.interval(f32::NAN)), (None, None, None));
    let shape = Shape { classifier: true, ..Shape::SMALL };
    let bytes = blob(&shape);
    let model = Model::parse(bytes.as_slice()).unwrap();
    assert!(model.is_classifier());
    let mut workspace = Workspace::<2, 6>::new();
    let p = model.predict(&some_input(&shape), &mut workspace).unwrap();
    assert_eq!(p.interval(0.95), None);
}

#[test]
fn inputs_beyond_the_training_range_are_marked() {
    let bytes = blob(&Shape::SMALL);
    let model = Model::parse(bytes.as_slice()).unwrap();
    let mut workspace = Workspace::<2, 6>::new();
    let ranges = scaling(&Shape::SMALL).ranges;
    let mut x: Vec<f32> = ranges.iter().map(|range| range.max).collect();
    assert!(model.predict(&x, &mut workspace).unwrap().in_range());
    x[1] = ranges[1].max.next_up();
    let p = model.predict(&x, &mut workspace).unwrap();
    assert!(!p.in_range() && p.out_of_range().contains(1) && p.out_of_range().iter().eq([1]));
    assert!(!model.predict_sampled(&x, 2, &mut Keyed::new(0, 0), &mut workspace).unwrap().in_range());
}

#[test]
fn folded_time_and_time_features_are_the_same_field() {
    // Few steps: folding is smaller. Many steps: keeping the time features is.
    let few = Shape { inducing_times: 3, steps: 2, ..Shape::SMALL };
    let many = Shape { steps: 40, ..few.clone() };
    let (few_bytes, many_bytes) = (blob(&few), blob(&many));
    let (few, many) = (Model::parse(few_bytes.as_slice()).unwrap(), Model::parse(many_bytes.as_slice()).unwrap());
    assert_eq!((few.blob().header().tables, few.blob().header().inducing_times), (2, 0));
    assert_eq!((many.blob().header().tables, many.blob().header().inducing_times), (1, 3));
    assert_eq!((few.features(), many.features()), (6, 15));
    let (mut one, mut other) = (Workspace::<2, 6>::new(), Workspace::<2, 15>::new());
    let x = some_input(&Shape::SMALL);
    let (mut few, mut many) = (few.begin_drift(&x, &mut one).unwrap(), many.begin_drift(&x, &mut other).unwrap());
    let field = |flow: &mut diffgp_infer::Run<'_, '_>| {
        let (mut drift, mut diffusion) = ([0.0; 2], [0.0; 2]);
        flow.field(&mut drift, &mut diffusion).unwrap();
        [drift, diffusion].concat()
    };
    for (a, b) in field(&mut few).iter().zip(field(&mut many)) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
}

#[test]
fn a_posterior_equal_to_the_prior_needs_no_directions() {
    let mut params = model(&Shape::SMALL);
    params.predictor.posteriors = vec![Posterior { mean: DVector::zeros(6), factor: DMatrix::identity(6, 6) }];
    let bytes = blob_of(&Shape::SMALL, &params);
    let model = Model::parse(bytes.as_slice()).unwrap();
    let (kernel, output) = (model.blob().predictor_kernel(0).unwrap(), model.blob().predictor_output(0).unwrap());
    assert!(output.directions.is_empty() && output.coefficients.is_empty());
    let mut workspace = Workspace::<2, 6>::new();
    let p = model.predict(&some_input(&Shape::SMALL), &mut workspace).unwrap();
    let target = scaling(&Shape::SMALL).targets[0];
    assert_eq!((p.mean(), p.latent_variance()), (target.mean, target.scale * target.scale * kernel.variance));
}

#[test]
fn models_beyond_the_format_are_refused_with_the_limit() {
    let shape = Shape { steps: 5000, ..Shape::SMALL };
    let scaling = scaling(&shape);
    let metadata = Metadata { scaling: &scaling, names: &[], classes: &[], model_id: &[], discretisation: None };
    let error = export(&model(&shape), &metadata, &[]).unwrap_err();
    assert_eq!(error, ExportError::TooLarge { what: "steps", found: 5000, limit: 4096 });
    let mut params = model(&Shape::SMALL);
    params.predictor.kernels[0].variance = 1e20;
    let error = export(&params, &metadata, &[]).unwrap_err();
    assert!(matches!(error, ExportError::Refused(_)), "{error}");
    params.predictor.kernels[0].variance = f64::NAN;
    assert!(export(&params, &metadata, &[]).is_err());
    let metadata = Metadata { names: &["x".to_owned()], ..metadata };
    let error = export(&model(&Shape::SMALL), &metadata, &[]).unwrap_err();
    assert!(matches!(error, ExportError::Metadata { found: 0, expected: 2, .. }), "{error}");
}
