//! Trains and scores standard splits of a regression data set: one line per split, then the mean.
//!
//!     cargo run --release --example splits -- DATA.csv TARGET TEST_ROWS 0..4 FLOW_TIME [NAME=VALUE ...]

use std::path::Path;
use std::time::Instant;

use diffgp_core::kernel::KernelKind;
use diffgp_train::data::{Dataset, Header, TargetKind, read_test_rows};
use diffgp_train::optimise::{LogNormal, Schedule};
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
    let [data, target, test_rows, splits, flow_time, settings @ ..] = arguments.as_slice() else {
        return Err("expected DATA.csv TARGET TEST_ROWS FIRST..LAST FLOW_TIME [NAME=VALUE ...]".into());
    };
    let (first, last) = splits.split_once("..").ok_or("splits are written as 0..4")?;
    let mut sums = [0.0; 3];
    let splits = first.parse::<usize>()?..last.parse()?;
    for split in splits.clone() {
        let all = Dataset::read_csv(Path::new(data), target.as_str(), Header::Detect, TargetKind::Real)?;
        let (training, test) = all.hold_out(&read_test_rows(Path::new(test_rows), split)?)?;
        let mut config = Config::for_rows(training.rows(), Task::Regression);
        config.flow.time = flow_time.parse()?;
        let mut console = Console { verbose: false, last_validation: f64::NAN };
        for setting in settings {
            match setting.split_once('=').ok_or("settings are written NAME=VALUE")? {
                ("verbose", value) => console.verbose = value.parse()?,
                (name, value) => apply(&mut config, name, value)?,
            }
        }
        let start = Instant::now();
        let trained = train(&training, &config, &mut console)?;
        let seconds = start.elapsed().as_secs_f64();
        let score = trained.score(&test, 100, 1, &Threads::new(config.threads)?)?;
        let figures = [
            score.rmse.unwrap_or(f64::NAN),
            score.log_likelihood,
            trained.validation_log_likelihood.unwrap_or(console.last_validation),
        ];
        let [rmse, log_likelihood, validation] = figures;
        println!(
            "split {split} T {flow_time}: rmse {rmse:.4} log-likelihood {log_likelihood:.4} \
             (validation {validation:.4} at {}) {seconds:.1} s",
            trained.iteration
        );
        if let Some(gain) = trained.kernel_gain {
            println!("split {split}: the rival kernel added {gain:.4} in its trial");
        }
        sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure / splits.len() as f64);
    }
    println!("mean: rmse {:.4} log-likelihood {:.4} (validation {:.4})", sums[0], sums[1], sums[2]);
    Ok(())
}

fn kernel(name: &str) -> Result<KernelKind, Failure> {
    match name {
        "rbf" => Ok(KernelKind::Rbf),
        "matern32" => Ok(KernelKind::Matern32),
        "matern52" => Ok(KernelKind::Matern52),
        _ => Err(format!("no kernel {name}; there are rbf, matern32 and matern52").into()),
    }
}

fn log_normal(value: &str) -> Result<LogNormal, Failure> {
    let (median, sigma) = value.split_once(',').ok_or("a prior is MEDIAN,SIGMA")?;
    Ok(LogNormal { median: median.parse()?, sigma: sigma.parse()? })
}

fn apply(config: &mut Config, name: &str, value: &str) -> Result<(), Failure> {
    match name {
        "iterations" | "rate" | "natural" | "patience" | "final-rate" => {
            for phase in [&mut config.sparse, &mut config.main] {
                match name {
                    "iterations" => phase.set_iterations(value.parse()?),
                    "rate" => phase.learning_rate = value.parse()?,
                    "natural" => phase.natural_step = value.parse()?,
                    "final-rate" => phase.schedule = Schedule::Cosine { final_fraction: value.parse()? },
                    _ => phase.patience = value.parse()?,
                }
            }
        }
        "warm-iterations" => config.warm_start.iterations = value.parse()?,
        "trial-iterations" => config.trial.iterations = value.parse()?,
        "trial-rate" => config.trial.learning_rate = value.parse()?,
        "warm-rate" => config.warm_start.learning_rate = value.parse()?,
        "kl-weight" => config.regularisation.flow_kl_weight = value.parse()?,
        "paths" => config.paths = value.parse()?,
        "inducing" => config.flow.inducing = value.parse()?,
        "batch" => config.set_batch(value.parse()?),
        "average" => config.averaging = Some(value.parse()?),
        "select" => config.validation.select = value.parse()?,
        "training-steps" => config.flow.training_steps = value.parse()?,
        "steps" => config.flow.steps = value.parse()?,
        "per-dimension" => config.flow.per_dimension = value.parse()?,
        "validation" => config.validation.fraction = value.parse()?,
        "again-rows" => config.validation.again_rows = value.parse()?,
        "kernel" => {
            (config.predictor.kernel, config.flow.kernel, config.rival_kernel) = (kernel(value)?, kernel(value)?, None)
        }
        "flow-kernel" => config.flow.kernel = kernel(value)?,
        "rival" => config.rival_kernel = Some(kernel(value)?),
        "flow-variance" => config.flow.variance = value.parse()?,
        "flow-length-scale" => config.flow.length_scale = value.parse()?,
        "predictor-inducing" => config.predictor.inducing = value.parse()?,
        "predictor-length-scale" => config.predictor.length_scale = value.parse()?,
        "noise" => config.predictor.noise = value.parse()?,
        "flow-factor" => config.flow.factor = value.parse()?,
        "validation-paths" => config.validation.paths = value.parse()?,
        "jitter" => config.jitter = value.parse()?,
        "warm-natural" => config.warm_start.natural_step = value.parse()?,
        "optional" => config.flow.optional = value.parse()?,
        "flow-length-scale-prior" => config.regularisation.flow_length_scale = Some(log_normal(value)?),
        "flow-variance-prior" => config.regularisation.flow_variance = Some(log_normal(value)?),
        "predictor-length-scale-prior" => config.regularisation.predictor_length_scale = Some(log_normal(value)?),
        "predictor-variance-prior" => config.regularisation.predictor_variance = Some(log_normal(value)?),
        "noise-prior" => config.regularisation.noise = Some(log_normal(value)?),
        "refit-paths" => config.refit.paths = value.parse()?,
        "threads" => config.threads = value.parse()?,
        "seed" => config.seed = value.parse()?,
        _ => return Err(format!("no setting {name}").into()),
    }
    Ok(())
}
