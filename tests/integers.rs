//! Models that are evaluated in integers against what they were made from: bounds at any state, whole predictions, inputs
//! far outside, and what is refused.

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use diffgp_infer::{Error, Keyed, Model, Prediction, Workspace};
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::compress::{Certificate, CompressError, Goal, NotFixed, compress, made_up_inputs};
use diffgp_train::export::{Metadata, export};
use diffgp_train::threads::Threads;

use crate::certified::{Device, Plain, worst_state};
use crate::random_models::{Shape, model, scaling};
use crate::stored_models;
use crate::tolerances::{FIXED_MEAN, FIXED_PROBABILITY, FIXED_VARIANCE, RAW_MEAN, RAW_VARIANCE};

type Memory = Workspace<64, 1024, 32>;

const STORED: [&str; 6] = ["v2-power", "v2-power-shared", "v2-concrete-temporal", "v2-higgs", "v2-iris", "v2-energy2"];

/// A stored model and its form in integers.
fn stored(name: &str) -> [AlignedBytes; 2] {
    [name.to_owned(), format!("{name}-integers")]
        .map(|name| AlignedBytes::new(&std::fs::read(stored_models::path(&name)).unwrap()))
}

fn to_integers(original: &AlignedBytes) -> Result<AlignedBytes, CompressError> {
    let inputs = made_up_inputs(&Model::parse(original.as_slice()).unwrap());
    let goal = Goal { integers: true, ..Goal::default() };
    let threads = Threads::new(1).unwrap();
    let small = compress(original.as_slice(), &inputs, &goal, &|_| 1, &mut |_| (), &threads)?;
    Ok(AlignedBytes::new(&small.bytes))
}

/// A random model of this shape and its form in integers.
fn random(shape: &Shape, scheme: Scheme) -> [AlignedBytes; 2] {
    let (mut params, scaling) = (model(shape), scaling(shape));
    params.flow.iter_mut().for_each(|flow| flow.scheme = scheme);
    let metadata = Metadata { scaling: &scaling, names: &[], classes: &[], model_id: b"test", discretisation: None };
    let original = AlignedBytes::new(&export(&params, &metadata, &[]).unwrap().bytes);
    let integers = to_integers(&original).unwrap();
    [original, integers]
}

/// Every combination that differs in the runtime.
fn shapes() -> Vec<(Shape, Scheme)> {
    let base = Shape { flow_inducing: 13, predictor_inducing: 17, ..Shape::SMALL };
    vec![
        (base.clone(), Scheme::EulerMaruyama),
        (Shape { seed: 2, ..base.clone() }, Scheme::Midpoint),
        (Shape { per_dimension: false, inputs: 3, seed: 3, ..base.clone() }, Scheme::Midpoint),
        (Shape { per_dimension: false, outputs: 3, per_output: true, seed: 4, ..base.clone() }, Scheme::EulerMaruyama),
        (Shape { inducing_times: 2, seed: 5, ..base.clone() }, Scheme::EulerMaruyama),
        (Shape { flow_inducing: 0, outputs: 2, seed: 6, ..base.clone() }, Scheme::EulerMaruyama),
        (Shape { kind: KernelKind::Matern32, seed: 7, ..base.clone() }, Scheme::EulerMaruyama),
        (Shape { kind: KernelKind::Matern52, seed: 8, ..base.clone() }, Scheme::Midpoint),
        (Shape { kind: KernelKind::Matern32, flow_inducing: 0, outputs: 2, seed: 9, ..base }, Scheme::EulerMaruyama),
    ]
}

#[test]
fn no_state_is_found_at_which_integers_break_their_bounds() {
    let stored = STORED.iter().map(|name| (name.to_string(), stored(name)));
    let random = shapes().into_iter().map(|(shape, scheme)| (format!("{shape:?}"), random(&shape, scheme)));
    for (name, [original, integers]) in stored.chain(random) {
        let certificate = Certificate::read(integers.as_slice()).unwrap();
        let (found, worst) = worst_state(&certificate, &mut Device::new(&integers), &Plain::new(&original), 1500, 150);
        println!("{found:.4} {worst:.4} {name}");
        assert!(worst <= 1.0, "{name}: {worst}");
        // The bounds are those of the worst of everything at once, but something was compared.
        assert!(worst > 1e-4, "{name}: {worst}");
    }
}

