//! Trains the models in `tests/blobs/` on public data, and those in `diffgp-infer/models/` on little data, compresses
//! some of them, and writes them with the bits they predict.
//!
//!     cargo run --release -p diffgp-tests --example store_models
//!
//! Reads the UCI sets and the piece of HIGGS from the directory that `DIFFGP_DATA` names, by default `../shared/data`.

#[path = "store_models/compressed.rs"]
mod compressed;
#[path = "store_models/made_data.rs"]
mod made_data;
#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../stored_models.rs"]
mod stored_models;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use diffgp_train::data::{Dataset, Header, TargetKind};
use diffgp_train::export::{Metadata, export};
use diffgp_train::train::{Config, Observer, Task, Warning, train};

struct Console;

impl Observer for Console {
    fn warning(&mut self, warning: &Warning) {
        eprintln!("  {warning}");
    }
}

/// What a model is trained on.
#[derive(Clone, Copy)]
enum Data {
    /// The set in this directory, with this target.
    Public(&'static str, &'static str),
    /// The same rows in every run; `diffgp-infer/models/` is for them.
    Made(fn() -> Dataset, Task),
}

/// One model to train.
struct Recipe {
    name: &'static str,
    data: Data,
    adjust: fn(&mut Config),
}

const RECIPES: [Recipe; 10] = [
    // What fits the smallest board: D = 4, M = 50, a kernel per dimension.
    Recipe {
        name: "v2-power",
        data: Data::Public("uci/power", "energy_output"),
        adjust: |config| {
            (config.flow.inducing, config.predictor.inducing, config.flow.steps) = (50, 50, 10);
        },
    },
    Recipe {
        name: "v2-power-shared",
        data: Data::Public("uci/power", "energy_output"),
        adjust: |config| {
            (config.flow.inducing, config.predictor.inducing, config.flow.steps) = (50, 50, 10);
            config.flow.per_dimension = false;
        },
    },
    Recipe {
        name: "v2-higgs",
        data: Data::Public("higgs", "label"),
        adjust: |config| {
            (config.flow.inducing, config.predictor.inducing, config.flow.steps) = (24, 50, 10);
            config.flow.per_dimension = false;
        },
    },
    Recipe {
        name: "v2-concrete-temporal",
        data: Data::Public("uci/concrete", "strength"),
        adjust: |config| {
            (config.flow.inducing, config.flow.inducing_times, config.predictor.inducing) = (12, 3, 60);
            config.flow.scheme = Scheme::EulerMaruyama;
            config.flow.steps = 5;
        },
    },
    // D = 8, M = 100: for boards with 512 KiB and more.
    Recipe {
        name: "v2-kin8nm",
        data: Data::Public("uci/kin8nm", "distance"),
        adjust: |config| (config.flow.inducing, config.predictor.inducing) = (100, 100),
    },
    // At most 16 KiB: small enough to damage every single bit of them.
    Recipe {
        name: "../../diffgp-infer/models/v2-steps",
        data: Data::Made(made_data::steps, Task::Regression),
        adjust: |config| {
            (config.flow.inducing, config.predictor.inducing, config.flow.steps) = (12, 16, 5);
        },
    },
    Recipe {
        name: "../../diffgp-infer/models/v2-ring",
        data: Data::Made(made_data::ring, Task::Classification),
        adjust: |config| {
            (config.flow.inducing, config.predictor.inducing, config.flow.steps) = (12, 16, 5);
            config.flow.per_dimension = false;
        },
    },
    Recipe {
        name: "../../diffgp-infer/models/v2-pendulum-temporal",
        data: Data::Made(made_data::pendulum, Task::Regression),
        adjust: |config| {
            (config.flow.inducing, config.flow.inducing_times, config.predictor.inducing) = (10, 2, 20);
            config.flow.scheme = Scheme::EulerMaruyama;
            (config.flow.steps, config.flow.kernel) = (4, KernelKind::Matern52);
        },
    },
    // Three classes, and two targets with a kernel each.
    Recipe {
        name: "../../diffgp-infer/models/v2-iris",
        data: Data::Public("classes/iris", "species"),
        adjust: |config| {
            (config.flow.inducing, config.predictor.inducing, config.flow.steps) = (8, 12, 4);
        },
    },
    Recipe {
        name: "../../diffgp-infer/models/v2-energy2",
        data: Data::Public("outputs/energy2", "heating_load,cooling_load"),
        adjust: |config| {
            (config.flow.inducing, config.predictor.inducing, config.flow.steps) = (6, 20, 4);
            (config.flow.per_dimension, config.predictor.per_output) = (false, true);
        },
    },
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = env::var_os("DIFFGP_DATA").map_or(PathBuf::from("../shared/data"), PathBuf::from);
    let only: Vec<String> = env::args().skip(1).collect();
    let wanted = |name: &str| only.is_empty() || only.iter().any(|only| only == name);
    for recipe in RECIPES.iter().filter(|recipe| wanted(recipe.name)) {
        println!("{}", recipe.name);
        store(recipe, &root)?;
    }
    for smaller in compressed::SMALLER.iter().filter(|smaller| wanted(smaller.name)) {
        println!("{}", smaller.name);
        compressed::store(smaller)?;
    }
    Ok(())
}

fn store(recipe: &Recipe, root: &Path) -> Result<(), Box<dyn Error>> {
    let (data, task) = match recipe.data {
        Data::Made(make, task) => (make(), task),
        Data::Public(set, target) => {
            let classifies = ["label", "species"].contains(&target);
            let kind = if classifies { TargetKind::Classes } else { TargetKind::Real };
            let data = Dataset::read_file(&root.join(set).join("data.csv"), target, Header::Detect, kind)?;
            (data, if classifies { Task::Classification } else { Task::Regression })
        }
    };
    // The kernels are the recipe's, whatever the rows prefer, and so are the steps, whatever is the default.
    let mut config = Config { candidate_kernels: vec![], ..Config::for_rows(data.rows(), task) };
    (config.flow.training_steps, config.flow.steps, config.flow.optional) = (Some(5), 20, false);
    (recipe.adjust)(&mut config);
    let trained = train(&data, &config, &mut Console)?;
    let rows: Vec<f32> =
        (0..data.rows()).step_by(data.rows() / 200 + 1).flat_map(|row| data.input_row(row).to_vec()).collect();
    let mut names = trained.names.clone().unwrap_or_default();
    names.extend(trained.target_names.clone().into_iter().flatten());
    let classes = trained.classes.clone().unwrap_or_default();
    let metadata =
        Metadata { scaling: &trained.scaling, names: &names, classes: &classes, model_id: &[], discretisation: None };
    let exported = export(&trained.params, &metadata, &rows)?;
    println!(
        "  {} bytes, validation log-likelihood {:?}, export errors {:?}",
        exported.bytes.len(),
        trained.validation_log_likelihood,
        exported.errors
    );
    let path = stored_models::directory().join(recipe.name);
    fs::write(path.with_extension("bits"), stored_models::bits(&exported.bytes))?;
    fs::write(path.with_extension("dgp"), &exported.bytes)?;
    Ok(())
}
