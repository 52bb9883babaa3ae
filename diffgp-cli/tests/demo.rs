//! `diffgp demo`.

use crate::runner::{Folder, names};

#[test]
fn the_demo_compares_two_models_and_its_next_commands_work() {
    let folder = Folder::new();
    let outcome = folder.run("demo --iterations 60").succeeds();
    for word in ["no flow, T = 0", "flow, T = 5", "RMSE", "log-likelihood"] {
        assert!(outcome.stdout.contains(word), "{outcome:?}");
    }
    let files = names(&folder.path("diffgp-demo"));
    for file in ["comparison.png", "comparison.svg", "flow.png", "flow.dgp", "no-flow.dgp", "test.csv", "train.csv"] {
        assert!(files.iter().any(|name| name == file), "{files:?}");
    }
    let next = outcome.stdout.lines().skip_while(|line| *line != "next:").skip(1);
    let commands: Vec<&str> = next.filter_map(|line| line.trim().strip_prefix("diffgp ")).collect();
    assert!(commands.len() >= 3, "{outcome:?}");
    for command in commands.iter().filter(|command| !command.starts_with("train")) {
        folder.run(command.split(" | ").next().unwrap()).succeeds();
    }
}

#[test]
fn the_demo_as_json() {
    let folder = Folder::new();
    let json = folder.run("demo --iterations 20 --dir here --json").json();
    assert_eq!((&json["models"][0]["flow_time"], &json["models"][1]["flow_time"]), (&0.0.into(), &5.0.into()));
    for key in ["bytes", "n", "rmse", "log_likelihood", "coverage_95", "seconds"] {
        assert!(json["models"][1][key].is_number(), "{key} in {json}");
    }
    folder.write("file", "");
    folder.run("demo --dir file").refused_with(&["--dir file"]);
    // Its own folder again, with other data; not a table of somebody else.
    folder.run("demo --iterations 1 --dir here --seed 1").succeeds();
    folder.write("train.csv", "x,y\n1,2\n");
    folder.run("demo --dir .").refused_with(&["./train.csv", "not of a demo", "--dir"]);
    assert_eq!(folder.read_text("train.csv"), "x,y\n1,2\n");
}

#[test]
fn a_model_that_is_not_a_demos_is_left_alone() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("mine")).unwrap();
    folder.write("mine/flow.dgp", "precious");
    folder.run("demo --dir mine --iterations 5").refused_with(&["mine/flow.dgp", "--dir"]);
    assert_eq!(folder.read_text("mine/flow.dgp"), "precious");
}
