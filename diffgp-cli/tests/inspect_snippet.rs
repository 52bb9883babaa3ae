//! The code that `diffgp inspect` prints, compiled and run as a user would who pastes it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::runner::{Folder, QUICK};

/// One input, in the order of the columns.
const X: [&str; 2] = ["0.25", "-0.5"];
/// Model files, what their programs are called, and what the functions are given.
const MODELS: [(&str, &str, &str); 5] = [
    ("model.dgp", "regression", "0.25, -0.5"),
    ("classes.dgp", "classification", "0.25, -0.5"),
    ("plain.dgp", "plain", "0.25, -0.5"),
    ("both.dgp", "both", "0.25, -0.5"),
    ("words.dgp", "words", "Grade::Fine, 0.25, -0.5, State::On"),
];

/// The printed code.
fn snippet(folder: &Folder, model: &str) -> String {
    let text = folder.run(&format!("inspect {model}")).succeeds().stdout;
    text.split_once("to paste:\n").unwrap().1.to_owned()
}

/// The printed code with a `main` that prints what its functions answer.
fn program(snippet: &str, values: &str) -> String {
    let calls: String = ["predict", "predict_sampled"]
        .iter()
        .filter(|name| snippet.contains(&format!("fn {name}(")))
        .map(|name| format!("println!(\"{{:?}}\", {name}({values}).unwrap());\n"))
        .collect();
    format!("#![allow(dead_code)]\n{snippet}\nfn main() {{\n{calls}}}\n")
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

    folder.run(&format!("train data.csv --target y {QUICK} --flow-time 0 --out plain.dgp")).succeeds();
    folder.write("both.csv", both(&folder.read_text("data.csv")));
    folder.run(&format!("train both.csv --target y,z {QUICK} --out both.dgp")).succeeds();

    let source = folder.path("src/bin");
    fs::create_dir_all(&source).unwrap();
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    // The project's own versions: nothing is fetched.
    fs::copy(workspace.join("Cargo.lock"), folder.path("Cargo.lock")).unwrap();
    let infer = workspace.join("diffgp-infer");
    let manifest = "[package]\nname = \"pasted\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n";
    folder.write("Cargo.toml", format!("{manifest}diffgp-infer = {{ path = {:?} }}\n", infer.display().to_string()));
    // In a library without std, as it is printed.
    let mut library = "#![no_std]\n#![allow(dead_code)]\n".to_owned();
    for (model, name, values) in MODELS {
        let pasted = snippet(&folder, model);
        library += &format!(
            "mod {name} {{\n{}\n}}\n",
            pasted.replace(&format!("{model:?}"), &format!("{:?}", format!("bin/{model}")))
        );
        fs::write(source.join(format!("{name}.rs")), program(&pasted, values)).unwrap();
        fs::copy(folder.path(model), source.join(model)).unwrap();
    }
    folder.write("src/lib.rs", library);

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
    assert_eq!(run("classification").lines().next(), Some(format!("Some({probability:?})").as_str()));
    for (model, name, functions) in [("model.dgp", "regression", 2), ("plain.dgp", "plain", 1)] {
        let mean = number(&predict(model)["mean"][0]);
        let result = run(name);
        assert!(result.starts_with(&format!("({mean:?}, Some((")), "{result} for a mean of {mean:?}");
        assert_eq!(result.lines().count(), functions, "nothing is sampled without a flow: {result}");
    }
    let mean = number(&predict_row("words.dgp", "one.csv")["mean"][0]);
    let result = run("words");
    assert!(result.starts_with(&format!("({mean:?}, Some((")), "{result} for a mean of {mean:?}");
    let outputs = &predict("both.dgp")["outputs"];
    let of = |index: usize| (number(&outputs[index]["mean"][0]), number(&outputs[index]["deviation"][0]));
    assert_eq!(run("both").lines().next(), Some(format!("{:?}", [Some(of(0)), Some(of(1))]).as_str()));
}

/// The table with a second target.
fn both(table: &str) -> String {
    let second = |(row, line): (usize, &str)| match row {
        0 => format!("{line},z\n"),
        _ => format!("{line},{}\n", (row * 37 % 11) as f64 / 7.0),
    };
    table.lines().enumerate().map(second).collect()
}
