//! Compressed models: the device computes what their numbers say, and stays within their certificates.

use diffgp_core::scheme::Scheme;
use diffgp_infer::{Model, Workspace};
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::compress::{Certificate, CompressError, Compressed, Goal, compress, made_up_inputs};
use diffgp_train::data::Dataset;
use diffgp_train::export::{Metadata, export};
use diffgp_train::threads::Threads;
use diffgp_train::train::{Config, Task, train};

use crate::certified::{Device, Plain, worst_state};
use crate::random_models::Normals;
use crate::tolerances::{COMPACT_MEAN, COMPACT_PREDICTOR, COMPACT_VARIANCE};

/// A kernel per dimension, one kernel, a field that changes with time, and a classifier.
const MODELS: [&str; 4] = ["v2-power", "v2-power-shared", "v2-pendulum-temporal", "v2-ring"];

fn stored(name: &str) -> AlignedBytes {
    let path = crate::stored_models::path(name);
    AlignedBytes::new(&std::fs::read(path).unwrap())
}

fn compressed(name: &str, goal: Goal) -> Result<Compressed, CompressError> {
    compressed_from(&stored(name), goal)
}

fn compressed_from(original: &AlignedBytes, goal: Goal) -> Result<Compressed, CompressError> {
    let inputs = made_up_inputs(&Model::parse(original.as_slice()).unwrap());
    // Every step costs the same: all that counts here is that fewer are cheaper.
    let work = |model: &Model<'_>| u64::from(model.blob().header().steps) + 1;
    compress(original.as_slice(), &inputs[..inputs.len() / 4], &goal, &work, &mut |_| (), &Threads::new(0).unwrap())
}

fn to_share(name: &str, share: usize) -> Compressed {
    let bytes = stored(name).as_slice().len();
    compressed(name, Goal { max_bytes: Some(bytes / share), ..Goal::default() }).unwrap()
}

#[test]
fn the_device_computes_what_the_stored_numbers_say() {
    for name in MODELS {
        let small = to_share(name, 4);
        let bytes = AlignedBytes::new(&small.bytes);
        let (plain, mut device) = (Plain::new(&bytes), Device::new(&bytes));
        let inputs = device.model.inputs();
        let mut normals = Normals::new(3);
        let (mut mean_error, mut variance_error) = (0.0_f64, 0.0_f64);
        for _ in 0..200 {
            let (state, found) = device.field(&normals.vector(inputs));
            for ((mean, variance), (m, v)) in found.into_iter().zip(plain.field(&state)) {
                mean_error = mean_error.max((mean - m).abs());
                variance_error = variance_error.max((variance - v).abs());
            }
        }
        println!("{name}: {} bytes, mean {mean_error:.1e}, variance {variance_error:.1e}", small.bytes.len());
        assert!(mean_error < COMPACT_MEAN && variance_error < COMPACT_VARIANCE, "{name}");
    }
}

#[test]
fn the_predictor_says_what_the_stored_numbers_say() {
    let small = to_share("v2-steps", 2);
    let bytes = AlignedBytes::new(&small.bytes);
    let plain = Plain::new(&bytes);
    let model = Model::parse(bytes.as_slice()).unwrap();
    let mut workspace = Workspace::<64, 1024>::new();
    for x in made_up_inputs(&model).chunks_exact(model.inputs()).take(50) {
        let mut run = model.begin_drift(x, &mut workspace).unwrap();
        run.finish_path().unwrap();
        let state: Vec<f64> = run.state().iter().map(|&x| f64::from(x)).collect();
        let latent = run.latents().next().unwrap();
        let (mean, variance) = plain.predictor(&state);
        assert!((f64::from(latent.mean) - mean).abs() < COMPACT_PREDICTOR, "{latent:?}, {mean}");
        assert!((f64::from(latent.variance) - variance).abs() < COMPACT_PREDICTOR, "{latent:?}, {variance}");
    }
}

#[test]
fn certificates_hold_at_random_states_and_where_ascent_finds_the_worst() {
    // More of both in `cargo run --release -p diffgp-tests --example certificates`.
    for name in MODELS {
        let small = to_share(name, 6);
        let (before, after) = (stored(name), AlignedBytes::new(&small.bytes));
        let certificate = Certificate::read(&small.bytes).unwrap();
        let (original, mut device) = (Plain::new(&before), Device::new(&after));
        let (random, ascended) = worst_state(&certificate, &mut device, &original, 3000, 2000);
        println!("{name}: {random:.3} of the bound at random states, {ascended:.3} after ascent");
        assert!(ascended <= 1.0, "{name}: a certificate is exceeded {ascended} times");
        // A bound that is never approached would not notice a mistake.
        assert!(ascended > 1e-3, "{name}: {ascended}");
    }
}

