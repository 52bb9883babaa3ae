use super::*;
use crate::gradient::Gradient;
use crate::optimise::pack;
use crate::train::config::Task;
use crate::train::plan::{StageName, plan};
use crate::train::small_model;

/// −½ Σ (p − target)² over the plain parameters, with faults in chosen calls.
struct Bowl {
    target: Params,
    calls: u64,
    faulty: fn(u64) -> bool,
}

impl Bowl {
    fn new(faulty: fn(u64) -> bool) -> Self {
        let mut target = small_model(true);
        target.flow.as_mut().unwrap().field.inducing.add_scalar_mut(0.3);
        target.predictor.kernels[0].variance = 2.0;
        Self { target, calls: 0, faulty }
    }
}

impl Objective for Bowl {
    fn evaluate(&mut self, params: &Params, _iteration: u64) -> Result<Evaluation, ElboError> {
        self.calls += 1;
        let mut gradient = Gradient::of_each(params, |_| 0.0);
        let (flow, target) = (params.flow.as_ref().unwrap(), self.target.flow.as_ref().unwrap());
        let slopes = gradient.flow.as_mut().unwrap();
        slopes.field.inducing = &target.field.inducing - &flow.field.inducing;
        let variance = self.target.predictor.kernels[0].variance - params.predictor.kernels[0].variance;
        gradient.predictor.kernels[0].variance = variance;
        let elbo = -0.5 * (slopes.field.inducing.norm_squared() + variance.powi(2));
        let elbo = if (self.faulty)(self.calls) { f64::NAN } else { elbo };
        Ok(Evaluation {
            elbo,
            expected_log_likelihood: elbo,
            kl_predictor: 0.0,
            kl_flow: 0.0,
            gradient,
            jitter_raised: (self.calls == 3).then_some(1e-4),
        })
    }

    fn validate(&mut self, params: &Params) -> Result<Option<Score>, ElboError> {
        let log_likelihood = self.evaluate(params, 0)?.elbo;
        Ok(Some(Score { rows: 1, log_likelihood, rmse: None, auc: None, accuracy: None, calibration_error: None }))
    }
}

#[derive(Default)]
struct Notes {
    warnings: Vec<Warning>,
    elbos: Vec<f64>,
    stop_at: Option<usize>,
}

impl Observer for Notes {
    fn iteration(&mut self, progress: &Progress) {
        self.elbos.push(progress.elbo);
    }

    fn warning(&mut self, warning: &Warning) {
        self.warnings.push(warning.clone());
    }

    fn should_stop(&mut self) -> bool {
        self.stop_at == Some(self.elbos.len())
    }
}

fn config() -> Config {
    let mut config = Config::for_rows(20, Task::Regression);
    config.with_flow.iterations = 200;
    config.with_flow.natural_step = Some(0.0);
    config.averaging = Some(0.5);
    config
}

/// The stage of the flow.
fn flow_stage(config: &Config) -> Stage {
    plan(20, config).stages.into_iter().find(|stage| stage.name == StageName::Flow).unwrap()
}

fn climb(faulty: fn(u64) -> bool, notes: &mut Notes) -> Result<ClimbState, TrainError> {
    let config = config();
    let (stage, model) = (flow_stage(&config), small_model(true));
    let start = ClimbState::new(pack(&model), model.jitter, true, stage.stop.iterations);
    Climb::new(&config, &stage, 0, model, 20).run(start, &mut Bowl::new(faulty), notes, &|_, _| Ok(()))
}

#[test]
fn climbs_and_keeps_the_jitter_that_was_needed() {
    let mut notes = Notes::default();
    let end = climb(|_| false, &mut notes).unwrap();
    assert_eq!(end.iteration, 200);
    assert_eq!(notes.warnings, [Warning::JitterRaised { iteration: 2, jitter: 1e-4 }]);
    assert_eq!(end.jitter, 1e-4);
    // Adam with a decaying rate settles far below a thousandth of where it began.
    assert!(notes.elbos[199].abs() < 1e-3 * notes.elbos[0].abs());
    assert_eq!(end.best.unwrap().iteration, 200);
}

#[test]
fn goes_back_with_a_smaller_step_when_the_bound_is_not_finite() {
    let mut notes = Notes::default();
    let end = climb(|call| call == 21 || call == 40, &mut notes).unwrap();
    assert_eq!(end.iteration, 200);
    let backed_off: Vec<_> =
        notes.warnings.iter().filter(|warning| matches!(warning, Warning::BackedOff { .. })).collect();
    // Call 4 repeated iteration 2 with the jitter that call 3 needed, so call 21 is of iteration 19.
    assert_eq!(backed_off[0], &Warning::BackedOff { iteration: 18, step_scale: 0.5 });
    assert_eq!(backed_off.len(), 2);
    assert!(notes.elbos.last().unwrap().abs() < 1e-3 * notes.elbos[0].abs());
}

#[test]
fn gives_up_when_nothing_helps() {
    let error = climb(|call| call > 10, &mut Notes::default()).unwrap_err();
    assert!(matches!(error, TrainError::Diverged { .. }), "{error}");
    let error = climb(|_| true, &mut Notes::default()).unwrap_err();
    assert!(matches!(error, TrainError::Diverged { iteration: 0 }), "{error}");
}

#[test]
fn stops_when_asked_with_a_checkpoint_of_the_state_it_stopped_in() {
    let config = config();
    let (stage, model) = (flow_stage(&config), small_model(true));
    let start = ClimbState::new(pack(&model), model.jitter, true, stage.stop.iterations);
    let climbing = Climb::new(&config, &stage, 0, model, 20);
    let saved = std::cell::RefCell::new(None);
    let keep = |state: &ClimbState, _: &mut dyn Observer| {
        *saved.borrow_mut() = Some(state.clone());
        Ok(())
    };
    let mut notes = Notes { stop_at: Some(31), ..Notes::default() };
    let stopped = climbing.run(start, &mut Bowl::new(|_| false), &mut notes, &keep).unwrap_err();
    assert!(matches!(stopped, TrainError::Stopped { iteration: 30 }));
    let saved = saved.into_inner().unwrap();
    let resumed = climbing.run(saved, &mut Bowl::new(|_| false), &mut Notes::default(), &|_, _| Ok(())).unwrap();
    let undisturbed = climb(|_| false, &mut Notes::default()).unwrap();
    assert_eq!(resumed.theta, undisturbed.theta);
    assert_eq!(resumed.best, undisturbed.best);
}
