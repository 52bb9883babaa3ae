//! `diffgp explore`: what is in the page. What the page does is tested in a browser, by `cargo xtask browser`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::runner::{Folder, QUICK};

/// What a page is told.
fn facts(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"facts\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn the_page_holds_the_model_and_rows_and_asks_for_nothing() {
    let folder = Folder::with_model();
    let outcome = folder.run("explore model.dgp data.csv").succeeds();
    assert_eq!(outcome.stdout, "page.html\n");
    let page = folder.read_text("page.html");
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("{{"), "an address, or a gap");
    assert!(page.contains("default-src 'none'"));
    let facts = facts(&page);
    assert_eq!(facts["inputs"].as_array().unwrap().len(), 2);
    assert_eq!(facts["rows"]["numbers"].as_array().unwrap().len(), 60);
    let summary = folder.run("inspect model.dgp --json").json();
    let work = summary["work"].as_array().unwrap();
    let boards = facts["cost"]["boards"].as_array().unwrap();
    assert_eq!(boards[2]["name"], "Cortex-M4F");
    assert_eq!(boards[2]["per_path"], work[0]["instructions_per_sampled_path"]);
    assert_eq!(facts["cost"]["bytes"], summary["bytes"]);
    // The same bytes again.
    folder.run("explore model.dgp data.csv --out again.html").succeeds();
    assert_eq!(folder.read("page.html"), folder.read("again.html"));
}

#[test]
fn sensitivities_are_those_of_the_kernel() {
    let folder = Folder::with_model();
    folder.run("explore model.dgp --out page.html").succeeds();
    let facts = facts(&folder.read_text("page.html"));
    let bytes = folder.read("model.dgp");
    let file = diffgp_train::model_file::ModelFile::new(&bytes).unwrap();
    let model = file.model();
    let kernel = model.blob().predictor_kernel(0).unwrap();
    // ρ at a distance of one usual spread in input i alone is that of r = 1/ℓᵢ: from the value back to the length.
    for (input, said) in facts["importance"].as_array().unwrap().iter().enumerate() {
        let distance = f64::from(kernel.scales[input]) * f64::from(kernel.points.unit);
        let rho = f64::from(kernel.kind.correlation((distance * distance) as f32));
        let inverse = said.as_f64().unwrap();
        assert!((rho - (-0.5 * inverse * inverse).exp()).abs() < 1e-6, "{rho} {inverse}");
    }
    assert_eq!(facts["rows"], Value::Null);
}

#[test]
fn held_out_rows_keep_their_numbers() {
    let folder = Folder::with_model();
    folder.write("splits.txt", "3 5 8\n1 2\n");
    folder.run("explore model.dgp data.csv --test-rows splits.txt --split 0").succeeds();
    let facts = facts(&folder.read_text("page.html"));
    assert_eq!(facts["rows"]["numbers"].to_string(), "[3,5,8]");
    assert!(facts["rows"]["described"].as_str().unwrap().contains("Held-out"));
}

#[test]
fn a_page_with_a_model_of_64_kib_is_below_300_kb() {
    let folder = Folder::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    // The most rows of the most inputs: what fills the space for them.
    let header: Vec<String> = (0..64).map(|input| format!("input_{input}")).collect();
    let mut table = header.join(",") + ",y\n";
    for row in 0..400 {
        let cells: Vec<String> = (0..64).map(|input| format!("{}", (row * 37 + input * 11) % 97)).collect();
        table += &format!("{},{}\n", cells.join(","), row % 13);
    }
    folder.write("data.csv", table);
    folder.run(&format!("train data.csv --target y {QUICK} --calibration none")).succeeds();
    folder.run("explore model.dgp data.csv").succeeds();
    let (page, model) = (folder.read("page.html").len(), folder.read("model.dgp").len());
    let as_text = |bytes: usize| bytes.div_ceil(3) * 4;
    let with_64_kib = page - as_text(model) + as_text(64 << 10);
    assert!(with_64_kib < 300_000, "{with_64_kib} bytes");
    // And one of that size as it is.
    let stored = root.join("tests/blobs/v2-kin8nm-32k.dgp");
    fs::copy(stored, folder.path("stored.dgp")).unwrap();
    folder.run("explore stored.dgp --force").succeeds();
    assert!(folder.read("page.html").len() < 300_000 - as_text(32 << 10));
}

#[test]
fn mistakes_are_refused() {
    let folder = Folder::with_model();
    folder.run("explore none.dgp").refused_with(&["none.dgp", "model file"]);
    folder.run("explore model.dgp none.csv").refused_with(&["none.csv"]);
    folder.run("explore model.dgp --test-rows splits.txt").refused_with(&["held-out rows", "without DATA"]);
    folder.run("explore model.dgp --out model.dgp").refused_with(&["--out model.dgp", "overwritten"]);
    folder.run("explore model.dgp data.csv --out data.csv").refused_with(&["--out data.csv", "overwritten"]);
    folder.run("explore model.dgp data.csv --target a").refused_with(&["--target", "input of the model"]);
    assert!(!folder.files().contains(&"page.html".to_owned()));
}
