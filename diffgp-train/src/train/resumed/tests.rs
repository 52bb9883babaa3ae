use std::io;

use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::data::Dataset;
use crate::train::{Config, Ended, Observer, Outcome, Progress, Run, Task, TrainError, resume, train};

/// Keeps every checkpoint, and ends a run that does not end by itself.
#[derive(Default)]
struct Keeper {
    checkpoints: Vec<Checkpoint>,
    iterations: usize,
}

impl Observer for Keeper {
    fn iteration(&mut self, _: &Progress) {
        self.iterations += 1;
    }

    fn should_stop(&mut self) -> bool {
        self.iterations > 100
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> io::Result<()> {
        self.checkpoints.push(checkpoint.clone());
        Ok(())
    }
}

/// A run of a few iterations that compares flow and no flow.
fn example() -> (Dataset, Config, Vec<Checkpoint>) {
    let x = (0..60).map(|i| ((i * 37) % 60) as f32 / 10.0).collect();
    let y = (0..60).map(|i| (((i * 37) % 60) as f32 / 4.0).sin()).collect();
    let data = Dataset::new(x, y, 1).unwrap();
    let mut config = Config::for_rows(60, Task::Regression);
    (config.predictor.inducing, config.predictor.most_inducing, config.flow.inducing) = (3, 3, 3);
    (config.flow.steps, config.flow.most_steps, config.flow.training_steps) = (2, 2, Some(2));
    (config.no_flow.iterations, config.warm_start.iterations, config.with_flow.iterations) = (4, 4, 4);
    (config.averaging, config.checkpoint_every, config.validation.every) = (Some(0.9), 2, 1);
    let mut keeper = Keeper::default();
    train(&data, &config, &mut keeper).unwrap();
    (data, config, keeper.checkpoints)
}

fn is_refused(data: &Dataset, config: &Config, checkpoint: Checkpoint) -> bool {
    let outcome = resume(data, config, checkpoint, &mut Keeper::default());
    matches!(outcome, Err(TrainError::Resume(CheckpointError::Impossible { .. })))
}

/// The checkpoint of a climb that has a best iterate, behind stages that have ended.
fn richest(checkpoints: &[Checkpoint]) -> Checkpoint {
    let is_rich = |run: &Run| {
        let finished = run.ended.iter().any(|ended| matches!(ended, Ended::Finished(of) if !of.fitted.is_empty()));
        finished && run.climb.as_ref().is_some_and(|climb| climb.best.is_some() && climb.average.is_some())
    };
    checkpoints.iter().find(|checkpoint| is_rich(&checkpoint.run)).expect("a flow that is compared").clone()
}

#[test]
fn every_field_of_a_checkpoint_is_bounded() {
    let (data, config, checkpoints) = example();
    let whole = richest(&checkpoints);
    resume(&data, &config, whole.clone(), &mut Keeper::default()).unwrap();

    type Forge = fn(&mut Run);
    fn outcome(run: &mut Run) -> &mut Outcome {
        let mut outcomes = run.ended.iter_mut();
        outcomes.find_map(|ended| if let Ended::Finished(of) = ended { Some(of) } else { None }).unwrap()
    }
    let forgeries: [(&str, Forge); 25] = [
        ("no stages", |run| run.plan.stages.clear()),
        ("another stage", |run| run.plan.stages[0].stop.iterations += 1),
        ("more ends than stages", |run| run.ended = vec![Ended::Skipped; run.plan.stages.len() + 1]),
        ("a climb after the end", |run| run.ended = vec![Ended::Diverged; run.plan.stages.len()]),
        ("parameters left out", |run| outcome(run).theta.truncate(1)),
        ("a parameter that is no number", |run| outcome(run).theta[0] = f64::NAN),
        ("a jitter of none", |run| outcome(run).jitter = 0.0),
        ("iterations without end", |run| outcome(run).iteration = u64::MAX),
        ("a likelihood of infinity", |run| outcome(run).log_likelihood = Some(f64::INFINITY)),
        ("scores of other rows", |run| outcome(run).fitted.push(0.0)),
        ("a score that is no number", |run| outcome(run).fitted[0] = f64::NAN),
        ("a climb without end", |run| run.climb.as_mut().unwrap().end = u64::MAX),
        ("an iteration after the end", |run| run.climb.as_mut().unwrap().iteration = 1 << 40),
        ("a short climb", |run| run.climb.as_mut().unwrap().theta.truncate(2)),
        ("an infinite variance", |run| run.climb.as_mut().unwrap().theta.fill(1e5)),
        ("moments of nothing", |run| run.climb.as_mut().unwrap().adam = crate::optimise::Adam::new(0)),
        ("moments of another step", |run| {
            let climb = run.climb.as_mut().unwrap();
            climb.adam = crate::optimise::Adam::new(climb.theta.len());
        }),
        ("steps of no size", |run| run.climb.as_mut().unwrap().step_scale = 0.0),
        ("steps of no number", |run| run.climb.as_mut().unwrap().step_scale = f64::NAN),
        ("a negative jitter", |run| run.climb.as_mut().unwrap().jitter = -1.0),
        ("no average", |run| run.climb.as_mut().unwrap().average = None),
        ("a short average", |run| run.climb.as_mut().unwrap().average = Some(vec![])),
        ("a best iterate to come", |run| run.climb.as_mut().unwrap().best.as_mut().unwrap().iteration = 1 << 40),
        ("a short best iterate", |run| run.climb.as_mut().unwrap().best.as_mut().unwrap().theta.truncate(1)),
        ("a best of no number", |run| run.climb.as_mut().unwrap().best.as_mut().unwrap().log_likelihood = f64::NAN),
    ];
    for (what, forge) in forgeries {
        let mut forged = whole.clone();
        forge(&mut forged.run);
        assert!(is_refused(&data, &config, forged), "{what}");
    }
}

/// Bytes anywhere in the file, behind a repaired checksum: refused, or a run that ends.
#[test]
fn forged_files_are_refused_or_harmless() {
    let (data, config, checkpoints) = example();
    let (mut unreadable, mut refused, mut ran) = (0, 0, 0);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as usize % below
    };
    for _ in 0..150 {
        let whole = checkpoints[random(checkpoints.len())].payload();
        let mut forged = whole.clone();
        let at = random(forged.len());
        forged[at] = [0x00, 0x7f, 0x80, 0xff, forged[at] ^ 1 << random(8)][random(5)];
        let Ok(checkpoint) = Checkpoint::of_payload(&forged) else {
            unreadable += 1;
            continue;
        };
        match resume(&data, &config, checkpoint, &mut Keeper::default()) {
            Err(TrainError::Resume(_)) => refused += 1,
            _ => ran += 1,
        }
    }
    println!("{unreadable} unreadable, {refused} refused, {ran} ran, 0 panicked");
    assert!(refused > 5 && ran > 0);
}
