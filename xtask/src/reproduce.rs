//! `cargo xtask reproduce`: the paper's experiments on top of `diffgp`.
//!
//! Finished runs are lines of `docs/results/*.jsonl` and are not done again, so results accumulate; the pages beside
//! them are written from those lines alone.

mod classes;
mod figures;
mod flow_time;
mod higgs;
mod integers;
mod published;
mod run;
mod uci;

use std::path::PathBuf;

use anyhow::Result;

#[derive(clap::Subcommand)]
pub(crate) enum Experiment {
    /// Eight regression sets on their standard splits, next to the paper's table: docs/results/uci.md
    Uci(uci::Args),
    /// The step function: data, flow and warped space, docs/results/step-*.svg
    Step,
    /// Draws of deep and differential Gaussian-process priors, docs/results/rank.md
    Rank,
    /// Concrete with flow times from 0 to 10, docs/results/flow-time.md
    FlowTime(flow_time::Args),
    /// Classification of HIGGS events: docs/results/higgs.md
    Higgs(higgs::Args),
    /// Four sets with classes next to boosted trees, and two targets on one flow: docs/results/classes.md
    Classes(classes::Args),
    /// What predictions lose in integers on held-out rows of five sets: docs/results/integers.md
    Integers(integers::Args),
}

/// Where the data is, and whether to compute.
#[derive(clap::Args)]
pub(crate) struct Common {
    /// Directory with uci/NAME/data.csv, uci/NAME/test_rows.txt, the same in classes/NAME and outputs/NAME, and
    /// higgs/data.csv
    #[arg(long, value_name = "DIR", default_value = "../shared/data")]
    data: PathBuf,
    /// Train nothing: write the pages from the runs that are finished
    #[arg(long)]
    finished: bool,
}

pub(crate) fn run(experiment: &Experiment) -> Result<()> {
    match experiment {
        Experiment::Uci(args) => uci::run(args),
        Experiment::Step => figures::step(),
        Experiment::Rank => figures::rank(),
        Experiment::FlowTime(args) => flow_time::run(args),
        Experiment::Higgs(args) => higgs::run(args),
        Experiment::Classes(args) => classes::run(args),
        Experiment::Integers(args) => integers::run(args),
    }
}
