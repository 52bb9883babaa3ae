//! `cargo xtask cost`: what every counted operation takes on a core, fitted to instructions counted over random models of
//! all shapes, and how close the estimates are on others.

mod fit;

use crate::qemu::{Board, Loaded, board, counted, image};
use crate::{command, setup};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

/// One core of every family, and how far an estimate may be off.
const CORES: [(&str, f64); 5] = [("m4f", 0.05), ("m33", 0.05), ("m3", 0.1), ("m0", 0.1), ("rv32", 0.1)];

/// A model of random shape, written by an example of the test package.
#[derive(Deserialize)]
struct Case {
    name: String,
    shape: Value,
    bytes: usize,
    /// Small enough for cores without floating-point hardware.
    everywhere: bool,
    /// What is counted of a prediction along the drift.
    drift: Map<String, Value>,
    /// The same of a sampled path.
    sampled: Map<String, Value>,
}

/// Instructions along the drift and of a sampled path, by the name of the case.
type Counted = BTreeMap<String, [f64; 2]>;

/// A measured prediction: its counts and its instructions.
struct Sample {
    name: String,
    counts: Vec<f64>,
    instructions: f64,
}

/// The checked-in file.
struct Record {
    rustc: String,
    qemu: String,
    /// By core and the name of the count.
    instructions: BTreeMap<String, Map<String, Value>>,
    /// Shapes with the instructions that were counted, along the drift and of a sampled path.
    validated: Vec<Value>,
    fitted: Vec<Value>,
}

pub(crate) fn run() -> Result<()> {
    setup::run(setup::Need::Everything)?;
    let directory = command::root().join("target/cost-shapes");
    let arguments = ["run", "--locked", "--quiet", "-p", "diffgp-tests", "--example", "cost_shapes", "--"];
    command::run(command::cargo(".", arguments).arg(&directory))?;
    let (fitted, validated) = (read(&directory, "fitted")?, read(&directory, "validated")?);
    let names = names()?;

    let (mut instructions, mut counted_by) = (BTreeMap::new(), BTreeMap::new());
    let mut missed = Vec::new();
    println!("| core | shapes fitted | validated | median error | worst error | bar |\n|---|---|---|---|---|---|");
    for (core, bar) in CORES {
        let board = board(core)?;
        let counted = count_all(board, &directory, fitted.iter().chain(&validated))?;
        let (known, others) = (samples(&fitted, &counted, &names)?, samples(&validated, &counted, &names)?);
        let figures: Vec<f64> = fit::fit(&known).into_iter().map(rounded).collect();
        let mut errors: Vec<(f64, &str)> =
            others.iter().map(|sample| (fit::error(sample, &figures), sample.name.as_str())).collect();
        errors.sort_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
        let (worst, name) = *errors.last().context("nothing was validated")?;
        let median = errors.get(errors.len() / 2).map_or(0.0, |error| error.0.abs());
        println!(
            "| {core} | {} | {} | {:.1} % | {:.1} % ({name}) | {:.0} % |",
            known.len() / 2,
            others.len() / 2,
            100.0 * median,
            100.0 * worst.abs(),
            100.0 * bar
        );
        if worst.abs() > bar {
            missed.push(core);
        }
        let figures = names.iter().cloned().zip(figures.iter().map(|&figure| json!(figure))).collect();
        instructions.insert(core.to_owned(), figures);
        counted_by.insert(core, counted);
    }
    write_figures(&instructions, &names)?;
    let shapes = |cases: &[Case]| cases.iter().map(|case| shape(case, &counted_by)).collect();
    let record = Record {
        rustc: crate::qemu::rustc()?,
        qemu: crate::qemu::version()?,
        instructions,
        validated: shapes(&validated),
        fitted: shapes(&fitted),
    };
    write_record(&record)?;
    ensure!(missed.is_empty(), "estimates miss the bar on {}", missed.join(", "));
    Ok(())
}

fn read(directory: &Path, name: &str) -> Result<Vec<Case>> {
    let path = directory.join(format!("{name}.json"));
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no list of cases", path.display()))
}

