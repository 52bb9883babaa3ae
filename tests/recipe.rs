//! The recipe has a number, and the bytes of trained models do not change without it.
//!
//! `tests/recipe.json` holds, for one number, the checksums of three small model files on every instruction set that they
//! were accepted on. After a change that was meant: raise `RECIPE`, describe the change in CHANGELOG.md, and run
//! `DIFFGP_ACCEPT_RECIPE=1 cargo test -p diffgp-tests recipe`. Whoever changes the three models themselves lowers the number
//! in the file by hand before that.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use diffgp_train::calibration::with_calibration;
use diffgp_train::data::Dataset;
use diffgp_train::export::{Metadata, export};
use diffgp_train::provenance::Provenance;
use diffgp_train::train::{Config, Task, train};
use serde::{Deserialize, Serialize};

use crate::tolerances;
use crate::training::step_data;

const ACCEPT: &str = "`DIFFGP_ACCEPT_RECIPE=1 cargo test -p diffgp-tests recipe`";

/// What the models of a recipe are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Models {
    recipe: u64,
    /// Of the validation rows, by model: nearly the same on every machine.
    log_likelihood: BTreeMap<String, f64>,
    /// Checksums of the files, by instruction set and model.
    files: BTreeMap<String, BTreeMap<String, String>>,
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("recipe.json")
}

