//! The code that `diffgp inspect` prints, compiled and run as a user would who pastes it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::runner::{Folder, QUICK};

/// One input, in the order of the columns.
const X: [&str; 2] = ["0.25", "-0.5"];

/// The printed code in a `main`, with values for its inputs; it prints `result`.
fn program(folder: &Folder, model: &str, given: Option<&str>) -> String {
    let text = folder.run(&format!("inspect {model}")).succeeds().stdout;
    let (_, snippet) = text.split_once("to paste:\n").unwrap();
    let (_, rest) = snippet.split_once("let x = [").unwrap();
    let names = rest.split_once(']').unwrap().0;
    let values = X.join(", ");
    let given = given.map_or_else(|| format!("let ({names}): (f32, f32) = ({values});"), str::to_owned);
    format!(
        "#![allow(dead_code)]\n\
         fn main() -> Result<(), Box<dyn std::error::Error>> {{\n\
         {given}\n\
         {snippet}\n\
         println!(\"{{result:?}}\");\n\
         assert!(p.variance() > 0.0);\n\
         Ok(())\n}}\n"
    )
}

#[test]
fn it_compiles_and_predicts_what_the_command_predicts() {
    let folder = Folder::with_model();
    // Names that are no Rust variables.
    let classes = folder.read_text("data.csv").replace("a,b,y", "type,Fly ash (kg),late");
    let classes = classes.lines().enumerate().map(|(row, line)| match line.rsplit_once(',') {
        Some((inputs, y)) if row > 0 => format!("{inputs},{}\n", u8::from(y.parse::<f64>().unwrap() > 0.5)),
        _ => format!("{line}\n"),
    });
    folder.write("classes.csv", classes.collect::<String>());
    folder.run(&format!("train classes.csv --target late --task classification {QUICK} --out classes.dgp")).succeeds();
    folder.write("x.csv", format!("{}\n", X.join(",")));
    // A column of words, one of them no name of Rust's, and one of two words.
    let words = folder.read_text("data.csv").lines().enumerate().fold(String::new(), |text, (row, line)| match row {
        0 => format!("grade,{line},state\n"),
        row => format!("{text}{},{line},{}\n", ["<5", "self", "fine"][row % 3], ["on", "off"][row % 2]),
    });
    folder.write("words.csv", words);
    folder.run(&format!("train words.csv --target y {QUICK} --out words.dgp")).succeeds();
    folder.write("one.csv", "grade,a,b,state\nfine,0.25,-0.5,on\n");

    let source = folder.path("src/bin");
    fs::create_dir_all(&source).unwrap();
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    // The project's own versions: nothing is fetched.
    fs::copy(workspace.join("Cargo.lock"), folder.path("Cargo.lock")).unwrap();
    let infer = workspace.join("diffgp-infer");
    let manifest = "[package]\nname = \"pasted\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n";
    folder.write("Cargo.toml", format!("{manifest}diffgp-infer = {{ path = {:?} }}\n", infer.display().to_string()));
    let given = "let (a, b, grade, state) = (0.25, -0.5, Grade::Fine, State::On);";
    for (model, name, given) in [
        ("model.dgp", "regression", None),
        ("classes.dgp", "classification", None),
        ("words.dgp", "words", Some(given)),
    ] {
        fs::write(source.join(format!("{name}.rs")), program(&folder, model, given)).unwrap();
        fs::copy(folder.path(model), source.join(model)).unwrap();
    }

    let run = |name: &str| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["run", "--quiet", "--offline", "--bin", name]).current_dir(folder.path(""));
        // What is compiled once stays for the next time.
        cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("pasted"));
        let output = cargo.output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let predict_row =
        |model: &str, row: &str| folder.run(&format!("predict {model} {row} --deterministic --json")).json();
    let predict = |model: &str| predict_row(model, "x.csv");
    let number = |value: &serde_json::Value| value.as_f64().unwrap() as f32;
    let probability = number(&predict("classes.dgp")["probability"][0]);
    assert_eq!(run("classification").trim(), format!("Some({probability:?})"));
    let mean = number(&predict("model.dgp")["mean"][0]);
    let result = run("regression");
    assert!(result.starts_with(&format!("({mean:?}, Some((")), "{result} for a mean of {mean:?}");
    let mean = number(&predict_row("words.dgp", "one.csv")["mean"][0]);
    let result = run("words");
    assert!(result.starts_with(&format!("({mean:?}, Some((")), "{result} for a mean of {mean:?}");
}
