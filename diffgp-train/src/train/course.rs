//! Which phase follows which, and what it starts from.
//!
//! ```text
//! kernel to be chosen: trial ── trial of the rival ── one of these:
//! without a flow:   sparse ── once more on all rows
//! with a flow:      warm start ── flow ── once more on all rows
//! to be chosen:     sparse ── warm start ── flow ── the better of both once more on all rows
//! ```
//!
//! What was tried before changes nothing: the model that is chosen is the one that would have been trained if its kernel
//! and its flow time had been asked for. The last phase repeats it from its beginning with the validation rows added,
//! for as many iterations as they found best. It is left out for large sets, where the validation rows are a small part
//! of all.

use super::ascent::Ascent;
use super::config::Config;
use super::observer::Phase;
use super::rows::Rows;
use super::state::{Best, State, Verdict};
use crate::optimise::{pack, unpack};
use crate::params::{Flow, Params};

/// What a flow must add to the log-likelihood of a validation row to be worth K times the work on the device.
pub const WORTHWHILE_GAIN: f64 = 0.01;

/// What the rival kernel must add to it. A Matérn correlation takes a square root: 2.6 times the work along the drift
/// and 1.5 times along sampled paths, for D = 4 and M = 50 on a Cortex-M4F.
pub const WORTHWHILE_KERNEL_GAIN: f64 = 0.005;

/// The beginning of every phase.
pub(super) struct Course<'a> {
    pub(super) config: &'a Config,
    pub(super) total_rows: usize,
    /// T = 0, untrained.
    pub(super) sparse: Params,
    /// A weak flow, if there is to be one.
    pub(super) flow: Option<Flow>,
}

/// What comes after a phase.
pub(super) enum Next {
    Phase(State),
    End(Chosen),
}

/// The parameters to keep, and what the validation rows said.
pub(super) struct Chosen {
    pub(super) params: Params,
    pub(super) iteration: u64,
    pub(super) verdict: Option<Verdict>,
    pub(super) kernel_gain: Option<f64>,
}

