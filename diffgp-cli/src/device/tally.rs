//! Counts answers that are equal to the host's, to the last bit.

use std::time::Duration;

use diffgp_link::{Answer, Refusal};
use diffgp_train::evaluate::Answer as HostAnswer;
use serde::Serialize;

/// What the answers so far amount to.
#[derive(Default)]
pub(super) struct Tally {
    equal: usize,
    different: usize,
    /// Number of the row, from 0, and what is different.
    first: Option<(u32, String)>,
    ticks: Vec<u32>,
}

/// The figures.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) n: usize,
    equal: usize,
    pub(super) different: usize,
    /// Counted from 1, as in messages; null if all are equal.
    first_different: Option<u32>,
    retries: usize,
    ticks_min: Option<u32>,
    ticks_median: Option<u32>,
    ticks_max: Option<u32>,
    rows_per_second: f64,
}

impl Tally {
    /// The row with this number, from 0: what the host computes, and what the device says.
    pub(super) fn add(&mut self, number: u32, host: &HostAnswer, device: Result<Answer, Refusal>) {
        let difference = match device {
            Ok(answer) => {
                self.ticks.push(answer.ticks);
                difference(host, &answer)
            }
            Err(refusal) => Some(format!("the device refuses it ({refusal:?}), the host predicts {}", host.mean())),
        };
        match difference {
            None => self.equal += 1,
            Some(difference) => {
                self.different += 1;
                self.first.get_or_insert((number, difference));
            }
        }
    }

    /// In words, with the number of the row.
    pub(super) fn first_difference(&self) -> Option<String> {
        self.first.as_ref().map(|(number, difference)| format!("row {}: {difference}", number + 1))
    }

    pub(super) fn report(&self, retries: usize, time: Duration) -> Report {
        let mut ticks = self.ticks.clone();
        ticks.sort_unstable();
        let n = self.equal + self.different;
        Report {
            n,
            equal: self.equal,
            different: self.different,
            first_different: self.first.as_ref().map(|(number, _)| number + 1),
            retries,
            ticks_min: ticks.first().copied(),
            ticks_median: ticks.get(ticks.len() / 2).copied(),
            ticks_max: ticks.last().copied(),
            rows_per_second: n as f64 / time.as_secs_f64().max(1e-9),
        }
    }
}

impl Report {
    /// One line.
    pub(super) fn text(&self) -> String {
        let ticks = match (self.ticks_min, self.ticks_median, self.ticks_max) {
            (Some(min), Some(median), Some(max)) => format!("ticks {min} to {max}, median {median}"),
            _ => "no ticks".to_owned(),
        };
        format!(
            "{} rows: {} equal, {} different, {} retries; {ticks}; {:.1} rows/s\n",
            self.n, self.equal, self.different, self.retries, self.rows_per_second
        )
    }
}

/// The first value that has other bits on the device.
fn difference(host: &HostAnswer, device: &Answer) -> Option<String> {
    let (outputs, classes) = (host.outputs().len(), host.probabilities().len());
    if (device.outputs.len(), device.probabilities.len()) != (outputs, classes) {
        let (there, of_classes) = (device.outputs.len(), device.probabilities.len());
        return Some(format!(
            "it has {there} outputs and {of_classes} classes on the device, {outputs} and {classes} on the host"
        ));
    }
    let of = |what: &str, index: usize, all: usize| if all == 1 { what.to_owned() } else { format!("{what} {index}") };
    let of_outputs = host.outputs().iter().zip(&device.outputs).enumerate().flat_map(|(o, (host, device))| {
        [
            (of("mean", o, outputs), host.mean(), device.mean),
            (of("variance", o, outputs), host.variance(), device.variance),
            (of("latent variance", o, outputs), host.latent_variance(), device.latent_variance),
        ]
    });
    let of_classes = host.probabilities().iter().zip(&device.probabilities).enumerate();
    let of_classes = of_classes.map(|(class, (&host, &device))| (format!("probability {class}"), host, device));
    let other = of_outputs.chain(of_classes).find(|(_, host, device)| host.to_bits() != device.to_bits());
    let value = other.map(|(name, host, device)| {
        let (host_bits, device_bits) = (host.to_bits(), device.to_bits());
        format!("its {name} is {device:?} ({device_bits:08x}) on the device, {host:?} ({host_bits:08x}) on the host")
    });
    let (there, here) = (device.out_of_range, host.out_of_range().bits());
    let range = || {
        let inputs = |bits: u64| {
            let outside: Vec<String> = (0..64).filter(|i| bits >> i & 1 == 1).map(|i| i.to_string()).collect();
            if outside.is_empty() { "no input".to_owned() } else { format!("input {}", outside.join(", ")) }
        };
        format!("{} is outside the training ranges on the device, {} on the host", inputs(there), inputs(here))
    };
    value.or_else(|| (there != here).then(range))
}
