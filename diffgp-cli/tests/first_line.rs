//! What the first line of a data file is, and the option that decides it.

use crate::runner::{Folder, csv};

/// A plain sparse Gaussian process in a few iterations.
const PLAIN: &str = "--force --flow-time 0 --inducing 8 --iterations 12";

#[test]
fn numbers_of_columns_are_names_or_data_as_one_says() {
    let folder = Folder::new();
    let table = csv(30, |a, b| a + b).replacen("a,b,y", "0,1,2", 1);
    folder.write("table.csv", table);
    let train = format!("train table.csv --target 2 {PLAIN}");
    folder.run(&train).refused_with(&["table.csv: line 1 counts", "--header yes", "--header no"]);
    let data = folder.run(&format!("{train} --header no --out data.dgp")).succeeds();
    assert!(data.stderr.contains("31 rows"), "{data:?}");
    let names = folder.run(&format!("{train} --header yes")).succeeds();
    assert!(
        names.stderr.contains("30 rows") && names.stdout.contains("table.csv --target 2 --header yes\n"),
        "{names:?}"
    );
    // Every command that reads data has the option, and the run directory remembers it.
    let known = "model.dgp table.csv --header yes";
    assert_eq!(folder.run(&format!("eval {known} --json")).json()["n"], 30);
    assert_eq!(folder.run(&format!("predict {known} --json")).json()["n"], 30);
    folder.run("predict model.dgp table.csv").refused_with(&["line 1 counts"]);
    folder.run(&format!("plot {known}")).succeeds();
    folder.run("compress model.dgp --data table.csv --header yes --tolerance 0.1 --out small.dgp").succeeds();
    let short = "--folds 2 --flow-times 0 --inducing 8 --iterations 6";
    folder.run(&format!("crossval table.csv --target 2 --header yes {short}")).succeeds();
    assert!(folder.run("device --help").succeeds().stdout.contains("--header <yes|no>"));
    folder.run("train table.csv --config model.run/config.toml --out again.dgp").succeeds();
    assert_eq!(folder.read("again.dgp"), folder.read("model.dgp"));
    let word = folder.run(&format!("{train} --header maybe"));
    assert!(word.code == 2 && word.stderr.contains("yes, no"), "{word:?}");
}

#[test]
fn a_single_column_may_have_any_name() {
    let folder = Folder::new();
    let rows: String = (0..30).map(|i| format!("{i},{}\n", i * i)).collect();
    let column: String = (0..30).map(|i| format!("{i}\n")).collect();
    for name in ["flow rate", "Na"] {
        folder.write("table.csv", format!("{name},y\n{rows}"));
        folder.run(&format!("train table.csv --target y {PLAIN}")).succeeds();
        folder.write("new.csv", format!("{name}\n{column}"));
        assert_eq!(folder.run("predict model.dgp new.csv --json").json()["n"], 30, "{name}");
    }
}

#[test]
fn a_log_without_names_may_have_dates_in_a_column_that_is_left_out() {
    let folder = Folder::new();
    let rows: String = (0..30).map(|i| format!("2020-01-{:02},{i},{}\n", i + 1, i * i)).collect();
    folder.write("log.csv", rows);
    let log = folder.run(&format!("train log.csv --target 2 --ignore 0 {PLAIN}")).succeeds();
    assert!(log.stderr.contains("30 rows of 1 inputs"), "{log:?}");
    folder.run("train log.csv --target 2 --force").refused_with(&["is a date or a time", "--ignore 0"]);
}
