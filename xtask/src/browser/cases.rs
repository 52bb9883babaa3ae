//! What the browser is shown: models of all kinds, their pages, and what `diffgp predict` says of the same rows.

use crate::{command, qemu};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Training is short: what the models predict does not matter here.
const QUICK: &str = "--inducing 8 --warm-iterations 4 --iterations 4 --steps 3 --training-steps 3";
/// A model of the size that is timed.
const LARGE: &str = "--inducing 100 --warm-iterations 2 --iterations 2 --steps 5 --training-steps 3";
const ROWS: usize = 120;

/// Where the model of a case comes from.
enum Source {
    /// Trained on so many inputs and this kind of target, with these options.
    Trained(usize, Target, &'static str),
    /// A file of the repository.
    Stored(&'static str),
}

#[derive(Clone, Copy, PartialEq)]
enum Target {
    Number,
    Numbers,
    Classes(usize),
}

use Source::{Stored, Trained};

/// A new kind of model is a line here.
const CASES: [(&str, Source); 18] = [
    ("flow-1", Trained(1, Target::Number, "--flow-time 5")),
    ("flow-2", Trained(2, Target::Number, "--flow-time 5")),
    ("flow-8", Trained(8, Target::Number, "--flow-time 5")),
    ("flow-64", Trained(64, Target::Number, "--flow-time 5")),
    ("no-flow-1", Trained(1, Target::Number, "--flow-time 0")),
    ("no-flow-8", Trained(8, Target::Number, "--flow-time 0")),
    ("two-targets", Trained(3, Target::Numbers, "--flow-time 5")),
    ("two-classes", Trained(2, Target::Classes(2), "--flow-time 5")),
    ("six-classes", Trained(2, Target::Classes(6), "--flow-time 5")),
    ("six-classes-no-flow", Trained(8, Target::Classes(6), "--flow-time 0")),
    ("hostile", Trained(5, Target::Number, "--flow-time 5")),
    ("hostile-classes", Trained(5, Target::Classes(3), "--flow-time 5")),
    ("compressed", Stored("tests/blobs/v2-kin8nm-32k.dgp")),
    ("temporal", Stored("tests/blobs/v2-concrete-temporal.dgp")),
    ("integers", Stored("tests/blobs/v2-kin8nm-32k-integers.dgp")),
    ("integers-two-targets", Stored("tests/blobs/v2-energy2-integers.dgp")),
    ("integers-three-classes", Stored("tests/blobs/v2-iris-integers.dgp")),
    ("timed", Trained(8, Target::Number, LARGE)),
];

/// Names that would be markup, would run, would vanish or be too long to show.
const HOSTILE: [&str; 5] = [
    "<img src=x onerror=window.hit=1>",
    "</script><script>window.hit=1</script>",
    "bell\u{7}\u{202e}{{script}}\u{0}",
    "<!-- <script> ]]> &amp ${window.hit=1} \\u003c",
    concat!(
        "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
        "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"
    ),
];
const HOSTILE_TARGET: &str = "<b onclick=alert(1)>y</b>\"'";

/// Makes the folders of all cases, or of one.
pub(super) fn make(folder: &Path, only: Option<&str>) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    let chosen = CASES.iter().filter(|(name, _)| only.is_none_or(|only| only == *name));
    let mut count = 0;
    for (name, source) in chosen {
        let directory = folder.join(name);
        fs::create_dir_all(&directory)?;
        make_one(&directory, name, source).with_context(|| format!("case {name}"))?;
        count += 1;
    }
    ensure!(count > 0, "no such case; there are {}", CASES.map(|(name, _)| name).join(", "));
    Ok(())
}

fn make_one(directory: &Path, name: &str, source: &Source) -> Result<()> {
    let model = directory.join("model.dgp");
    match source {
        Trained(inputs, target, options) => {
            let hostile = name.starts_with("hostile");
            fs::write(directory.join("data.csv"), table(*inputs, *target, hostile))?;
            let targets = match target {
                _ if hostile => inputs.to_string(),
                Target::Numbers => "y,z".to_owned(),
                _ => "y".to_owned(),
            };
            // One of 10,000 letters cannot be part of a model.
            let ignored = if hostile { format!("--ignore {}", inputs + 1) } else { String::new() };
            let short = if *options == LARGE { "--flow-time 5" } else { QUICK };
            diffgp(directory, &format!("train data.csv --target {targets} {options} {short} {ignored} --header yes"))?;
        }
        Stored(path) => {
            fs::copy(command::root().join(path), &model)?;
            let inspected: Value = serde_json::from_str(&diffgp(directory, "inspect model.dgp --json")?)?;
            fs::write(directory.join("data.csv"), table_for(&inspected)?)?;
        }
    }
    diffgp(directory, "explore model.dgp data.csv --header yes --out page.html")?;
    // Of small models also one without rows.
    if matches!(source, Trained(_, _, options) if *options != LARGE) {
        diffgp(directory, "explore model.dgp --out bare.html")?;
    }
    for (file, options) in [("sampled.json", "--paths 32"), ("drift.json", "--deterministic")] {
        let said = diffgp(directory, &format!("predict model.dgp data.csv --header yes --json {options}"))?;
        fs::write(directory.join(file), said)?;
    }
    let inspected: Value = serde_json::from_str(&diffgp(directory, "inspect model.dgp --json")?)?;
    let inputs = inspected["input"].as_array().context("no inputs")?;
    let names = inputs.iter().chain(inspected["targets"].as_array().context("no targets")?);
    let classes = inspected["classes"].as_array().into_iter().flatten();
    let names = names.filter_map(|column| column["name"].as_str()).chain(classes.filter_map(Value::as_str));
    let names: Vec<String> = names.map(visible).collect();
    let flow = inspected["steps"] != json!(0);
    let case = json!({ "flow": flow, "rows": ROWS, "names": names, "timed": name == "timed" });
    Ok(fs::write(directory.join("case.json"), case.to_string())?)
}

/// What the page makes of letters that cannot be seen.
fn visible(name: &str) -> String {
    name.replace(|letter: char| letter.is_control() || letter == '\u{202e}', "\u{fffd}")
}

fn diffgp(directory: &Path, arguments: &str) -> Result<String> {
    command::capture(qemu::diffgp().current_dir(directory).args(arguments.split_whitespace()))
}

/// Spread over -1 to 1 without a pattern.
fn scattered(row: usize, column: usize) -> f64 {
    2.0 * (((row * 7919 + column * 104_729 + row * column * 31) % 10_007) as f64 / 10_007.0) - 1.0
}

/// Rows with a step in the first input and a slope in the second.
fn table(inputs: usize, target: Target, hostile: bool) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let mut header: Vec<String> = (0..inputs).map(|input| format!("input {}", input + 1)).collect();
    match target {
        Target::Numbers => header.extend(["y".to_owned(), "z".to_owned()]),
        _ => header.push("y".to_owned()),
    }
    if hostile {
        header = HOSTILE.iter().chain([&HOSTILE_TARGET]).map(|name| quoted(name)).collect();
        header.push("V".repeat(10_000));
    }
    let mut table = header.join(",") + "\n";
    for row in 0..ROWS {
        let x: Vec<f64> = (0..inputs).map(|input| 10.0 * scattered(row, input)).collect();
        let slope = x.get(1).copied().unwrap_or(x[0]);
        let y = f64::from(x[0] > 0.0) + 0.1 * slope + 0.1 * scattered(row, 77);
        let cells: Vec<String> = x.iter().map(|value| format!("{value:.4}")).collect();
        let said = match target {
            Target::Number => format!("{y:.4}"),
            Target::Numbers => format!("{y:.4},{:.4}", 100.0 - 30.0 * y),
            Target::Classes(classes) => {
                let class = ((y + 1.0) / 3.0 * classes as f64).clamp(0.0, classes as f64 - 1.0) as usize;
                if hostile { format!("{} {class}", HOSTILE[0]) } else { format!("class {class}") }
            }
        };
        let _ = writeln!(table, "{},{said}{}", cells.join(","), if hostile { ",0" } else { "" });
    }
    table
}

