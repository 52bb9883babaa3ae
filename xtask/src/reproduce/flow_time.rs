//! How long to flow: concrete with T from 0 to 10.

use std::fmt::Write;

use anyhow::Result;

use super::Common;
use super::run::{Comparison, build, write_page};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    /// Which standard splits
    #[arg(long, value_name = "FIRST..END", default_value = "0..5")]
    splits: String,
}

pub(super) fn run(args: &Args) -> Result<()> {
    build()?;
    let comparison = Comparison {
        data: "uci/concrete/data.csv".into(),
        target: "strength",
        splits: Some(args.splits.clone()),
        name: "flow-time".to_owned(),
        flow_times: "0,1,2,3,4,5,7,10".to_owned(),
        options: Vec::new(),
    };
    let Some(report) = comparison.run(&args.common)? else { return Ok(()) };
    let mut text = "# Flow time\n\n\
        Concrete, standard splits, written by `cargo xtask reproduce flow-time` from `flow-time.jsonl`. The paper's \
        figure 5: longer flows fit the training rows better and, up to a point, the held-out ones.\n\n\
        | T | splits | RMSE, training | RMSE, test | log-lik., training | log-lik., test | bound per row | seconds |\n\
        |---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for summary in &report.results {
        let (training, test) = (summary.training, summary.figures);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {:.3} | {:.0} |",
            summary.flow_time,
            summary.splits,
            training.rmse(2),
            test.rmse(2),
            training.log_likelihood(3),
            test.log_likelihood(3),
            summary.bound_mean,
            summary.seconds_mean,
        );
    }
    write_page("flow-time.md", &text)
}
