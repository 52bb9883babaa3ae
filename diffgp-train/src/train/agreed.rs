//! One observer for several processes: they begin with the same, stop together, and notice when they no longer agree.

use std::io;
use std::time::Duration;

use super::config::Config;
use super::error::TrainError;
use super::observer::{Observer, Progress, Validated, Warning};
use super::plan::Plan;
use crate::checkpoint::Checkpoint;
use crate::data::Dataset;
use crate::exchange::{Exchange, ExchangeError};
use crate::provenance::Provenance;

/// The observer of this process, whose answers are those of all.
pub(super) struct Agreed<'a> {
    exchange: &'a dyn Exchange,
    observer: &'a mut dyn Observer,
    /// The last bound: every process has computed all of it but its rows.
    bound: f64,
    /// Why the run cannot go on.
    lost: Option<ExchangeError>,
}

impl<'a> Agreed<'a> {
    /// Refuses processes that would not train the same model.
    pub(super) fn on(
        exchange: &'a dyn Exchange,
        data: &Dataset,
        config: &Config,
        observer: &'a mut dyn Observer,
    ) -> Result<Self, TrainError> {
        if !exchange.is_alone() {
            check_same(exchange, &facts(data, config))?;
        }
        Ok(Self { exchange, observer, bound: 0.0, lost: None })
    }

    /// What every rank answers, with its last bound.
    fn answers(&mut self, own: u8) -> Vec<u8> {
        let mut message = vec![own];
        message.extend(self.bound.to_le_bytes());
        match self.exchange.all_gather(&message) {
            Ok(all) => {
                if let Some(rank) = all.iter().position(|of_rank| of_rank[1..] != all[0][1..]) {
                    self.lost = Some(ExchangeError(format!(
                        "rank {rank} has another bound than rank 0: its machine computes otherwise, or wrongly"
                    )));
                }
                all.into_iter().map(|of_rank| of_rank[0]).collect()
            }
            Err(error) => {
                self.lost = Some(error);
                Vec::new()
            }
        }
    }

    /// Whether any process says so, or the others are lost.
    fn any(&mut self, own: bool) -> bool {
        if self.exchange.is_alone() {
            return own;
        }
        self.answers(u8::from(own)).contains(&1) || self.lost.is_some()
    }

    fn check(&self) -> io::Result<()> {
        self.lost.clone().map_or(Ok(()), |error| Err(io::Error::other(error)))
    }
}

/// What decides about a model, and its name.
fn facts(data: &Dataset, config: &Config) -> [(&'static str, String); 6] {
    let here = Provenance::here();
    let number = |number: u64| format!("{number:016x}");
    [
        ("version", here.version),
        ("recipe", here.recipe.to_string()),
        ("instruction set", here.instruction_set),
        ("training data", number(data.fingerprint())),
        ("configuration", number(config.fingerprint(data.rows()))),
        ("number of iterations between checkpoints", config.checkpoint_every.to_string()),
    ]
}

/// Refuses a rank with other facts than those of the first.
fn check_same(exchange: &dyn Exchange, facts: &[(&str, String)]) -> Result<(), ExchangeError> {
    let own: Vec<&str> = facts.iter().map(|(_, value)| value.as_str()).collect();
    let all = exchange.all_gather(own.join("\n").as_bytes())?;
    let Some(rank) = all.iter().position(|found| *found != all[0]) else { return Ok(()) };
    let [first, found] = [&all[0], &all[rank]].map(|text| String::from_utf8_lossy(text).into_owned());
    let lines = first.lines().zip(found.lines()).zip(facts);
    let different = lines.filter(|((first, found), _)| first != found);
    let named: Vec<String> =
        different.map(|((first, found), (name, _))| format!("{name} {found} instead of {first}")).collect();
    Err(ExchangeError(format!(
        "rank {rank} would not train the model of rank 0: {}; expected the same on all ranks",
        named.join(", ")
    )))
}

impl Observer for Agreed<'_> {
    fn plan(&mut self, plan: &Plan) {
        self.observer.plan(plan);
    }

    fn wants_estimate(&self) -> bool {
        // It takes evaluations, which every process would have to join.
        self.exchange.is_alone() && self.observer.wants_estimate()
    }

    fn estimate(&mut self, at_most: Duration) {
        self.observer.estimate(at_most);
    }

    fn iteration(&mut self, progress: &Progress) {
        self.bound = progress.elbo;
        self.observer.iteration(progress);
    }

    fn validation(&mut self, validated: &Validated) {
        self.observer.validation(validated);
    }

    fn warning(&mut self, warning: &Warning) {
        self.observer.warning(warning);
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> io::Result<()> {
        self.check()?;
        let kept = self.observer.checkpoint(checkpoint);
        if self.exchange.is_alone() {
            return kept;
        }
        let all = self.answers(u8::from(kept.is_ok()));
        kept.and_then(|()| self.check())?;
        match all.iter().position(|&kept| kept == 0) {
            Some(rank) => Err(io::Error::other(format!("rank {rank} could not keep the checkpoint"))),
            None => Ok(()),
        }
    }

    fn should_stop(&mut self) -> bool {
        let own = self.observer.should_stop();
        self.any(own)
    }

    fn should_finish(&mut self) -> bool {
        let own = self.observer.should_finish();
        self.any(own)
    }
}
