//! Models that the parser must refuse, or that must say that they have no prediction, each one accepted once.

use diffgp_core::blob::{Blob, KernelRecord, OutputRecord, PRELUDE_BYTES, ParseError, TargetRecord};
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
    export(
        &params,
        &Metadata { scaling: &scaling, names: &[], classes: &[], model_id: b"test", discretisation: None },
        &[],
    )
    .unwrap()
    .bytes
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

/// A file whose predictor has this many points, and where its tensors begin.
fn with_points(points: usize) -> (Vec<u8>, usize) {
    let shape = Shape { flow_inducing: 0, predictor_inducing: points, ..Shape::SMALL };
    let metadata =
        Metadata { scaling: &scaling(&shape), names: &[], classes: &[], model_id: b"", discretisation: None };
    let bytes = export(&model(&shape), &metadata, &[]).unwrap().bytes;
    let header = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let records = 4 * (KernelRecord::WORDS + OutputRecord::WORDS + TargetRecord::WORDS);
    (bytes, PRELUDE_BYTES + header.next_multiple_of(4) + records)
}

/// Why a file is refused once its checksum is right again.
fn refusal(mut bytes: Vec<u8>) -> Option<ParseError> {
    repair(&mut bytes);
    Model::parse(AlignedBytes::new(&bytes).as_slice()).err()
}

#[test]
fn padding_that_is_not_zero() {
    // Two inputs and six points: two rows of the last block of points, of directions and of coefficients are padding.
    let (bytes, tensors) = with_points(6);
    let points = tensors + 4 * (4 * 2 + 2);
    let directions = points + 4 * (2 * 8 + 6);
    let coefficients = directions + 4 * (6 * 8);
    assert_eq!(coefficients + 4 * 8 + 4, bytes.len());
    let mut padding = Vec::new();
    for (start, columns) in [(points, 2), (directions, 6), (coefficients, 1)] {
        padding.extend((0..columns).flat_map(|column| [6, 7].map(|row| start + 4 * (8 * column + row))));
    }
    for at in (points..bytes.len() - 4).step_by(4) {
        let mut changed = bytes.clone();
        changed[at + 2] ^= 1;
        let weights = (points + 4 * 16..directions).contains(&at);
        let expected = (padding.contains(&at) && !weights).then_some(ParseError::TensorValue);
        assert_eq!(refusal(changed), expected, "word {}", (at - points) / 4);
    }
}

#[test]
fn a_record_whose_tensor_is_elsewhere_or_that_has_other_bits() {
    let (bytes, tensors) = with_points(6);
    let kernel = tensors - 4 * (KernelRecord::WORDS + OutputRecord::WORDS + TargetRecord::WORDS);
    let output = kernel + 4 * KernelRecord::WORDS;
    // Places of scales, points, weights, directions and coefficients; the two bytes behind K2; an unknown element.
    let places = [kernel + 12, kernel + 16, output + 8, output + 12, output + 16];
    for at in places.into_iter().chain([kernel + 2, kernel + 3, kernel + 1, output + 2, output + 3]) {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            assert_eq!(refusal(changed), Some(ParseError::Record), "byte {}, bit {bit}", at - kernel);
        }
    }
    assert_eq!(refusal(bytes), None);
}

#[test]
fn a_path_of_more_work_than_is_allowed() {
    let bytes = file(|_, _| ());
    let aligned = AlignedBytes::new(&bytes);
    let work = Model::parse(aligned.as_slice()).unwrap().work_per_path().operations();
    assert!(Model::parse_within(aligned.as_slice(), work).is_ok());
    let refused = Model::parse_within(aligned.as_slice(), work - 1).unwrap_err();
    assert_eq!(refused, ParseError::TooMuchWork { operations: work as u32 });
}
