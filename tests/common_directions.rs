//! Outputs whose posteriors are closed forms on one kernel: the file holds their directions once.

use diffgp_core::blob::{KernelRecord, OutputRecord, PRELUDE_BYTES, ParseError};
use diffgp_infer::{Model, Workspace};
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::export::{Metadata, export};
use diffgp_train::params::{Params, Posterior, Process};
use nalgebra::DMatrix;

use crate::fuzzed::repair::repair;
use crate::random_models::{Normals, Shape, input, model, scaling};
use crate::tolerances::{RUNTIME_MEAN, RUNTIME_VARIANCE};

const OUTPUTS: usize = 3;
const SHAPE: Shape = Shape { flow_inducing: 0, predictor_inducing: 20, outputs: OUTPUTS, ..Shape::SMALL };

/// Three outputs with q(v_o) = N(m_o, (I + G/σ_o²)⁻¹).
fn closed_form() -> Params {
    let mut params = model(&SHAPE);
    let root = Normals::new(9).matrix(20, 20);
    for (o, posterior) in params.predictor.posteriors.iter_mut().enumerate() {
        let precision = DMatrix::identity(20, 20) + &root * root.transpose() * (0.3 + o as f64);
        posterior.factor = precision.cholesky().unwrap().inverse().cholesky().unwrap().l();
    }
    params
}

fn file(params: &Params, outputs: usize) -> Vec<u8> {
    let scaling = scaling(&Shape { outputs, ..SHAPE });
    let metadata = Metadata { scaling: &scaling, names: &[], classes: &[], model_id: b"", discretisation: None };
    export(params, &metadata, &[]).unwrap().bytes
}

/// The model with output `o` alone.
fn alone(params: &Params, o: usize) -> Params {
    let diffgp_train::params::Likelihood::Gaussian { noise } = &params.likelihood else { unreachable!() };
    let likelihood = diffgp_train::params::Likelihood::Gaussian { noise: vec![noise[o]] };
    let posterior: Posterior = params.predictor.posteriors[o].clone();
    Params {
        predictor: Process { posteriors: vec![posterior], ..params.predictor.clone() },
        likelihood,
        ..params.clone()
    }
}

#[test]
fn they_take_the_space_of_one_and_predict_as_models_of_their_own() {
    let params = closed_form();
    let together = file(&params, OUTPUTS);
    let apart: Vec<AlignedBytes> = (0..OUTPUTS).map(|o| AlignedBytes::new(&file(&alone(&params, o), 1))).collect();
    // Directions of 20 points in three blocks of eight, four bytes each, two times less.
    let mut others = params.clone();
    others.predictor.posteriors[1].factor[(5, 2)] += 0.3;
    others.predictor.posteriors[2].factor[(5, 2)] -= 0.3;
    assert_eq!(file(&others, OUTPUTS).len() - together.len(), 2 * 4 * 24 * 20);

    let together = AlignedBytes::new(&together);
    let model = Model::parse(together.as_slice()).unwrap();
    let mut normals = Normals::new(4);
    let (mut workspace, mut of_one) = (Workspace::<2, 20, 3>::new(), Workspace::<2, 20>::new());
    for _ in 0..50 {
        let x = input(&scaling(&SHAPE), &mut normals);
        let answer = model.predict(&x, &mut workspace).unwrap();
        for (o, apart) in apart.iter().enumerate() {
            let expected = Model::parse(apart.as_slice()).unwrap();
            let expected = expected.predict(&x, &mut of_one).unwrap();
            // Raw units differ: the scalings are of as many targets.
            let target = model.blob().target(o);
            let mean = |mean: f32, scale: f32, offset: f32| f64::from((mean - offset) / scale);
            let output = answer.outputs().nth(o).unwrap();
            let of_one = Model::parse(apart.as_slice()).unwrap().blob().target(0);
            let difference =
                mean(output.mean(), target.scale, target.mean) - mean(expected.mean(), of_one.scale, of_one.mean);
            assert!(difference.abs() < RUNTIME_MEAN, "{difference}");
            let ratio = f64::from(output.variance() / target.scale.powi(2))
                / f64::from(expected.variance() / of_one.scale.powi(2));
            assert!((ratio - 1.0).abs() < RUNTIME_VARIANCE, "{ratio}");
        }
    }
}

#[test]
fn only_those_of_the_output_before_and_of_as_many_are_taken() {
    let mut bytes = file(&closed_form(), OUTPUTS);
    let header = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let records = PRELUDE_BYTES + header.next_multiple_of(4) + 4 * KernelRecord::WORDS;
    let record = |o: usize| records + 4 * OutputRecord::WORDS * o;
    let refusal = |at: usize, change: u8| {
        let mut changed = bytes.clone();
        changed[at] ^= change;
        repair(&mut changed);
        Model::parse(AlignedBytes::new(&changed).as_slice()).err()
    };
    assert_eq!(refusal(record(2), 0), None);
    for o in 1..OUTPUTS {
        // O6 a word further; O1 one less; O3 of another type.
        for at in [record(o) + 12, record(o), record(o) + 3] {
            assert_eq!(refusal(at, 1), Some(ParseError::Record), "byte {} of output {o}", at - record(o));
        }
    }
    // The third has those of the first, the second its own: not in this order.
    let second = bytes[record(1) + 8..][..4].to_vec();
    bytes[record(1) + 12..][..4].copy_from_slice(&second);
    repair(&mut bytes);
    assert_eq!(Model::parse(AlignedBytes::new(&bytes).as_slice()).err(), Some(ParseError::Record));
}
