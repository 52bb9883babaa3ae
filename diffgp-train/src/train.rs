//! Training, from a data set to a model.
//!
//! 1. The kernel of the predictor. Small sets: exact Gaussian processes, whose rows left out decide, and whose length-scales
//!    and noise everything starts from. Large sets: a short sparse Gaussian process with each; validation rows decide.
//! 2. A sparse Gaussian process (T = 0) from k-means inducing points; for small sets that of step 1, with as many points as
//!    it takes.
//! 3. For a flow: another, for fewer iterations, then a weak flow in front of it and everything together.
//! 4. The better of both, by the validation rows again; for small sets, that one once more on all rows.
//! 5. q(u_g), and for large sets σ², fitted once more on all rows with the exported number of steps.
//! 6. What predictions cannot tell is left out of the variances.
//! 7. Error bars calibrated on rows that a model was not fitted to: small sets by models that leave out a share of the rows
//!    each, large ones by the validation rows, which then stay out of step 5.
//!
//! The same version, data, configuration (threads excepted) and kind of CPU (instruction set) give the same model, to the
//! bit, in one process or several ([`train_on`]). Memory: the data set, one batch with its noise, and what [`value_and_gradient`](crate::elbo::value_and_gradient) needs.

mod agreed;
mod climb;
mod compact;
mod config;
mod cut;
mod error;
mod estimate;
mod execute;
mod growth;
mod initial;
mod objective;
mod observer;
mod order;
mod plan;
pub(crate) mod recipe;
mod refit;
mod residuals;
mod resumed;
mod rows;
mod search;
mod trained;

pub use crate::comparison::Gain;
pub use climb::{Best, ClimbState};
pub use compact::Compaction;
pub use config::{
    CalibrationConfig, ClimbConfig, Config, ConfigError, FlowConfig, PredictorConfig, Recipe, RefitConfig, Task,
    ValidationConfig,
};
pub use cut::Cut;
pub use error::TrainError;
pub use execute::{Ended, Outcome, Run};
pub use observer::{Observer, Progress, StageId, Validated, Warning};
pub use plan::{
    Comparison, Kernels, NoiseFit, Optimiser, Plan, Stage, StageName, Start, Stop, WORTHWHILE_GAIN,
    WORTHWHILE_KERNEL_GAIN, plan, plan_for,
};
pub use trained::Trained;

use self::agreed::Agreed;
use self::cut::Cutter;
use self::execute::{Chosen, Executor};
use self::initial::Initial;
use self::objective::Standardised;
use self::refit::FitRows;
use self::rows::StageRows;
use crate::calibration::{Calibration, CalibrationSource, Residuals};
use crate::checkpoint::Checkpoint;
use crate::data::{Dataset, Scaling};
use crate::discretisation::{Discretisation, FLOW};
use crate::params::Params;
use crate::provenance::Provenance;
use crate::threads::Threads;

/// Fewer rows than this deserve a warning. Of y = sin x + noise, in 95 % bars learned from 10, 20 and 40 rows lie 80, 90
/// and 95 % of new targets, on the average of eight sets.
const FEW_ROWS: usize = 40;
/// A class with fewer rows than this deserves one too: some are left after a tenth is kept aside.
const FEW_ROWS_OF_A_CLASS: usize = 5;
/// Rows on which the error of the steps is measured, at most.
const DISCRETISATION_ROWS: usize = 200;
/// Targets, or classes, at most.
const MAX_OUTPUTS: usize = 32;
/// Inputs at most; the blob has the same limit.
const MAX_INPUTS: usize = 64;

/// Trains a model on all rows of `data` (hold test rows out first).
pub fn train(data: &Dataset, config: &Config, observer: &mut dyn Observer) -> Result<Trained, TrainError> {
    train_on(&threads(config)?, data, config, observer)
}

/// Goes on from a checkpoint of a run with the same data and configuration. On another instruction set the observer is
/// warned: the model will not be, byte for byte, the one of an undisturbed run.
pub fn resume(
    data: &Dataset,
    config: &Config,
    checkpoint: Checkpoint,
    observer: &mut dyn Observer,
) -> Result<Trained, TrainError> {
    resume_on(&threads(config)?, data, config, checkpoint, observer)
}

/// Like [`train()`], on these threads, whatever the configuration says of them.
///
/// In one of several processes ([`Threads::of_rank`]) all of them call this with the same rows and configuration, and all
/// have the model in the end. Their observers hear the same; only one needs to do something about it. A run stops when any
/// of them wants it.
pub fn train_on(
    threads: &Threads,
    data: &Dataset,
    config: &Config,
    observer: &mut dyn Observer,
) -> Result<Trained, TrainError> {
    run(data, config, None, threads, observer)
}

