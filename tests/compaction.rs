//! Variance directions that predictions cannot tell are left out of a trained model.

use diffgp_train::calibration::CalibrationMode;
use diffgp_train::data::Dataset;
use diffgp_train::evaluate::{Answer, Sampling};
use diffgp_train::exact::Exact;
use diffgp_train::params::Params;
use diffgp_train::threads::Threads;
use diffgp_train::train::{Config, Task, Trained, train};

use crate::random_models::Normals;
use crate::tolerances::{COMMON_DIRECTIONS, WIDENING};
use crate::training::{iterate, small_config};

const ROWS: usize = 160;
/// Nats per row.
const TOLERANCE: f64 = 1e-3;

/// A smooth function of two inputs; the second target, or the class, follows it.
fn data(targets: usize, classes: usize) -> Dataset {
    let (x, noise) = (Normals::new(11).vector(2 * ROWS), Normals::new(12).vector(targets * ROWS));
    let truth = |row: usize| (x[2 * row]).sin() + 0.5 * x[2 * row + 1];
    let inputs: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    if classes > 0 {
        let label = |row: usize| format!("class {}", ((truth(row) + 2.0) as usize).min(classes - 1));
        return Dataset::from_labels(&inputs, &(0..ROWS).map(label).collect::<Vec<_>>(), 2).unwrap();
    }
    let target = |at: usize| (truth(at / targets) * (1 + at % targets) as f64 + 0.1 * noise[at]) as f32;
    let targets_of_rows: Vec<f32> = (0..targets * ROWS).map(target).collect();
    Dataset::with_outputs(inputs, targets_of_rows, 2, targets).unwrap()
}

/// The same run with all of its directions and without those that cannot be told.
fn whole_and_compact(data: &Dataset, task: Task, with_flow: bool) -> (Trained, Trained) {
    let mut config: Config = small_config(ROWS, task);
    iterate(&mut config, 30, 40);
    (config.predictor.inducing, config.predictor.most_inducing, config.flow.inducing) = (60, 60, 40);
    config.calibration.mode = CalibrationMode::None;
    if !with_flow {
        config.flow.time = 0.0;
    }
    config.compact = 0.0;
    let whole = train(data, &config, &mut ()).unwrap();
    config.compact = TOLERANCE;
    (whole, train(data, &config, &mut ()).unwrap())
}

/// Kullback–Leibler divergence of what the device says.
fn divergence(p: &Answer, q: &Answer) -> f64 {
    if let (Some(p), Some(q)) = (p.probability(), q.probability()) {
        let (p, q) = (f64::from(p), f64::from(q));
        return p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln();
    }
    if !p.probabilities().is_empty() {
        let pairs = p.probabilities().iter().zip(q.probabilities());
        return pairs.map(|(&p, &q)| f64::from(p) * f64::from(p / q).ln()).sum();
    }
    let of_targets = p.outputs().iter().zip(q.outputs()).map(|(p, q)| {
        let (v, w) = (f64::from(p.variance()), f64::from(q.variance()));
        0.5 * (v / w - 1.0 - (v / w).ln() + f64::from(p.mean() - q.mean()).powi(2) / w)
    });
    of_targets.sum()
}

/// Every variance of the flow and of the predictor at x, as shares of s².
fn shares(params: &Params, x: &[f64]) -> Vec<f64> {
    let exact = Exact::new(params).unwrap();
    let field = exact.field(x, 0);
    let of_flow =
        params.flow.iter().flat_map(|flow| (0..field.len()).map(|d| field[d].variance / flow.field.kernel(d).variance));
    let predicted = exact.predict(x);
    let of_predictor = (0..predicted.len()).map(|o| predicted[o].variance / params.predictor.kernel(o).variance);
    of_flow.chain(of_predictor).collect()
}

/// `narrower`: the most by which a variance may be narrower, as a share of s².
fn check(data: &Dataset, task: Task, with_flow: bool, narrower: f64) {
    let (whole, compact) = whole_and_compact(data, task, with_flow);
    let left = compact.compaction.unwrap_or_else(|| panic!("nothing was left out"));
    assert!(whole.compaction.is_none() && left.after < left.before && left.loss <= TOLERANCE, "{left:?}");
    assert!(compact.export(data).unwrap().bytes.len() < whole.export(data).unwrap().bytes.len());

    // Nothing else changed, and variances are wider by what was said at most, anywhere, never narrower.
    let mut normals = Normals::new(5);
    for _ in 0..200 {
        let x = [3.0 * normals.next(), 3.0 * normals.next()];
        for (before, after) in shares(&whole.params, &x).into_iter().zip(shares(&compact.params, &x)) {
            assert!((-narrower..=left.widening + narrower).contains(&(after - before)), "{before} {after} {left:?}");
        }
    }

    // The loss, by the device's code, other paths and inputs that training has not seen.
    let fresh: Vec<f32> = Normals::new(6).vector(2 * ROWS).iter().map(|&x| x as f32).collect();
    let sampling = Sampling::Paths { count: 16, seed: 3 };
    let threads = Threads::new(1).unwrap();
    let [before, after] = [&whole, &compact].map(|model| model.predict(&fresh, sampling, &threads).unwrap());
    let loss = before.iter().zip(&after).map(|(p, q)| divergence(p, q)).sum::<f64>() / before.len() as f64;
    assert!(loss < 3.0 * TOLERANCE, "{loss}");
}

#[test]
fn a_flow_leaves_out_what_cannot_be_told() {
    check(&data(1, 0), Task::Regression, true, WIDENING);
}

#[test]
fn a_model_without_a_flow_does_too() {
    check(&data(1, 0), Task::Regression, false, WIDENING);
}

#[test]
fn several_targets_do_too() {
    check(&data(2, 0), Task::Regression, true, COMMON_DIRECTIONS);
}

#[test]
fn classes_do_too() {
    check(&data(1, 3), Task::Classification, false, WIDENING);
}
