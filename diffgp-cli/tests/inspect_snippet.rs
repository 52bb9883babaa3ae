//! The code that `diffgp inspect` prints, compiled and run as a user would who pastes it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::runner::{Folder, QUICK};

/// One input, in the order of the columns.
const X: [&str; 2] = ["0.25", "-0.5"];
/// Model files, and what their programs are called.
const MODELS: [(&str, &str); 4] =
    [("model.dgp", "regression"), ("classes.dgp", "classification"), ("plain.dgp", "plain"), ("both.dgp", "both")];

/// The printed code.
fn snippet(folder: &Folder, model: &str) -> String {
    let text = folder.run(&format!("inspect {model}")).succeeds().stdout;
    text.split_once("to paste:\n").unwrap().1.to_owned()
}

/// The printed code with a `main` that prints what its functions answer.
fn program(snippet: &str) -> String {
    let values = X.join(", ");
    let calls: String = ["predict", "predict_sampled"]
        .iter()
        .filter(|name| snippet.contains(&format!("fn {name}(")))
        .map(|name| format!("println!(\"{{:?}}\", {name}({values}).unwrap());\n"))
        .collect();
    format!("{snippet}\nfn main() {{\n{calls}}}\n")
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
    for (model, name) in MODELS {
        let pasted = snippet(&folder, model);
        library += &format!(
            "mod {name} {{\n{}\n}}\n",
            pasted.replace(&format!("{model:?}"), &format!("{:?}", format!("bin/{model}")))
        );
        fs::write(source.join(format!("{name}.rs")), program(&pasted)).unwrap();
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
    let predict = |model: &str| folder.run(&format!("predict {model} x.csv --deterministic --json")).json();
    let number = |value: &serde_json::Value| value.as_f64().unwrap() as f32;
    let probability = number(&predict("classes.dgp")["probability"][0]);
    assert_eq!(run("classification").lines().next(), Some(format!("Some({probability:?})").as_str()));
    for (model, name, functions) in [("model.dgp", "regression", 2), ("plain.dgp", "plain", 1)] {
        let mean = number(&predict(model)["mean"][0]);
        let result = run(name);
        assert!(result.starts_with(&format!("({mean:?}, Some((")), "{result} for a mean of {mean:?}");
        assert_eq!(result.lines().count(), functions, "nothing is sampled without a flow: {result}");
    }
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