/// Like [`resume`], on these threads. Of several processes each is given the same checkpoint, which may be of a run of
/// more of them, or of fewer.
pub fn resume_on(
    threads: &Threads,
    data: &Dataset,
    config: &Config,
    checkpoint: Checkpoint,
    observer: &mut dyn Observer,
) -> Result<Trained, TrainError> {
    checkpoint.check(data, config)?;
    let (found, here) = (checkpoint.provenance().instruction_set.clone(), Provenance::here().instruction_set);
    if found != here {
        observer.warning(&Warning::OtherInstructionSet { found, here });
    }
    run(data, config, Some(checkpoint.run), threads, observer)
}

fn threads(config: &Config) -> Result<Threads, TrainError> {
    config.validate()?;
    Threads::new(config.threads).map_err(|error| TrainError::Threads(error.to_string()))
}

fn run(
    data: &Dataset,
    config: &Config,
    resumed: Option<Run>,
    threads: &Threads,
    observer: &mut dyn Observer,
) -> Result<Trained, TrainError> {
    config.validate()?;
    check(data, config)?;
    let observer: &mut dyn Observer = &mut Agreed::on(threads.exchange(), data, config, observer)?;
    let scaling = Scaling::of(data, config.task == Task::Regression);
    check_scaling(data, &scaling, observer)?;
    if config.task == Task::Classification {
        check_classes(data, observer);
    }
    let rows_of = Standardised { data, scaling: &scaling };
    let is_resumed = resumed.is_some();
    let run = resumed.unwrap_or_else(|| Run::new(plan_for(data, config)));
    let observer = &mut Cutter::new(observer);
    // Stages that have begun must find the start that they had.
    observer.is_deaf = run.stage() > 0 || run.climb.is_some();
    observer.plan(&run.plan);
    let Plan { stages, last_fit } = run.plan.clone();
    let has_flow = stages.iter().any(|stage| stage.flow);
    if stages[0].validation.is_empty() && config.validation.fraction > 0.0 {
        observer.warning(&Warning::NoValidation);
    }
    if data.rows() < FEW_ROWS && config.task == Task::Regression {
        observer.warning(&Warning::FewRows { rows: data.rows() });
    }
    if config.flow.time > 0.0 && !has_flow {
        observer.warning(&Warning::NoFlow);
    }
    let sparse = initial::sparse_gp(data, &scaling, config, observer);
    if !is_resumed && observer.wants_estimate() {
        let flow = has_flow.then(|| initial::weak_flow(data, &scaling, config, &mut ()));
        // What cannot be evaluated yet is for the run itself to deal with.
        if let Ok(at_most) = estimate::at_most(&run.plan, rows_of, &sparse, flow, config, threads) {
            observer.estimate(at_most);
        }
    }
    let mut searched = sparse.clone();
    if stages.iter().any(|stage| stage.kernels.are_searched())
        && let Some(found) =
            search::search(rows_of, &sparse, config, threads, observer).or_else(|error| match error {
                // Nothing is learned yet, but the same command must be able to go on.
                TrainError::Stopped { .. } => {
                    let at = (data.fingerprint(), data.rows());
                    observer.checkpoint(&Checkpoint::new(at, config, run.clone()))?;
                    Err(error)
                }
                other => Err(other),
            })?
    {
        if let Some(inducing) = found.inducing.filter(|_| !config.grows(data.rows())) {
            let mut config = config.clone();
            config.predictor.inducing = inducing.max(config.predictor.inducing);
            searched = initial::sparse_gp(data, &scaling, &config, observer);
        }
        found.apply_to(&mut searched);
    }
    observer.is_deaf = false;
    if observer.cut().is_some() {
        observer.checkpoint(&Checkpoint::new((data.fingerprint(), data.rows()), config, run.clone()))?;
    }
    let initial =
        Initial { sparse, searched, flow: has_flow.then(|| initial::weak_flow(data, &scaling, config, observer)) };
    let executor = Executor { config, rows_of, initial, threads, fingerprint: data.fingerprint() };
    if is_resumed {
        executor.check(&run)?;
    }
    let mut chosen = executor.execute(run, observer)?;

    let params = &mut chosen.params;
    let discretisation = settle_steps(params, rows_of, config, &stages[0], threads)?;
    if let Some(jitter) = refit::settle_jitter(params, rows_of, config, threads)? {
        observer.warning(&Warning::JitterRaised { iteration: chosen.iteration, jitter });
    }
    let mut noise_gain = None;
    if let Some(noise_fit) = last_fit {
        let apart = StageRows::new(data, config.seed, &stages[0]);
        let (training, mut validation) = (apart.training(config.refit.max_rows), apart.validation());
        validation.truncate(config.validation.max_rows);
        let rows = FitRows { training: &training, total: apart.training_count(), validation: &validation };
        noise_gain = refit::finish(params, rows_of, rows, noise_fit, config, threads)?;
    }
    let compaction = compact::compact(params, rows_of, config, threads)?;
    let calibration = calibration(&chosen, &stages, rows_of, (last_fit, compaction), config, threads)?;
    if let Some(error) = discretisation.map(|of| of.error).filter(|&error| error > FLOW && !config.flow.chain) {
        observer.warning(&Warning::NotAFlow { error });
    }
    Ok(Trained {
        params: chosen.params,
        task: config.task,
        names: data.names().map(<[String]>::to_vec),
        target_names: data.target_names().map(<[String]>::to_vec),
        classes: data.classes().filter(|_| config.task == Task::Classification).map(<[String]>::to_vec),
        iteration: chosen.iteration,
        validation_log_likelihood: chosen.log_likelihood,
        flow_gain: chosen.flow_gain,
        kernel_gain: chosen.kernel_gain,
        noise_gain,
        discretisation,
        compaction,
        calibration,
        cut: observer.cut(),
        scaling,
    })
}

