//! docs/results/uci.md.

use std::collections::BTreeSet;
use std::fmt::Write;

use anyhow::Result;

use super::{Finished, Line, Set, Way, paired, peers, splits_aimed_at};
use crate::qemu::grouped;
use crate::reproduce::published::{Figure, SETS};
use crate::reproduce::run::with_error;

/// How far a model file may be from float64: means in standard deviations of the target, variances relative.
const MEAN_ERROR: f64 = 1e-4;
const VARIANCE_ERROR: f64 = 1e-3;

pub(super) fn page(origin: &str, all: &[Finished]) -> Result<String> {
    let mut text = format!(
        "# Regression sets\n\n\
         Written by `cargo xtask reproduce uci` from the lines of `uci-*.jsonl`, one per finished run. {origin} Standard \
         splits; model files run by the device's own code with 100 sample paths; ± is the standard error over splits. All \
         splits of a set share their rows, so a choice made on some of them has seen most of the data.\n\n\
         Flow, none and chain: what `diffgp train` gives with `--flow-time 5`, with `--flow-time 0`, and with `--flow-time 5 \
         --chain`, two Euler–Maruyama steps of 2.5, which is no flow: it need not follow the equation. Flow and none are \
         calibrated, as the defaults are; the chain is not. Error is that of the steps, the distance of their end from the \
         equation's as a share of the displacement, of the worst split.\n"
    );
    text += &missing(all);
    text += &scores(all)?;
    text += &standing(all)?;
    text += &peers::section(all)?;
    text += &gains(all);
    text += &device(all)?;
    text += &rounding(all);
    Ok(text)
}

/// What the page lacks.
fn missing(all: &[Finished]) -> String {
    let of = |(set, way): (&Set, Way)| {
        let found = all.iter().find(|finished| finished.set.name == set.name && finished.way == way);
        let (there, aim) = (found.map_or(0, |finished| finished.lines.len()), splits_aimed_at(set));
        (there < aim).then(|| format!("{} {} ({there} of {aim})", set.name, way.name()))
    };
    let every = SETS.iter().flat_map(|set| Way::ALL.map(|way| (set, way)));
    let missing: Vec<String> = every.filter_map(of).collect();
    if missing.is_empty() { String::new() } else { format!("\nNot finished, in splits: {}.\n", missing.join(", ")) }
}

fn scores(all: &[Finished]) -> Result<String> {
    let mut text = "\n## Test error and log-likelihood\n\n\
        Off: ours minus the paper's (its sparse Gaussian process with M = 100, its DiffGP with T = 5), in combined standard \
        errors; positive is better for us. The paper used other random splits.\n\n\
        | set | model | K | error | kernel | recipe | splits | RMSE | log-likelihood | RMSE, paper | off | log-lik., paper | off | best deep GP | best elsewhere |\n\
        |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for finished in all {
        let (set, summary) = (finished.set, finished.summary()?);
        let kernels: BTreeSet<&str> = finished.lines.iter().filter_map(|line| line.kernel.as_deref()).collect();
        let kernels = if kernels.is_empty() { "–".to_owned() } else { Vec::from_iter(kernels).join(", ") };
        let [rmse_off, log_likelihood_off] =
            distances(finished)?.map(|distance| distance.map_or("–".to_owned(), |distance| signed(distance, 1)));
        let published = finished.published().map_or("| | | ".to_owned(), |paper| {
            format!(
                "{} ({}) | {rmse_off} | {} ({}) | {log_likelihood_off} ",
                paper.rmse.mean, paper.rmse.error, paper.log_likelihood.mean, paper.log_likelihood.error,
            )
        });
        let optional = |value: Option<f64>| value.map_or("–".to_owned(), |value| value.to_string());
        let others = if finished.way == Way::Flow {
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
            "| {} | {} | {} | {} | {kernels} | {} | {} | {} | {} | {published}| {others} |",
            set.name,
            finished.way.name(),
            summary.steps(),
            summary.discretisation_error.map_or("–".to_owned(), |error| format!("{:.1} %", 100.0 * error)),
            finished.report.recipes_of(summary),
            summary.splits,
            summary.figures.rmse(decimals(set)),
            summary.figures.log_likelihood(3),
        );
    }
    Ok(text)
}

/// How far error and log-likelihood are from the paper's, in combined standard errors; positive is better for us.
fn distances(finished: &Finished) -> Result<[Option<f64>; 2]> {
    let figures = finished.summary()?.figures;
    let distance = |ours: Option<f64>, error: Option<f64>, paper: Option<Figure>, better: f64| {
        let (ours, error, paper) = (ours?, error?, paper?);
        Some(better * (ours - paper.mean) / error.hypot(paper.error))
    };
    let paper = finished.published();
    let (likelihood, error) = (Some(figures.log_likelihood_mean), figures.log_likelihood_se);
    Ok([
        distance(figures.rmse_mean, figures.rmse_se, paper.map(|paper| paper.rmse), -1.0),
        distance(likelihood, error, paper.map(|paper| paper.log_likelihood), 1.0),
    ])
}

