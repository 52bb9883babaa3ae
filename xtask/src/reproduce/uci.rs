//! The regression sets: test error, log-likelihood, calibration and what the device loses, next to the paper.

use std::fmt::Write;
use std::ops::Range;

use anyhow::{Result, ensure};

use super::Common;
use super::published::{Figure, SETS, Set};
use super::run::{Comparison, Line, Report, Summary, build, columns, provenance, range, write_page};

/// How far a model file may be from float64: means in standard deviations of the target, variances relative.
const MEAN_ERROR: f64 = 1e-4;
const VARIANCE_ERROR: f64 = 1e-3;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    /// Which sets
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    sets: Vec<String>,
    /// Which standard splits; protein has 5, the others 20
    #[arg(long, value_name = "FIRST..END", default_value = "0..20", value_parser = range)]
    splits: Range<usize>,
    /// Flow times to train; the page shows every one of 0 to 5 that is finished
    #[arg(long, value_name = "T,...", value_delimiter = ',', default_values_t = [0, 5])]
    flow_times: Vec<u32>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    for name in &args.sets {
        let names: Vec<&str> = SETS.iter().map(|set| set.name).collect();
        ensure!(names.contains(&name.as_str()), "no set {name}; expected some of {}", names.join(", "));
    }
    build()?;
    if !args.common.finished {
        let chosen = |set: &&Set| args.sets.is_empty() || args.sets.iter().any(|name| name == set.name);
        for set in SETS.iter().filter(chosen) {
            let end = args.splits.end.min(set.splits);
            comparison(set, &args.flow_times, args.splits.start..end).run(&args.common)?;
        }
    }
    let finished = Common { data: args.common.data.clone(), finished: true };
    let comparisons = SETS.each_ref().map(|set| comparison(set, &[0, 1, 2, 3, 4, 5], 0..set.splits));
    let mut reports = Vec::new();
    for (set, comparison) in SETS.iter().zip(&comparisons) {
        let report = comparison.run(&finished)?;
        comparison.check_nothing_is_lost(report.as_ref())?;
        reports.extend(report.map(|report| (set, report)));
    }
    let text = page(&provenance(&comparisons)?, &reports) + &rounding(&comparisons)?;
    write_page("uci.md", &text)
}

/// The runs of a set.
pub(super) fn comparison(set: &Set, flow_times: &[u32], splits: Range<usize>) -> Comparison {
    Comparison {
        data: format!("uci/{}/data.csv", set.name).into(),
        target: set.target,
        splits: Some(splits),
        name: format!("uci-{}", set.name),
        flow_times: flow_times.to_vec(),
        options: Vec::new(),
    }
}