/// Two cases at a time: an emulator keeps one core busy.
fn count_all<'a>(board: &Board, directory: &Path, cases: impl Iterator<Item = &'a Case> + Send) -> Result<Counted> {
    eprintln!("{}", board.core);
    let image = image(board, "cost")?;
    let with_hardware = ["m4f", "m33"].contains(&board.name);
    let next = Mutex::new(cases.filter(|case| case.bytes <= board.model_space && (with_hardware || case.everywhere)));
    let work = || -> Result<Counted> {
        let mut counts = Counted::new();
        loop {
            let case = next.lock().map_err(|_| anyhow::anyhow!("a case panicked"))?.next();
            let Some(case) = case else { return Ok(counts) };
            let file = |extension: &str| directory.join(format!("{}.{extension}", case.name));
            let (model, job) = (file("dgp"), file("job"));
            let loaded = [
                Loaded { file: &model, address: board.model_address },
                Loaded { file: &job, address: board.job_address },
            ];
            let both = counted(board, &image, &loaded).with_context(|| format!("{} on {}", case.name, board.name))?;
            counts.insert(case.name.clone(), both.map(f64::round));
        }
    };
    let (mine, others) = thread::scope(|scope| {
        let other = scope.spawn(work);
        (work(), other.join())
    });
    let mut counts = mine?;
    counts.extend(others.map_err(|_| anyhow::anyhow!("a case panicked"))??);
    Ok(counts)
}

/// Two of every case that was counted.
fn samples(cases: &[Case], counted: &Counted, names: &[String]) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for case in cases {
        let Some(instructions) = counted.get(&case.name) else { continue };
        for (counts, &instructions) in [&case.drift, &case.sampled].into_iter().zip(instructions) {
            let count = |name: &String| counts.get(name).and_then(Value::as_f64).with_context(|| format!("no {name}"));
            let counts = names.iter().map(count).collect::<Result<_>>()?;
            samples.push(Sample { name: case.name.clone(), counts, instructions });
        }
    }
    Ok(samples)
}

/// Three decimals below a hundred, none above.
fn rounded(figure: f64) -> f64 {
    let unit = if figure < 100.0 { 1000.0 } else { 1.0 };
    (figure * unit).round() / unit
}

fn shape(case: &Case, counted: &BTreeMap<&str, Counted>) -> Value {
    let instructions: Map<String, Value> = counted
        .iter()
        .filter_map(|(core, counted)| Some(((*core).to_owned(), json!(counted.get(&case.name)?.map(|n| n as u64)))))
        .collect();
    json!({ "shape": case.shape, "instructions": instructions })
}

fn figures_path() -> PathBuf {
    command::root().join("diffgp-train/src/device_cost/figures.rs")
}

/// The counts in the order of the runtime's list.
fn names() -> Result<Vec<String>> {
    let source = fs::read_to_string(command::root().join("diffgp-infer/src/work.rs"))?;
    let list = source.split_once("\ncounts! {\n").and_then(|(_, rest)| rest.split_once("\n}"));
    let (list, _) = list.context("work.rs has no list of counts")?;
    let lines = list.lines().map(str::trim).filter(|line| !line.starts_with("///"));
    Ok(lines.map(|line| line.trim_end_matches(',').to_owned()).collect())
}

fn write_figures(instructions: &BTreeMap<String, Map<String, Value>>, names: &[String]) -> Result<()> {
    let mut text =
        "//! Written by `cargo xtask cost`: instructions of every count of [`diffgp_infer::Work`].\n".to_owned();
    for (core, _) in CORES {
        write!(text, "\npub(super) const {}: [(&str, f64); {}] = [\n", core.to_uppercase(), names.len())?;
        for name in names {
            let figure = instructions.get(core).and_then(|figures| figures.get(name)).and_then(Value::as_f64);
            writeln!(text, "    ({name:?}, {:?}),", figure.with_context(|| format!("no figure of {name}"))?)?;
        }
        text += "];\n";
    }
    Ok(fs::write(figures_path(), text)?)
}

/// One line for every shape.
fn write_record(record: &Record) -> Result<()> {
    let lines = |values: &[Value]| -> String {
        let lines: Vec<String> = values.iter().map(|value| format!("    {value}")).collect();
        lines.join(",\n")
    };
    let text = format!(
        "{{\n  \"rustc\": {:?},\n  \"qemu\": {:?},\n  \"instructions\": {},\n  \"validated\": [\n{}\n  ],\n  \"fitted\": [\n{}\n  ]\n}}\n",
        record.rustc,
        record.qemu,
        serde_json::to_string(&record.instructions)?,
        lines(&record.validated),
        lines(&record.fitted)
    );
    Ok(fs::write(command::root().join("firmware-example/cost.json"), text)?)
}
