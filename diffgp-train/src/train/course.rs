//! Which phase follows which, and what it starts from.
//!
//! ```text
//! without a flow:   sparse ── once more on all rows
//! with a flow:      warm start ── flow ── once more on all rows
//! to be chosen:     sparse ── warm start ── flow ── the better of both once more on all rows
//! ```
//!
//! Which of both was trained before changes nothing: the model that is chosen is the one that would have been trained if
//! it had been asked for. The last phase repeats it from its beginning with the validation rows added, for as many
//! iterations as they found best. It is left out for large sets, where the validation rows are a small part of all.

use super::ascent::Ascent;
use super::config::Config;
use super::observer::Phase;
use super::rows::Rows;
use super::state::{Best, State, Verdict};
use crate::optimise::{pack, unpack};
use crate::params::{Flow, Params};

/// What a flow must add to the log-likelihood of a validation row to be worth K times the work on the device.
pub const WORTHWHILE_GAIN: f64 = 0.01;

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
}

impl Course<'_> {
    /// The first state.
    pub(super) fn start(&self) -> State {
        let chosen_later = self.config.flow.optional && self.config.validation.select;
        match self.flow.is_none() || chosen_later {
            true => self.state(Phase::Sparse, self.sparse.clone(), self.config.main.iterations),
            false => self.warm_start(),
        }
    }

    /// How a phase climbs.
    pub(super) fn ascent(&self, phase: Phase) -> Ascent<'_> {
        Ascent::new(self.config, phase, self.with_flow(self.sparse.clone(), phase), &self.rows(phase))
    }

    /// The rows of a phase.
    pub(super) fn rows(&self, phase: Phase) -> Rows {
        Rows::new(self.total_rows, self.config, phase)
    }

    /// After the end of a phase.
    pub(super) fn next(&self, end: State) -> Next {
        match end.phase {
            Phase::Sparse if self.flow.is_some() => {
                Next::Phase(State { sparse: Some(Box::new(end)), ..self.warm_start() })
            }
            Phase::Sparse => self.once_more(Phase::SparseAgain, &end, None),
            Phase::WarmStart => {
                let params = self.chosen(&end);
                let warm = Some(pack(&params));
                Next::Phase(State {
                    sparse: end.sparse,
                    warm,
                    ..self.state(Phase::Flow, params, self.config.main.iterations)
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
                Next::Phase(State { verdict, ..self.state(phase, before, iteration) })
            }
            _ => self.end(end, verdict),
        }
    }

    fn end(&self, end: &State, verdict: Option<Verdict>) -> Next {
        let iteration = verdict.map_or(end.iteration, |verdict| verdict.iteration);
        Next::End(Chosen { params: self.chosen(end), iteration, verdict })
    }

    /// The parameters to go on with after a phase.
    fn chosen(&self, end: &State) -> Params {
        self.ascent(end.phase).chosen(end)
    }

    fn warm_start(&self) -> State {
        self.state(Phase::WarmStart, self.sparse.clone(), self.config.warm_start.iterations)
    }

    fn state(&self, phase: Phase, params: Params, end: u64) -> State {
        State::new(phase, &self.with_flow(params, phase), self.config.averaging.is_some(), end)
    }

    fn with_flow(&self, params: Params, phase: Phase) -> Params {
        Params { flow: self.flow.clone().filter(|_| phase.has_flow()), ..params }
    }
}

/// What the flow adds to the mean log-likelihood of the validation rows.
fn flow_gain(end: &State) -> Option<f64> {
    let (sparse, flow) = end.sparse.as_ref()?.best.as_ref().zip(end.best.as_ref())?;
    Some(flow.log_likelihood - sparse.log_likelihood)
}
