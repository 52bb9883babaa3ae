//! Models that the parser must refuse, or that must say that they have no prediction, each one accepted once.

use diffgp_core::blob::{Blob, PRELUDE_BYTES, ParseError};
use diffgp_infer::{Error, Model, Workspace};
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::export::{Metadata, export};
use diffgp_train::params::Params;

use crate::fuzzed::repair::repair;
use crate::random_models::{Shape, model, scaling};

/// The model file of a small model without a flow, changed before it is written.
fn file(change: impl Fn(&mut Params, &mut diffgp_train::data::Scaling)) -> Vec<u8> {
    let shape = Shape { flow_inducing: 0, ..Shape::SMALL };
    let (mut params, mut scaling) = (model(&shape), scaling(&shape));
    params.flow = None;
    change(&mut params, &mut scaling);
    export(&params, &Metadata { scaling: &scaling, names: &[], classes: &[], model_id: b"test" }, &[]).unwrap().bytes
}

/// The bytes with one f32 replaced wherever it stands, and the checksum put right.
fn with_replaced(mut bytes: Vec<u8>, old: f32, new: f32) -> AlignedBytes {
    let places: Vec<usize> = (0..bytes.len() - 4).filter(|&at| bytes[at..at + 4] == old.to_le_bytes()).collect();
    assert!(!places.is_empty(), "{old} is not in the file");
    for at in places {
        bytes[at..at + 4].copy_from_slice(&new.to_le_bytes());
    }
    repair(&mut bytes);
    AlignedBytes::new(&bytes)
}

fn refused(bytes: &AlignedBytes) -> ParseError {
    Model::parse(bytes.as_slice()).expect_err("this model must be refused")
}

#[test]
fn a_range_that_ends_before_it_begins() {
    let bytes = file(|_, scaling| (scaling.ranges[0].min, scaling.ranges[0].max) = (-3.125, 7.25));
    Model::parse(AlignedBytes::new(&bytes).as_slice()).unwrap();
    assert_eq!(refused(&with_replaced(bytes, 7.25, -4.5)), ParseError::TensorValue);
}

#[test]
fn a_target_scale_at_which_a_variance_underflows() {
    let bytes = file(|_, scaling| scaling.targets[0].scale = 12.75);
    for scale in [1e-20, 1e-29, 1e25] {
        let refusal = refused(&with_replaced(bytes.clone(), 12.75, scale));
        assert_eq!(refusal, ParseError::Record, "{scale:e}");
    }
    for scale in [1e-15, 1e18] {
        Model::parse(with_replaced(bytes.clone(), 12.75, scale).as_slice()).unwrap();
    }
}

#[test]
fn a_variance_that_overflows_is_no_small_error_bar() {
    // One direction so long that its projection overflows: 1 − ∞ must not become the floor.
    let mut bytes = file(|_, _| ());
    let aligned = AlignedBytes::new(&bytes);
    let parsed = Blob::parse(aligned.as_slice()).unwrap();
    let output = parsed.predictor_output(0).unwrap();
    let coefficient = output.coefficients[0].abs();
    let direction = output.directions.get(0).unwrap() as f32;
    assert!(coefficient > 0.0 && direction != 0.0);
    for value in [output.coefficients[0], direction] {
        let places: Vec<usize> =
            (0..bytes.len() - 4).step_by(4).filter(|&at| bytes[at..at + 4] == value.to_le_bytes()).collect();
        places.into_iter().for_each(|at| bytes[at..at + 4].copy_from_slice(&1e30_f32.to_le_bytes()));
    }
    repair(&mut bytes);
    let aligned = AlignedBytes::new(&bytes);
    let model = Model::parse(aligned.as_slice()).unwrap();
    let mut workspace = Workspace::<8, 64>::new();
    let x: Vec<f32> = (0..model.inputs()).map(|index| parsed.input(index).unwrap().mean).collect();
    assert_eq!(model.predict(&x, &mut workspace).unwrap_err(), Error::NotFinite);
}

#[test]
fn the_length_of_a_model_that_is_arriving_does_not_depend_on_the_address() {
    let bytes = file(|_, _| ());
    // One byte behind a multiple of four.
    let mut shifted = vec![0; 1];
    shifted.extend_from_slice(&bytes[..PRELUDE_BYTES]);
    let aligned = AlignedBytes::new(&shifted);
    assert_eq!(Blob::length_from_prelude(&aligned.as_slice()[1..]), Ok(bytes.len()));
    let whole = AlignedBytes::new(&bytes);
    assert_eq!(Blob::length_from_prelude(whole.as_slice()), Ok(bytes.len()));
}
