//! Classes next to boosted trees, and two targets on one flow next to two models: docs/results/classes.md.

mod line;
mod page;
mod runs;

use std::ops::Range;

use anyhow::{Result, ensure};

use self::line::Journal;
use self::runs::{CLASSES, Run, TARGETS};
use super::Common;
use super::run::{build, range, write_page};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    /// Which sets: iris, vehicle, digits, satellite, energy2
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    sets: Vec<String>,
    /// Which splits of the 20 in their files
    #[arg(long, value_name = "FIRST..END", default_value = "0..5", value_parser = range)]
    splits: Range<usize>,
    /// Flow times to train; the page shows every one that is finished
    #[arg(long, value_name = "T,...", value_delimiter = ',', default_values_t = [0, 5])]
    flow_times: Vec<u32>,
    /// Train nothing: ask `diffgp inspect` again what the models of finished runs cost, where target/reproduce-classes
    /// still has them
    #[arg(long, conflicts_with = "finished")]
    inspect: bool,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let names: Vec<&str> = CLASSES.iter().map(|set| set.name).chain([TARGETS.name]).collect();
    for name in &args.sets {
        ensure!(names.contains(&name.as_str()), "no set {name}; expected some of {}", names.join(", "));
    }
    let mut journal = Journal::open()?;
    if args.inspect {
        build()?;
        journal.update(runs::inspect_again)?;
    } else if !args.common.finished {
        build()?;
        let chosen = |name: &str| args.sets.is_empty() || args.sets.iter().any(|asked| asked == name);
        let all = CLASSES.iter().map(|set| (set.name, vec![set.run()])).chain([(TARGETS.name, TARGETS.runs())]);
        for (_, runs) in all.filter(|(name, _)| chosen(name)) {
            // What takes long comes last.
            for &flow_time in &args.flow_times {
                for split in args.splits.clone() {
                    train_missing(&runs, split, flow_time, &args.common, &mut journal)?;
                }
            }
        }
    }
    write_page("classes.md", &page::page(&journal))
}

fn train_missing(runs: &[Run], split: usize, flow_time: u32, common: &Common, journal: &mut Journal) -> Result<()> {
    for run in runs {
        if !journal.is_finished(&run.key(split, flow_time)) {
            let Some(line) = run.train(split, flow_time, common)? else { continue };
            eprintln!("{line}");
            journal.append(line)?;
        }
    }
    Ok(())
}
