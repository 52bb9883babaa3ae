//! `diffgp plot`: every picture is there in both forms; what they look like is for eyes.

use crate::runner::{Folder, QUICK, csv, names};

/// Pictures of a model with `inputs` inputs trained on the spot.
fn pictures(inputs: usize, task: &str) -> (Folder, Vec<String>) {
    let folder = Folder::new();
    let y = |a: f64, _: f64| f64::from(a > 0.0);
    let table: String = csv(60, y)
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let x = if line.starts_with('a') { "a,b,c" } else { &format!("{},{},{}", cells[0], cells[1], cells[1]) };
            let x: Vec<&str> = x.split(',').take(inputs).collect();
            format!("{},{}\n", x.join(","), cells[2])
        })
        .collect();
    folder.write("data.csv", table);
    folder.run(&format!("train data.csv --target y --task {task} --flow-time 5 {QUICK}")).succeeds();
    let json = folder.run("plot model.dgp data.csv --out-dir out --paths 5 --json").json();
    let files = names(&folder.path("out"));
    assert_eq!(json["pictures"].as_array().unwrap().len(), files.len(), "{json}");
    (folder, files)
}

#[test]
fn one_input_shows_curve_and_flow() {
    let (folder, files) = pictures(1, "regression");
    let expected = ["calibration", "flow", "predictions", "residuals", "trace"]
        .map(|name| [format!("{name}.png"), format!("{name}.svg")]);
    assert_eq!(files, expected.concat());
    for file in files {
        let start: &[u8] = if file.ends_with("png") { b"\x89PNG" } else { b"<svg" };
        assert!(folder.read(&format!("out/{file}")).starts_with(start), "{file}");
    }
}

#[test]
fn two_inputs_show_the_field_and_three_the_decision_path() {
    assert!(pictures(2, "regression").1.contains(&"flow.png".to_owned()));
    let (folder, files) = pictures(3, "classification");
    assert!(files.contains(&"decision-path.svg".to_owned()) && !files.contains(&"flow.svg".to_owned()), "{files:?}");
    let svg = folder.read_text("out/calibration.svg");
    assert!(svg.contains("predicted probability of class 1"), "{svg}");
    folder.run("plot model.dgp data.csv --rows 60").refused_with(&["--rows", "row 60", "0 to 59"]);
    folder.run("plot model.dgp data.csv --rows 1,2,3,4,5").refused_with(&["--rows", "at most 4"]);
    folder.run("plot model.dgp data.csv --run-dir none").refused_with(&["none", "metrics.jsonl"]);
    folder.run("plot model.dgp data.csv --out-dir data.csv").refused_with(&["--out-dir data.csv"]);
}

#[test]
fn a_trace_whose_last_line_is_cut_is_drawn_and_one_damaged_before_is_not() {
    let folder = Folder::with_model();
    let metrics = folder.read_text("model.run/metrics.jsonl");
    folder.write("model.run/metrics.jsonl", &metrics.as_bytes()[..metrics.len() - 20]);
    let drawn = folder.run("plot model.dgp data.csv --paths 5").succeeds();
    assert!(drawn.stdout.contains("trace.svg"), "{drawn:?}");
    folder.write("model.run/metrics.jsonl", format!("{{\n{metrics}"));
    folder.run("plot model.dgp data.csv --paths 5").refused_with(&["metrics.jsonl: line 1", "JSON"]);
}

#[test]
fn of_many_rows_some_from_everywhere_are_drawn() {
    let folder = Folder::with_model();
    // Only the last thousand rows lie far to the right.
    let rows = (0..5000).map(|row| format!("0.5,0,{}\n", if row < 4000 { 1 } else { 900 }));
    folder.write("many.csv", format!("a,b,y\n{}", rows.collect::<String>()));
    folder.run("plot model.dgp many.csv --paths 1 --out-dir out").succeeds();
    let svg = folder.read_text("out/predictions.svg");
    let points = svg.matches("<circle").count();
    assert!((1000..=2100).contains(&points) && svg.contains("900"), "{points} points");
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_to_is_refused() {
    let folder = Folder::with_model();
    folder.run("plot model.dgp data.csv --out-dir /proc").refused_with(&["--out-dir /proc", "written to"]);
    folder.run("demo --iterations 1 --dir /proc").refused_with(&["--dir /proc", "written to"]);
}
