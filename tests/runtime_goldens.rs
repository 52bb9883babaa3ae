//! Every golden case, exported, parsed and run by the runtime: field, path and prediction against float64.

use diffgp_infer::{Model, Noise, Replay, Scheme, Workspace};
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::data::Scaling;
use diffgp_train::exact::Exact;
use diffgp_train::export::{Metadata, export};
use diffgp_train::params::Params;

use crate::goldens::{self, Expected, Golden};
use crate::models::{Spec, problem};
use crate::tolerances::{GOLDEN_VALUE, RUNTIME_MEAN, RUNTIME_VARIANCE};

/// The model as a blob in raw units equal to standardised units.
pub(crate) fn blob_of(params: &Params) -> AlignedBytes {
    let scaling = Scaling::identity(params.inputs(), 1);
    let exported = export(
        params,
        &Metadata { scaling: &scaling, names: &[], classes: &[], model_id: &[], discretisation: None },
        &[],
    )
    .unwrap();
    AlignedBytes::new(&exported.bytes)
}

/// Worst errors of one case. Means are relative to the largest magnitude of their array, variances each to itself.
#[derive(Clone, Copy, Default)]
struct Worst {
    drift: f64,
    diffusion: f64,
    path: f64,
    mean: f64,
    variance: f64,
}

impl Worst {
    fn all(self) -> [f64; 5] {
        [self.drift, self.diffusion, self.path, self.mean, self.variance]
    }
}

/// One row of one path: states x_0 … x_K, then drift and diffusion at x_0 … x_{K−1}, then mean and variance of g.
struct Run {
    path: Vec<Vec<f64>>,
    drift: Vec<Vec<f64>>,
    diffusion: Vec<Vec<f64>>,
    mean: f64,
    variance: f64,
}

#[test]
fn midpoint_steps_of_the_runtime_are_those_of_the_float64_model() {
    let spec = Spec { scheme: Scheme::Midpoint, inputs: 3, per_dimension: true, ..Spec::SMALL };
    let problem = problem(spec, 51);
    let (d, steps) = (spec.inputs, spec.steps);
    let (blob, exact) = (blob_of(&problem.params), Exact::new(&problem.params).unwrap());
    let model = Model::parse(blob.as_slice()).unwrap();
    assert_eq!(model.scheme(), Scheme::Midpoint);
    let mut workspace = Workspace::<3, 5>::new();
    for (row, x) in problem.x.chunks_exact(d).enumerate() {
        let noise = &problem.eps[row * steps * d..(row + 1) * steps * d];
        let (x_f32, noise_f32) = (singles(x), singles(noise));
        for sampled in [false, true] {
            let expected = exact.path(x, sampled.then_some(noise));
            let mut replay = Replay(&noise_f32);
            let mut path = Vec::new();
            if sampled {
                let mut run = model.begin(&x_f32, 1, &mut replay, &mut workspace).unwrap();
                while run.step().unwrap() {
                    path.push(run.state().to_vec());
                }
            } else {
                let mut run = model.begin_drift(&x_f32, &mut workspace).unwrap();
                while run.step().unwrap() {
                    path.push(run.state().to_vec());
                }
            }
            assert_eq!(path.len(), steps);
            for (found, expected) in path.iter().flatten().zip(expected[1..].iter().flatten()) {
                assert!((f64::from(*found) - expected).abs() < RUNTIME_MEAN, "{found} for {expected}");
            }
        }
    }
}

fn singles(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

/// Calls `visit(path s, row b, row's x, its noise [K][D])`.
fn for_each_row(case: &Golden, paths: usize, mut visit: impl FnMut(usize, usize, &[f64], &[f64])) {
    let (rows, d) = (case.y.len(), case.params.inputs());
    let steps = case.params.flow.as_ref().map_or(0, |flow| flow.steps);
    for s in 0..paths {
        for b in 0..rows {
            let at = |k: usize| ((s * steps + k) * rows + b) * d;
            let noise: Vec<f64> = (0..steps).flat_map(|k| case.eps[at(k)..at(k) + d].to_vec()).collect();
            visit(s, b, &case.x[b * d..(b + 1) * d], &noise);
        }
    }
}

fn on_device(model: &Model<'_>, x: &[f64], noise: Option<&[f64]>) -> Run {
    let mut workspace = Workspace::<8, 64>::new();
    let x = single(x);
    match noise.map(single) {
        Some(noise) => followed(model.begin(&x, 1, &mut Replay(&noise), &mut workspace).unwrap()),
        None => followed(model.begin_drift(&x, &mut workspace).unwrap()),
    }
}

fn single(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&v| v as f32).collect()
}

