//! What training chooses, kernel, flow or none, and by which rows.

use diffgp_core::kernel::KernelKind;
use diffgp_train::calibration::CalibrationMode;
use diffgp_train::data::{Affine, Dataset};
use diffgp_train::evaluate::Sampling;
use diffgp_train::exact::correlation;
use diffgp_train::threads::Threads;
use diffgp_train::train::{
    Config, StageName, Task, TrainError, Trained, WORTHWHILE_GAIN, WORTHWHILE_KERNEL_GAIN, Warning, train,
};
use nalgebra::{DMatrix, DVector};

use crate::training::{Recorder, assert_same_bits, curve_data, iterate, line_data, small_config, step_data};

#[test]
fn a_flow_that_no_validation_row_speaks_for_is_not_kept() {
    let data = step_data(12, Task::Regression);
    let mut config = small_config(12, Task::Regression);
    config.flow.optional = true;
    let mut recorder = Recorder::default();
    let trained = train(&data, &config, &mut recorder).unwrap();
    assert_eq!(recorder.warnings, [Warning::NoValidation, Warning::FewRows { rows: 12 }, Warning::NoFlow]);
    assert!(recorder.progress.iter().all(|progress| progress.stage.name != StageName::Flow));
    assert_eq!((trained.params.flow_time(), trained.flow_gain), (0.0, None));
}

#[test]
fn a_flow_is_kept_only_if_it_is_worth_it() {
    let (step, line) = (step_data(300, Task::Regression), line_data(300));
    for again_rows in [0, 2000] {
        let mut config = small_config(300, Task::Regression);
        iterate(&mut config, 100, 100);
        (config.flow.optional, config.validation.again_rows, config.validation.folds) = (true, again_rows, 1);
        let flow = train(&step, &config, &mut ()).unwrap();
        assert!(
            flow.params.flow.is_some() && flow.flow_gain.unwrap().is_worth(WORTHWHILE_GAIN),
            "{:?}",
            flow.flow_gain
        );
        let mut recorder = Recorder::default();
        let plain = train(&line, &config, &mut recorder).unwrap();
        assert!(
            plain.params.flow.is_none() && !plain.flow_gain.unwrap().is_worth(WORTHWHILE_GAIN),
            "{:?}",
            plain.flow_gain
        );
        assert_eq!(
            recorder.progress.iter().any(|progress| progress.stage.name == StageName::NoFlowOnAllRows),
            again_rows > 0
        );
        // As if there had been nothing to choose.
        config.flow.optional = false;
        assert_same_bits(&Trained { flow_gain: None, ..flow }, &train(&step, &config, &mut ()).unwrap(), "flow");
        config.flow.time = 0.0;
        assert_same_bits(&Trained { flow_gain: None, ..plain }, &train(&line, &config, &mut ()).unwrap(), "no flow");
    }
}

#[test]
fn folds_are_added_until_the_answer_is_clear() {
    let mut config = small_config(300, Task::Regression);
    iterate(&mut config, 100, 100);
    config.flow.optional = true;
    let trained = |data: &Dataset, folds: usize| {
        let mut recorder = Recorder::default();
        let mut config = config.clone();
        config.validation.folds = folds;
        let gain = train(data, &config, &mut recorder).unwrap().flow_gain.unwrap();
        let last = recorder.progress.iter().map(|progress| progress.stage.fold).max().unwrap();
        (gain, last + 1)
    };
    // The step speaks for itself.
    let (clear, folds) = trained(&step_data(300, Task::Regression), 5);
    assert!(clear.is_clear(WORTHWHILE_GAIN) && clear.rows == 30 * folds && folds < 5, "{clear:?} after {folds}");
    // On the line a gain of nothing is hard to tell from one of 0.01.
    let (first, _) = trained(&line_data(300), 1);
    let (all, folds) = trained(&line_data(300), 5);
    println!("{first} on {} rows, {all} on {} rows", first.rows, all.rows);
    assert!(!first.is_clear(WORTHWHILE_GAIN) && folds > 1, "{first:?}");
    assert_eq!((first.rows, all.rows), (30, 30 * folds));
    assert!(all.is_clear(WORTHWHILE_GAIN) || folds == 5);
}

#[test]
fn a_flow_that_cannot_be_trained_loses() {
    let data = step_data(300, Task::Regression);
    let mut config = small_config(300, Task::Regression);
    config.with_flow.learning_rate = 1e200;
    assert!(matches!(train(&data, &config, &mut ()), Err(TrainError::Diverged { .. })));
    config.flow.optional = true;
    let mut recorder = Recorder::default();
    let trained = train(&data, &config, &mut recorder).unwrap();
    assert!(trained.params.flow.is_none() && trained.flow_gain.is_none());
    let diverged = |warning: &Warning| matches!(warning, Warning::Diverged { stage: StageName::Flow, .. });
    assert!(recorder.warnings.iter().any(diverged), "{:?}", recorder.warnings);
    assert!(recorder.progress.iter().all(|progress| progress.stage.fold == 0));
}

