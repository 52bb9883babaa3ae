//! Runs that end before their plan does: a model wherever that is, and a checkpoint from which they go on to the same bits.

use std::time::Duration;

use diffgp_train::calibration::CalibrationSource;
use diffgp_train::checkpoint::Checkpoint;
use diffgp_train::data::Dataset;
use diffgp_train::model_file::ModelFile;
use diffgp_train::threads::Threads;
use diffgp_train::train::{Config, Observer, Progress, StageName, Task, Trained, resume, train};

use crate::training::{assert_same_bits, iterate, line_data, small_config, step_data};

/// Asks for the end after so many iterations.
#[derive(Default)]
struct Impatient {
    after: usize,
    iterations: usize,
    asked: usize,
    checkpoints: Vec<Checkpoint>,
    /// Stages that were begun.
    stages: Vec<StageName>,
}

impl Observer for Impatient {
    fn iteration(&mut self, progress: &Progress) {
        self.iterations += 1;
        if self.stages.last() != Some(&progress.stage.name) {
            self.stages.push(progress.stage.name);
        }
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> std::io::Result<()> {
        self.checkpoints.push(checkpoint.clone());
        Ok(())
    }

    fn should_finish(&mut self) -> bool {
        // Once is enough.
        assert_eq!(self.asked, 0, "asked again");
        let is_over = self.iterations >= self.after;
        self.asked += usize::from(is_over);
        is_over
    }
}

/// Everything that a small set has: a choice, all rows, cross-fitted calibration; no search.
fn config(rows: usize) -> Config {
    let mut config = small_config(rows, Task::Regression);
    config.flow.optional = true;
    config.calibration = Config::for_rows(rows, Task::Regression).calibration;
    iterate(&mut config, 10, 14);
    config
}

fn cut(data: &Dataset, config: &Config, after: usize) -> (Trained, Impatient) {
    let mut observer = Impatient { after, ..Impatient::default() };
    (train(data, config, &mut observer).unwrap(), observer)
}

#[test]
fn wherever_a_run_is_cut_there_is_a_model_and_a_way_on() {
    let data = step_data(120, Task::Regression);
    let config = config(120);
    let (whole, watched) = cut(&data, &config, usize::MAX);
    assert_eq!(whole.cut, None);
    let threads = Threads::new(1).unwrap();
    for after in (0..watched.iterations).step_by(17) {
        let (trained, observer) = cut(&data, &config, after);
        let at = trained.cut.unwrap();
        assert!(observer.iterations <= after.max(1) + 3, "{after}: {} iterations", observer.iterations);
        assert!(at.stage.is_some() && at.iteration <= at.iterations, "{at:?}");
        let file = ModelFile::new(&trained.export(&data).unwrap().bytes).unwrap();
        let score = trained.score(&data, 10, 0, &threads).unwrap().log_likelihood;
        assert!(score.is_finite() && file.model().inputs() == 1, "{after}: {score}");
        // The last checkpoint is of the cut itself.
        let checkpoint = observer.checkpoints.last().unwrap().clone();
        assert_same_bits(&resume(&data, &config, checkpoint, &mut ()).unwrap(), &whole, &format!("after {after}"));
    }
}

#[test]
fn the_choice_is_made_by_what_was_finished() {
    let config = config(300);
    for (data, has_flow) in [(step_data(300, Task::Regression), true), (line_data(300), false)] {
        let (whole, watched) = cut(&data, &config, usize::MAX);
        assert_eq!(whole.params.flow.is_some(), has_flow);
        // In the first model that leaves out a share of the rows, and in the one on all rows: neither counts.
        let on_all_rows = if has_flow { StageName::FlowOnAllRows } else { StageName::NoFlowOnAllRows };
        assert!(watched.stages.contains(&on_all_rows), "{:?}", watched.stages);
        let mut seen = Vec::new();
        for after in (0..watched.iterations).step_by(5) {
            let (trained, _) = cut(&data, &config, after);
            let stage = trained.cut.unwrap().stage.unwrap();
            if stage.name == on_all_rows || stage.name == StageName::CrossFit {
                assert_eq!(trained.params.flow.is_some(), has_flow, "{stage:?}");
                let source = trained.calibration.as_ref().map(|calibration| calibration.source);
                // Shares that were left out until then, or the validation rows of the model itself.
                let is_first = stage.name == on_all_rows || stage.fold == 0;
                let expected = if is_first { CalibrationSource::Validation } else { CalibrationSource::CrossFitted };
                assert_eq!(source, Some(expected), "{stage:?}");
                seen.push(stage.name);
            }
        }
        assert!(seen.contains(&on_all_rows) && seen.contains(&StageName::CrossFit), "{seen:?}");
    }
}

#[test]
fn the_search_can_be_cut_and_is_done_again() {
    let data = step_data(120, Task::Regression);
    let mut config = config(120);
    (config.predictor.search_rows, config.predictor.most_inducing) = (120, 40);
    let whole = train(&data, &config, &mut ()).unwrap();
    let (trained, observer) = cut(&data, &config, 0);
    assert_eq!(trained.cut.unwrap().stage, None);
    assert!(trained.export(&data).is_ok());
    let checkpoint = observer.checkpoints.last().unwrap().clone();
    assert_eq!(checkpoint.place(), (0, 0));
    // Cut again as soon as possible, which is after the search now that a stage has begun: and again to the same end.
    let resumed = resume(&data, &config, checkpoint, &mut ()).unwrap();
    assert_same_bits(&resumed, &whole, "resumed");
    let (_, later) = cut(&data, &config, 20);
    let mut impatient = Impatient::default();
    let again = resume(&data, &config, later.checkpoints.last().unwrap().clone(), &mut impatient).unwrap();
    assert!(again.cut.is_some_and(|cut| cut.stage.is_some()), "{:?}", again.cut);
    let last = impatient.checkpoints.last().unwrap().clone();
    assert_same_bits(&resume(&data, &config, last, &mut ()).unwrap(), &whole, "twice");
}

#[test]
fn an_estimate_is_made_on_demand_and_changes_nothing() {
    #[derive(Default)]
    struct Curious {
        estimates: Vec<Duration>,
        begun: bool,
    }

    impl Observer for Curious {
        fn wants_estimate(&self) -> bool {
            true
        }

        fn estimate(&mut self, at_most: Duration) {
            assert!(!self.begun, "it comes first");
            self.estimates.push(at_most);
        }

        fn iteration(&mut self, _: &Progress) {
            self.begun = true;
        }
    }

    let data = step_data(120, Task::Regression);
    let config = config(120);
    let estimate = |config: &Config| {
        let mut observer = Curious::default();
        let trained = train(&data, config, &mut observer).unwrap();
        assert_same_bits(&trained, &train(&data, config, &mut ()).unwrap(), "with an estimate");
        let [at_most] = observer.estimates[..] else { panic!("{:?}", observer.estimates) };
        at_most
    };
    let mut longer = config.clone();
    iterate(&mut longer, 200, 280);
    longer.validation.folds = 1;
    // Twenty times the iterations. Both are timed, on a machine that may have more to do at one time than at another.
    assert!((0..10).any(|_| estimate(&longer) > 2 * estimate(&config).max(Duration::from_nanos(1))));
}
