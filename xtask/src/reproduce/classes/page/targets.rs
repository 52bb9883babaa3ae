//! Two targets on one flow next to two models.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::super::line::{Figures, Line};
use super::super::runs::TARGETS;
use super::{Mean, recipes, steps};
use crate::qemu::grouped;

/// What one model may have of the bytes of two.
const BYTES_SHARE: f64 = 0.6;

/// One model of both targets, and a model of each, on the same splits.
pub(super) struct Pairs<'a> {
    flow_time: u32,
    splits: Vec<(&'a Line, [&'a Line; 2])>,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(lines: &[&'a Line], flow_time: u32) -> Option<Self> {
        let find = |target: &str, split: usize| {
            let asked = |line: &&&Line| {
                let key = &line.key;
                key.set == TARGETS.name && key.target == target && key.split == split && key.flow_time == flow_time
            };
            lines.iter().find(asked).copied()
        };
        let both = TARGETS.targets.join(",");
        let splits: BTreeSet<usize> = lines.iter().map(|line| line.key.split).collect();
        let pair = |split: usize| {
            let [first, second] = TARGETS.targets;
            Some((find(&both, split)?, [find(first, split)?, find(second, split)?]))
        };
        let splits: Vec<_> = splits.into_iter().filter_map(pair).collect();
        (!splits.is_empty()).then_some(Self { flow_time, splits })
    }

    fn lines(&self) -> Vec<&'a Line> {
        self.splits.iter().flat_map(|(one, two)| [*one, two[0], two[1]]).collect()
    }

    /// A figure of a target in the one model, alone, and the difference, split by split.
    fn compared(&self, target: usize, figure: fn(&Figures, Option<usize>) -> Option<f64>) -> [Mean; 3] {
        let values = || {
            self.splits.iter().filter_map(move |(one, two)| {
                Some((figure(&one.sampled, Some(target))?, figure(&two[target].sampled, None)?))
            })
        };
        [
            Mean::of(values().map(|(one, _)| one)),
            Mean::of(values().map(|(_, two)| two)),
            Mean::of(values().map(|(one, two)| one - two)),
        ]
    }

    /// The largest of the one model, and of the sum of the two.
    fn cost(&self, figure: fn(&Line) -> u64) -> [u64; 2] {
        let one = self.splits.iter().map(|(one, _)| figure(one)).max();
        let two = self.splits.iter().map(|(_, two)| two.iter().map(|line| figure(line)).sum()).max();
        [one.unwrap_or(0), two.unwrap_or(0)]
    }
}

/// Of a target among several, or of the only one.
fn rmse(figures: &Figures, target: Option<usize>) -> Option<f64> {
    target.map_or(figures.rmse, |target| figures.outputs.get(target).map(|output| output.rmse))
}

fn log_likelihood(figures: &Figures, target: Option<usize>) -> Option<f64> {
    match target {
        Some(target) => figures.outputs.get(target).map(|output| output.log_likelihood),
        None => Some(figures.log_likelihood),
    }
}

/// The section of the page.
pub(super) fn section(pairs: &[Pairs<'_>], recipe: u64) -> String {
    let mut text = "\n## Two targets on one flow\n\n\
         Energy with both of its targets, heating load and cooling load (768 rows, 8 inputs). One model predicts both from one flow \
         and one kernel of the predictor. Beside it: two models, one per target, trained with the same options on the same rows. \
         Differences are one model minus two, split by split: negative errors and positive likelihoods are gains.\n\n\
         | T | K | recipe | splits | target | RMSE, one model | two models | difference | log-lik., one model | two models | \
         difference |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let (mut costs, mut verdicts) = (String::new(), String::new());
    for pair in pairs {
        let lines = pair.lines();
        let mut behind = Vec::new();
        for (index, name) in TARGETS.targets.iter().enumerate() {
            let errors = pair.compared(index, rmse);
            let likelihoods = pair.compared(index, log_likelihood);
            let row = [errors, likelihoods].concat().iter().map(|mean| mean.shown(3)).collect::<Vec<_>>().join(" | ");
            let (time, splits) = (pair.flow_time, pair.splits.len());
            let _ = writeln!(
                text,
                "| {time} | {} | {} | {splits} | {name} | {row} |",
                steps(&lines),
                recipes(&lines, recipe)
            );
            for (what, worse, difference) in [("RMSE", 1.0, errors[2]), ("log-likelihood", -1.0, likelihoods[2])] {
                let by = worse * difference.value.unwrap_or(f64::NAN);
                if by > difference.error.unwrap_or(0.0) {
                    behind.push(format!("{name} {what} by {by:.3}"));
                }
            }
        }
        let [bytes, bytes_two] = pair.cost(|line| line.bytes);
        let share = bytes as f64 / bytes_two as f64;
        let counted = [
            pair.cost(|line| line.bytes),
            pair.cost(|line| line.work.instructions_per_prediction),
            pair.cost(|line| line.work.instructions_per_sampled_path),
        ];
        let counted = counted.map(|[one, two]| {
            format!("{} of {} ({:.0} %)", grouped(one), grouped(two), 100.0 * one as f64 / two as f64)
        });
        let seconds = Mean::of(pair.splits.iter().map(|(one, _)| one.seconds));
        let seconds_two = Mean::of(pair.splits.iter().map(|(_, two)| two[0].seconds + two[1].seconds));
        let _ = writeln!(
            costs,
            "| {} | {} | {:.0} of {:.0} |",
            pair.flow_time,
            counted.join(" | "),
            seconds.value.unwrap_or(0.0),
            seconds_two.value.unwrap_or(0.0),
        );
        let _ = writeln!(
            verdicts,
            "- **T = {}**: {:.0} % of the bytes, {}. {}.",
            pair.flow_time,
            100.0 * share,
            if share <= BYTES_SHARE { "as aimed at" } else { "**more than aimed at**" },
            if behind.is_empty() {
                "Nothing is behind by more than a standard error of the difference".to_owned()
            } else {
                format!("**Behind by more than a standard error of the difference: {}**", behind.join(", "))
            }
        );
    }
    if pairs.is_empty() {
        return text + "\nNot finished.\n";
    }
    let _ = write!(
        text,
        "\nAimed at: one model no worse than two, at {:.0} % of their bytes.\n\n{verdicts}\n\
         One model of what the two have together:\n\n\
         | T | bytes | instructions along the drift | per sampled path | training, s |\n\
         |---|---|---|---|---|\n{costs}",
        100.0 * BYTES_SHARE
    );
    text
}