fn followed<N: Noise>(mut flow: diffgp_infer::Run<'_, '_, N>) -> Run {
    let double = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
    let mut run = Run { path: vec![double(flow.state())], drift: vec![], diffusion: vec![], mean: 0.0, variance: 0.0 };
    while flow.steps_taken() < flow.steps() {
        let (mut drift, mut diffusion) = (vec![0.0; flow.state().len()], vec![0.0; flow.state().len()]);
        flow.field(&mut drift, &mut diffusion).unwrap();
        run.drift.push(double(&drift));
        run.diffusion.push(double(&diffusion));
        flow.step().unwrap();
        run.path.push(double(flow.state()));
    }
    flow.finish_path().unwrap();
    let latent = flow.latents().next().unwrap();
    (run.mean, run.variance) = (f64::from(latent.mean), f64::from(latent.variance));
    run
}

fn in_double(exact: &Exact<'_>, x: &[f64], noise: Option<&[f64]>) -> Run {
    let path = exact.path(x, noise);
    let fields: Vec<_> = path[..path.len() - 1].iter().enumerate().map(|(k, x)| exact.field(x, k)).collect();
    let latent = exact.predict(&path[path.len() - 1])[0];
    Run {
        drift: fields.iter().map(|field| field.iter().map(|f| f.mean).collect()).collect(),
        diffusion: fields.iter().map(|field| field.iter().map(|f| f.variance).collect()).collect(),
        path,
        mean: latent.mean,
        variance: latent.variance,
    }
}

fn worst(case: &Golden, expected: &Expected, sampled: bool, run: impl Fn(&[f64], Option<&[f64]>) -> Run) -> Worst {
    let (rows, d) = (case.y.len(), case.params.inputs());
    let steps = case.params.flow.as_ref().map_or(0, |flow| flow.steps);
    let largest = |name: &str| expected.result(name).iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let mut worst = Worst::default();
    for_each_row(case, if sampled { case.paths } else { 1 }, |s, b, x, noise| {
        let run = run(x, sampled.then_some(noise));
        let compare = |name: &str, found: &[Vec<f64>], length: usize, relative_to: Option<f64>, worst: &mut f64| {
            for (k, values) in found.iter().enumerate() {
                for (i, value) in values.iter().enumerate() {
                    let golden = expected.result(name)[((s * length + k) * rows + b) * d + i];
                    *worst = worst.max((value - golden).abs() / relative_to.unwrap_or(golden));
                }
            }
        };
        compare("path", &run.path, steps + 1, Some(largest("path")), &mut worst.path);
        if steps > 0 {
            compare("drift", &run.drift, steps, Some(largest("drift")), &mut worst.drift);
            compare("diff_var", &run.diffusion, steps, None, &mut worst.diffusion);
        }
        let (mean, variance) = (expected.result("g_mean")[s * rows + b], expected.result("g_var")[s * rows + b]);
        worst.mean = worst.mean.max((run.mean - mean).abs() / largest("g_mean"));
        worst.variance = worst.variance.max((run.variance - variance).abs() / variance);
    });
    worst
}

#[test]
fn the_runtime_reproduces_every_golden_case() {
    println!(
        "{:24} {:7} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "case", "flow", "drift", "diffusion", "path", "mean", "variance"
    );
    let mut failures = Vec::new();
    for case in goldens::all() {
        let blob = blob_of(&case.params);
        let model = Model::parse(blob.as_slice()).unwrap();
        for (kind, expected, sampled) in [("sampled", &case.sampled, true), ("drift", &case.deterministic, false)] {
            let worst = worst(&case, expected, sampled, |x, noise| on_device(&model, x, noise));
            let [drift, diffusion, path, mean, variance] = worst.all();
            println!("{:24} {kind:7} {drift:9.1e} {diffusion:9.1e} {path:9.1e} {mean:9.1e} {variance:9.1e}", case.name);
            let means_hold = drift < RUNTIME_MEAN && path < RUNTIME_MEAN && mean < RUNTIME_MEAN;
            if !(means_hold && diffusion < RUNTIME_VARIANCE && variance < RUNTIME_VARIANCE) {
                failures.push(format!("{} ({kind})", case.name));
            }
        }
    }
    assert!(failures.is_empty(), "beyond the tolerances: {failures:?}");
}

#[test]
fn the_plain_float64_model_reproduces_every_golden_case() {
    for case in goldens::all() {
        let exact = Exact::new(&case.params).unwrap();
        for (expected, sampled) in [(&case.sampled, true), (&case.deterministic, false)] {
            let worst = worst(&case, expected, sampled, |x, noise| in_double(&exact, x, noise));
            assert!(worst.all().iter().all(|&error| error < GOLDEN_VALUE), "{}: {:?}", case.name, worst.all());
        }
    }
}