/// Rows within the ranges of a stored model.
fn table_for(inspected: &Value) -> Result<String> {
    let columns = |key: &str| inspected[key].as_array().cloned().with_context(|| format!("no {key}"));
    let (inputs, targets) = (columns("input")?, columns("targets")?);
    let names = inputs.iter().chain(&targets).enumerate().map(|(index, column)| match column["name"].as_str() {
        Some(name) => name.to_owned(),
        None => format!("column {index}"),
    });
    let mut table = names.collect::<Vec<_>>().join(",") + "\n";
    for row in 0..ROWS {
        let inside = inputs.iter().enumerate().map(|(index, input)| {
            let (low, high) = (input["low"].as_f64().unwrap_or(0.0), input["high"].as_f64().unwrap_or(1.0));
            low + (0.5 + 0.5 * scattered(row, index)) * (high - low)
        });
        let near = targets.iter().map(|target| {
            target["mean"].as_f64().unwrap_or(0.0) + scattered(row, 99) * target["scale"].as_f64().unwrap_or(1.0)
        });
        let cells = inside.map(|value| (value as f32).to_string());
        let said: Vec<String> = match inspected["classes"].as_array() {
            Some(classes) => vec![classes[row % classes.len()].as_str().context("a class without a name")?.to_owned()],
            None => near.map(|value| (value as f32).to_string()).collect(),
        };
        table += &(cells.chain(said).collect::<Vec<_>>().join(",") + "\n");
    }
    Ok(table)
}
