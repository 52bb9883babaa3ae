//! docs/results/bars.md: what held-out rows say of the error bars, along the drift and sampled.

use std::fmt::Write;

use anyhow::Result;

use super::{Finished, Way};
use crate::reproduce::run::{BarFigures, Bars};

/// Shares of the targets in the intervals of 90 % of every third that are aimed at.
const THIRDS: [f64; 2] = [0.85, 0.95];
/// Aimed at: the log-likelihood is worse than before by at most this.
const LOSS: f64 = 0.005;
/// Aimed at: the Winkler score over that of before, on the average over sets and on each.
const MEAN_WINKLER: f64 = 0.90;
const WINKLER: f64 = 1.03;

/// One way to predict with one kind of model.
struct Row<'a> {
    name: String,
    calibration_rows: usize,
    after: BarFigures,
    before: Option<BarFigures>,
    finished: &'a Finished,
}

impl Row<'_> {
    /// Levels whose coverage is further off than chance explains.
    fn misses(&self) -> Vec<String> {
        let miss = |(level, share): (f64, f64)| {
            ((share - level).abs() > self.aim(level))
                .then(|| format!("{}: {:.1} % in {:.0} % bars", self.name, 100.0 * share, 100.0 * level))
        };
        self.after.coverage().into_iter().filter_map(miss).collect()
    }

    /// max(0.02, 2 √(L (1 − L) (1/n_calibration + 1/n_test))).
    fn aim(&self, level: f64) -> f64 {
        let rows = 1.0 / self.calibration_rows as f64 + 1.0 / self.after.n as f64;
        (2.0 * (level * (1.0 - level) * rows).sqrt()).max(0.02)
    }

    /// After over before.
    fn ratio(&self, figure: fn(&BarFigures) -> f64) -> Option<f64> {
        Some(figure(&self.after) / figure(&self.before?))
    }
}

pub(super) fn page(origin: &str, all: &[Finished]) -> Result<String> {
    let rows = rows(all)?;
    let mut text = format!(
        "# Error bars on held-out rows\n\n\
         Written by `cargo xtask reproduce uci` from the bars in the lines of `uci-*.jsonl`. {origin} Held-out rows of all \
         finished splits of a set are pooled; none took part in training or calibration. Drift: `predict`, one pass. \
         Sampled: `predict_sampled` with 100 paths. Before is the same model without its calibration. What the bars are is in \
         [calibration](../calibration.md). Fewer splits than [the page of scores](uci.md) aims at are finished for: {}.\n\n\
         ## Coverage\n\n\
         Share of held-out targets in their intervals, in per cent, before → after. † is further off than the aim, \
         max(2 points, 2 √(L(1 − L)(1/n + 1/n_test))) with n rows of calibration, the fewest of any split.\n\n\
         | set | model | predicted | n_test | n | 50 % | 80 % | 90 % | 95 % | 99 % |\n|---|---|---|---|---|---|---|---|---|---|\n",
        incomplete(all)
    );
    for row in &rows {
        let before = row.before.map(|figures| figures.coverage());
        let cells = row.after.coverage().into_iter().enumerate().map(|(index, (level, share))| {
            let before = before.map_or(String::new(), |shares| format!("{:.1} → ", 100.0 * shares[index].1));
            let mark = if (share - level).abs() > row.aim(level) { "†" } else { "" };
            format!("{before}{:.1}{mark}", 100.0 * share)
        });
        let cells = cells.collect::<Vec<_>>().join(" | ");
        let _ = writeln!(text, "| {} | {} | {} | {cells} |", row.name, row.after.n, row.calibration_rows);
    }
    text += "\n## Scores\n\nLog-likelihood in nats per row and its gain; the others are ratios of after to before, small is \
             good. Thirds: share of targets in 90 % bars for the smallest, middle and largest predicted means of each split, \
             in per cent; † is outside 85 to 95.\n\n\
             | set | model | predicted | log-likelihood | gain | Winkler, 95 % | width, 95 % | CRPS | thirds |\n\
             |---|---|---|---|---|---|---|---|---|\n";
    for row in &rows {
        let ratio = |figure| row.ratio(figure).map_or("–".to_owned(), |ratio| format!("{ratio:.3}"));
        let gain = row
            .before
            .map_or("–".to_owned(), |before| format!("{:+.3}", row.after.log_likelihood - before.log_likelihood));
        let _ = writeln!(
            text,
            "| {} | {:.3} | {gain} | {} | {} | {} | {} |",
            row.name,
            row.after.log_likelihood,
            ratio(|figures| figures.winkler_95),
            ratio(|figures| figures.width_95.unwrap_or(f64::NAN)),
            ratio(|figures| figures.crps),
            thirds(&row.after)
        );
    }
    Ok(text + &verdict(&rows))
}

