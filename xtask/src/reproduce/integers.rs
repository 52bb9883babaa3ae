//! What predictions lose in integers, on rows that training has not seen: docs/results/integers.md.

mod compared;
mod rows;

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use self::compared::{Difference, Held, compare};
use super::Common;
use super::run::{build, write_page};
use crate::command;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
}

/// A set, and how a model of it is trained: in minutes, with one thread.
struct Set {
    name: &'static str,
    /// Under the data directory.
    folder: &'static str,
    target: &'static str,
    kernel: &'static str,
    options: &'static [&'static str],
}

const SETS: [Set; 5] = [
    Set { name: "power", folder: "uci", target: "energy_output", kernel: "rbf", options: &["--iterations", "1000"] },
    Set { name: "kin8nm", folder: "uci", target: "distance", kernel: "rbf", options: &["--iterations", "1000"] },
    Set {
        name: "concrete",
        folder: "uci",
        target: "strength",
        kernel: "rbf",
        options: &["--inducing", "100", "--iterations", "1000"],
    },
    Set { name: "protein", folder: "uci", target: "rmsd", kernel: "matern32", options: &["--iterations", "1000"] },
    Set {
        name: "satellite",
        folder: "classes",
        target: "soil",
        kernel: "rbf",
        options: &["--task", "classification", "--batch", "250", "--iterations", "300"],
    },
];

/// Of all sets.
const OPTIONS: [&str; 8] = ["--split", "0", "--flow-time", "5", "--calibration", "none", "--threads", "1"];

/// What is asked of integers: mean in deviations, variance relative to the one in f32, nats per row.
const BARS: [f64; 3] = [1e-3, 5e-3, 1e-3];

pub(super) fn run(args: &Args) -> Result<()> {
    build()?;
    let mut rows = String::new();
    let mut missed = [Vec::new(), Vec::new()];
    for set in &SETS {
        let Some(held) = set.held_out(&args.common)? else { continue };
        eprintln!("{}: {} rows, {} of them are compared", set.name, held.of, held.rows.len());
        for sampled in [false, true] {
            let difference = compare(&held, sampled)?;
            for (missed, reading) in missed.iter_mut().zip([0, 1]) {
                missed.extend(
                    difference.above(BARS, reading).map(|what| format!("{what} of {}, {}", set.name, way(sampled))),
                );
            }
            let row = row(set, &held, sampled, &difference);
            eprint!("{row}");
            rows += &row;
        }
    }
    write_page("integers.md", &page(&rows, &missed))
}

impl Set {
    /// Both models and the rows; `None` without data, or without a model if nothing is to be trained.
    fn held_out(&self, common: &Common) -> Result<Option<Held>> {
        let folder = command::root().join(&common.data).join(self.folder).join(self.name);
        let (data, held_out) = (folder.join("data.csv"), folder.join("test_rows.txt"));
        if !data.exists() {
            eprintln!("SKIPPED: {} is not there", data.display());
            return Ok(None);
        }
        let scratch = command::root().join("target/reproduce-integers");
        std::fs::create_dir_all(&scratch)?;
        let [single, fixed] = ["", "-integers"].map(|kind| scratch.join(format!("{}{kind}.dgp", self.name)));
        if !single.exists() {
            if common.finished {
                eprintln!("SKIPPED: {} is not trained", self.name);
                return Ok(None);
            }
            let mut train = diffgp("train");
            train.arg(&data).args(["--target", self.target]).arg("--test-rows").arg(&held_out);
            train.arg("--force").args(["--kernel", self.kernel]).args(OPTIONS);
            command::run(train.args(self.options).arg("--out").arg(&single))?;
        }
        let mut compress = diffgp("compress");
        compress.arg(&single).arg("--data").arg(&data).arg("--test-rows").arg(&held_out);
        compress.args(["--split", "0", "--integers", "--paths", "1", "--threads", "1", "--force", "--json"]);
        command::capture(compress.arg("--out").arg(&fixed))?;
        Held::read(&single, &fixed, &data, &held_out).map(Some)
    }
}

fn diffgp(subcommand: &str) -> Command {
    let program: PathBuf = command::root().join("target/release/diffgp");
    let mut niced = Command::new("nice");
    niced.current_dir(command::root()).args(["-n", "10"]).arg(program).arg(subcommand);
    niced
}

fn way(sampled: bool) -> String {
    if sampled { format!("{} paths", compared::PATHS) } else { "drift".to_owned() }
}

fn row(set: &Set, held: &Held, sampled: bool, difference: &Difference) -> String {
    let way = way(sampled);
    let of = |worst: Option<[f64; 2]>, unit: f64, decimals: usize| match worst {
        Some([typical, largest]) => format!("{:.decimals$} / {:.decimals$}", unit * typical, unit * largest),
        None => "–".to_owned(),
    };
    format!(
        "| {} | {}, {} steps | {} | {way} | {} | {} | {} | {:.1} · 10⁻⁵ |\n",
        set.name,
        set.kernel,
        held.steps,
        held.rows.len(),
        of(difference.mean, 1e5, 1),
        of(difference.variance, 1e2, 3),
        of(difference.probability, 1e5, 1),
        1e5 * difference.loss
    )
}

fn page(rows: &str, missed: &[Vec<String>; 2]) -> String {
    let mut page = String::from("# Integers beside f32, on held-out rows\n\n");
    let _ = writeln!(
        page,
        "`cargo xtask reproduce integers` trains a model of every set on the rows of split 0, makes one for integers of it \
         (`diffgp compress --integers`, which changes nothing else), and compares what the device's own code predicts with \
         both for held-out rows, at most {} of a set. The models are trained in minutes, not to be good: `{}`, and",
        compared::MOST_ROWS,
        OPTIONS.join(" ")
    );
    for set in &SETS {
        let _ = write!(page, "\n- {}: `--kernel {} {}`", set.name, set.kernel, set.options.join(" "));
    }
    let _ = write!(
        page,
        "\n\nDifferences are shown as root of the mean square / largest of all rows. Means are in deviations of the training \
         targets. The loss is the log-likelihood per row in f32 less the one in integers, of a Gaussian with the predicted \
         mean and variance, or of the class's probability; a negative one is a gain. Probabilities are those of all \
         classes.\n\n\
         | set | kernel | rows | prediction | mean, 10⁻⁵ deviations | variance with noise, % | probability, 10⁻⁵ | loss, nats |\n\
         |---|---|---|---|---|---|---|---|\n{rows}\n"
    );
    let [mean, variance, loss] = BARS;
    let _ = writeln!(
        page,
        "Asked for are means within {mean} deviations, variances within {} % and losses below {loss} nats.",
        100.0 * variance
    );
    for (how, missed) in [("As roots of mean squares", &missed[0]), ("In every row", &missed[1])] {
        let _ = match missed.as_slice() {
            [] => writeln!(page, "{how}, all sets keep them."),
            missed => writeln!(page, "{how}, missed: {}.", missed.join("; ")),
        };
    }
    page
}