/// Where the flow stands against the paper's, and what is ahead of the best published elsewhere, or behind it.
fn standing(all: &[Finished]) -> Result<String> {
    let (mut cells, mut far, mut near, mut ahead, mut behind) = (0, Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for finished in all.iter().filter(|finished| finished.way == Way::Flow) {
        let (set, figures) = (finished.set, finished.summary()?.figures);
        for (what, distance) in ["RMSE", "log-likelihood"].into_iter().zip(distances(finished)?) {
            // The paper prints naval's error as 0.00.
            let Some(distance) = distance.filter(|_| (set.name, what) != ("naval", "RMSE")) else { continue };
            cells += 1;
            match distance {
                ..-2.0 => far.push(format!("{} {what}", set.name)),
                ..-1.0 => near.push(format!("{} {what}", set.name)),
                _ => {}
            }
        }
        if let Some((ours, best)) = figures.rmse_mean.zip(set.best_rmse) {
            let text = format!("{} RMSE {ours:.*} ({best})", set.name, decimals(set));
            if ours < best { ahead.push(text) } else { behind.push(text) }
        }
        if let Some((ours, best)) = Some(figures.log_likelihood_mean).zip(set.best_log_likelihood) {
            let text = format!("{} log-likelihood {ours:.3} ({best})", set.name);
            if ours > best { ahead.push(text) } else { behind.push(text) }
        }
    }
    let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Ok(format!(
        "\nOf {cells} cells with a flow (naval's error, which rounds to 0.00 for anybody, left out), behind the paper's by more \
         than two combined standard errors: {}; by one to two: {}.\n\n\
         The flow against the best published elsewhere. Ahead: {}. Behind: {}.\n",
        list(&far),
        list(&near),
        list(&ahead),
        list(&behind)
    ))
}

/// Split by split, before calibration.
fn gains(all: &[Finished]) -> String {
    let lines = |set: &Set, way: Way| {
        let found = all.iter().find(|finished| finished.set.name == set.name && finished.way == way);
        found.map_or(&[][..], |finished| finished.lines.as_slice())
    };
    let mut text =
        "\n## What the flow adds\n\nThe same splits with and without it, and with the chain; negative errors and \
                    positive likelihoods are gains. Before calibration, since the chain has none.\n\n\
                    | set | against | splits | RMSE | log-likelihood |\n|---|---|---|---|---|\n"
            .to_owned();
    for set in &SETS {
        for other in [Way::None, Way::Chain] {
            let of = |figure| paired(lines(set, Way::Flow), lines(set, other), figure);
            let rmse = of(|line| line.rmse.unwrap_or(f64::NAN));
            let Some(((splits, rmse, rmse_error), (_, gain, error))) = rmse.zip(of(Line::uncalibrated_log_likelihood))
            else {
                continue;
            };
            let _ = writeln!(
                text,
                "| {} | {} | {splits} | {} | {} |",
                set.name,
                other.name(),
                with_error(Some(rmse), rmse_error, decimals(set)),
                with_error(Some(gain), error, 3),
            );
        }
    }
    text
}

fn device(all: &[Finished]) -> Result<String> {
    let mut text = "\n## On the device, and in training\n\nThe same models along the drift and with ten paths; bytes of the \
        largest file, before `compress`; what `inspect` estimates for a Cortex-M4F, of the slowest split; the worst \
        difference between the model file and float64 on 500 training rows (all, if there are fewer) of any split: means in \
        standard deviations of the target, variances relative. Processor minutes of a run with everything: training, the \
        models of the calibration, export and scoring.\n\n\
        | set | model | drift only | 10 paths | 100 paths | bytes | instructions, drift | per path | mean off by | variance off by | minutes |\n\
        |---|---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for finished in all {
        let (set, summary) = (finished.set, finished.summary()?);
        let both = |rmse: Option<f64>, likelihood: f64| {
            format!("{:.*} / {likelihood:.3}", decimals(set), rmse.unwrap_or(f64::NAN))
        };
        let [drift, path] =
            summary.m4f_instructions.map_or_else(|| ["–"; 2].map(str::to_owned), |counts| counts.map(grouped));
        let minutes = summary.processor_seconds_mean.map_or("–".to_owned(), |s| format!("{:.1}", s / 60.0));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {drift} | {path} | {:.1e} | {:.1e} | {minutes} |",
            set.name,
            finished.way.name(),
            both(summary.drift.rmse_mean, summary.drift.log_likelihood_mean),
            both(summary.ten_paths.rmse_mean, summary.ten_paths.log_likelihood_mean),
            both(summary.figures.rmse_mean, summary.figures.log_likelihood_mean),
            grouped(summary.bytes as u64),
            summary.mean_error,
            summary.variance_error,
        );
    }
    Ok(text)
}

/// The runs whose model file is further from float64 than aimed at.
fn rounding(all: &[Finished]) -> String {
    let mut beyond = Vec::new();
    for Finished { set, way, lines, .. } in all {
        let means = lines.iter().filter(|line| line.mean_error > MEAN_ERROR).count();
        let variances = lines.iter().filter(|line| line.variance_error > VARIANCE_ERROR).count();
        for (what, count) in [("mean", means), ("variance", variances)].into_iter().filter(|(_, count)| *count > 0) {
            beyond.push(format!("{} {}, {what}, {count} of {} runs", set.name, way.name(), lines.len()));
        }
    }
    format!(
        "\nAimed at is {MEAN_ERROR:e} for means and {VARIANCE_ERROR:e} for variances. Beyond that: {}.\n",
        if beyond.is_empty() { "none".to_owned() } else { beyond.join("; ") }
    )
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