/// The largest differences of mean (in deviations of the target), variance with noise (relative) and probabilities.
fn differences(original: &AlignedBytes, integers: &AlignedBytes, rows: u32, sampled: bool) -> [f64; 3] {
    let models = [original, integers].map(|bytes| Model::parse(bytes.as_slice()).unwrap());
    assert!(!models[0].is_fixed() && models[1].is_fixed());
    let (mut one, mut other) = (Memory::new(), Memory::new());
    let mut worst = [0.0_f64; 3];
    for row in 0..rows {
        let x = stored_models::input(&models[0], row);
        let predict = |model: &'_ Model<'_>, memory: &mut Memory| -> Vec<[f64; 3]> {
            let answer = |p: Prediction<'_>| {
                let outputs = p.outputs().enumerate();
                let numbers = outputs.map(|(o, output)| {
                    let scale = f64::from(model.blob().target(o).scale);
                    let probability = p.probabilities().nth(o).unwrap_or(0.0);
                    [f64::from(output.mean()) / scale, output.variance().into(), probability.into()]
                });
                numbers.collect()
            };
            match sampled {
                true => answer(model.predict_sampled(&x, 4, &mut Keyed::new(7, row), memory).unwrap()),
                false => answer(model.predict(&x, memory).unwrap()),
            }
        };
        let (before, after) = (predict(&models[0], &mut one), predict(&models[1], &mut other));
        for ([m, v, p], [mean, variance, probability]) in before.into_iter().zip(after) {
            let found = [(mean - m).abs(), (variance / v - 1.0).abs(), (probability - p).abs()];
            worst.iter_mut().zip(found).for_each(|(worst, found)| *worst = worst.max(found));
        }
    }
    worst
}

#[test]
fn predictions_in_integers_are_those_in_singles() {
    for name in STORED {
        let [original, integers] = stored(name);
        for sampled in [false, true] {
            let [mean, variance, probability] = differences(&original, &integers, 100, sampled);
            println!("{name}, sampled {sampled}: {mean:.1e} {variance:.1e} {probability:.1e}");
            assert!(mean < FIXED_MEAN, "{name}: mean {mean:e}");
            assert!(variance < FIXED_VARIANCE, "{name}: variance {variance:e}");
            assert!(probability < FIXED_PROBABILITY, "{name}: probability {probability:e}");
        }
    }
}

#[test]
fn both_schemes_and_every_shape_end_where_singles_end() {
    for (shape, scheme) in shapes() {
        let [original, integers] = random(&shape, scheme);
        for sampled in [false, true] {
            let [mean, variance, _] = differences(&original, &integers, 40, sampled);
            println!("{scheme:?}, sampled {sampled}: {mean:.1e} {variance:.1e} {shape:?}");
            assert!(mean < FIXED_MEAN && variance < FIXED_VARIANCE, "{shape:?}: {mean:e} {variance:e}");
        }
    }
}

#[test]
fn far_outside_there_is_the_prior_as_in_singles() {
    let [original, integers] = stored("v2-power");
    let models = [&original, &integers].map(|bytes| Model::parse(bytes.as_slice()).unwrap());
    let (mut one, mut other) = (Memory::new(), Memory::new());
    // Beyond the box, beyond what Q24 holds, and beyond what f32 holds of distances.
    for far in [40.0_f32, 1e3, 1e9, 1e20] {
        for sign in [1.0, -1.0] {
            let inputs = (0..4).filter_map(|index| models[0].blob().input(index));
            let x: Vec<f32> = inputs.map(|input| input.mean + sign * far / input.scale).collect();
            let (before, after) =
                (models[0].predict(&x, &mut one).unwrap(), models[1].predict(&x, &mut other).unwrap());
            assert_eq!(after.mean(), before.mean(), "{far}");
            assert!((after.variance() / before.variance() - 1.0).abs() < 1e-6, "{far}");
            assert_eq!(after.out_of_range(), before.out_of_range());
        }
    }
    let refused = models[1].predict(&[f32::NAN, 0.0, 0.0, 0.0], &mut one);
    assert!(matches!(refused, Err(Error::InputNotFinite { index: 0 })));
}

/// Beyond the box Matérn correlations fall off slowly, and the saturating sums must follow them down to nothing.
#[test]
fn outside_of_the_box_rough_kernels_follow_singles() {
    for kind in [KernelKind::Matern32, KernelKind::Matern52] {
        let shape = Shape { kind, flow_inducing: 0, predictor_inducing: 17, ..Shape::SMALL };
        let [original, integers] = random(&shape, Scheme::EulerMaruyama);
        let models = [&original, &integers].map(|bytes| Model::parse(bytes.as_slice()).unwrap());
        let (mut one, mut other) = (Memory::new(), Memory::new());
        for far in [2.0_f32, 4.0, 8.0, 12.0, 16.0, 32.0, 64.0, 1e9] {
            let inputs = (0..shape.inputs).filter_map(|index| models[0].blob().input(index));
            let x: Vec<f32> = inputs.map(|input| input.mean + far / input.scale).collect();
            let before = models[0].predict(&x, &mut one).unwrap();
            let after = models[1].predict(&x, &mut other).unwrap();
            let scale = models[0].blob().target(0).scale;
            assert!((after.mean() - before.mean()).abs() / scale < FIXED_MEAN as f32, "{kind:?} {far}");
            assert!((after.variance() / before.variance() - 1.0).abs() < FIXED_VARIANCE as f32, "{kind:?} {far}");
        }
    }
}

