//! Laws of the blob: what is written is read, and what was damaged is refused.

use diffgp_core::blob::{self, Blob, ParseError, checksum, stored_checksum};
use diffgp_infer::{Keyed, Model, Workspace};
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::data::{Affine, Scaling};
use diffgp_train::evaluate::Answer;
use diffgp_train::exact::Exact;
use diffgp_train::export::{Exported, Metadata, export};
use diffgp_train::likelihood::Latent;
use diffgp_train::params::{Likelihood, Params};
use proptest::prelude::*;

use crate::random_models::{Normals, Shape, classes, input, model, names, scaling, shapes};
use crate::tolerances::{RUNTIME_MEAN, RUNTIME_PROBABILITY, RUNTIME_VARIANCE};

fn exported(shape: &Shape) -> (Params, Scaling, Exported) {
    let (params, scaling) = (model(shape), scaling(shape));
    let mut normals = Normals::new(shape.seed + 2);
    let rows: Vec<f32> = (0..4).flat_map(|_| input(&scaling, &mut normals)).collect();
    let names = names(shape);
    let metadata = Metadata {
        scaling: &scaling,
        names: &names,
        classes: &classes(shape),
        model_id: b"test",
        discretisation: None,
    };
    let exported = export(&params, &metadata, &rows).unwrap();
    (params, scaling, exported)
}

/// Parses, and predicts with whatever parsed: nothing may panic, and no prediction may hold a NaN.
fn exercise(bytes: &[u8]) {
    let aligned = AlignedBytes::new(bytes);
    for model in [Model::parse(aligned.as_slice()), Model::parse_trusted(aligned.as_slice())].into_iter().flatten() {
        let (mut one, mut other) = (Workspace::<64, 1024, 32>::new(), Workspace::<64, 1024, 32>::new());
        let x = vec![0.5; model.inputs()];
        let sampled = model.predict_sampled(&x, 2, &mut Keyed::new(1, 0), &mut one);
        for prediction in [model.predict(&x, &mut other), sampled].into_iter().flatten() {
            assert!(prediction.mean().is_finite() && prediction.variance().is_finite());
            assert!(prediction.probability().is_none_or(|p| (0.0..=1.0).contains(&p)), "{prediction:?}");
        }
    }
}

