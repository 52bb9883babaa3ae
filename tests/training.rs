//! Training from end to end: the same bits with any number of threads and after any interruption, and better for it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use diffgp_train::calibration::CalibrationMode;
use diffgp_train::checkpoint::Checkpoint;
use diffgp_train::data::{Affine, Dataset, Header, TargetKind, read_test_rows};
use diffgp_train::export::{Metadata, export};
use diffgp_train::threads::Threads;
use diffgp_train::train::{
    Config, Observer, Progress, StageId, StageName, Task, TrainError, Trained, Validated, WORTHWHILE_KERNEL_GAIN,
    Warning, resume, train,
};

use crate::elbo_goldens::relative_error;
use crate::goldens::named_arrays;
use crate::models::Problem;
use crate::naive;
use crate::random_models::Normals;
use crate::skipped::skipped;
use crate::tolerances;

/// y = sign of a step at 0 with noise, one input; or the class of it.
pub(crate) fn step_data(rows: usize, task: Task) -> Dataset {
    let scattered = |i: usize, k: usize| ((i * 7919 + k * 104_729) % 10_007) as f32 / 10_007.0;
    let x: Vec<f32> = (0..rows).map(|i| 4.0 * scattered(i, 1) - 2.0).collect();
    let y = x.iter().enumerate().map(|(i, &x)| match task {
        Task::Regression => f32::from(x > 0.0) + 0.05 * (scattered(i, 2) - 0.5),
        Task::Classification => f32::from(x + scattered(i, 2) - 0.5 > 0.0),
    });
    Dataset::new(x.clone(), y.collect(), 1).unwrap()
}

/// A line with noise, one input: no flow helps.
pub(crate) fn line_data(rows: usize) -> Dataset {
    let (x, noise) = (Normals::new(1).vector(rows), Normals::new(2).vector(rows));
    let y = x.iter().zip(noise).map(|(x, noise)| (x + 0.3 * noise) as f32).collect();
    Dataset::new(x.iter().map(|&x| x as f32).collect(), y, 1).unwrap()
}

/// A smooth wave, or a random walk, with little noise, one input.
pub(crate) fn curve_data(rows: usize, rough: bool) -> Dataset {
    let (mut walk, steps) = (0.0, Normals::new(3).vector(rows));
    let y = steps.iter().enumerate().map(|(row, step)| {
        walk += if rough { 0.2 * step } else { 0.0 };
        (walk + (0.03 * row as f64).sin() + 0.02 * step) as f32
    });
    Dataset::new((0..rows).map(|row| row as f32).collect(), y.collect(), 1).unwrap()
}

/// So many iterations of the warm start, and of the model with or without a flow.
pub(crate) fn iterate(config: &mut Config, warm_start: u64, model: u64) {
    config.warm_start.iterations = warm_start;
    (config.no_flow.iterations, config.with_flow.iterations) = (model, model);
}

pub(crate) fn small_config(rows: usize, task: Task) -> Config {
    let mut config = Config::for_rows(rows, task);
    (config.predictor.inducing, config.flow.inducing, config.flow.optional) = (10, 8, false);
    // From the usual start, and without growth: what the tests of stages are about.
    (config.predictor.most_inducing, config.predictor.search_rows) = (10, 0);
    config.candidate_kernels.clear();
    config.calibration.mode = CalibrationMode::None;
    iterate(&mut config, 20, 30);
    (config.flow.training_steps, config.flow.steps) = (Some(3), 5);
    (config.validation.every, config.checkpoint_every) = (7, 9);
    config.threads = 1;
    config
}

/// Minibatches, several paths, inducing times, a weight on KL_f and averaged iterates: every source of state at once.
fn busy_config(rows: usize) -> Config {
    let mut config = small_config(rows, Task::Regression);
    (config.batch, config.paths, config.averaging) = (16, 2, Some(0.9));
    (config.flow.inducing_times, config.flow.scheme) = (2, Scheme::EulerMaruyama);
    config.regularisation.flow_kl_weight = 2.0;
    let climbs = [&mut config.warm_start, &mut config.no_flow, &mut config.with_flow];
    climbs.into_iter().for_each(|climb| climb.natural_step = Some(0.3));
    config
}

#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) progress: Vec<Progress>,
    pub(crate) validations: Vec<Validated>,
    pub(crate) warnings: Vec<Warning>,
    checkpoint: Option<Checkpoint>,
    stop_after: Option<usize>,
}