fn page(provenance: &str, reports: &[(&Set, Report)]) -> String {
    let columns = columns(reports.iter().map(|(_, report)| report));
    let mut text = format!(
        "# Regression sets\n\n\
        Written by `cargo xtask reproduce uci` from the lines of `uci-*.jsonl`, one per finished run. {provenance} \
        Standard splits, T as shown, defaults of `diffgp train` otherwise, its choice of the \
        kernel included (`docs/training.md` has what was chosen), model files run by the device's own code with 100 \
        sample paths. ± is the standard error over splits. The paper used other random splits. {columns}\n\n\
        ## Test error and log-likelihood\n\n\
        Off: ours minus the paper's (its sparse Gaussian process with M = 100 for T = 0), in combined standard errors; \
        positive is better for us. Rows with fewer splits than others of their set are of its first splits: what the flow \
        adds, below, compares equals.\n\n\
        | set | T | K | recipe | splits | RMSE | log-likelihood | RMSE, paper | off | log-lik., paper | off | best deep GP | best elsewhere |\n\
        |---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
    );
    for (set, summary, recipes) in rows(reports, Report::recipes_of) {
        let figures = summary.figures;
        let [rmse_off, log_likelihood_off] =
            distances(set, summary).map(|distance| distance.map_or("–".to_owned(), |distance| signed(distance, 1)));
        let decimals = decimals(set);
        let optional = |value: Option<f64>| value.map_or("–".to_owned(), |value| value.to_string());
        let published = set.published(summary.flow_time).map_or("| | | ".to_owned(), |paper| {
            format!(
                "{} ({}) | {rmse_off} | {} ({}) | {log_likelihood_off} ",
                paper.rmse.mean, paper.rmse.error, paper.log_likelihood.mean, paper.log_likelihood.error,
            )
        });
        let others = if summary.flow_time == 5.0 {
            format!(
                "{} / {} | {} / {}",
                set.deep_rmse,
                set.deep_log_likelihood,
                optional(set.best_rmse),
                optional(set.best_log_likelihood),
            )
        } else {
            "| ".to_owned()
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {recipes} | {} | {} | {} | {published}| {others} |",
            set.name,
            summary.flow_time,
            summary.steps(),
            summary.splits,
            figures.rmse(decimals),
            figures.log_likelihood(3),
        );
    }
    text += &standing(reports);
    text += "\n## What the flow adds\n\nThe same splits with and without it; negative errors and positive likelihoods are \
             gains.\n\n| set | T | K | recipe | RMSE | log-likelihood |\n|---|---|---|---|---|---|\n";
    for (set, summary, recipes) in rows(reports, Report::recipes_of_gain) {
        if let Some(gain) = summary.gain {
            let rmse = gain.rmse(decimals(set));
            let likelihood = gain.log_likelihood(3);
            let steps = summary.steps();
            let _ = writeln!(
                text,
                "| {} | {} | {steps} | {recipes} | {rmse} | {likelihood} |",
                set.name, summary.flow_time
            );
        }
    }
    text += "\n## Calibration\n\nShare of held-out targets in their intervals, all splits together, with binomial \
             standard errors in per cent (rows that several splits hold out count as often, so the errors are a little \
             small). Intervals are what `interval` gives on the device: those of a Gaussian with mean and variance of \
             the mixture over paths; the log-likelihood above is the mixture's.\n\n| set | T | K | recipe | rows | 50 % | 90 % | 95 % |\n|---|---|---|---|---|---|---|---|\n";
    for (set, summary, recipes) in rows(reports, Report::recipes_of) {
        let (time, steps, shares) = (summary.flow_time, summary.steps(), coverage(summary));
        let _ = writeln!(text, "| {} | {time} | {steps} | {recipes} | {} | {shares} |", set.name, summary.rows);
    }
    text += "\n## On the device\n\nThe same models with fewer paths, and the worst difference between the model file and \
             float64 on 500 training rows (all, if there are fewer) of any split: means in standard deviations of the \
             target, variances relative.\n\n\
             | set | T | K | recipe | drift only | 10 paths | 100 paths | mean off by | variance off by | bytes |\n\
             |---|---|---|---|---|---|---|---|---|---|\n";
    for (set, summary, recipes) in rows(reports, Report::recipes_of) {
        let both = |rmse: Option<f64>, likelihood: f64| {
            format!("{:.*} / {likelihood:.3}", decimals(set), rmse.unwrap_or(f64::NAN))
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {recipes} | {} | {} | {} | {:.1e} | {:.1e} | {} |",
            set.name,
            summary.flow_time,
            summary.steps(),
            both(summary.drift.rmse_mean, summary.drift.log_likelihood_mean),
            both(summary.ten_paths.rmse_mean, summary.ten_paths.log_likelihood_mean),
            both(summary.figures.rmse_mean, summary.figures.log_likelihood_mean),
            summary.mean_error,
            summary.variance_error,
            summary.bytes,
        );
    }
    text
}

/// Every set with each of its flow times, and the recipes of that row.
fn rows<'a>(
    reports: &'a [(&Set, Report)],
    recipes: fn(&Report, &Summary) -> String,
) -> impl Iterator<Item = (&'a Set, &'a Summary, String)> {
    let of_set = move |(set, report): &'a (&'a Set, Report)| {
        report.results.iter().map(move |summary| (*set, summary, recipes(report, summary)))
    };
    reports.iter().flat_map(of_set)
}

/// How far error and log-likelihood are from the paper's, in combined standard errors; positive is better for us.
fn distances(set: &Set, summary: &Summary) -> [Option<f64>; 2] {
    let figures = summary.figures;
    let distance = |ours: Option<f64>, error: Option<f64>, paper: Option<Figure>, better: f64| {
        let (ours, error, paper) = (ours?, error?, paper?);
        Some(better * (ours - paper.mean) / error.hypot(paper.error))
    };
    let paper = set.published(summary.flow_time);
    [
        distance(figures.rmse_mean, figures.rmse_se, paper.map(|paper| paper.rmse), -1.0),
        distance(
            Some(figures.log_likelihood_mean),
            figures.log_likelihood_se,
            paper.map(|paper| paper.log_likelihood),
            1.0,
        ),
    ]
}