#[test]
fn a_flow_is_compared_with_a_model_whose_noise_was_fitted() {
    let data = curve_data(300, false);
    let mut config = small_config(300, Task::Regression);
    (config.predictor.inducing, config.flow.optional) = (40, true);
    (config.batch, config.validation.every, config.validation.again_rows) = (100, 10, 0);
    iterate(&mut config, 20, 40);
    config.no_flow.iterations = 10;
    let mut recorder = Recorder::default();
    let trained = train(&data, &config, &mut recorder).unwrap();
    let scores = |name| -> Vec<f64> {
        let of_stage = recorder.validations.iter().filter(|validated| validated.stage.name == name);
        of_stage.map(|validated| validated.score.log_likelihood).collect()
    };
    let (sparse, flow) = (scores(StageName::NoFlow), scores(StageName::Flow));
    println!("{sparse:?} {flow:?}");
    // The last look is at the settled model.
    let (settled, before) = sparse.split_last().unwrap();
    let best = before.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let gain = trained.flow_gain.unwrap();
    // Sums in another order.
    assert!((gain.mean - (flow.last().unwrap() - settled)).abs() < 1e-12, "{gain}");
    assert!(trained.params.flow.is_none(), "{:?}", trained.flow_gain);
    // As it was trained, it would have lost.
    assert!(flow.last().unwrap() - best > WORTHWHILE_GAIN, "{best} {flow:?}");
}

#[test]
fn the_kernel_is_the_one_that_the_validation_rows_prefer() {
    for (rough, kernel) in [(false, KernelKind::Rbf), (true, KernelKind::Matern32)] {
        let data = curve_data(300, rough);
        for flow_time in [0.0, 5.0] {
            let mut config = small_config(300, Task::Regression);
            (config.predictor.inducing, config.flow.time) = (40, flow_time);
            (config.candidate_kernels, config.candidate.iterations) = (vec![KernelKind::Matern32], 100);
            let chosen = train(&data, &config, &mut ()).unwrap();
            let kernels: Vec<_> = chosen.params.flow.iter().flat_map(|flow| &flow.field.kernels).collect();
            assert!(kernels.iter().all(|of_flow| of_flow.kind == kernel));
            assert_eq!(chosen.params.predictor.kernel(0).kind, kernel, "rough: {rough}, {:?}", chosen.kernel_gain);
            assert_eq!(chosen.kernel_gain.unwrap().is_worth(WORTHWHILE_KERNEL_GAIN), rough);
            // As if there had been nothing to choose.
            (config.predictor.kernel, config.flow.kernel, config.candidate_kernels) = (kernel, kernel, vec![]);
            let asked_for = train(&data, &config, &mut ()).unwrap();
            assert_same_bits(&Trained { kernel_gain: None, ..chosen }, &asked_for, "the kernel asked for");
        }
    }
    // Nothing speaks for another kernel where no row is kept aside.
    let mut config = small_config(300, Task::Regression);
    (config.candidate_kernels, config.validation.fraction) = (vec![KernelKind::Matern32], 0.0);
    let trained = train(&curve_data(300, true), &config, &mut ()).unwrap();
    assert_eq!((trained.kernel_gain, trained.params.predictor.kernel(0).kind), (None, KernelKind::Rbf));
}

/// A model without a flow of few rows is an exact Gaussian process, up to what fewer points leave open:
/// mean k(x,X) K⁻¹ y and variance s² + σ² − k(x,X) K⁻¹ k(X,x), in standardised units.
#[test]
fn without_a_flow_few_rows_get_an_exact_gaussian_process() {
    let rows = 120;
    for rough in [false, true] {
        let data = curve_data(rows, rough);
        let mut config = Config { threads: 1, ..Config::for_rows(rows, Task::Regression) };
        config.calibration.mode = CalibrationMode::None;
        config.flow.time = 0.0;
        let trained = train(&data, &config, &mut ()).unwrap();
        let (kernel, noise) = (trained.params.predictor.kernel(0), trained.params.likelihood.noise()[0]);
        let (input, target) = (&trained.scaling.inputs[0], &trained.scaling.targets[0]);
        let scaled = |value: f32, by: &Affine| (f64::from(value) - f64::from(by.mean)) / f64::from(by.scale);
        let x: Vec<f64> = (0..rows).map(|row| scaled(data.input_row(row)[0], input)).collect();
        let y = DVector::from_fn(rows, |row, _| scaled(data.targets()[row], target));
        let k = |a: f64, b: f64| kernel.variance * correlation(kernel, &[a], &[b]);
        let gram = DMatrix::from_fn(rows, rows, |i, j| k(x[i], x[j]) + if i == j { noise } else { 0.0 });
        let gram = gram.cholesky().unwrap();
        let asked: Vec<f32> = (0..50).map(|i| 2.4 * i as f32 - 0.7).collect();
        let answers = trained.predict(&asked, Sampling::Drift, &Threads::new(1).unwrap()).unwrap();
        for (&asked, answer) in asked.iter().zip(answers) {
            let cross = DVector::from_fn(rows, |row, _| k(scaled(asked, input), x[row]));
            let weights = gram.solve(&cross);
            let scale = f64::from(target.scale);
            let mean = f64::from(target.mean) + scale * weights.dot(&y);
            let deviation = scale * (kernel.variance + noise - weights.dot(&cross)).sqrt();
            let of_mean = f64::from(answer.mean()) - mean;
            let of_deviation = f64::from(answer.variance()).sqrt() - deviation;
            // Points leave 0.005 nats per row open: so much is a tenth of a deviation, δ²/2.
            assert!(of_mean.abs() < 0.1 * deviation, "{asked}: {mean} {of_mean}");
            assert!(of_deviation.abs() < 0.1 * deviation, "{asked}: {deviation} {of_deviation}");
        }
    }
}
