//! `diffgp inspect`.

use crate::runner::{Folder, QUICK};

#[test]
fn inspect_has_its_keys_and_its_bytes_add_up() {
    let folder = Folder::with_model();
    let json = folder.run("inspect model.dgp --json").json();
    assert_eq!(json["bytes"], folder.read("model.dgp").len());
    assert_eq!((&json["inputs"], &json["steps"], &json["flow_time"]), (&2.into(), &3.into(), &5.0.into()));
    assert_eq!((&json["flow_inducing"], &json["predictor_inducing"]), (&8.into(), &8.into()));
    assert_eq!(json["workspace_bytes"], diffgp_infer::Workspace::<2, 8>::BYTES);
    let parts: u64 = json["parts"].as_array().unwrap().iter().map(|part| part["bytes"].as_u64().unwrap()).sum();
    assert_eq!(json["bytes"].as_u64(), Some(parts), "{json}");
    assert_eq!((&json["input"][0]["name"], &json["target"]["name"]), (&"a".into(), &"y".into()));
}

#[test]
fn inspect_shows_code_with_the_right_constants() {
    let folder = Folder::with_model();
    let text = folder.run("inspect model.dgp").succeeds().stdout;
    for part in ["Workspace::<2, 8>::new()", "let x = [a, b];", "include_model!(\"model.dgp\")", "Cortex-M4F"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn inputs_whose_names_are_alike_or_taken_get_names_of_their_own() {
    let folder = Folder::with_data();
    for (header, expected) in [("T+,T-,y", "[x0, x1]"), ("model,yield,y", "[x0, x1]"), ("b,type,y", "[b, x1]")] {
        let data = folder.read_text("data.csv");
        folder.write("named.csv", data.replacen("a,b,y", header, 1));
        folder.run(&format!("train named.csv --target y {QUICK} --out named.dgp")).succeeds();
        let text = folder.run("inspect named.dgp").succeeds().stdout;
        assert!(text.contains(&format!("let x = {expected};")), "{header}: {text}");
    }
}

#[test]
fn the_model_as_source_is_the_model() {
    let folder = Folder::with_model();
    for form in ["--c-array", "--rust-static"] {
        let text = folder.run(&format!("inspect model.dgp {form}")).succeeds().stdout;
        let bytes: Vec<u8> = text
            .split([' ', ','])
            .filter_map(|word| word.trim().strip_prefix("0x"))
            .map(|digits| u8::from_str_radix(digits, 16).unwrap())
            .collect();
        assert_eq!(bytes, folder.read("model.dgp"), "{form}");
        assert!(text.contains("align"), "{text}");
    }
}

#[test]
fn names_can_be_left_out() {
    let folder = Folder::with_data();
    folder.run(&format!("train data.csv --target y {QUICK} --strip-names")).succeeds();
    let json = folder.run("inspect model.dgp --json").json();
    assert!(json["input"][0]["name"].is_null(), "{json}");
    folder.run("eval model.dgp data.csv").refused_with(&["the model holds no names", "--target"]);
    folder.run("eval model.dgp data.csv --target y").succeeds();
}