#[test]
fn in_pieces_the_bits_are_those_of_one_go() {
    let [_, integers] = stored("v2-power-shared");
    let model = Model::parse(integers.as_slice()).unwrap();
    let (mut one, mut other) = (Memory::new(), Memory::new());
    for row in 0..10 {
        let x = stored_models::input(&model, row);
        let whole = model.predict_sampled(&x, 3, &mut Keyed::new(1, row), &mut one).unwrap();
        let mut noise = Keyed::new(1, row);
        let mut run = model.begin(&x, 3, &mut noise, &mut other).unwrap();
        let start = run.state().to_vec();
        while run.advance().unwrap().is_pending() {}
        assert_ne!(run.state(), start);
        assert_eq!(run.prediction().unwrap(), whole);
    }
}

/// The same prediction by two ways: with singles at its ends, and without.
#[test]
fn fixed_point_numbers_in_and_out_are_those_of_singles() {
    const DIGITS: u32 = 10;
    let unit = f64::from(1 << DIGITS);
    for name in ["v2-power", "v2-power-shared", "v2-concrete-temporal", "v2-energy2"] {
        let [original, integers] = stored(name);
        let model = Model::parse(integers.as_slice()).unwrap();
        let (mut one, mut other) = (Memory::new(), Memory::new());
        for row in 0..50 {
            // Far outside of the ranges, too.
            let size = if row < 45 { 1.0 } else { 30.0 };
            let raw: Vec<i32> =
                stored_models::input(&model, row).iter().map(|x| (f64::from(*x) * size * unit) as i32).collect();
            let x: Vec<f32> = raw.iter().map(|&x| (f64::from(x) / unit) as f32).collect();
            for sampled in [false, true] {
                let mut noise = [Keyed::new(3, row), Keyed::new(3, row)];
                let [a, b] = &mut noise;
                let (singles, fixed) = match sampled {
                    true => (
                        model.predict_sampled(&x, 5, a, &mut one).unwrap(),
                        model.predict_raw_sampled(&raw, DIGITS, 5, b, &mut other).unwrap(),
                    ),
                    false => {
                        (model.predict(&x, &mut one).unwrap(), model.predict_raw(&raw, DIGITS, &mut other).unwrap())
                    }
                };
                assert_eq!(fixed.out_of_range(), singles.out_of_range(), "{name} {row}");
                assert_eq!(fixed.outputs().count(), model.outputs());
                for (index, (fixed, single)) in fixed.outputs().zip(singles.outputs()).enumerate() {
                    let scale = f64::from(model.blob().target(index).scale);
                    let (mean, deviation) =
                        (f64::from(fixed.mean(DIGITS)) / unit, f64::from(fixed.std_dev(16)) / 65536.0);
                    let variance = fixed.variance(16) as f64 / 65536.0;
                    let off = (mean - f64::from(single.mean())).abs() - 0.5 / unit;
                    assert!(off / scale < RAW_MEAN, "{name} {row} {sampled}: {mean} {}", single.mean());
                    let off = (variance / f64::from(single.variance()) - 1.0).abs();
                    assert!(off < RAW_VARIANCE, "{name} {row} {sampled}: {variance} {}", single.variance());
                    assert!((deviation * deviation / variance - 1.0).abs() < 1e-4, "{deviation} {variance}");
                }
            }
        }
        let x = vec![0; model.inputs() + 1];
        assert!(matches!(model.predict_raw(&x, 0, &mut one), Err(Error::InputLength { .. })));
        assert!(matches!(
            model.predict_raw_sampled(&x[1..], 0, 0, &mut Keyed::new(0, 0), &mut one),
            Err(Error::NoPaths)
        ));
        // Whatever the numbers.
        for extreme in [i32::MIN, -1, i32::MAX] {
            for digits in [0, 31, u32::MAX] {
                let x = vec![extreme; model.inputs()];
                let output = model.predict_raw(&x, digits, &mut one).unwrap().output(0).unwrap();
                let _ = (output.mean(digits), output.std_dev(digits), output.variance(digits));
            }
        }
        let floats = Model::parse(original.as_slice()).unwrap();
        assert!(matches!(floats.predict_raw(&x[1..], 0, &mut one), Err(Error::NotRaw)));
    }
    let [_, classes] = stored("v2-iris");
    let model = Model::parse(classes.as_slice()).unwrap();
    assert!(matches!(model.predict_raw(&[0; 4], 0, &mut Memory::new()), Err(Error::NotRaw)));
}

#[test]
fn what_integers_cannot_hold_is_refused() {
    let scaling = scaling(&Shape::SMALL);
    let metadata = Metadata { scaling: &scaling, names: &[], classes: &[], model_id: b"test", discretisation: None };
    // Points that are 1e5 length-scales apart.
    let mut params = model(&Shape::SMALL);
    params.predictor.kernels.iter_mut().for_each(|kernel| kernel.length_scales.fill(1e-5));
    let original = AlignedBytes::new(&export(&params, &metadata, &[]).unwrap().bytes);
    assert!(matches!(to_integers(&original), Err(CompressError::NotFixed(NotFixed::Points))));
}
