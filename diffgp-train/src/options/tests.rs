use super::*;
use diffgp_core::scheme::Scheme;

fn config(options: Options, rows: usize) -> Config {
    options.config(rows).unwrap()
}

fn word(word: &str) -> Value {
    Value::Word(word.to_owned())
}

#[test]
fn no_options_are_the_recipe() {
    for rows in [2, 50, 500, 5000, 40_000] {
        assert_eq!(config(Options::default(), rows), Config::for_rows(rows, Task::Regression));
    }
}

#[test]
fn written_values_become_options() {
    let written = [
        ("flow_time", Value::Number(3.0)),
        ("training-steps", Value::Count(7)),
        ("kernel", word("matern52")),
        ("shared-kernel", Value::Flag(true)),
        ("task", word("classification")),
    ];
    let options = Options::from_values(written.map(|(name, value)| (name.to_owned(), value))).unwrap();
    let expected = Options {
        flow_time: Some(3.0),
        training_steps: Some(7),
        kernel: Some(KernelOption::Matern52),
        shared_kernel: Some(true),
        task: Some(Task::Classification),
        ..Options::default()
    };
    assert_eq!(options, expected);
    let refused = |name: &str, value| Options::from_values([(name.to_owned(), value)]).unwrap_err().to_string();
    assert!(refused("flowtime", Value::Number(1.0)).contains("`flow-time`"));
    assert!(refused("kernel", word("cubic")).contains("`matern32`"));
    assert!(refused("steps", Value::Number(2.5)).contains("2.5"));
}

#[test]
fn the_words_that_may_be_written_are_those_that_are_read() {
    for option in Options::ALL {
        let Kind::Word(words) = option.kind else { continue };
        for &written in words {
            Options::from_values([(option.name.to_owned(), word(written))]).unwrap();
        }
    }
}

#[test]
fn options_of_a_configuration_make_it_again() {
    let longer = Options {
        iterations: Some(4000),
        temporal: Some(3),
        flow_time: Some(2.0),
        steps: Some(10),
        training_steps: Some(5),
        kernel: Some(KernelOption::Matern32),
        batch: Some(70),
        ..Options::default()
    };
    let paper = Options { recipe: Some(Recipe::Paper), ..Options::default() };
    for options in [Options::default(), longer, paper] {
        for rows in [50, 500, 5000] {
            let first = config(options.clone(), rows);
            assert_eq!(config(Options::of(&first), rows), first);
        }
    }
}

#[test]
fn one_number_of_steps_is_that_of_training_and_of_the_file() {
    let steps = |steps, training_steps, temporal| {
        let flow = config(Options { steps, training_steps, temporal, ..Options::default() }, 500).flow;
        (flow.training_steps(), flow.steps)
    };
    assert_eq!((steps(None, None, None), steps(None, None, Some(3))), ((5, 5), (20, 20)));
    assert_eq!((steps(None, Some(7), Some(3)), steps(Some(7), None, None)), ((7, 20), (7, 7)));
    assert_eq!(steps(Some(20), Some(5), None), (5, 20));
    let mut config = Config::for_rows(500, Task::Regression);
    config.flow.steps = 20;
    assert_eq!(config.flow.training_steps(), 20);
}

#[test]
fn a_chain_has_two_euler_steps_and_a_flow_as_many_as_it_needs() {
    let flow = |chain, steps, rows| config(Options { chain, steps, ..Options::default() }, rows).flow;
    for rows in [500, 5000] {
        let chain = flow(Some(true), None, rows);
        assert_eq!((chain.scheme, chain.steps, chain.most_steps), (Scheme::EulerMaruyama, 2, 2));
        assert_eq!(chain.training_steps(), 2);
        let free = flow(None, None, rows);
        assert_eq!((free.scheme, free.steps, free.most_steps), (Scheme::Midpoint, 5, 10));
        assert_eq!(free.training_steps(), if rows == 500 { 5 } else { 2 });
        let fixed = flow(None, Some(6), rows);
        assert_eq!((fixed.steps, fixed.most_steps, fixed.training_steps()), (6, 6, 6));
    }
}

#[test]
fn the_model_of_the_paper_is_as_it_is_written() {
    for rows in [500, 5000] {
        let config = config(Options { recipe: Some(Recipe::Paper), ..Options::default() }, rows);
        let flow = &config.flow;
        assert_eq!(
            (flow.scheme, flow.steps, flow.most_steps, flow.training_steps()),
            (Scheme::EulerMaruyama, 20, 20, 20)
        );
        assert_eq!((flow.inducing, config.predictor.inducing, flow.time, flow.optional), (100, 100, 5.0, false));
        assert_eq!((flow.kernel, config.candidate_kernels.len()), (KernelKind::Rbf, 0));
        let plan = crate::train::plan(rows, &config);
        assert!(plan.stages.iter().all(|stage| stage.optimiser.learning_rate == 0.01));
        assert!(plan.stages.iter().all(|stage| stage.optimiser.natural_step == 0.0 && stage.validation.is_empty()));
        assert_eq!((plan.stages.len(), plan.last_fit), (2, None));
    }
}

#[test]
fn a_longer_run_has_more_patience() {
    for rows in [500, 5000, 40_000] {
        let plain = config(Options::default(), rows);
        let longer = config(Options { iterations: Some(4 * plain.with_flow.iterations), ..Options::default() }, rows);
        assert_eq!(longer.with_flow.iterations, longer.no_flow.iterations);
        assert!(longer.with_flow.patience > plain.with_flow.patience);
        assert!(longer.no_flow.patience > plain.no_flow.patience);
        let warmer = config(Options { warm_iterations: Some(50_000), ..Options::default() }, rows);
        assert!(warmer.warm_start.patience > plain.warm_start.patience);
    }
}

#[test]
fn a_short_run_has_a_short_warm_start() {
    let warm = |iterations, warm_iterations| {
        config(Options { iterations, warm_iterations, ..Options::default() }, 500).warm_start.iterations
    };
    assert_eq!((warm(None, None), warm(Some(400), None), warm(Some(30), None)), (300, 300, 30));
    assert_eq!(warm(Some(30), Some(200)), 200);
}
