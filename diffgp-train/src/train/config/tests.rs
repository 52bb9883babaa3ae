use super::*;

#[test]
fn defaults_are_valid() {
    for rows in [2, 1000, 2000, 2001, 11_000_000] {
        for task in [Task::Regression, Task::Classification] {
            Config::for_rows(rows, task).validate().unwrap();
        }
    }
}

#[test]
fn errors_name_the_option() {
    let mut config = Config::for_rows(100, Task::Regression);
    config.flow.time = -1.0;
    let message = config.validate().unwrap_err().to_string();
    assert_eq!(message, "flow_time is -1; expected 0 (no flow) or 1e-6 to 100");
    config.flow.time = f64::NAN;
    assert!(config.validate().is_err());
    config.flow.time = 1.0;
    (config.flow.inducing, config.flow.inducing_times) = (100, 11);
    let message = config.validate().unwrap_err().to_string();
    assert_eq!(message, "temporal is 11; expected at most 1024 inducing points times inducing times");
    config.flow.inducing_times = 0;
    config.paths = 0;
    assert_eq!(config.validate().unwrap_err().to_string(), "paths is 0; expected 1 to 1000");
}

#[test]
fn larger_sets_have_more_iterations_within_limits() {
    let iterations = |rows| {
        let config = Config::for_rows(rows, Task::Regression);
        (config.no_flow.iterations, config.with_flow.iterations)
    };
    // 1200 epochs of 8 and 20 batches each; without a flow from a start that was searched for.
    assert_eq!((iterations(8000), iterations(20_000)), ((600, 9600), (600, 15_000)));
    assert_eq!((iterations(2001), iterations(usize::MAX)), ((600, 3000), (600, 15_000)));
    // 250 epochs.
    let classes = |rows| Config::for_rows(rows, Task::Classification);
    assert_eq!([2001, 20_000, usize::MAX].map(|rows| classes(rows).no_flow.iterations), [3000, 5000, 10_000]);
    assert_eq!(classes(20_000).with_flow, classes(20_000).no_flow);
}

/// Changes that decide a run change the number, others do not.
#[test]
fn the_fingerprint_ignores_what_cannot_change_the_result() {
    let rows = 100;
    let fingerprint = |flow_time: f64, optional: bool, change: &dyn Fn(&mut Config)| {
        let mut config = Config::for_rows(rows, Task::Regression);
        (config.flow.time, config.flow.optional) = (flow_time, optional);
        change(&mut config);
        config.fingerprint(rows)
    };
    let decides = |flow_time: f64, optional: bool, change: &dyn Fn(&mut Config)| {
        fingerprint(flow_time, optional, change) != fingerprint(flow_time, optional, &|_| ())
    };
    assert!(!decides(5.0, true, &|config| (config.threads, config.checkpoint_every) = (7, 3)));
    assert!(decides(5.0, true, &|config| config.seed = 1));
    let no_flow = |config: &mut Config| config.no_flow.iterations += 1;
    let with_flow = |config: &mut Config| config.with_flow.iterations += 1;
    let warm_start = |config: &mut Config| config.warm_start.iterations += 1;
    let steps = |config: &mut Config| config.flow.steps += 1;
    let candidate = |config: &mut Config| config.candidate.iterations += 1;
    let changes: [&dyn Fn(&mut Config); 5] = [&no_flow, &with_flow, &warm_start, &steps, &candidate];
    let decisive = |flow_time, optional| changes.map(|change| decides(flow_time, optional, change));
    assert_eq!(decisive(0.0, false), [true, false, false, false, false]);
    assert_eq!(decisive(5.0, false), [false, true, true, true, false]);
    assert_eq!(decisive(5.0, true), [true, true, true, true, false]);
    let tried = |kernel: KernelKind, iterations: u64| {
        fingerprint(5.0, true, &|config| {
            (config.candidate_kernels, config.candidate.iterations) = (vec![kernel], iterations);
            config.predictor.search_rows = 0;
        })
    };
    assert!(decides(5.0, true, &|config| config.candidate_kernels = vec![KernelKind::Matern52]));
    assert_ne!(tried(KernelKind::Matern32, 3), tried(KernelKind::Matern32, 4));
    assert_ne!(tried(KernelKind::Matern32, 3), tried(KernelKind::Matern52, 3));
}
