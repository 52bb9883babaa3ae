//! Trains and scores standard splits of a data set: one line per split, then the mean.
//!
//!     cargo run --release --example splits -- DATA.csv TARGET TEST_ROWS 0..4 [NAME=VALUE ...]
//!
//! A name is an option of the command (`flow-time=5`) or a field of the configuration (`with_flow.learning_rate=0.01`,
//! `regularisation.noise={"median":0.1,"sigma":1}`). With `choose=true` a fifth of the training rows is held out and
//! scored instead of the test rows: what a recipe is chosen by.

use std::path::Path;
use std::time::Instant;

use diffgp_train::data::{Dataset, Header, TargetKind, read_test_rows};
use diffgp_train::options::Options;
use diffgp_train::permutation::Permutation;
use diffgp_train::philox::Purpose;
use diffgp_train::threads::Threads;
use diffgp_train::train::{Config, Observer, Task, Validated, Warning, train};

type Failure = Box<dyn std::error::Error>;

/// Shows what is unusual, and every validation if asked to; remembers the last.
struct Console {
    verbose: bool,
    last_validation: f64,
}

impl Observer for Console {
    fn warning(&mut self, warning: &Warning) {
        eprintln!("{warning}");
    }

    fn validation(&mut self, validated: &Validated) {
        self.last_validation = validated.score.log_likelihood;
        if self.verbose {
            eprintln!("{:?} {} {:?}", validated.stage.name, validated.iteration, validated.score);
        }
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, target, test_rows, splits, settings @ ..] = arguments.as_slice() else {
        return Err("expected DATA.csv TARGET TEST_ROWS FIRST..LAST [NAME=VALUE ...]".into());
    };
    let (first, last) = splits.split_once("..").ok_or("splits are written as 0..4")?;
    let mut sums = [0.0; 4];
    let splits = first.parse::<usize>()?..last.parse()?;
    let classes = settings.iter().any(|setting| setting == "task=classification");
    let kind = if classes { TargetKind::Classes } else { TargetKind::Detect };
    for split in splits.clone() {
        let all = Dataset::read_file(Path::new(data), target.as_str(), Header::Detect, kind)?;
        let (mut training, mut test) = all.hold_out(&read_test_rows(Path::new(test_rows), split)?)?;
        if settings.iter().any(|setting| setting == "choose=true") {
            let order = Permutation::new(training.rows(), 1000 + split as u64, Purpose::Split, 0);
            let mut fifth: Vec<usize> = (0..training.rows() / 5).map(|place| order.at(place)).collect();
            fifth.sort_unstable();
            (training, test) = training.hold_out(&fifth)?;
        }
        let (config, verbose) = config(&training, settings)?;
        let mut console = Console { verbose, last_validation: f64::NAN };
        let start = Instant::now();
        let trained = train(&training, &config, &mut console)?;
        let seconds = start.elapsed().as_secs_f64();
        let score = trained.score(&test, 100, 1, &Threads::new(config.threads)?)?;
        let figures = [
            score.rmse.or(score.accuracy).unwrap_or(f64::NAN),
            score.log_likelihood,
            score.calibration_error.unwrap_or(f64::NAN),
            trained.validation_log_likelihood.unwrap_or(console.last_validation),
        ];
        println!(
            "split {split} T {}: {} at {}, {seconds:.1} s",
            trained.params.flow_time(),
            text(figures),
            trained.iteration
        );
        if let Some(gain) = trained.kernel_gain {
            println!("split {split}: the candidate kernel adds {gain:.4}");
        }
        if let Some(gain) = trained.flow_gain {
            println!("split {split}: the flow adds {gain} on {} rows", gain.rows);
        }
        sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure / splits.len() as f64);
    }
    println!("mean: {}", text(sums));
    Ok(())
}

fn text([error, log_likelihood, calibration, validation]: [f64; 4]) -> String {
    format!(
        "rmse or accuracy {error:.4} log-likelihood {log_likelihood:.4} calibration {calibration:.4} (validation \
         {validation:.4})"
    )
}

/// The configuration, and whether every validation is shown.
fn config(data: &Dataset, settings: &[String]) -> Result<(Config, bool), Failure> {
    let (mut options, mut fields, mut verbose) = (serde_json::Map::new(), Vec::new(), false);
    for setting in settings {
        let (name, value) = setting.split_once('=').ok_or("settings are written NAME=VALUE")?;
        let option = name.replace('-', "_");
        match Options::ALL.iter().any(|known| known.name == option) {
            true => drop(options.insert(name.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| value.into()))),
            false if name == "verbose" => verbose = value.parse()?,
            false if name == "choose" => {}
            false => fields.push((name, value)),
        }
    }
    let mut options: Options = serde_json::from_value(options.into())?;
    options.task.get_or_insert(Task::of(data));
    let mut config = options.config(data.rows())?;
    for (path, value) in fields {
        set(&mut config, path, value)?;
    }
    Ok((config, verbose))
}

/// Sets a field of the configuration by its path, as in `with_flow.learning_rate=0.01`; values are JSON, words need no
/// quotes.
fn set(config: &mut Config, path: &str, value: &str) -> Result<(), Failure> {
    let mut all = serde_json::to_value(&*config)?;
    let field = all.pointer_mut(&format!("/{}", path.replace('.', "/"))).ok_or(format!("no setting {path}"))?;
    *field = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    *config = serde_json::from_value(all).map_err(|error| format!("{path}={value}: {error}"))?;
    Ok(config.validate()?)
}