/// Sets the length field and the checksum to what the bytes are, so that a change gets past both.
fn repair(bytes: &mut [u8]) {
    let total = bytes.len();
    bytes[8..12].copy_from_slice(&(total as u32).to_le_bytes());
    let crc = checksum(&bytes[..total - 4]);
    bytes[total - 4..].copy_from_slice(&crc.to_le_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_written_is_read(shape in shapes()) {
        let (params, scaling, exported) = exported(&shape);
        let aligned = AlignedBytes::new(&exported.bytes);
        let blob = Blob::parse(aligned.as_slice()).unwrap();
        let header = blob.header();
        prop_assert_eq!(usize::from(header.inputs), shape.inputs);
        prop_assert_eq!(f64::from(header.flow_time), params.flow_time());
        prop_assert_eq!(usize::from(header.steps), params.flow.as_ref().map_or(0, |flow| flow.steps));
        prop_assert_eq!(usize::from(header.flow_inducing), shape.flow_inducing);
        prop_assert_eq!(usize::from(header.predictor_inducing), shape.predictor_inducing);
        prop_assert_eq!(usize::from(header.flow_kernels), params.flow.as_ref().map_or(0, |flow| flow.field.kernels.len()));
        prop_assert_eq!((usize::from(header.outputs), header.class_count()), (shape.outputs, shape.classes()));
        if let Likelihood::Bernoulli { epsilon } = params.likelihood {
            prop_assert_eq!(header.epsilon, epsilon as f32);
        }
        for (o, affine) in scaling.targets.iter().enumerate() {
            let target = blob.target(o);
            prop_assert_eq!((target.mean, target.scale), (affine.mean, affine.scale));
            prop_assert_eq!(target.noise, params.likelihood.noise().get(o).copied().unwrap_or(0.0) as f32);
        }
        prop_assert!(blob.classes().eq(classes(&shape)));
        prop_assert_eq!(header.model_id, b"test");
        prop_assert_eq!(header.checked_rows, 4);
        prop_assert_eq!(header.mean_error, exported.errors.mean as f32);
        prop_assert_eq!(header.variance_error, exported.errors.variance as f32);
        prop_assert!(blob.names().eq(names(&shape)));
        for (index, (affine, range)) in scaling.inputs.iter().zip(&scaling.ranges).enumerate() {
            let input = blob.input(index).unwrap();
            prop_assert_eq!((input.mean, input.low, input.high), (affine.mean, range.min, range.max));
            prop_assert_eq!(input.scale, (1.0 / f64::from(affine.scale)) as f32);
        }
        prop_assert!(blob.input(shape.inputs).is_none());
        for o in 0..shape.outputs {
            let kernel = blob.predictor_kernel(o).unwrap();
            prop_assert_eq!((kernel.kind, kernel.variance), (shape.kind, params.predictor.kernel(o).variance as f32));
        }
        prop_assert!(blob.predictor_output(shape.outputs).is_none());
    }

    #[test]
    fn what_is_read_predicts_like_what_was_written(shape in shapes()) {
        let (params, scaling, exported) = exported(&shape);
        prop_assert!(exported.errors.mean < RUNTIME_MEAN, "{:?}", exported.errors);
        prop_assert!(exported.errors.variance < RUNTIME_VARIANCE, "{:?}", exported.errors);
        // Once more without the export's own comparison: raw units in, raw units out.
        let aligned = AlignedBytes::new(&exported.bytes);
        let model = Model::parse(aligned.as_slice()).unwrap();
        let exact = Exact::new(&params).unwrap();
        let mut workspace = Workspace::<4, 64, 6>::new();
        let x = input(&scaling, &mut Normals::new(shape.seed + 3));
        let standardised: Vec<f64> = x.iter().zip(&scaling.inputs)
            .map(|(x, a)| (f64::from(*x) - f64::from(a.mean)) / f64::from(a.scale)).collect();
        let path = exact.path(&standardised, None);
        let expected = exact.predict(&path[path.len() - 1]);
        let prediction = model.predict(&x, &mut workspace).unwrap();
        prop_assert_eq!(prediction.outputs().len(), shape.outputs);
        for (o, (output, expected)) in prediction.outputs().zip(&expected).enumerate() {
            let target = scaling.targets.get(o).filter(|_| !shape.classifier).copied().unwrap_or(Affine::IDENTITY);
            let scale = f64::from(target.scale);
            let mean = f64::from(target.mean) + scale * expected.mean;
            prop_assert!((f64::from(output.mean()) - mean).abs() < RUNTIME_MEAN * scale);
            let noise = params.likelihood.noise().get(o).copied().unwrap_or(0.0);
            let variance = scale * scale * (expected.variance + noise);
            prop_assert!((f64::from(output.variance()) - variance).abs() < RUNTIME_VARIANCE * variance);
        }
        // Probabilities, by the trainer's own double-precision formula.
        let (means, variances): (Vec<f64>, Vec<f64>) = expected.iter().map(|e| (e.mean, e.variance)).unzip();
        let mut probabilities = vec![0.0; shape.classes()];
        let at = Latent { mean: &means, variance: &variances };
        params.likelihood.with(|density| density.probabilities(at, &mut probabilities));
        prop_assert_eq!(prediction.probabilities().len(), shape.classes());
        for (found, expected) in prediction.probabilities().zip(&probabilities) {
            prop_assert!((f64::from(found) - expected).abs() < RUNTIME_PROBABILITY, "{found} {expected}");
        }
        let largest = |class: &usize| probabilities.iter().all(|p| *p <= probabilities[*class] + RUNTIME_PROBABILITY);
        prop_assert!(prediction.class().as_ref().is_none_or(largest));
    }

    #[test]
    fn a_prefix_is_refused(shape in shapes()) {
        let bytes = exported(&shape).2.bytes;
        for length in 0..bytes.len() {
            let aligned = AlignedBytes::new(&bytes[..length]);
            let refused = matches!(Blob::parse(aligned.as_slice()), Err(ParseError::Truncated { found, .. }) if found == length);
            prop_assert!(refused, "prefix of {length} bytes");
            prop_assert_eq!(stored_checksum(&bytes[..length]), None);
        }
    }

    #[test]
    fn a_flipped_bit_is_refused(shape in shapes(), at in any::<prop::sample::Index>()) {
        let mut bytes = exported(&shape).2.bytes;
        let bit = at.index(8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
        let aligned = AlignedBytes::new(&bytes);
        prop_assert!(Blob::parse(aligned.as_slice()).is_err(), "bit {bit}");
    }

    #[test]
    fn a_flipped_bit_behind_a_repaired_checksum_is_refused_or_harmless(
        shape in shapes(), flips in proptest::collection::vec(any::<prop::sample::Index>(), 1..4)
    ) {
        let mut bytes = exported(&shape).2.bytes;
        for at in flips {
            let bit = at.index(8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        repair(&mut bytes);
        exercise(&bytes);
    }

    #[test]
    fn a_changed_header_behind_a_repaired_checksum_is_refused_or_harmless(
        shape in shapes(), at in 12..200_usize, byte in any::<u8>()
    ) {
        let mut bytes = exported(&shape).2.bytes;
        let at = at.min(bytes.len() - 5);
        bytes[at] = byte;
        repair(&mut bytes);
        exercise(&bytes);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        exercise(&bytes);
    }

    #[test]
    fn arbitrary_bytes_behind_a_valid_prelude_never_panic(
        mut bytes in proptest::collection::vec(any::<u8>(), 24..600), header in 0..100_u32
    ) {
        bytes.truncate(bytes.len() / 4 * 4);
        bytes[..4].copy_from_slice(&blob::MAGIC);
        bytes[4..8].copy_from_slice(&blob::FORMAT_VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&header.to_le_bytes());
        repair(&mut bytes);
        exercise(&bytes);
    }
}

#[test]
fn every_flipped_bit_of_a_small_blob_is_refused() {
    let bytes = exported(&Shape::SMALL).2.bytes;
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(Blob::parse(AlignedBytes::new(&damaged).as_slice()).is_err(), "bit {bit}");
    }
}

#[test]
fn a_longer_region_holds_the_same_model() {
    let bytes = exported(&Shape::SMALL).2.bytes;
    let mut region = bytes.clone();
    region.extend([0xff; 300]);
    let (alone, region) = (AlignedBytes::new(&bytes), AlignedBytes::new(&region));
    let predict = |bytes: &[u8]| {
        let (model, mut workspace) = (Model::parse(bytes).unwrap(), Workspace::<2, 8>::new());
        Answer::of(&model.predict(&[20.0, 21.0], &mut workspace).unwrap())
    };
    assert_eq!(predict(alone.as_slice()), predict(region.as_slice()));
    let sum = checksum(&bytes[..bytes.len() - 4]);
    assert_eq!([alone, region].map(|bytes| stored_checksum(bytes.as_slice())), [Some(sum); 2]);
}

#[test]
fn unaligned_bytes_are_refused_at_three_of_four_offsets() {
    let bytes = exported(&Shape::SMALL).2.bytes;
    for offset in 0..4 {
        let mut shifted = vec![0; offset];
        shifted.extend_from_slice(&bytes);
        let aligned = AlignedBytes::new(&shifted);
        let parsed = Blob::parse(&aligned.as_slice()[offset..]);
        match offset {
            0 => assert!(parsed.is_ok()),
            _ => {
                let error = parsed.unwrap_err();
                assert_eq!(error, ParseError::Unaligned);
                assert!(error.to_string().contains("include_model!"), "{error}");
            }
        }
    }
}

#[test]
fn erased_flash_and_other_versions_are_told_apart() {
    assert_eq!(Blob::parse(AlignedBytes::new(&[0xff; 64]).as_slice()).unwrap_err(), ParseError::NotAModel);
    let mut bytes = exported(&Shape::SMALL).2.bytes;
    bytes[4] = 9;
    repair(&mut bytes);
    assert_eq!(Blob::parse(AlignedBytes::new(&bytes).as_slice()).unwrap_err(), ParseError::Version { found: 9 });
}

#[test]
fn stripped_names_leave_the_predictions_alone() {
    let (params, scaling) = (model(&Shape::SMALL), scaling(&Shape::SMALL));
    let with = exported(&Shape::SMALL).2.bytes;
    let without = export(
        &params,
        &Metadata { scaling: &scaling, names: &[], classes: &[], model_id: b"test", discretisation: None },
        &[],
    )
    .unwrap()
    .bytes;
    assert!(without.len() < with.len());
    let (with, without) = (AlignedBytes::new(&with), AlignedBytes::new(&without));
    assert_eq!(Blob::parse(without.as_slice()).unwrap().names().count(), 0);
    let predict = |bytes: &[u8]| {
        let (model, mut workspace) = (Model::parse(bytes).unwrap(), Workspace::<2, 8>::new());
        Answer::of(&model.predict(&[20.0, 21.0], &mut workspace).unwrap())
    };
    assert_eq!(predict(with.as_slice()), predict(without.as_slice()));
}
