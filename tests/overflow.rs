//! Models whose numbers are allowed, but too large for a prediction: withheld, never a confident guess.

use diffgp_core::blob::layout::{BLOCK, padded};
use diffgp_infer::{Error, Keyed, Model, Workspace};
use diffgp_train::export::{Metadata, export};

use crate::fuzzed::repair::repair;
use crate::random_models::{Shape, model, scaling};
use crate::region::Region;

const SHAPE: Shape = Shape::SMALL;

/// The small model with the directions of one output so large, and coefficients of both signs, that the explained
/// variance is ∞ − ∞. The output's tensors end `behind` singles before the checksum.
fn with_cancelling_infinities(features: usize, behind: usize) -> Region {
    let metadata =
        Metadata { scaling: &scaling(&SHAPE), names: &[], classes: &[], model_id: b"", discretisation: None };
    let mut region = Region::new(&export(&model(&SHAPE), &metadata, &[]).unwrap().bytes);
    let bytes = region.bytes_mut();
    let coefficients = bytes.len() - 4 - 4 * behind - 4 * BLOCK;
    let directions = coefficients - 4 * BLOCK * features;
    // As many directions as features; the rest of the block stays zero.
    for (_, at) in (directions..coefficients).step_by(4).enumerate().filter(|(index, _)| index % BLOCK < features) {
        bytes[at..at + 4].copy_from_slice(&1e30_f32.to_le_bytes());
    }
    for (index, at) in (coefficients..coefficients + 4 * BLOCK).step_by(4).enumerate().take(features) {
        let sign = if index % 2 == 0 { 1.0_f32 } else { -1.0 };
        bytes[at..at + 4].copy_from_slice(&sign.to_le_bytes());
    }
    repair(bytes);
    region
}

#[test]
fn a_predictor_whose_variance_overflows_predicts_nothing() {
    let region = with_cancelling_infinities(SHAPE.predictor_inducing, 0);
    let model = Model::parse(region.bytes()).expect("finite numbers are allowed");
    let x = model.blob().input(0).unwrap().mean;
    assert_eq!(model.predict(&[x, x], &mut Workspace::<2, 8>::new()), Err(Error::NotFinite));
}

#[test]
fn a_flow_whose_diffusion_overflows_predicts_along_the_drift_only() {
    // Behind the last output of the flow: the predictor's scales, points and output.
    let (d, m) = (SHAPE.inputs, SHAPE.predictor_inducing);
    let behind = d + padded(m) * d + m + BLOCK * m + BLOCK;
    let region = with_cancelling_infinities(SHAPE.flow_inducing, behind);
    let model = Model::parse(region.bytes()).expect("finite numbers are allowed");
    let x = model.blob().input(0).unwrap().mean;
    let mut workspace = Workspace::<2, 8>::new();
    assert!(model.predict(&[x, x], &mut workspace).is_ok());
    let sampled = model.predict_sampled(&[x, x], 1, &mut Keyed::new(0, 0), &mut workspace);
    assert_eq!(sampled, Err(Error::NotFinite));

    // Step by step, by a caller who does not look at errors: no step is taken, and there is nothing to predict from.
    let mut noise = Keyed::new(0, 0);
    let mut flow = model.begin(&[x, x], 1, &mut noise, &mut workspace).unwrap();
    assert_eq!(flow.field(&mut [0.0; 2], &mut [0.0; 2]), Err(Error::NotFinite));
    let (steps, start) = (flow.steps(), flow.state().to_vec());
    for _ in 0..2 * steps {
        assert_eq!(flow.step(), Err(Error::NotFinite));
    }
    assert_eq!(flow.state(), start);
    assert_eq!(flow.prediction(), Err(Error::Unfinished { paths: 1 }));
}
