//! What a certificate is about: the original's numbers in float64, the compressed model on the device, and a search for
//! the state at which they differ most.

use diffgp_core::blob::{Blob, KernelView, OutputView, layout};
use diffgp_core::kernel::KernelKind;
use diffgp_infer::{Model, Workspace};
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::compress::{Bound, Certificate};

use crate::random_models::Normals;

/// The equations of docs/blob-format.md in float64, with the numbers of the public views: the field of the first step,
/// and the predictor.
pub(crate) struct Plain {
    flow: Vec<Output>,
    predictor: Output,
    time_features: Vec<f64>,
    floor: f64,
}

/// One output and its kernel.
struct Output {
    kind: KernelKind,
    variance: f64,
    /// c/ℓ.
    scales: Vec<f64>,
    /// `[M][D]`.
    points: Vec<f64>,
    /// `[M]`.
    weights: Vec<f64>,
    /// `[rank][M]`.
    directions: Vec<f64>,
    coefficients: Vec<f64>,
}

impl Plain {
    pub(crate) fn new(bytes: &AlignedBytes) -> Self {
        let blob = Blob::parse(bytes.as_slice()).unwrap();
        let header = blob.header();
        let inputs = usize::from(header.inputs);
        let (points, features) = (usize::from(header.flow_inducing), header.flow_features());
        let mut flow = Vec::new();
        for d in 0..if points > 0 { inputs } else { 0 } {
            let (kernel, output) = (blob.flow_kernel(d).unwrap(), blob.flow_output(0, d).unwrap());
            flow.push(Output::new(&kernel, points, &output, features));
        }
        let (kernel, output) = (blob.predictor_kernel(0).unwrap(), blob.predictor_output(0).unwrap());
        let points = usize::from(header.predictor_inducing);
        Self {
            flow,
            predictor: Output::new(&kernel, points, &output, points),
            time_features: blob.time_features(0).iter().map(|&a| f64::from(a)).collect(),
            floor: header.variance_floor.into(),
        }
    }

    /// Mean and variance of every dimension of the flow at a standardised state.
    pub(crate) fn field(&self, x: &[f64]) -> Vec<(f64, f64)> {
        self.flow.iter().map(|output| output.moments(x, &self.time_features, self.floor)).collect()
    }

    /// Mean and variance of the predictor at a standardised state.
    pub(crate) fn predictor(&self, x: &[f64]) -> (f64, f64) {
        self.predictor.moments(x, &[], self.floor)
    }
}

impl Output {
    fn new(kernel: &KernelView<'_>, points: usize, output: &OutputView<'_>, features: usize) -> Self {
        let inputs = kernel.scales.len();
        let (unit, weight) = (f64::from(kernel.points.unit), f64::from(output.weights.unit));
        let point = |m, i| unit * kernel.points.elements.get(layout::position(m, i, inputs)).unwrap();
        let direction = |r, m| output.directions.get(layout::position(r, m, features)).unwrap();
        let rank = output.coefficients.len();
        Self {
            kind: kernel.kind,
            variance: kernel.variance.into(),
            scales: kernel.scales.iter().map(|&scale| unit * f64::from(scale)).collect(),
            points: (0..points).flat_map(|m| (0..inputs).map(move |i| point(m, i))).collect(),
            weights: (0..features).map(|m| weight * output.weights.elements.get(m).unwrap()).collect(),
            directions: (0..rank).flat_map(|r| (0..features).map(move |m| direction(r, m))).collect(),
            coefficients: output.coefficients.iter().map(|&c| f64::from(c)).collect(),
        }
    }

    fn moments(&self, x: &[f64], times: &[f64], floor: f64) -> (f64, f64) {
        let scaled: Vec<f64> = x.iter().zip(&self.scales).map(|(x, scale)| x * scale).collect();
        let c2 = self.kind.distance_scale().powi(2);
        let rho = self.points.chunks_exact(x.len()).map(|point| {
            let q2: f64 = point.iter().zip(&scaled).map(|(z, x)| (x - z) * (x - z)).sum();
            self.kind.correlation_f64(q2 / c2)
        });
        let features: Vec<f64> = match times {
            [] => rho.collect(),
            _ => rho.flat_map(|rho| times.iter().map(move |a| rho * a)).collect(),
        };
        let dot = |row: &[f64]| row.iter().zip(&features).map(|(a, b)| a * b).sum::<f64>();
        let projections = self.directions.chunks_exact(features.len()).map(dot);
        let explained: f64 = projections.zip(&self.coefficients).map(|(p, c)| c * p * p).sum();
        (dot(&self.weights), (self.variance * (1.0 - explained)).max(floor))
    }
}

