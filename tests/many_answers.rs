//! Several outputs, classes, and runs that are made piece by piece.

use diffgp_infer::{Error, Keyed, Likelihood, Model, Noise, Progress, Workspace};
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::evaluate::Answer;
use diffgp_train::export::{Metadata, export};
use diffgp_train::params::{Params, Process};
use proptest::prelude::*;

use crate::random_models::{Normals, Shape, input, model, scaling, shapes};

type Memory = Workspace<4, 64, 6>;

fn blob(shape: &Shape) -> AlignedBytes {
    blob_of(shape, &model(shape))
}

fn blob_of(shape: &Shape, params: &Params) -> AlignedBytes {
    let metadata = Metadata { scaling: &scaling(shape), names: &[], classes: &[], model_id: b"", discretisation: None };
    AlignedBytes::new(&export(params, &metadata, &[]).unwrap().bytes)
}

fn some_input(shape: &Shape) -> Vec<f32> {
    input(&scaling(shape), &mut Normals::new(shape.seed + 7))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_run_in_pieces_has_the_bits_of_one_in_one_go(shape in shapes()) {
        let bytes = blob(&shape);
        let model = Model::parse(bytes.as_slice()).unwrap();
        let x = some_input(&shape);
        let (mut one, mut other) = (Memory::new(), Memory::new());
        let paths = 3;
        let at_once = model.predict_sampled(&x, paths, &mut Keyed::new(4, 2), &mut one).unwrap();
        let mut noise = Keyed::new(4, 2);
        let mut run = model.begin(&x, paths, &mut noise, &mut other).unwrap();
        let mut pieces = 1;
        while run.advance().unwrap() == Progress::Pending {
            prop_assert!(run.prediction().is_err());
            pieces += 1;
        }
        // One piece for every output of a Gaussian process, and one for every class beyond two.
        let steps = model.steps();
        let answers = if model.likelihood() == Likelihood::Softmax { 2 * shape.outputs } else { shape.outputs };
        let of_path = steps * shape.inputs + answers;
        prop_assert_eq!(pieces, of_path * if steps == 0 { 1 } else { paths as usize });
        prop_assert_eq!(run.advance().unwrap(), Progress::Ready);
        prop_assert_eq!(run.prediction().unwrap(), at_once);
        prop_assert_eq!(run.finish().unwrap(), at_once);
        // And along the drift.
        let at_once = model.predict(&x, &mut one).unwrap();
        prop_assert_eq!(model.begin_drift(&x, &mut other).unwrap().finish().unwrap(), at_once);
    }

    #[test]
    fn memory_of_any_origin_gives_the_same_bits(shape in shapes()) {
        let bytes = blob(&shape);
        let model = Model::parse(bytes.as_slice()).unwrap();
        let x = some_input(&shape);
        let mut own = Memory::new();
        let expected = model.predict_sampled(&x, 2, &mut Keyed::new(1, 1), &mut own).unwrap();
        // What was there before does not matter.
        let mut words = vec![u32::MAX; model.workspace_words()];
        let mut slice = Workspace::in_slice(&mut words);
        prop_assert_eq!(model.predict_sampled(&x, 2, &mut Keyed::new(1, 1), &mut slice).unwrap(), expected);
        let mut short = vec![0; model.workspace_words() - 1];
        let mut slice = Workspace::in_slice(&mut short);
        let refused = model.predict(&x, &mut slice);
        let needed = Error::Capacity { inputs: model.inputs(), features: model.features(), outputs: model.outputs() };
        prop_assert_eq!(refused, Err(needed));
    }

    #[test]
    fn an_output_does_not_depend_on_the_others(shape in shapes()) {
        let shape = Shape { classifier: false, ..shape };
        let params = model(&shape);
        let bytes = blob(&shape);
        let all = Model::parse(bytes.as_slice()).unwrap();
        let x = some_input(&shape);
        let mut memory = Memory::new();
        let together = Answer::of(&all.predict_sampled(&x, 3, &mut Keyed::new(8, 0), &mut memory).unwrap());
        for o in 0..shape.outputs {
            let predictor = Process {
                inducing: params.predictor.inducing.clone(),
                kernels: vec![params.predictor.kernel(o).clone()],
                posteriors: vec![params.predictor.posteriors[o].clone()],
            };
            let noise = vec![params.likelihood.noise()[o]];
            let likelihood = diffgp_train::params::Likelihood::Gaussian { noise };
            let mut scaling = scaling(&shape);
            scaling.targets = vec![scaling.targets[o]];
            let alone = Params { predictor, likelihood, ..params.clone() };
            let metadata = Metadata { scaling: &scaling, names: &[], classes: &[], model_id: b"", discretisation: None };
            let bytes = AlignedBytes::new(&export(&alone, &metadata, &[]).unwrap().bytes);
            let model = Model::parse(bytes.as_slice()).unwrap();
            let prediction = model.predict_sampled(&x, 3, &mut Keyed::new(8, 0), &mut memory).unwrap();
            prop_assert_eq!(prediction.output(0), Some(together.outputs()[o]));
        }
    }
}