/// Calibrates the error bars of the finished model: by the shares of the rows that models like it left out, or by the
/// validation rows.
fn calibration(
    chosen: &Chosen,
    stages: &[Stage],
    rows_of: Standardised<'_>,
    (last_fit, compaction): (Option<NoiseFit>, Option<Compaction>),
    config: &Config,
    threads: &Threads,
) -> Result<Option<Calibration>, TrainError> {
    let mut ways: Vec<Residuals> = Vec::new();
    let mut add = |of_rows: Vec<Residuals>| {
        if ways.is_empty() {
            ways = of_rows;
        } else {
            ways.iter_mut().zip(of_rows).for_each(|(all, more)| all.extend(more));
        }
    };
    let source = if config.keeps_apart() {
        let rows = StageRows::new(rows_of.data, config.seed, &stages[0]).validation();
        add(residuals::residuals(&chosen.params, rows_of, &rows, config, threads)?);
        CalibrationSource::Validation
    } else {
        for (stage, params) in &chosen.cross_fitted {
            let rows = StageRows::new(rows_of.data, config.seed, &stages[*stage]);
            let mut params = params.clone();
            // As the model that is kept.
            params.jitter = params.jitter.max(chosen.params.jitter);
            params.flow.iter_mut().zip(&chosen.params.flow).for_each(|(flow, of)| flow.steps = of.steps);
            if let Some(noise_fit) = last_fit {
                let training = rows.training(config.refit.max_rows);
                let fit_rows = FitRows { training: &training, total: rows.training_count(), validation: &[] };
                refit::refit(&mut params, rows_of, fit_rows, noise_fit, config, threads)?;
            }
            if let Some(compaction) = &compaction {
                compact::compact_as(&mut params, compaction, rows_of, config, threads)?;
            }
            add(residuals::residuals(&params, rows_of, &rows.validation(), config, threads)?);
        }
        // A model that was cut off before others left out rows is calibrated by those that chose it.
        let is_own = chosen.cross_fitted.iter().all(|(stage, _)| stages[*stage].name != StageName::CrossFit);
        if is_own { CalibrationSource::Validation } else { CalibrationSource::CrossFitted }
    };
    Ok(Calibration::fit(&ways, source, config.calibration.mode))
}

/// Gives the flow the exported number of steps, or more if its equation needs them; how far it then is from that, on rows
/// that were kept aside, or on any if there are none.
fn settle_steps(
    params: &mut Params,
    rows_of: Standardised<'_>,
    config: &Config,
    stage: &Stage,
    threads: &Threads,
) -> Result<Option<Discretisation>, TrainError> {
    let apart = StageRows::new(rows_of.data, config.seed, stage);
    let mut rows = apart.validation();
    if rows.is_empty() {
        rows = apart.training(DISCRETISATION_ROWS);
    }
    rows.truncate(DISCRETISATION_ROWS);
    let x: Vec<f64> = rows_of.gather(&rows).0.into_iter().map(f64::from).collect();
    let mut steps = config.flow.steps;
    loop {
        params.flow.iter_mut().for_each(|flow| flow.steps = steps);
        let measured = Discretisation::measure(params, &x, threads)?;
        if steps >= config.flow.most_steps || measured.is_none_or(|of| of.error <= FLOW) {
            return Ok(measured);
        }
        steps += 1;
    }
}