/// A model as the device runs it.
pub(crate) struct Device<'a> {
    pub(crate) model: Model<'a>,
    workspace: Box<Workspace<64, 1024, 32>>,
}

impl<'a> Device<'a> {
    pub(crate) fn new(bytes: &'a AlignedBytes) -> Self {
        Self { model: Model::parse(bytes.as_slice()).unwrap(), workspace: Box::new(Workspace::new()) }
    }

    /// The state in single precision that is nearest to this one, as the device sees it, and the field there.
    pub(crate) fn field(&mut self, state: &[f64]) -> (Vec<f64>, Vec<(f64, f64)>) {
        let raw = self.raw(state);
        let mut flow = self.model.begin_drift(&raw, &mut *self.workspace).unwrap();
        let state = flow.state().iter().map(|&x| f64::from(x)).collect();
        let (mut drift, mut diffusion) = (vec![0.0; raw.len()], vec![0.0; raw.len()]);
        flow.field(&mut drift, &mut diffusion).unwrap();
        (state, drift.iter().zip(&diffusion).map(|(&m, &v)| (m.into(), v.into())).collect())
    }

    /// Where the drift leads from about this state, and the predictor there.
    fn end(&mut self, state: &[f64]) -> (Vec<f64>, (f64, f64)) {
        let raw = self.raw(state);
        let mut run = self.model.begin_drift(&raw, &mut *self.workspace).unwrap();
        run.finish_path().unwrap();
        let end = run.state().iter().map(|&x| f64::from(x)).collect();
        let latent = run.latents().next().unwrap();
        (end, (latent.mean.into(), latent.variance.into()))
    }

    /// The raw input that is standardised to about this state.
    fn raw(&self, state: &[f64]) -> Vec<f32> {
        let inputs = (0..).map_while(|index| self.model.blob().input(index));
        inputs.zip(state).map(|(input, x)| (x / f64::from(input.scale)) as f32 + input.mean).collect()
    }
}

/// How much of its bounds a model uses at a state, and, for one whose predictor was not adapted, where the drift leads
/// from there: 1 is all.
fn used(certificate: &Certificate, device: &mut Device<'_>, original: &Plain, state: &[f64]) -> f64 {
    let (at, found) = device.field(state);
    let flow = found.into_iter().zip(original.field(&at)).zip(&certificate.flow);
    let worst = flow.map(|((after, before), bound)| share(after, before, bound)).fold(0.0, f64::max);
    if certificate.adapted {
        return worst;
    }
    let (end, after) = device.end(state);
    worst.max(share(after, original.predictor(&end), &certificate.predictor))
}

/// The largest share of a bound that the change of a mean and a variance takes.
fn share((mean, variance): (f64, f64), (m, v): (f64, f64), bound: &Bound) -> f64 {
    let share = |change: f64, bound: f32| if change <= 0.0 { 0.0 } else { change / f64::from(bound) };
    share((mean - m).abs(), bound.mean).max(share(variance - v, bound.wider)).max(share(v - variance, bound.narrower))
}

/// The largest share of its bounds that a model uses, at random states and then by ascent from the worst of them.
pub(crate) fn worst_state(
    certificate: &Certificate,
    device: &mut Device<'_>,
    original: &Plain,
    random: usize,
    steps: i32,
) -> (f64, f64) {
    let inputs = device.model.inputs();
    let mut normals = Normals::new(4);
    let mut worst = (0.0, vec![0.0; inputs]);
    for round in 0..random {
        // Near the middle, like the data, and far away.
        let spread = [0.3, 1.0, 3.0][round % 3];
        let state: Vec<f64> = normals.vector(inputs).iter().map(|x| spread * x).collect();
        let share = used(certificate, device, original, &state);
        if share > worst.0 {
            worst = (share, state);
        }
    }
    let found = worst.0;
    // Steps of falling size, kept if they are worse.
    for round in 0..steps {
        let size = 0.5 * (-6.0 * f64::from(round) / f64::from(steps)).exp();
        let state: Vec<f64> = normals.vector(inputs).iter().zip(&worst.1).map(|(n, x)| x + size * n).collect();
        let share = used(certificate, device, original, &state);
        if share > worst.0 {
            worst = (share, state);
        }
    }
    (found, worst.0)
}