#[test]
fn probabilities_are_near_those_of_exhaustive_sampling() {
    let shape = Shape { classifier: true, outputs: 6, per_output: true, flow_inducing: 0, ..Shape::SMALL };
    let mut worst = 0.0_f64;
    for seed in 0..5 {
        let shape = Shape { seed, ..shape.clone() };
        let bytes = blob(&shape);
        let model = Model::parse(bytes.as_slice()).unwrap();
        let mut memory = Memory::new();
        let mut run = model.begin_drift(&some_input(&shape), &mut memory).unwrap();
        assert!(run.finish_path().unwrap());
        let latents: Vec<_> = run.latents().collect();
        let found: Vec<f32> = run.prediction().unwrap().probabilities().collect();
        // E[softmax(g)] by 200,000 draws: a standard error of at most 1.2e-3.
        let (mut noise, draws) = (Keyed::new(seed, 5), 200_000);
        let mut sums = [0.0; 6];
        for _ in 0..draws {
            let g: Vec<f64> = latents
                .iter()
                .map(|l| f64::from(l.mean) + f64::from(l.variance).sqrt() * f64::from(noise.normal()))
                .collect();
            let total: f64 = g.iter().map(|g| g.exp()).sum();
            sums.iter_mut().zip(&g).for_each(|(sum, g)| *sum += g.exp() / total);
        }
        for (found, sum) in found.iter().zip(sums) {
            worst = worst.max((f64::from(*found) - sum / f64::from(draws)).abs());
        }
    }
    // What the formula is off by, and the error of the draws; see `docs/derivations.md`.
    assert!(worst < 0.01, "{worst}");
}

#[test]
fn a_class_that_is_out_of_reach_has_no_probability_and_does_no_harm() {
    let shape = Shape { classifier: true, outputs: 3, flow_inducing: 0, ..Shape::SMALL };
    let mut params = model(&shape);
    params.predictor.posteriors[0].mean *= 1e4;
    params.predictor.posteriors[1].mean *= -1e4;
    let bytes = blob_of(&shape, &params);
    let model = Model::parse(bytes.as_slice()).unwrap();
    let mut memory = Memory::new();
    let p = model.predict(&some_input(&shape), &mut memory).unwrap();
    let probabilities: Vec<f32> = p.probabilities().collect();
    assert!((probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-6, "{probabilities:?}");
    let best = p.class().unwrap();
    assert!(probabilities[best] > 0.999 && probabilities.iter().all(|p| (0.0..=1.0).contains(p)), "{probabilities:?}");
    assert_eq!((p.probability(), p.interval(0.9), p.outputs().len()), (None, None, 3));
}

#[test]
fn the_first_output_is_what_the_short_names_speak_of() {
    let shape = Shape { outputs: 2, ..Shape::SMALL };
    let bytes = blob(&shape);
    let model = Model::parse(bytes.as_slice()).unwrap();
    let mut memory = Memory::new();
    let p = model.predict(&some_input(&shape), &mut memory).unwrap();
    let [first, second] = p.outputs().collect::<Vec<_>>()[..] else { panic!("two outputs") };
    assert_eq!((p.mean(), p.variance(), p.interval(0.5)), (first.mean(), first.variance(), first.interval(0.5)));
    assert_eq!((p.std_dev(), p.latent_variance()), (first.variance().sqrt(), first.latent_variance()));
    assert_eq!((p.output(1), p.output(2)), (Some(second), None));
    assert_ne!(first.mean(), second.mean());
    assert_eq!((p.class(), p.probability(), p.probabilities().len()), (None, None, 0));
    assert!(Workspace::<2, 6, 2>::fits(&model) && !Workspace::<2, 6>::fits(&model));
}
