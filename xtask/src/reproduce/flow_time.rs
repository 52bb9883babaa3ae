//! How long to flow: concrete with T from 0 to 10, in steps small enough for that to be a time.

use std::fmt::Write;
use std::ops::Range;

use anyhow::{Context, Result};

use super::Common;
use super::published::SETS;
use super::run::{Comparison, build, columns, provenance, range, write_page};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    /// Which standard splits
    #[arg(long, value_name = "FIRST..END", default_value = "0..5", value_parser = range)]
    splits: Range<usize>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    build()?;
    let concrete = SETS.iter().find(|set| set.name == "concrete").context("concrete is not one of the sets")?;
    let comparison = Comparison {
        data: format!("uci/{}/data.csv", concrete.name).into(),
        target: concrete.target,
        splits: Some(args.splits.clone()),
        name: "flow-time".to_owned(),
        flow_times: vec![0, 1, 2, 3, 4, 5, 7, 10],
        options: ["--training-steps", "5", "--steps", "20"].map(str::to_owned).to_vec(),
    };
    let report = comparison.run(&args.common)?;
    comparison.check_nothing_is_lost(report.as_ref())?;
    let Some(report) = report else { return Ok(()) };
    let mut text = format!(
        "# Flow time\n\n\
        Concrete, standard splits, written by `cargo xtask reproduce flow-time` from `flow-time.jsonl`. {} K = 5 while \
        training and 20 in the model file, so that T is the time of a differential equation. In the \
        paper's figure 5 longer flows fit the training rows better, until that levels off near T = 10, and the held-out \
        ones up to a point. Here the validation rows stop every run (the column of iterations), so that a longer flow need not fit them better. {}\n\n\
        | T | K | recipe | splits | RMSE, training | RMSE, test | log-lik., training | log-lik., test | bound per row | iterations |\n\
        |---|---|---|---|---|---|---|---|---|---|\n",
        provenance([&comparison])?,
        columns([&report])
    );
    for summary in &report.results {
        let (training, test) = (summary.training, summary.figures);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.0} |",
            summary.flow_time,
            summary.steps(),
            report.recipes_of(summary),
            summary.splits,
            training.rmse(2),
            test.rmse(2),
            training.log_likelihood(3),
            test.log_likelihood(3),
            summary.bound_mean.map_or("–".to_owned(), |bound| format!("{bound:.3}")),
            summary.iteration_mean,
        );
    }
    write_page("flow-time.md", &text)
}
