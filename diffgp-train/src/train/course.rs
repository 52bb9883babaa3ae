//! Which phase follows which, and what it starts from.
//!
//! ```text
//! warm start (T = 0) ── flow ── the better of both by the validation rows ── once more on all rows
//! ```
//!
//! The last phase repeats the better one from its beginning with the validation rows added, for as many iterations as
//! they found best. It is left out for large sets, where the validation rows are a small part of all.

use super::ascent::Ascent;
use super::config::Config;
use super::observer::Phase;
use super::state::{Best, State, Verdict};
use crate::optimise::{pack, unpack};
use crate::params::{Flow, Params};

/// What a flow must add to the log-likelihood of a validation row to be worth K times the work on the device.
pub const WORTHWHILE_GAIN: f64 = 0.01;

/// The beginning of every phase.
pub(super) struct Course<'a> {
    pub(super) config: &'a Config,
    pub(super) rows: usize,
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
}

impl Course<'_> {
    /// The first state.
    pub(super) fn start(&self) -> State {
        self.state(Phase::WarmStart, self.sparse.clone(), self.config.warm_start.iterations)
    }

    /// How a phase climbs.
    pub(super) fn ascent(&self, phase: Phase) -> Ascent<'_> {
        Ascent::new(self.config, phase, self.with_flow(self.sparse.clone(), phase))
    }

    /// After the end of a phase.
    pub(super) fn next(&self, ascent: &Ascent<'_>, end: &State) -> Next {
        let params = ascent.chosen(end);
        match end.phase {
            Phase::WarmStart if self.flow.is_some() => {
                let mut state = self.state(Phase::Flow, params.clone(), self.config.main.iterations);
                let score = end.best.as_ref().map_or(f64::NAN, |best| best.log_likelihood);
                let iteration = self.kept(end).map_or(end.iteration, |best| best.iteration);
                state.sparse = Some(Best { iteration, log_likelihood: score, theta: pack(&params) });
                Next::Phase(state)
            }
            Phase::WarmStart => self.once_more(Phase::SparseAgain, end, self.kept(end), params),
            Phase::Flow => match end.sparse.as_ref().filter(|_| self.prefers_no_flow(end)) {
                Some(sparse) => {
                    let params = self.warm_started(end);
                    self.once_more(Phase::SparseAgain, end, Some(sparse), params)
                }
                None => self.once_more(Phase::FlowAgain, end, self.kept(end), params),
            },
            Phase::SparseAgain | Phase::FlowAgain => Next::End(chosen(params, end, end.verdict)),
        }
    }

    /// The best of a phase, where the best is kept.
    fn kept<'s>(&self, end: &'s State) -> Option<&'s Best> {
        end.best.as_ref().filter(|_| self.config.validation.select)
    }

    /// Whether no flow predicts the validation rows as well as the flow, if that is asked.
    fn prefers_no_flow(&self, end: &State) -> bool {
        let optional = self.config.flow.optional && self.config.validation.select;
        optional && flow_gain(end).is_some_and(|gain| gain < WORTHWHILE_GAIN)
    }

    /// The better phase on all rows, or its parameters as they are.
    fn once_more(&self, phase: Phase, end: &State, best: Option<&Best>, params: Params) -> Next {
        let verdict = best.map(|best| Verdict {
            iteration: best.iteration,
            log_likelihood: best.log_likelihood,
            flow_gain: flow_gain(end),
        });
        match verdict {
            Some(Verdict { iteration, .. }) if self.rows <= self.config.validation.again_rows => {
                let before = if phase.has_flow() { self.warm_started(end) } else { self.sparse.clone() };
                let before = Params { jitter: end.jitter, ..before };
                Next::Phase(State { verdict, ..self.state(phase, before, iteration) })
            }
            _ => Next::End(chosen(params, end, verdict)),
        }
    }

    /// The sparse Gaussian process that the flow was put in front of.
    fn warm_started(&self, end: &State) -> Params {
        let mut params = Params { jitter: end.jitter, ..self.sparse.clone() };
        if let Some(sparse) = &end.sparse {
            unpack(&sparse.theta, &mut params);
        }
        params
    }

    fn state(&self, phase: Phase, params: Params, end: u64) -> State {
        State::new(phase, &self.with_flow(params, phase), self.config.averaging.is_some(), end)
    }

    fn with_flow(&self, params: Params, phase: Phase) -> Params {
        Params { flow: self.flow.clone().filter(|_| phase.has_flow()), ..params }
    }
}

fn chosen(params: Params, end: &State, verdict: Option<Verdict>) -> Chosen {
    Chosen { params, iteration: verdict.map_or(end.iteration, |verdict| verdict.iteration), verdict }
}

/// What the flow adds to the mean log-likelihood of the validation rows.
fn flow_gain(end: &State) -> Option<f64> {
    let (sparse, flow) = end.sparse.as_ref().zip(end.best.as_ref())?;
    Some(flow.log_likelihood - sparse.log_likelihood).filter(|gain| gain.is_finite())
}
