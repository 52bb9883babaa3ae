//! Compressed models: the device computes what their numbers say, and stays within their certificates.

use diffgp_core::blob::{Blob, Elements, KernelView, OutputView, layout};
use diffgp_infer::{Model, Workspace};
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::compress::{Bound, Certificate, CompressError, Compressed, Goal, compress, made_up_inputs};

use crate::random_models::Normals;
use crate::tolerances::{COMPACT_MEAN, COMPACT_VARIANCE};

/// A kernel per dimension, one kernel, a field that changes with time, and a classifier.
const MODELS: [&str; 4] = ["v1-power", "v1-power-shared", "small/v1-pendulum-temporal", "small/v1-ring"];

fn stored(name: &str) -> AlignedBytes {
    let path = format!("{}/blobs/{name}.dgp", env!("CARGO_MANIFEST_DIR"));
    AlignedBytes::new(&std::fs::read(path).unwrap())
}

fn compressed(name: &str, goal: Goal) -> Result<Compressed, CompressError> {
    let original = stored(name);
    let inputs = made_up_inputs(&Model::parse(original.as_slice()).unwrap());
    // Every step costs the same: all that counts here is that fewer are cheaper.
    let work = |model: &Model<'_>| u64::from(model.blob().header().steps) + 1;
    compress(original.as_slice(), &inputs[..inputs.len() / 4], &goal, &work, &mut |_| ())
}

fn to_share(name: &str, share: usize) -> Compressed {
    let bytes = stored(name).as_slice().len();
    compressed(name, Goal { max_bytes: Some(bytes / share), ..Goal::default() }).unwrap()
}

/// The equations of docs/blob-format.md in float64, read from the public views.
struct Plain<'a> {
    blob: Blob<'a>,
}

impl<'a> Plain<'a> {
    fn new(bytes: &'a AlignedBytes) -> Self {
        Self { blob: Blob::parse(bytes.as_slice()).unwrap() }
    }

    /// Mean and variance of every dimension of the flow at a standardised state, in the first step.
    fn field(&self, x: &[f64]) -> Vec<(f64, f64)> {
        let header = self.blob.header();
        let (mut kernels, mut outputs) = (self.blob.flow_kernels(), self.blob.flow_outputs());
        let mut kernel = None;
        (0..x.len())
            .map(|d| {
                if d == 0 || header.flow_kernels > 1 {
                    kernel = kernels.next_kernel(x.len(), header.flow_inducing.into());
                }
                let kernel = kernel.unwrap();
                let rho = correlations(&kernel, header.flow_inducing.into(), x);
                let times = self.blob.time_features(0);
                let features: Vec<f64> = match times {
                    [] => rho,
                    _ => rho.iter().flat_map(|rho| times.iter().map(move |&a| rho * f64::from(a))).collect(),
                };
                moments(&kernel, &outputs.next_output(features.len()).unwrap(), &features, header.variance_floor)
            })
            .collect()
    }

    /// Mean and variance of the predictor at a standardised state.
    fn predictor(&self, x: &[f64]) -> (f64, f64) {
        let (kernel, output) = self.blob.predictor().unwrap();
        let features = correlations(&kernel, self.blob.header().predictor_inducing.into(), x);
        moments(&kernel, &output, &features, self.blob.header().variance_floor)
    }
}

fn at(elements: Elements<'_>, index: usize) -> f64 {
    elements.get(index).unwrap()
}

fn correlations(kernel: &KernelView<'_>, points: usize, x: &[f64]) -> Vec<f64> {
    let unit = f64::from(kernel.points.scale);
    let c2 = kernel.kind.distance_scale().powi(2);
    let one = |m: usize| {
        let terms = x.iter().zip(kernel.scales).enumerate().map(|(i, (x, &scale))| {
            let n = at(kernel.points.elements, layout::position(m, i, x_len(kernel)));
            (x * f64::from(scale) - n).powi(2)
        });
        kernel.kind.correlation_f64(unit * unit * terms.sum::<f64>() / c2)
    };
    (0..points).map(one).collect()
}

fn x_len(kernel: &KernelView<'_>) -> usize {
    kernel.scales.len()
}

fn moments(kernel: &KernelView<'_>, output: &OutputView<'_>, features: &[f64], floor: f32) -> (f64, f64) {
    let unit = f64::from(output.weights.scale);
    let mean = features.iter().enumerate().map(|(m, f)| unit * at(output.weights.elements, m) * f).sum();
    let explained: f64 = (0..output.coefficients.len())
        .map(|r| {
            let v = |m: usize| at(output.directions, layout::position(r, m, features.len()));
            let projection: f64 = features.iter().enumerate().map(|(m, f)| v(m) * f).sum();
            f64::from(output.coefficients[r]) * projection * projection
        })
        .sum();
    (mean, (f64::from(kernel.variance) * (1.0 - explained)).max(floor.into()))
}

/// What the device computes at a standardised state: the flow's field, and the predictor from there.
struct Device<'a> {
    model: Model<'a>,
    workspace: Box<Workspace<64, 1024>>,
}

impl<'a> Device<'a> {
    fn new(bytes: &'a AlignedBytes) -> Self {
        Self { model: Model::parse(bytes.as_slice()).unwrap(), workspace: Box::new(Workspace::new()) }
    }