#[test]
fn a_certificate_names_its_original_and_survives_only_whole() {
    let original = stored("v2-power");
    let small = to_share("v2-power", 5);
    let certificate = Certificate::read(&small.bytes).unwrap();
    assert_eq!(certificate.original_bytes as usize, original.as_slice().len());
    assert_eq!(Some(certificate.original_checksum), diffgp_core::blob::stored_checksum(original.as_slice()));
    assert_eq!(certificate.flow.len(), 4);
    assert!(Certificate::read(original.as_slice()).is_none(), "the original was not compressed");
    let mut damaged = small.bytes.clone();
    damaged[40] ^= 1;
    assert!(Certificate::read(AlignedBytes::new(&damaged).as_slice()).is_none());
}

#[test]
fn compression_goes_by_its_goal() {
    let original = stored("v2-power").as_slice().len();
    let small = to_share("v2-power", 8);
    assert!(small.bytes.len() <= original / 8, "{} of {original}", small.bytes.len());
    let careful = compressed("v2-power", Goal { tolerance: Some(1e-3), ..Goal::default() }).unwrap();
    assert!(careful.curve.last().unwrap().loss <= 1e-3);
    assert!(careful.bytes.len() < original / 3, "{} of {original}", careful.bytes.len());
    // The second is stopped by what it may lose, long before the first.
    for (most, tolerance) in [(100, None), (2000, Some(1e-4))] {
        match compressed("v2-power", Goal { max_bytes: Some(most), tolerance, ..Goal::default() }) {
            Err(CompressError::OutOfReach { bytes, loss, .. }) => {
                assert!(bytes > most && tolerance.is_none_or(|tolerance| loss <= tolerance), "{bytes} {loss}");
            }
            other => panic!("{:?}", other.map(|small| small.bytes.len())),
        }
    }
}

#[test]
fn a_certificate_of_many_dimensions_counts_among_the_bytes() {
    let most = 20_000;
    let small = compressed("v2-higgs", Goal { max_bytes: Some(most), ..Goal::default() }).unwrap();
    assert!(small.bytes.len() <= most, "{}", small.bytes.len());
    assert_eq!(small.curve.last().unwrap().bytes, small.bytes.len());
}

/// Six steps become three and one: every table that is left belongs to a step of the original.
#[test]
fn a_field_that_changes_with_time_loses_steps_until_one_is_left() {
    let x = Normals::new(4).vector(60);
    let y = x.iter().map(|x| x.sin() as f32).collect();
    let data = Dataset::new(x.iter().map(|&x| x as f32).collect(), y, 1).unwrap();
    let mut config = Config::for_rows(data.rows(), Task::Regression);
    config.calibration.mode = diffgp_train::calibration::CalibrationMode::None;
    (config.warm_start.iterations, config.with_flow.iterations, config.flow.optional) = (10, 10, false);
    (config.predictor.inducing, config.flow.inducing, config.flow.inducing_times) = (8, 6, 3);
    config.flow.scheme = Scheme::EulerMaruyama;
    (config.flow.training_steps, config.flow.steps, config.flow.most_steps) = (Some(3), 6, 6);
    let trained = train(&data, &config, &mut ()).unwrap();
    let metadata =
        Metadata { scaling: &trained.scaling, names: &[], classes: &[], model_id: &[], discretisation: None };
    let original = AlignedBytes::new(&export(&trained.params, &metadata, &[]).unwrap().bytes);
    // Rounded first, so that tables are really cut.
    let goal =
        Goal { max_bytes: Some(original.as_slice().len() * 2 / 3), max_instructions: Some(2), ..Goal::default() };
    let small = compressed_from(&original, goal).unwrap();
    let steps: Vec<usize> = small.curve.iter().map(|point| point.choice.steps).collect();
    assert!(steps.iter().all(|steps| [6, 3, 1].contains(steps)) && steps.last() == Some(&1), "{steps:?}");
}

#[test]
fn without_its_variance_a_model_keeps_its_mean_and_a_constant_bar() {
    let original = stored("v2-power");
    let goal = Goal { max_bytes: Some(6000), mean_only: true, ..Goal::default() };
    let bytes = AlignedBytes::new(&compressed("v2-power", goal).unwrap().bytes);
    let (before, after) = (Model::parse(original.as_slice()).unwrap(), Model::parse(bytes.as_slice()).unwrap());
    let (mut one, mut other) = (Workspace::<4, 50>::new(), Workspace::<4, 50>::new());
    let mut bars = Vec::new();
    for x in made_up_inputs(&before).chunks_exact(4).take(50) {
        let (old, new) = (before.predict(x, &mut one).unwrap(), after.predict(x, &mut other).unwrap());
        assert!((old.mean() - new.mean()).abs() < old.variance().sqrt(), "{old:?}, {new:?}");
        bars.push(new.variance());
    }
    assert!(bars.iter().all(|&bar| bar == bars[0]) && bars[0] > 0.0, "{bars:?}");
}