/// Where the flow stands against the paper's, and what is ahead of the best published elsewhere.
fn standing(reports: &[(&Set, Report)]) -> String {
    let (mut cells, mut far, mut near, mut ahead) = (0, Vec::new(), Vec::new(), Vec::new());
    // The flow times between are there to be compared with each other, and on fewer splits.
    let all = reports.iter().flat_map(|(set, report)| report.results.iter().map(move |summary| (*set, summary)));
    for (set, summary) in all.filter(|(_, summary)| [0.0, 5.0].contains(&summary.flow_time)) {
        for (what, distance) in ["RMSE", "log-likelihood"].into_iter().zip(distances(set, summary)) {
            let counts = summary.flow_time == 5.0 && (set.name, what) != ("naval", "RMSE");
            let Some(distance) = distance.filter(|_| counts) else { continue };
            cells += 1;
            match distance {
                ..-2.0 => far.push(format!("{} {what}", set.name)),
                ..-1.0 => near.push(format!("{} {what}", set.name)),
                _ => {}
            }
        }
        let (figures, time) = (summary.figures, summary.flow_time);
        if let Some((ours, best)) = figures.rmse_mean.zip(set.best_rmse).filter(|(ours, best)| ours < best) {
            ahead.push(format!("{} RMSE {ours:.*} ({best}) with T = {time}", set.name, decimals(set)));
        }
        let ours = figures.log_likelihood_mean;
        if let Some(best) = set.best_log_likelihood.filter(|&best| ours > best) {
            ahead.push(format!("{} log-likelihood {ours:.3} ({best}) with T = {time}", set.name));
        }
    }
    let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    format!(
        "\nOf {cells} cells with T = 5 (naval's error, which rounds to 0.00 for anybody, left out), behind the paper's by \
         more than two combined standard errors: {}; by one to two: {}.\n\n\
         Ahead of the best published elsewhere: {}.\n",
        list(&far),
        list(&near),
        list(&ahead)
    )
}

/// The runs whose model file is further from float64 than aimed at.
fn rounding(comparisons: &[Comparison; SETS.len()]) -> Result<String> {
    let mut beyond = Vec::new();
    for (set, comparison) in SETS.iter().zip(comparisons) {
        let lines = comparison.lines()?;
        for flow_time in [0.0, 5.0] {
            let all: Vec<&Line> = lines.iter().filter(|line| line.flow_time == flow_time).collect();
            let means = all.iter().filter(|line| line.mean_error > MEAN_ERROR).count();
            let variances = all.iter().filter(|line| line.variance_error > VARIANCE_ERROR).count();
            for (what, count) in [("mean", means), ("variance", variances)].into_iter().filter(|(_, count)| *count > 0)
            {
                beyond.push(format!("{} T = {flow_time}, {what}, {count} of {} runs", set.name, all.len()));
            }
        }
    }
    Ok(format!(
        "\nAimed at is {MEAN_ERROR:e} for means and {VARIANCE_ERROR:e} for variances. Beyond that, with T = 0 or 5: {}.\n",
        if beyond.is_empty() { "none".to_owned() } else { beyond.join("; ") }
    ))
}

/// With its sign, but without that of a zero.
fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    if text.parse() == Ok(0.0) { format!("{:.decimals$}", 0.0) } else { text }
}

/// Errors of a hundredth of a unit matter in some sets and are all there is in others.
fn decimals(set: &Set) -> usize {
    match set.name {
        "naval" => 5,
        "kin8nm" => 4,
        _ => 3,
    }
}

fn coverage(summary: &Summary) -> String {
    let Some(shares) = summary.coverage else { return "– | – | –".to_owned() };
    let shown = |share: f64| {
        let error = (share * (1.0 - share) / summary.rows as f64).sqrt();
        format!("{:.1} ± {:.1}", 100.0 * share, 100.0 * error)
    };
    shares.map(shown).join(" | ")
}
