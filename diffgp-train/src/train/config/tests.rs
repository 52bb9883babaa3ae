use super::*;

#[test]
fn batches_that_are_not_all_rows_take_short_natural_steps() {
    let steps = |rows: usize, batch: usize| {
        let mut config = Config::for_rows(rows, Task::Regression);
        config.set_batch(batch);
        (config.batch, config.warm_start.natural_step, config.main.natural_step)
    };
    assert_eq!(steps(900, 100), (100, 0.2, 0.2));
    assert_eq!(steps(900, 900), (900, 1.0, 1.0));
    assert_eq!(steps(9000, 500), (500, 0.2, 0.2));
}

#[test]
fn defaults_are_valid() {
    for rows in [2, 1000, 2000, 2001, 11_000_000] {
        for task in [Task::Regression, Task::Classification] {
            Config::for_rows(rows, task).validate().unwrap();
        }
    }
}

#[test]
fn errors_name_the_field() {
    let mut config = Config::for_rows(100, Task::Regression);
    config.flow.time = -1.0;
    let message = config.validate().unwrap_err().to_string();
    assert_eq!(message, "flow.time is -1; expected 0 (no flow) or 1e-6 to 100");
    config.flow.time = f64::NAN;
    assert!(config.validate().is_err());
    config.flow.time = 1.0;
    (config.flow.inducing, config.flow.inducing_times) = (100, 11);
    let message = config.validate().unwrap_err().to_string();
    assert_eq!(message, "flow.inducing_times is 11; expected at most 1024 inducing points times inducing times");
    config.flow.inducing_times = 0;
    config.paths = 0;
    assert_eq!(config.validate().unwrap_err().to_string(), "paths is 0; expected 1 to 1000");
}

#[test]
fn larger_sets_have_more_iterations_within_limits() {
    let iterations = |rows| {
        let config = Config::for_rows(rows, Task::Regression);
        (config.sparse.iterations, config.main.iterations)
    };
    // 250 and 1200 epochs of 8 and 20 batches each.
    assert_eq!((iterations(8000), iterations(20_000)), ((3000, 9600), (5000, 15_000)));
    assert_eq!((iterations(2001), iterations(usize::MAX)), ((3000, 3000), (10_000, 15_000)));
    let mut endless = PhaseConfig { patience: 0, ..Config::for_rows(8000, Task::Regression).main };
    endless.set_iterations(50_000);
    assert_eq!((endless.iterations, endless.patience), (50_000, 0));
    let classes = Config::for_rows(20_000, Task::Classification);
    assert_eq!(classes.main, classes.sparse);
}

#[test]
fn the_fingerprint_ignores_what_cannot_change_the_result() {
    let config = Config::for_rows(100, Task::Regression);
    let mut other = Config { threads: 7, checkpoint_every: 3, ..config.clone() };
    assert_eq!(config.fingerprint(), other.fingerprint());
    other.seed = 1;
    assert_ne!(config.fingerprint(), other.fingerprint());

    let longer = |time: f64, optional: bool, sparse: u64, main: u64| {
        let mut config = config.clone();
        (config.flow.time, config.flow.optional) = (time, optional);
        (config.sparse.iterations, config.main.iterations) = (sparse, main);
        config.fingerprint()
    };
    assert_eq!(longer(0.0, false, 3, 4), longer(0.0, false, 3, 5));
    assert_ne!(longer(0.0, false, 3, 4), longer(0.0, false, 4, 4));
    assert_eq!(longer(5.0, false, 3, 4), longer(5.0, false, 4, 4));
    assert_ne!(longer(5.0, true, 3, 4), longer(5.0, true, 4, 4));
    assert_ne!(longer(5.0, true, 3, 4), longer(5.0, true, 3, 5));

    let warmer = |time: f64, iterations: u64| {
        let mut config = config.clone();
        (config.flow.time, config.warm_start.iterations) = (time, iterations);
        config.fingerprint()
    };
    assert_eq!(warmer(0.0, 3), warmer(0.0, 4));
    let stepped = |time: f64, steps: usize| {
        let mut config = config.clone();
        (config.flow.time, config.flow.steps) = (time, steps);
        config.fingerprint()
    };
    assert_eq!(stepped(0.0, 3), stepped(0.0, 4));
    assert_ne!(stepped(5.0, 3), stepped(5.0, 4));
    assert_ne!(warmer(5.0, 3), warmer(5.0, 4));

    let tried = |rival_kernel: Option<KernelKind>, iterations: u64| {
        let mut config = Config { rival_kernel, ..config.clone() };
        config.trial.iterations = iterations;
        config.fingerprint()
    };
    assert_eq!(tried(None, 3), tried(None, 4));
    assert_ne!(tried(Some(KernelKind::Matern32), 3), tried(Some(KernelKind::Matern32), 4));
    assert_ne!(tried(Some(KernelKind::Matern32), 3), tried(Some(KernelKind::Matern52), 3));
}
