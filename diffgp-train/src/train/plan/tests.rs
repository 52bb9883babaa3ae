use super::*;
use crate::calibration::CalibrationMode;

fn names(plan: &Plan) -> Vec<StageName> {
    plan.stages.iter().map(|stage| stage.name).collect()
}

/// Without calibration.
fn config(rows: usize, flow_time: f64, optional: bool) -> Config {
    let mut config = Config::for_rows(rows, Task::Regression);
    config.calibration.mode = CalibrationMode::None;
    (config.flow.time, config.flow.optional) = (flow_time, optional);
    config
}

#[test]
fn stages_follow_from_what_is_to_be_chosen() {
    use StageName::*;
    let stages = |rows, flow_time, optional| names(&plan(rows, &config(rows, flow_time, optional)));
    assert_eq!(stages(500, 0.0, false), [NoFlow, NoFlowOnAllRows]);
    assert_eq!(stages(500, 5.0, false), [WarmStart, Flow, FlowOnAllRows]);
    let fold = [NoFlow, WarmStart, Flow];
    assert_eq!(stages(500, 5.0, true), [&fold.repeat(4)[..], &[NoFlowOnAllRows, FlowOnAllRows]].concat());
    assert_eq!(stages(5000, 5.0, true), fold);
    // Nothing can be chosen without validation rows.
    assert_eq!(stages(12, 5.0, true), [NoFlow]);
    assert_eq!(stages(12, 5.0, false), [WarmStart, Flow]);
}

#[test]
fn every_row_is_left_out_once_by_what_calibrates() {
    let calibrated = |rows, flow_time| {
        let mut config = config(rows, flow_time, true);
        config.calibration.mode = CalibrationMode::Auto;
        plan(rows, &config).stages
    };
    for (rows, folds) in [(499, 10), (1001, 5)] {
        let stages = calibrated(rows, 5.0);
        for last in [StageName::NoFlowOnAllRows, StageName::FlowOnAllRows] {
            let model = stages.iter().position(|stage| stage.name == last).unwrap();
            let of_model = |stage: &&Stage| stage.calibrates == Some(model);
            let left_out: Vec<_> = stages
                .iter()
                .filter(of_model)
                .filter(|stage| stage.name == StageName::CrossFit)
                .flat_map(|stage| stage.validation.clone())
                .collect();
            assert!(left_out.into_iter().eq(0..rows));
            let warm = stages.iter().filter(of_model).filter(|stage| stage.name == StageName::CrossFitWarmStart);
            assert_eq!(warm.count(), if last == StageName::FlowOnAllRows { folds } else { 0 });
        }
    }
    // Validation rows calibrate large sets: more of them are kept aside, and no stage is added.
    let large = calibrated(50_000, 5.0);
    assert_eq!((large.len(), large[0].validation.len()), (3, 4000));
    assert_eq!(plan(50_000, &config(50_000, 5.0, true)).stages[0].validation.len(), 1000);
}

#[test]
fn stages_refer_to_earlier_ones() {
    for rows in [100, 500, 5000, 100_000] {
        for stage in plan(rows, &config(rows, 5.0, true)).stages.iter().enumerate().map(|(index, stage)| {
            let start = match stage.start {
                Start::EndOf(earlier) => Some(earlier),
                Start::Untrained => None,
            };
            let kernels = match stage.kernels {
                Kernels::WinnerOf(earlier) => Some(earlier),
                Kernels::Given { .. } | Kernels::Searched | Kernels::SearchedKind => None,
            };
            let compared = stage.comparison.map(|comparison| comparison.with);
            let pooled = stage.comparison.and_then(|comparison| comparison.pooled_with);
            let mut earlier = [start, kernels, compared, pooled, stage.unless_clear, stage.calibrates]
                .into_iter()
                .flatten()
                .chain(stage.repeats.clone());
            earlier.all(|earlier| earlier < index)
        }) {
            assert!(stage);
        }
    }
}

#[test]
fn without_a_flow_an_iteration_takes_ten_batches_or_all_rows() {
    let in_batches = |rows: usize, flow_time: f64| {
        let config = Config { batch: 30, ..config(1000, flow_time, false) };
        let first = &plan(rows, &config).stages[0];
        (first.name, first.batch)
    };
    assert_eq!(in_batches(1000, 5.0), (StageName::WarmStart, 30));
    assert_eq!(in_batches(1000, 0.0), (StageName::NoFlow, 300));
    assert_eq!(in_batches(100, 0.0), (StageName::NoFlow, 90));
    assert_eq!(in_batches(20, 5.0), (StageName::WarmStart, 18));
}

#[test]
fn the_noise_is_fitted_where_rows_can_tell() {
    let last_fit = |rows, change: fn(&mut Config)| {
        let mut config = config(rows, 5.0, true);
        change(&mut config);
        plan(rows, &config).last_fit
    };
    assert_eq!(last_fit(5000, |_| ()), Some(NoiseFit::ToValidation));
    assert_eq!(last_fit(5000, |config| config.validation.fraction = 0.0), Some(NoiseFit::ToBound));
    // The bound fits it with everything else; validation rows are trained on in the end.
    let as_trained = |config: &mut Config| config.predictor.most_inducing = config.predictor.inducing;
    assert_eq!(last_fit(500, as_trained), Some(NoiseFit::Keep));
    // Points that are added later have no part in that.
    assert_eq!(last_fit(500, |_| ()), Some(NoiseFit::ToBound));
    assert_eq!(last_fit(5000, |config| config.task = Task::Classification), Some(NoiseFit::Keep));
    let prior = |config: &mut Config| {
        config.regularisation.noise = Some(crate::optimise::LogNormal { median: 0.1, sigma: 1.0 });
    };
    assert_eq!(last_fit(5000, prior), Some(NoiseFit::Keep));
    assert_eq!(last_fit(5000, |config| config.refit.paths = 0), None);
}

#[test]
fn folds_keep_every_row_aside_once_at_most() {
    for rows in [20, 25, 99, 500, 2000] {
        let plan = plan(rows, &config(rows, 5.0, true));
        let folds: Vec<_> = plan.stages.iter().filter(|stage| stage.name == StageName::Flow).collect();
        assert_eq!(folds.len(), 4);
        for (fold, stage) in folds.iter().enumerate() {
            let size = rows / 10;
            assert_eq!((stage.fold, stage.validation.clone()), (fold, fold * size..(fold + 1) * size));
        }
        assert!(folds.last().unwrap().validation.end <= rows);
    }
}

#[test]
fn natural_steps_follow_from_the_rows_of_an_iteration_unless_they_are_given() {
    let steps = |rows: usize, change: &dyn Fn(&mut Config)| {
        let mut config = config(rows, 5.0, true);
        change(&mut config);
        let plan = plan(rows, &config);
        let step = |name| plan.stages.iter().find(|stage| stage.name == name).unwrap().optimiser.natural_step;
        [StageName::NoFlow, StageName::WarmStart, StageName::Flow].map(step)
    };
    assert_eq!(steps(900, &|_| ()), [1.0; 3]);
    assert_eq!(steps(9000, &|_| ()), [1.0, 0.2, 0.2]);
    // Set by field, a batch has the steps of a batch.
    assert_eq!(steps(900, &|config| config.batch = 100), [1.0, 0.2, 0.2]);
    assert_eq!(steps(900, &|config| config.batch = 900), [1.0; 3]);
    // What is asked for is what is done.
    assert_eq!(steps(900, &|config| config.with_flow.natural_step = Some(0.3)), [1.0, 1.0, 0.3]);
    assert_eq!(steps(900, &|config| config.task = Task::Classification), [0.1; 3]);
}