/// Both ways to predict with and without a flow; without one they are the same.
fn rows(all: &[Finished]) -> Result<Vec<Row<'_>>> {
    let mut rows = Vec::new();
    for finished in all.iter().filter(|finished| finished.way != Way::Chain) {
        let Some(bars) = finished.summary()?.bars.filter(|bars| bars.calibration_rows > 0) else { continue };
        let Bars { calibration_rows, drift, sampled, uncalibrated_drift, uncalibrated_sampled } = bars;
        let row = |predicted, after, before| Row {
            name: format!("{} | {} | {predicted}", finished.set.name, finished.way.name()),
            calibration_rows,
            after,
            before,
            finished,
        };
        if finished.way == Way::Flow {
            rows.push(row("drift", drift, uncalibrated_drift));
            rows.push(row("sampled", sampled, uncalibrated_sampled));
        } else {
            rows.push(row("either", sampled, uncalibrated_sampled));
        }
    }
    Ok(rows)
}

fn incomplete(all: &[Finished]) -> String {
    let unfinished = all.iter().filter(|finished| finished.way != Way::Chain && !finished.is_complete());
    let names: Vec<String> = unfinished
        .map(|finished| format!("{} {} ({})", finished.set.name, finished.way.name(), finished.lines.len()))
        .collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn thirds(figures: &BarFigures) -> String {
    figures.coverage_90_by_mean.map_or("–".to_owned(), |shares| {
        let shown = |share: f64| {
            let mark = if (THIRDS[0]..=THIRDS[1]).contains(&share) { "" } else { "†" };
            format!("{:.1}{mark}", 100.0 * share)
        };
        shares.map(shown).join(" / ")
    })
}

/// What was aimed at, and what misses it.
fn verdict(rows: &[Row<'_>]) -> String {
    let plain = |name: &str| name.replace(" | ", " ");
    let list = |names: Vec<String>| if names.is_empty() { "none".to_owned() } else { plain(&names.join("; ")) };
    let coverage: Vec<String> = rows.iter().flat_map(Row::misses).collect();
    let outside = |row: &&Row<'_>| {
        let shares = row.after.coverage_90_by_mean;
        shares.is_some_and(|shares| shares.iter().any(|share| !(THIRDS[0]..=THIRDS[1]).contains(share)))
    };
    let worse =
        |row: &&Row<'_>| row.before.is_some_and(|before| row.after.log_likelihood < before.log_likelihood - LOSS);
    let named = |keep: &dyn Fn(&&Row<'_>) -> bool| list(rows.iter().filter(keep).map(|row| row.name.clone()).collect());
    let winkler = |row: &Row<'_>| row.ratio(|figures| figures.winkler_95);
    let sampled: Vec<f64> = rows.iter().filter(|row| row.finished.way == Way::Flow).filter_map(winkler).collect();
    let mean = sampled.iter().sum::<f64>() / sampled.len() as f64;
    format!(
        "\n## Verdict\n\n\
         - Coverage beyond the aim: {}.\n\
         - A third outside {:.0} to {:.0} %: {}.\n\
         - Log-likelihood worse than before by more than {LOSS}: {}.\n\
         - Winkler score of 95 % bars with a flow, mean of the ratios: {mean:.3} (aim {MEAN_WINKLER}); above {WINKLER}: {}.\n",
        list(coverage),
        100.0 * THIRDS[0],
        100.0 * THIRDS[1],
        named(&outside),
        named(&worse),
        named(&|row| winkler(row).is_some_and(|ratio| ratio > WINKLER)),
    )
}