/// Without a flow on so many rows that kernels are tried, batches drawn and σ² fitted; a flow; and classes, with a flow if
/// it is worth it.
fn configurations() -> [(&'static str, Dataset, Config); 3] {
    let small = |rows: usize, task: Task| {
        let mut config = Config::for_rows(rows, task);
        // Enough of everything to notice a change.
        let folds = config.calibration.folds.min(2);
        (config.predictor.inducing, config.flow.inducing, config.flow.optional) = (10, 8, false);
        (config.predictor.most_inducing, config.predictor.search_rows, config.calibration.folds) = (30, 100, folds);
        let climbs = [&mut config.candidate, &mut config.warm_start, &mut config.no_flow, &mut config.with_flow];
        climbs.into_iter().for_each(|climb| climb.iterations = 8);
        config.validation.every = 4;
        (step_data(rows, task), config)
    };
    let (data, mut config) = small(2100, Task::Regression);
    (config.flow.time, config.batch) = (0.0, 100);
    let ((steps, flow), (classes, mut classifier)) = (small(200, Task::Regression), small(200, Task::Classification));
    classifier.flow.optional = true;
    [("no-flow", data, config), ("flow", steps, flow), ("classes", classes, classifier)]
}

/// The models of this program on this machine.
fn models_here() -> Models {
    let (mut log_likelihood, mut files) = (BTreeMap::new(), BTreeMap::new());
    for (name, data, config) in configurations() {
        let trained = train(&data, &config, &mut ()).unwrap();
        let metadata =
            Metadata { scaling: &trained.scaling, names: &[], classes: &[], model_id: &[], discretisation: None };
        let file = export(&trained.params, &metadata, &[]).unwrap().bytes;
        let file = with_calibration(&file, trained.calibration.as_ref()).unwrap();
        // A model file ends with the checksum of all before it.
        let checksum = u32::from_le_bytes(*file.last_chunk().unwrap());
        log_likelihood.insert(name.to_owned(), trained.validation_log_likelihood.unwrap());
        files.insert(name.to_owned(), format!("{checksum:08x}"));
    }
    let Provenance { recipe, instruction_set, .. } = Provenance::here();
    Models { recipe, log_likelihood, files: BTreeMap::from([(instruction_set, files)]) }
}

/// What is wrong with the models here, if anything; else what could not be compared.
fn compare(accepted: &Models, here: &Models) -> Result<Option<String>, String> {
    if accepted.recipe != here.recipe {
        return Err(format!(
            "tests/recipe.json is of recipe {}, RECIPE is {}: describe the change in CHANGELOG.md, then accept it with \
             {ACCEPT}",
            accepted.recipe, here.recipe
        ));
    }
    for (set, files) in &here.files {
        let Some(known) = accepted.files.get(set) else {
            for (name, &value) in &here.log_likelihood {
                let expected = accepted.log_likelihood.get(name).copied().unwrap_or(f64::NAN);
                let off = (value - expected).abs() / expected.abs();
                if off.is_nan() || off > tolerances::OTHER_INSTRUCTION_SET {
                    return Err(format!(
                        "{name}: the log-likelihood of validation rows is {value}; {expected} was accepted on another \
                         instruction set than {set}"
                    ));
                }
            }
            let known: Vec<&str> = accepted.files.keys().map(String::as_str).collect();
            return Ok(Some(format!("bytes on {set}: tests/recipe.json knows those of {}", known.join(", "))));
        };
        let changed: Vec<&str> =
            files.iter().filter(|&(name, file)| known.get(name) != Some(file)).map(|(name, _)| name.as_str()).collect();
        if !changed.is_empty() {
            return Err(format!(
                "recipe {} trains other model files than before ({}) on {set}. If that is meant: raise RECIPE in \
                 diffgp-train/src/provenance.rs, describe the change in CHANGELOG.md, and accept it with {ACCEPT}",
                here.recipe,
                changed.join(", ")
            ));
        }
    }
    Ok(None)
}

/// What is accepted from now on. Other bytes need another number, and numbers only rise.
fn accept(accepted: &Models, here: &Models) -> Result<Models, String> {
    if here.recipe > accepted.recipe {
        return Ok(here.clone());
    }
    compare(accepted, here)?;
    let mut both = accepted.clone();
    both.files.extend(here.files.clone());
    Ok(both)
}

#[test]
fn recipe_and_bytes_of_models_change_together() {
    let accepted: Models = serde_json::from_str(&std::fs::read_to_string(path()).unwrap()).unwrap();
    let here = models_here();
    // Printing macros are captured, and this is to be seen.
    let say = |text: String| writeln!(std::io::stderr(), "{text}").unwrap();
    if std::env::var_os("DIFFGP_ACCEPT_RECIPE").is_some() {
        let models = accept(&accepted, &here).unwrap_or_else(|problem| panic!("not accepted: {problem}"));
        std::fs::write(path(), serde_json::to_string_pretty(&models).unwrap() + "\n").unwrap();
        say(format!("tests/recipe.json: recipe {}", models.recipe));
        return;
    }
    match compare(&accepted, &here) {
        Ok(None) => {}
        Ok(Some(what)) => crate::skipped::skipped(&what),
        Err(problem) => panic!("{problem}"),
    }
}

fn example(recipe: u64, set: &str, file: &str) -> Models {
    let of_model = |value: &str| BTreeMap::from([("flow".to_owned(), value.to_owned())]);
    Models {
        recipe,
        log_likelihood: BTreeMap::from([("flow".to_owned(), -1.25)]),
        files: BTreeMap::from([(set.to_owned(), of_model(file))]),
    }
}

#[test]
fn recipe_changes_are_noticed() {
    let accepted = example(3, "x86_64 V3", "aa");
    assert_eq!(compare(&accepted, &accepted), Ok(None));
    let problem = compare(&accepted, &example(3, "x86_64 V3", "bb")).unwrap_err();
    assert!(["raise RECIPE", "(flow)", "CHANGELOG", ACCEPT].iter().all(|part| problem.contains(part)), "{problem}");
    let problem = compare(&accepted, &example(4, "x86_64 V3", "bb")).unwrap_err();
    assert!(problem.contains("is of recipe 3, RECIPE is 4") && problem.contains(ACCEPT), "{problem}");
    // On another machine, the coarse figure counts.
    let mut elsewhere = example(3, "aarch64 Neon", "cc");
    assert!(compare(&accepted, &elsewhere).unwrap().unwrap().contains("aarch64 Neon"));
    elsewhere.log_likelihood.insert("flow".to_owned(), -1.20);
    assert!(compare(&accepted, &elsewhere).unwrap_err().contains("flow: "));
}

#[test]
fn recipe_numbers_rise_with_the_bytes_that_are_accepted() {
    let accepted = example(3, "x86_64 V3", "aa");
    accept(&accepted, &example(3, "x86_64 V3", "bb")).unwrap_err();
    accept(&accepted, &example(2, "x86_64 V3", "aa")).unwrap_err();
    // Those of the other instruction sets are of another recipe.
    let raised = example(4, "aarch64 Neon", "bb");
    assert_eq!(accept(&accepted, &raised), Ok(raised));
    let both = accept(&accepted, &example(3, "aarch64 Neon", "cc")).unwrap();
    assert_eq!((both.recipe, both.files.len(), &both.files["x86_64 V3"]), (3, 2, &accepted.files["x86_64 V3"]));
}