    /// The raw input that is carried to about this state, the state that it really is, and the field there.
    fn field(&mut self, state: &[f64]) -> (Vec<f64>, Vec<(f64, f64)>) {
        let inputs = (0..).map_while(|index| self.model.blob().input(index));
        let raw: Vec<f32> =
            inputs.zip(state).map(|(input, x)| (x / f64::from(input.scale)) as f32 + input.mean).collect();
        let mut flow = self.model.start(&raw, &mut *self.workspace).unwrap();
        let state = flow.state().iter().map(|&x| f64::from(x)).collect();
        let (mut drift, mut diffusion) = (vec![0.0; raw.len()], vec![0.0; raw.len()]);
        flow.field(&mut drift, &mut diffusion).unwrap();
        (state, drift.iter().zip(&diffusion).map(|(&m, &v)| (m.into(), v.into())).collect())
    }
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
fn predictions_without_a_flow_are_what_the_stored_numbers_say() {
    let small = to_share("small/v1-steps", 2);
    let bytes = AlignedBytes::new(&small.bytes);
    let plain = Plain::new(&bytes);
    let model = Model::parse(bytes.as_slice()).unwrap();
    let header = model.blob().header();
    let mut workspace = Workspace::<64, 1024>::new();
    for x in made_up_inputs(&model).chunks_exact(model.inputs()).take(50) {
        let mut flow = model.start(x, &mut workspace).unwrap();
        while flow.step_drift().unwrap() {}
        let state: Vec<f64> = flow.state().iter().map(|&x| f64::from(x)).collect();
        let latent = flow.latent().unwrap();
        let (mean, variance) = plain.predictor(&state);
        assert!((f64::from(latent.mean) - mean).abs() < COMPACT_MEAN, "{}: {latent:?}, {mean}", header.steps);
        assert!((f64::from(latent.variance) - variance).abs() < COMPACT_VARIANCE, "{latent:?}, {variance}");
    }
}

/// How much of its bounds a model uses at a state: 1 is all.
fn used(flow: &[Bound], device: &mut Device<'_>, original: &Plain<'_>, state: &[f64]) -> f64 {
    let (state, found) = device.field(state);
    let shares = found.into_iter().zip(original.field(&state)).zip(flow).map(|(((mean, variance), (m, v)), bound)| {
        let share = |change: f64, bound: f32| if change <= 0.0 { 0.0 } else { change / f64::from(bound) };
        share((mean - m).abs(), bound.mean)
            .max(share(variance - v, bound.wider))
            .max(share(v - variance, bound.narrower))
    });
    shares.fold(0.0, f64::max)
}

#[test]
fn certificates_hold_at_random_states_and_where_ascent_finds_the_worst() {
    // More of both in `cargo run --release -p diffgp-tests --example certificates`.
    for name in MODELS {
        let small = to_share(name, 6);
        let (before, after) = (stored(name), AlignedBytes::new(&small.bytes));
        let certificate = Certificate::read(&small.bytes).unwrap();
        let (original, mut device) = (Plain::new(&before), Device::new(&after));
        let inputs = device.model.inputs();
        let mut normals = Normals::new(4);
        let mut worst = (0.0, vec![0.0; inputs]);
        for round in 0..3000 {
            // Wide, narrow, and near the data.
            let spread = [0.3, 1.0, 3.0][round % 3];
            let state: Vec<f64> = normals.vector(inputs).iter().map(|x| spread * x).collect();
            let share = used(&certificate.flow, &mut device, &original, &state);
            if share > worst.0 {
                worst = (share, state);
            }
        }
        let random = worst.0;
        // Steps of falling size from the worst state, kept if they are worse.
        for round in 0..2000 {
            let size = 0.5 * 0.997_f64.powi(round);
            let state: Vec<f64> = normals.vector(inputs).iter().zip(&worst.1).map(|(n, x)| x + size * n).collect();
            let share = used(&certificate.flow, &mut device, &original, &state);
            if share > worst.0 {
                worst = (share, state);
            }
        }
        println!("{name}: {random:.3} of the bound at random states, {:.3} after ascent", worst.0);
        assert!(worst.0 <= 1.0, "{name}: a certificate is exceeded {} times", worst.0);
        // A bound that is never approached would not notice a mistake.
        assert!(worst.0 > 1e-3, "{name}: {}", worst.0);
    }
}

#[test]
fn a_certificate_names_its_original_and_survives_only_whole() {
    let original = stored("v1-power");
    let small = to_share("v1-power", 5);
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
    let original = stored("v1-power").as_slice().len();
    let small = to_share("v1-power", 8);
    assert!(small.bytes.len() <= original / 8, "{} of {original}", small.bytes.len());
    let careful = compressed("v1-power", Goal { tolerance: Some(1e-3), ..Goal::default() }).unwrap();
    assert!(careful.curve.last().unwrap().loss <= 1e-3);
    assert!(careful.bytes.len() < original / 3, "{} of {original}", careful.bytes.len());
    match compressed("v1-power", Goal { max_bytes: Some(100), ..Goal::default() }) {
        Err(CompressError::OutOfReach { bytes, .. }) => assert!(bytes > 100),
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_its_variance_a_model_keeps_its_mean_and_a_constant_bar() {
    let original = stored("v1-power");
    let goal = Goal { max_bytes: Some(6000), mean_only: true, ..Goal::default() };
    let bytes = AlignedBytes::new(&compressed("v1-power", goal).unwrap().bytes);
    let (before, after) = (Model::parse(original.as_slice()).unwrap(), Model::parse(bytes.as_slice()).unwrap());
    let mut workspace = Workspace::<4, 50>::new();
    let mut bars = Vec::new();
    for x in made_up_inputs(&before).chunks_exact(4).take(50) {
        let (old, new) = (before.predict(x, &mut workspace).unwrap(), after.predict(x, &mut workspace).unwrap());
        assert!((old.mean() - new.mean()).abs() < old.variance().sqrt(), "{old:?}, {new:?}");
        bars.push(new.variance());
    }
    assert!(bars.iter().all(|&bar| bar == bars[0]) && bars[0] > 0.0, "{bars:?}");
}