impl Course<'_> {
    /// The first state.
    pub(super) fn start(&self) -> State {
        match self.tries_kernels() {
            true => self.trial(Phase::Trial),
            false => self.first(None),
        }
    }

    /// How the phase of this state climbs.
    pub(super) fn ascent(&self, state: &State) -> Ascent<'_> {
        let template = self.shaped(self.sparse.clone(), state.phase, state.has_rival_kernel());
        Ascent::new(self.config, state.phase, template, &self.rows(state.phase))
    }

    /// The rows of a phase.
    pub(super) fn rows(&self, phase: Phase) -> Rows {
        Rows::new(self.total_rows, self.config, phase)
    }

    /// Whether the end of this phase is compared with that of another.
    pub(super) fn compares(&self, state: &State) -> bool {
        match state.phase {
            Phase::Sparse => self.flow.is_some(),
            Phase::Flow => state.sparse.is_some(),
            phase => phase.is_trial(),
        }
    }

    /// After the end of a phase.
    pub(super) fn next(&self, end: State) -> Next {
        let kernel_gain = end.kernel_gain;
        match end.phase {
            Phase::Trial => {
                let trial_log_likelihood = settled(&end);
                Next::Phase(State { trial_log_likelihood, ..self.trial(Phase::RivalTrial) })
            }
            Phase::RivalTrial => {
                let both = settled(&end).zip(end.trial_log_likelihood);
                Next::Phase(self.first(both.map(|(rival, configured)| rival - configured)))
            }
            Phase::Sparse if self.flow.is_some() => {
                Next::Phase(State { sparse: Some(Box::new(end)), ..self.warm_start(kernel_gain) })
            }
            Phase::Sparse => self.once_more(Phase::SparseAgain, &end, None),
            Phase::WarmStart => {
                let params = self.chosen(&end);
                let warm = Some(pack(&params));
                Next::Phase(State {
                    sparse: end.sparse,
                    warm,
                    ..self.state(Phase::Flow, params, kernel_gain, self.config.main.iterations)
                })
            }
            Phase::Flow => {
                let gain = flow_gain(&end);
                // A flow that nothing speaks for is not kept either.
                match end.sparse.as_deref().filter(|_| gain.is_none_or(|gain| gain < WORTHWHILE_GAIN)) {
                    Some(sparse) => self.once_more(Phase::SparseAgain, sparse, gain),
                    None => self.once_more(Phase::FlowAgain, &end, gain),
                }
            }
            Phase::SparseAgain | Phase::FlowAgain => self.end(&end, end.verdict),
        }
    }

    /// The phase that ended so on all rows, or its parameters as they are.
    fn once_more(&self, phase: Phase, end: &State, flow_gain: Option<f64>) -> Next {
        let best = end.best.as_ref().filter(|_| self.config.validation.select);
        let verdict =
            best.map(|&Best { iteration, log_likelihood, .. }| Verdict { iteration, log_likelihood, flow_gain });
        match verdict {
            Some(Verdict { iteration, .. }) if self.total_rows <= self.config.validation.again_rows => {
                let mut before = Params { jitter: end.jitter, ..self.sparse.clone() };
                if let Some(theta) = &end.warm {
                    unpack(theta, &mut before);
                }
                Next::Phase(State { verdict, ..self.state(phase, before, end.kernel_gain, iteration) })
            }
            _ => self.end(end, verdict),
        }
    }

    fn end(&self, end: &State, verdict: Option<Verdict>) -> Next {
        let iteration = verdict.map_or(end.iteration, |verdict| verdict.iteration);
        Next::End(Chosen { params: self.chosen(end), iteration, verdict, kernel_gain: end.kernel_gain })
    }

    /// The parameters to go on with after a phase.
    fn chosen(&self, end: &State) -> Params {
        self.ascent(end).chosen(end)
    }

    /// Only validation rows can choose between kernels.
    fn tries_kernels(&self) -> bool {
        let validates = self.config.validation.select && !self.rows(Phase::Trial).validation().is_empty();
        validates && self.config.rival_kernel.is_some()
    }

    fn trial(&self, phase: Phase) -> State {
        self.state(phase, self.sparse.clone(), None, self.config.trial.iterations)
    }

    /// After the kernel was chosen.
    fn first(&self, kernel_gain: Option<f64>) -> State {
        let chosen_later = self.config.flow.optional && self.config.validation.select;
        match self.flow.is_none() || chosen_later {
            true => self.state(Phase::Sparse, self.sparse.clone(), kernel_gain, self.config.sparse.iterations),
            false => self.warm_start(kernel_gain),
        }
    }

    fn warm_start(&self, kernel_gain: Option<f64>) -> State {
        self.state(Phase::WarmStart, self.sparse.clone(), kernel_gain, self.config.warm_start.iterations)
    }

    fn state(&self, phase: Phase, params: Params, kernel_gain: Option<f64>, end: u64) -> State {
        // Kernels have no say in the number and the start of the parameters.
        let params = self.shaped(params, phase, false);
        State { kernel_gain, ..State::new(phase, &params, self.config.averaging.is_some(), end) }
    }

    /// With the flow of the phase and the kernels of the run.
    fn shaped(&self, params: Params, phase: Phase, rival: bool) -> Params {
        let mut params = Params { flow: self.flow.clone().filter(|_| phase.has_flow()), ..params };
        if let Some(kernel) = self.config.rival_kernel.filter(|_| rival) {
            let flow = params.flow.iter_mut().flat_map(|flow| &mut flow.kernels);
            flow.chain([&mut params.predictor.kernel]).for_each(|of_one| of_one.kind = kernel);
        }
        params
    }
}

/// The log-likelihood of the validation rows that phases are compared by.
fn settled(end: &State) -> Option<f64> {
    end.best.as_ref()?.settled_log_likelihood
}

/// What the flow adds to the mean log-likelihood of the validation rows.
fn flow_gain(end: &State) -> Option<f64> {
    Some(settled(end)? - settled(end.sparse.as_ref()?)?)
}