fn check(data: &Dataset, config: &Config) -> Result<(), TrainError> {
    if data.rows() < 2 {
        return Err(TrainError::TooFewRows { rows: data.rows() });
    }
    if data.inputs() > MAX_INPUTS {
        return Err(TrainError::TooManyInputs { inputs: data.inputs() });
    }
    if data.groups().is_some_and(|groups| groups.iter().all(|group| *group == groups[0])) {
        return Err(TrainError::OneGroup);
    }
    if data.outputs() > MAX_OUTPUTS {
        return Err(TrainError::TooManyTargets { targets: data.outputs() });
    }
    if config.task == Task::Regression {
        return Ok(());
    }
    if data.outputs() > 1 {
        return Err(TrainError::SeveralClassTargets { targets: data.outputs() });
    }
    let classes = data.classes().map_or(2, <[String]>::len).max(2);
    if classes > MAX_OUTPUTS {
        return Err(TrainError::TooManyClasses { classes });
    }
    let is_class = |&value: &f32| value.fract() == 0.0 && (0.0..classes as f32).contains(&value);
    match data.targets().iter().position(|value| !is_class(value)) {
        Some(row) => Err(TrainError::NotAClass { row: row + 1, value: data.targets()[row], classes }),
        None => Ok(()),
    }
}

fn check_scaling(data: &Dataset, scaling: &Scaling, observer: &mut dyn Observer) -> Result<(), TrainError> {
    if let Some(column) = scaling.unusable_input() {
        return Err(TrainError::Range { column: data.input_label(column), expected: "1e-30 to 1e30" });
    }
    if let Some(output) = scaling.unusable_target() {
        return Err(TrainError::Range { column: data.target_label(output), expected: "1e-15 to 1e18" });
    }
    for column in scaling.constant_inputs() {
        observer.warning(&Warning::ConstantInput { input: data.input_label(column) });
    }
    for (column, step) in scaling.coarse_inputs() {
        observer.warning(&Warning::Coarse { column: data.input_label(column), step });
    }
    for (output, affine) in scaling.targets.iter().enumerate() {
        let values = || (0..data.rows()).map(|row| data.target_row(row)[output]);
        let (target, largest) =
            (data.target_label(output), values().fold(0.0_f32, |most, value| most.max(value.abs())));
        if values().all(|value| value == data.targets()[output]) {
            observer.warning(&Warning::ConstantTarget { target });
        } else if let Some(step) = affine.coarse_step(largest) {
            observer.warning(&Warning::Coarse { column: target, step });
        }
    }
    Ok(())
}

/// Tells of classes with too few rows to learn them from.
fn check_classes(data: &Dataset, observer: &mut dyn Observer) {
    for (name, rows) in data.classes().unwrap_or_default().iter().zip(data.class_counts()) {
        if rows < FEW_ROWS_OF_A_CLASS {
            observer.warning(&Warning::RareClass { class: name.clone(), rows });
        }
    }
}

/// A small model for tests beside the code: D = 2, three inducing points each.
#[cfg(test)]
pub(crate) fn small_model(with_flow: bool) -> crate::params::Params {
    let x: Vec<f32> = (0..40).map(|i| ((i * 17) % 23) as f32).collect();
    let data = Dataset::new(x, (0..20).map(|i| i as f32).collect(), 2).unwrap();
    let mut config = Config::for_rows(20, Task::Regression);
    (config.predictor.inducing, config.flow.inducing) = (3, 3);
    let scaling = Scaling::of(&data, true);
    let mut params = initial::sparse_gp(&data, &scaling, &config, &mut ());
    params.flow = with_flow.then(|| initial::weak_flow(&data, &scaling, &config, &mut ()));
    let posteriors = params.flow.iter_mut().flat_map(|flow| &mut flow.field.posteriors);
    for posterior in posteriors.chain(&mut params.predictor.posteriors) {
        posterior.mean.iter_mut().enumerate().for_each(|(i, value)| *value = 0.3 * i as f64 - 0.2);
        posterior.factor[(2, 1)] = 0.05;
    }
    params
}
