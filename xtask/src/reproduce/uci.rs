//! The regression sets: no flow, a flow and a chain of two steps, next to the paper and to what people would pick instead.

mod bars;
mod page;
mod peers;

use std::ops::Range;

use anyhow::{Context, Result, ensure};

use super::Common;
use super::published::{Published, SETS, Set};
use super::run::{Comparison, Line, Report, Summary, build, columns, provenance, range, write_page};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    /// Which sets
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    sets: Vec<String>,
    /// Which standard splits; of each set at most as many as the page aims at
    #[arg(long, value_name = "FIRST..END", default_value = "0..20", value_parser = range)]
    splits: Range<usize>,
    /// Which models: none, flow, chain
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_enum, default_values_t = Way::ALL)]
    ways: Vec<Way>,
    /// Threads of training, which change no figure
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// What carries the inputs.
#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Way {
    /// Nothing: a sparse Gaussian process.
    None,
    /// The flow of `train --flow-time 5`.
    Flow,
    /// Two Euler–Maruyama steps of 2.5.
    Chain,
}

impl Way {
    const ALL: [Self; 3] = [Self::None, Self::Flow, Self::Chain];

    fn flow_time(self) -> u32 {
        if self == Self::None { 0 } else { 5 }
    }

    /// For a table.
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Flow => "flow",
            Self::Chain => "chain",
        }
    }

    fn comparison(self, set: &Set, splits: Range<usize>) -> Comparison {
        let chain = self == Self::Chain;
        Comparison {
            data: format!("uci/{}/data.csv", set.name).into(),
            target: set.target,
            splits: Some(splits),
            name: format!("uci-{}{}", set.name, if chain { "-chain" } else { "" }),
            flow_times: vec![self.flow_time()],
            options: if chain { ["--chain", "--calibration", "none"].map(str::to_owned).to_vec() } else { Vec::new() },
        }
    }
}

/// The runs of a set that are there, all of one way.
struct Finished {
    set: &'static Set,
    way: Way,
    report: Report,
    lines: Vec<Line>,
}

impl Finished {
    fn summary(&self) -> Result<&Summary> {
        self.report.results.first().with_context(|| format!("no result of {} {}", self.set.name, self.way.name()))
    }

    /// What the paper has for the same; it has no chains.
    fn published(&self) -> Option<Published> {
        (self.way != Way::Chain).then(|| self.set.published(f64::from(self.way.flow_time()))).flatten()
    }

    fn is_complete(&self) -> bool {
        self.lines.len() >= splits_aimed_at(self.set)
    }
}

/// Splits of the page: the machine's hours are better spent on training than on more of them.
fn splits_aimed_at(set: &Set) -> usize {
    match set.name {
        "boston" | "energy" | "concrete" => 20,
        "wine_red" => 10,
        _ => 5,
    }
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
            let end = args.splits.end.min(splits_aimed_at(set));
            for way in args.ways.iter().filter(|_| args.splits.start < end) {
                let mut comparison = way.comparison(set, args.splits.start..end);
                comparison.options.extend(args.threads.iter().flat_map(|n| ["--threads".to_owned(), n.to_string()]));
                comparison.run(&args.common)?;
            }
        }
    }
    let finished = Common { data: args.common.data.clone(), finished: true };
    let mut all = Vec::new();
    let mut comparisons = Vec::new();
    for set in &SETS {
        for way in Way::ALL {
            let comparison = way.comparison(set, 0..set.splits);
            let report = comparison.run(&finished)?;
            comparison.check_nothing_is_lost(report.as_ref())?;
            let lines = comparison.lines()?;
            all.extend(report.map(|report| Finished { set, way, report, lines }));
            comparisons.push(comparison);
        }
    }
    let origin = format!("{} {}", provenance(&comparisons)?, columns(all.iter().map(|finished| &finished.report)));
    write_page("uci.md", &page::page(&origin, &all)?)?;
    write_page("bars.md", &bars::page(&origin, &all)?)
}

/// The splits that two ways have in common, and the mean of `difference` over them with its standard error.
fn paired(ours: &[Line], others: &[Line], figure: fn(&Line) -> f64) -> Option<(usize, f64, Option<f64>)> {
    let difference = |line: &Line| Some(figure(line) - figure(others.iter().find(|other| other.split == line.split)?));
    let all: Vec<f64> = ours.iter().filter_map(difference).collect();
    let n = all.len() as f64;
    let mean = all.iter().sum::<f64>() / n;
    let squares: f64 = all.iter().map(|value| (value - mean).powi(2)).sum();
    (!all.is_empty()).then(|| (all.len(), mean, (all.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt())))
}
