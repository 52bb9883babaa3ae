//! The same bytes with every number of ranks.

use super::{Mpi, RANKS, fresh, read, succeed};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Training that is short; what comes of it is poor and that is fine.
const QUICK: &str =
    "--inducing 8 --warm-iterations 5 --sparse-iterations 6 --iterations 6 --steps 3 --training-steps 3";

/// File, rows, and whether its target is a class. Beyond 2000 rows batches are drawn and validation rows calibrate.
const DATA: [(&str, usize, bool); 4] = [
    ("small.csv", 240, false),
    ("large.csv", 2300, false),
    ("classes.csv", 200, true),
    ("large-classes.csv", 2200, true),
];

/// A case: its name, its file, and its options.
const CASES: [(&str, &str, &str); 9] = [
    ("small, flow", "small.csv", "--flow-time 5"),
    ("small, no flow", "small.csv", "--flow-time 0"),
    ("small, the flow chosen", "small.csv", ""),
    ("large, flow", "large.csv", "--flow-time 5 --kernel rbf"),
    ("large, no flow", "large.csv", "--flow-time 0 --kernel rbf"),
    ("classes, flow", "classes.csv", "--flow-time 5"),
    ("classes, no flow", "classes.csv", "--flow-time 0"),
    ("large classes, flow", "large-classes.csv", "--flow-time 5"),
    ("large classes, no flow", "large-classes.csv", "--flow-time 0"),
];

pub(super) fn run(mpi: &Mpi) -> Result<()> {
    let folder = fresh(&format!("{}-cases", mpi.name))?;
    write_data(&folder)?;
    for (name, data, options) in CASES {
        let train = format!("train {data} --target y {QUICK} {options}");
        succeed(mpi.alone("diffgp"), &folder, &format!("{train} --out alone.dgp"))?;
        for ranks in RANKS {
            let out = format!("ranks-{ranks}");
            let finished = succeed(mpi.launch(ranks, "diffgp"), &folder, &format!("{train} --out {out}.dgp"))?;
            for (ours, theirs) in [("alone.dgp", ".dgp"), ("alone.run/metrics.jsonl", ".run/metrics.jsonl")] {
                let same = read(&folder, ours)? == read(&folder, &format!("{out}{theirs}"))?;
                ensure!(same, "{name}: {ranks} ranks over {} give other bytes in {out}{theirs}", mpi.name);
            }
            // One speaks.
            let said = finished.stdout.matches("next:").count();
            ensure!(said == 1, "{name}: {ranks} ranks say {said} times what is next");
            let introduced = finished.stderr.matches(&format!("{ranks} ranks of ")).count();
            ensure!(introduced == usize::from(ranks > 1), "{name}: {}", finished.stderr);
        }
        eprintln!("{name}: the same bytes alone and with {RANKS:?} ranks");
    }
    crossval(mpi, &folder)
}

/// Splits are handed to ranks: the figures are the same, in the file too, and only the first writes there.
fn crossval(mpi: &Mpi, folder: &Path) -> Result<()> {
    let arguments = |out: &str| {
        format!("crossval small.csv --target y --folds 3 --flow-times 0,5 {QUICK} --json --out {out}.jsonl")
    };
    let printed = succeed(mpi.alone("diffgp"), folder, &arguments("alone"))?.stdout;
    let figures = |text: &str| -> Result<Value> { without_times(serde_json::from_str(text)?) };
    let lines = |out: &str| -> Result<Vec<String>> {
        let text = String::from_utf8(read(folder, &format!("{out}.jsonl"))?)?;
        let mut lines = text.lines().map(|line| Ok(figures(line)?.to_string())).collect::<Result<Vec<String>>>()?;
        lines.sort();
        Ok(lines)
    };
    let alone = lines("alone")?;
    ensure!(alone.len() == 6, "crossval kept {} splits", alone.len());
    for ranks in RANKS {
        let out = format!("crossval-{ranks}");
        let finished = succeed(mpi.launch(ranks, "diffgp"), folder, &arguments(&out))?;
        ensure!(lines(&out)? == alone, "crossval with {ranks} ranks keeps other figures");
        ensure!(figures(&finished.stdout)? == figures(&printed)?, "crossval with {ranks} ranks prints other figures");
        let shown = finished.stderr.lines().filter(|line| line.starts_with("split ")).count();
        ensure!(shown == 6, "crossval with {ranks} ranks shows {shown} splits: {}", finished.stderr);
        // Finished splits are found by every number of ranks.
        let again = succeed(mpi.launch(2, "diffgp"), folder, &arguments(&out))?;
        ensure!(lines(&out)? == alone && !again.stderr.contains("\nsplit "), "{}", again.stderr);
    }
    eprintln!("crossval: the same figures alone and with {RANKS:?} ranks");
    Ok(())
}

/// What a computation found, without what it took.
fn without_times(mut value: Value) -> Result<Value> {
    fn remove(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| !name.contains("seconds") && name != "date");
                fields.values_mut().for_each(remove);
            }
            Value::Array(values) => values.iter_mut().for_each(remove),
            _ => {}
        }
    }
    remove(&mut value);
    Ok(value)
}

/// A step in one input and a slope in the other, or which of three classes that makes; the same in every run.
pub(super) fn write_data(folder: &Path) -> Result<()> {
    for (name, rows, classes) in DATA {
        let mut text = "a,b,y\n".to_owned();
        for row in 0..rows {
            let scattered = |k: usize| ((row * 7919 + k * 104_729) % 10_007) as f64 / 10_007.0;
            let (a, b, noise) = (4.0 * scattered(1) - 2.0, 2.0 * scattered(2) - 1.0, scattered(3) - 0.5);
            let y = f64::from(u8::from(a > 0.0)) + 0.3 * b + 0.2 * noise;
            match classes {
                true => {
                    writeln!(text, "{a},{b},{}", ["low", "middle", "high"][(1.5 * y + 0.5).clamp(0.0, 2.9) as usize])?
                }
                false => writeln!(text, "{a},{b},{y}")?,
            }
        }
        fs::write(folder.join(name), text).with_context(|| name.to_owned())?;
    }
    Ok(())
}