impl Observer for Recorder {
    fn iteration(&mut self, progress: &Progress) {
        self.progress.push(*progress);
    }

    fn validation(&mut self, validated: &Validated) {
        self.validations.push(*validated);
    }

    fn warning(&mut self, warning: &Warning) {
        self.warnings.push(warning.clone());
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> std::io::Result<()> {
        self.checkpoint = Some(checkpoint.clone());
        Ok(())
    }

    fn should_stop(&mut self) -> bool {
        self.stop_after.is_some_and(|count| self.progress.len() >= count)
    }
}

/// Bit for bit: `{:?}` of an f64 is exact and tells −0 from 0.
pub(crate) fn assert_same_bits(a: &Trained, b: &Trained, what: &str) {
    assert!(a == b && format!("{a:?}") == format!("{b:?}"), "{what}");
}

#[test]
fn threads_do_not_change_a_bit() {
    let data = step_data(300, Task::Regression);
    for config in [small_config(300, Task::Regression), busy_config(300)] {
        let one = train(&data, &config, &mut ()).unwrap();
        for threads in [2, 7] {
            let many = train(&data, &Config { threads, ..config.clone() }, &mut ()).unwrap();
            assert_same_bits(&one, &many, &format!("{threads} threads"));
        }
    }
}

/// The model file of a trained model.
fn blob(trained: &Trained) -> Vec<u8> {
    export(
        &trained.params,
        &Metadata { scaling: &trained.scaling, names: &[], classes: &[], model_id: &[], discretisation: None },
        &[],
    )
    .unwrap()
    .bytes
}

#[test]
fn the_same_seed_gives_the_same_file_and_another_seed_another() {
    let data = step_data(300, Task::Regression);
    let config = small_config(300, Task::Regression);
    let file = |config: &Config| blob(&train(&data, config, &mut ()).unwrap());
    let one = file(&config);
    assert_eq!(one, file(&Config { threads: 2, ..config.clone() }));
    assert_ne!(one, file(&Config { seed: 1, ..config }));
}

/// A model trained on a step, with the rows it was trained on; noise is left to the test.
fn trained_step(change: impl Fn(&mut Config)) -> Problem {
    let data = step_data(300, Task::Regression);
    let mut config = small_config(300, Task::Regression);
    iterate(&mut config, 100, 100);
    change(&mut config);
    let trained = train(&data, &config, &mut ()).unwrap();
    let standardised = |values: &[f32], affine: Affine| -> Vec<f64> {
        values.iter().map(|&value| f64::from(affine.apply(value))).collect()
    };
    let inputs: Vec<f32> = (0..data.rows()).flat_map(|row| data.input_row(row).to_vec()).collect();
    Problem {
        x: standardised(&inputs, trained.scaling.inputs[0]),
        y: standardised(data.targets(), trained.scaling.targets[0]),
        eps: Vec::new(),
        paths: 1,
        total_rows: data.rows(),
        params: trained.params,
    }
}

/// The same problem with 20 draws of its noise.
fn noises(problem: &Problem) -> impl Iterator<Item = Problem> {
    let normals = problem.params.flow.as_ref().unwrap().steps * problem.x.len();
    (3..23).map(move |seed| Problem { eps: Normals::new(seed).vector(normals), ..problem.clone() })
}

/// What float32 adds to the bound for each noise, in nats per row: the bound passes zero as noise falls. Gradients, which
/// also pass zero for one noise or another, must agree over all noises.
fn single_precision_errors(problem: &Problem) -> Vec<f64> {
    let threads = Threads::new(1).unwrap();
    let (mut errors, mut gradients) = (Vec::new(), BTreeMap::<_, [Vec<f64>; 2]>::new());
    for problem in noises(problem) {
        let both = [problem.evaluate::<f32>(&threads), problem.evaluate::<f64>(&threads)];
        errors.push((both[0].elbo - both[1].elbo) / problem.total_rows as f64);
        for (precision, evaluation) in both.iter().enumerate() {
            for (name, values) in named_arrays(&evaluation.gradient) {
                gradients.entry(name).or_default()[precision].extend(values);
            }
        }
    }
    for (name, [single, double]) in gradients {
        let error = relative_error(&single, &double);
        println!("gradient of {name}: {error:.1e}");
        assert!(error < tolerances::TRAINED_SINGLE_GRADIENT, "gradient of {name}: {error:e}");
    }
    errors
}

#[test]
fn a_trained_model_has_the_same_bound_and_gradient_in_single_precision() {
    // ℓ_f = 4, in units of √(2D).
    let gentle = trained_step(|config| {
        (config.jitter, config.flow.length_scale, config.validation.again_rows) = (1e-5, 4.0 / 2_f64.sqrt(), 0);
    });
    let largest =
        single_precision_errors(&gentle).into_iter().fold(0.0, |largest: f64, error| largest.max(error.abs()));
    println!("at most {largest:.1e} nats per row");
    assert!(largest < tolerances::TRAINED_SINGLE_VALUE, "{largest:e}");
}

#[test]
fn single_precision_costs_what_rounded_correlations_cost() {
    let default = Config::for_rows(300, Task::Regression).jitter;
    for jitter in [1e-5, default] {
        let trained = trained_step(|config| config.jitter = jitter);
        let mut signs = Normals::new(1);
        let rounding = |problem: Problem| {
            let rounded = naive::elbo_with(&problem, |k| k * (1.0 + 2_f64.powi(-24) * signs.next().signum()));
            (rounded - naive::elbo(&problem)) / problem.total_rows as f64
        };
        let (single, rounded) = (single_precision_errors(&trained), noises(&trained).map(rounding).collect::<Vec<_>>());
        let root_mean_square = |e: &[f64]| (e.iter().map(|e| e * e).sum::<f64>() / e.len() as f64).sqrt();
        let (single, rounded) = (root_mean_square(&single), root_mean_square(&rounded));
        println!("jitter {jitter:e}: {single:.1e} nats per row in float32, {rounded:.1e} by rounded correlations");
        assert!(single < tolerances::ROUNDED_CORRELATIONS * rounded, "{single:e} against {rounded:e}");
    }
}

/// Stops in every stage, at its beginning, on a look at the validation rows and at its end, and goes on from there.
pub(crate) fn interrupted_stages(data: &Dataset, config: &Config) -> Vec<StageName> {
    let mut recorder = Recorder::default();
    let undisturbed = train(data, config, &mut recorder).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.ckpt");
    let stages: Vec<StageId> = recorder.progress.iter().map(|progress| progress.stage).collect();
    let (mut interrupted, mut before) = (Vec::new(), 0);
    for stage in stages.chunk_by(PartialEq::eq) {
        for iterations in [1, 8, stage.len()] {
            let mut recorder = Recorder { stop_after: Some(before + iterations), ..Recorder::default() };
            let stopped = train(data, config, &mut recorder).unwrap_err();
            assert!(matches!(stopped, TrainError::Stopped { .. }), "{stopped}");
            let checkpoint = recorder.checkpoint.unwrap();
            assert_eq!(checkpoint.place(), (stage[0].index, iterations as u64 - 1));
            checkpoint.write(&path).unwrap();
            let resumed = resume(data, config, Checkpoint::read(&path).unwrap(), &mut ()).unwrap();
            assert_same_bits(&undisturbed, &resumed, &format!("{:?} stopped after {iterations}", stage[0]));
        }
        interrupted.push(stage[0].name);
        before += stage.len();
    }
    interrupted
}

#[test]
fn an_interruption_does_not_change_a_bit() {
    let (step, line) = (step_data(300, Task::Regression), line_data(300));
    let mut config = busy_config(300);
    assert_eq!(interrupted_stages(&step, &config), [StageName::WarmStart, StageName::Flow, StageName::FlowOnAllRows]);
    (config.flow.optional, config.validation.folds) = (true, 2);
    // Two folds: neither is clear after one.
    let both = [StageName::NoFlow, StageName::WarmStart, StageName::Flow].repeat(2);
    let mut longer = config.clone();
    iterate(&mut longer, 20, 100);
    assert_eq!(interrupted_stages(&step, &longer), [&both[..], &[StageName::FlowOnAllRows]].concat());
    assert_eq!(interrupted_stages(&line, &config), [&both[..], &[StageName::NoFlowOnAllRows]].concat());
    config.candidate_kernels = vec![KernelKind::Matern32];
    config.candidate.iterations = 15;
    let trials = [StageName::CandidateKernel, StageName::CandidateKernel];
    assert_eq!(interrupted_stages(&line, &config), [&trials[..], &both, &[StageName::NoFlowOnAllRows]].concat());
    config.flow.optional = false;
    let rough = curve_data(300, true);
    assert!(train(&rough, &config, &mut ()).unwrap().kernel_gain.unwrap().is_worth(WORTHWHILE_KERNEL_GAIN));
    let flow = [StageName::WarmStart, StageName::Flow, StageName::FlowOnAllRows];
    assert_eq!(interrupted_stages(&rough, &config), [&trials[..], &flow].concat());
    // A predictor that starts at an exact Gaussian process has nothing to climb.
    let mut searching = small_config(300, Task::Regression);
    (searching.predictor.most_inducing, searching.predictor.search_rows, searching.flow.optional) = (40, 200, true);
    searching.validation.folds = 1;
    assert_eq!(interrupted_stages(&line, &searching), [StageName::WarmStart, StageName::Flow]);
}

#[test]
fn a_run_killed_between_checkpoints_goes_on_from_the_last() {
    let data = step_data(300, Task::Regression);
    let config = small_config(300, Task::Regression);
    let mut recorder = Recorder::default();
    let undisturbed = train(&data, &config, &mut recorder).unwrap();
    let last = recorder.checkpoint.unwrap();
    let (stage, iteration) = last.place();
    assert_eq!(
        recorder.progress.last().unwrap().stage,
        StageId { index: stage, name: StageName::FlowOnAllRows, fold: 0 }
    );
    assert!(iteration > 0);
    assert_same_bits(&undisturbed, &resume(&data, &config, last, &mut ()).unwrap(), "from the last checkpoint");
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let data = step_data(100, Task::Regression);
    let config = small_config(100, Task::Regression);
    let mut recorder = Recorder { stop_after: Some(3), ..Recorder::default() };
    train(&data, &config, &mut recorder).unwrap_err();
    let checkpoint = recorder.checkpoint.unwrap();
    let other = resume(&step_data(101, Task::Regression), &config, checkpoint.clone(), &mut ()).unwrap_err();
    assert!(other.to_string().contains("other training data"), "{other}");
    let config = Config { seed: 1, ..config };
    let other = resume(&data, &config, checkpoint, &mut ()).unwrap_err();
    assert!(other.to_string().contains("other settings"), "{other}");
}

#[test]
fn a_flow_beats_no_flow_on_a_step() {
    let data = step_data(400, Task::Regression);
    let held_out: Vec<usize> = (0..400).step_by(5).collect();
    let (training, test) = data.hold_out(&held_out).unwrap();
    let mut config = small_config(training.rows(), Task::Regression);
    iterate(&mut config, 100, 200);
    let threads = Threads::new(1).unwrap();
    let mut recorder = Recorder::default();
    let flow = train(&training, &config, &mut recorder).unwrap().score(&test, 50, 0, &threads).unwrap();
    config.flow.time = 0.0;
    let no_flow = train(&training, &config, &mut ()).unwrap().score(&test, 50, 0, &threads).unwrap();
    assert!(flow.log_likelihood > no_flow.log_likelihood + tolerances::STEP_GAIN, "flow {flow:?}, no flow {no_flow:?}");
    for stage in [StageName::WarmStart, StageName::Flow] {
        let elbos: Vec<f64> = recorder.progress.iter().filter(|p| p.stage.name == stage).map(|p| p.elbo).collect();
        assert!(elbos.last() > elbos.first(), "{stage:?}: {:?} to {:?}", elbos.first(), elbos.last());
    }
    assert!(!recorder.validations.is_empty());
}

#[test]
fn the_last_stage_repeats_the_best_with_all_rows() {
    let data = step_data(200, Task::Regression);
    let mut recorder = Recorder::default();
    let trained = train(&data, &small_config(200, Task::Regression), &mut recorder).unwrap();
    let of = |name| recorder.progress.iter().filter(move |progress| progress.stage.name == name);
    assert_eq!((of(StageName::Flow).count(), of(StageName::FlowOnAllRows).count() as u64), (30, trained.iteration));
    let validated = recorder.validations.iter().filter(|validated| validated.stage.name == StageName::Flow);
    let best = validated.max_by(|a, b| a.score.log_likelihood.total_cmp(&b.score.log_likelihood)).unwrap();
    assert_eq!(
        (best.iteration, Some(best.score.log_likelihood)),
        (trained.iteration, trained.validation_log_likelihood)
    );
    // The same parameters on other rows.
    let first = |name| *of(name).next().unwrap();
    let (once, again) = (first(StageName::Flow), first(StageName::FlowOnAllRows));
    assert_eq!((once.noise, once.kl_predictor, once.kl_flow), (again.noise, again.kl_predictor, again.kl_flow));
    assert_ne!(once.elbo, again.elbo);
    assert!(recorder.validations.iter().all(|validated| !validated.stage.name.is_on_all_rows()));
}

#[test]
fn training_stops_when_the_validation_rows_stop_gaining() {
    let mut config = small_config(300, Task::Regression);
    (config.with_flow.iterations, config.with_flow.patience, config.validation.again_rows) = (10_000, 14, 0);
    // Steps far too large to settle.
    config.with_flow.learning_rate = 1.0;
    let mut recorder = Recorder::default();
    let trained = train(&step_data(300, Task::Regression), &config, &mut recorder).unwrap();
    let last = recorder.progress.iter().map(|progress| progress.iteration).max().unwrap();
    assert!(last >= trained.iteration + 14 && last < 1000, "stopped after {last}, best {}", trained.iteration);
}

#[test]
fn classes_are_learned() {
    let (training, test) =
        step_data(400, Task::Classification).hold_out(&(0..400).step_by(5).collect::<Vec<_>>()).unwrap();
    let mut config = small_config(training.rows(), Task::Classification);
    iterate(&mut config, 100, 50);
    let trained = train(&training, &config, &mut ()).unwrap();
    let score = trained.score(&test, 20, 0, &Threads::new(1).unwrap()).unwrap();
    // Always answering ½ gives −ln 2; the classes overlap, so nothing gives 0.
    assert!(score.log_likelihood > -0.5, "{score:?}");
    assert!(score.auc.unwrap() > 0.9, "{score:?}");
}

#[test]
fn odd_data_trains_or_is_refused_with_a_reason() {
    let constant_column = |rows: usize| {
        let x: Vec<f32> = (0..rows).flat_map(|i| [(i % 4) as f32, 7.0]).collect();
        Dataset::new(x, (0..rows).map(|i| (i % 4) as f32).collect(), 2).unwrap()
    };
    let mut recorder = Recorder::default();
    train(&constant_column(40), &small_config(40, Task::Regression), &mut recorder).unwrap();
    assert!(recorder.warnings.contains(&Warning::ConstantInput { input: "input 1".into() }));
    assert!(recorder.warnings.contains(&Warning::InducingLowered { wanted: 10, used: 4 }));

    let mut recorder = Recorder::default();
    let all_equal = Dataset::new(vec![1.0; 30], vec![2.0; 30], 1).unwrap();
    train(&all_equal, &small_config(30, Task::Regression), &mut recorder).unwrap();
    assert!(recorder.warnings.contains(&Warning::ConstantTarget { target: "the target".to_owned() }));

    let two = Dataset::new(vec![1.0, 2.0], vec![3.0, 4.0], 1).unwrap();
    train(&two, &small_config(2, Task::Regression), &mut ()).unwrap();
    let one = Dataset::new(vec![1.0], vec![3.0], 1).unwrap();
    let refused = train(&one, &small_config(1, Task::Regression), &mut ()).unwrap_err();
    assert_eq!(refused.to_string(), "1 training rows; expected at least 2");

    let not_classes = train(&constant_column(40), &small_config(40, Task::Classification), &mut ()).unwrap_err();
    assert_eq!(not_classes.to_string(), "row 3: the target is 2; classification targets are 0 or 1");
}

#[test]
fn real_data_if_there() {
    let root = std::env::var_os("DIFFGP_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), PathBuf::from);
    let directory = root.join("uci/concrete");
    if !directory.exists() {
        let needed = "set DIFFGP_DATA to the folder that holds uci/";
        skipped(&format!("training on real data: no {} ({needed})", directory.display()));
        return;
    }
    let path = directory.join("data.csv");
    let all = Dataset::read_file(&path, "strength", Header::Detect, TargetKind::Real).unwrap();
    let held_out = read_test_rows(&directory.join("test_rows.txt"), 0).unwrap();
    let (training, test) = all.hold_out(&held_out).unwrap();
    let mut config = Config::for_rows(training.rows(), Task::Regression);
    config.calibration.mode = CalibrationMode::None;
    (config.flow.time, config.no_flow.iterations) = (0.0, 100);
    let trained = train(&training, &config, &mut ()).unwrap();
    let score = trained.score(&test, 1, 0, &Threads::new(0).unwrap()).unwrap();
    assert!(score.rmse.unwrap() < tolerances::CONCRETE_RMSE, "{score:?}");
}
