//! Writes the small models that fuzzing starts from: one of every kind that the format knows.
//!
//!     cargo run -p diffgp-tests --example fuzz_seeds

#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../random_models.rs"]
mod random_models;

use diffgp_core::kernel::KernelKind::{Matern32, Matern52, Rbf};
use diffgp_train::export::{Metadata, export};
use random_models::{Shape, classes, model, names, scaling};
use std::fs;
use std::path::PathBuf;

fn main() {
    let small = Shape { inputs: 1, flow_inducing: 2, steps: 2, predictor_inducing: 3, ..Shape::SMALL };
    let shapes = [
        ("no-flow", Shape { flow_inducing: 0, ..small.clone() }),
        ("one-input", small.clone()),
        ("per-dimension", Shape { inputs: 2, kind: Matern32, ..small.clone() }),
        ("shared", Shape { inputs: 3, per_dimension: false, steps: 3, kind: Matern52, ..small.clone() }),
        ("classifier", Shape { inputs: 2, classifier: true, per_dimension: false, ..small.clone() }),
        ("classes", Shape { inputs: 2, classifier: true, outputs: 3, predictor_inducing: 2, ..small.clone() }),
        ("two-targets", Shape { outputs: 2, per_output: true, flow_inducing: 0, ..small.clone() }),
        ("folded-in-time", Shape { inducing_times: 3, steps: 1, kind: Rbf, ..small.clone() }),
        ("time-features", Shape { inducing_times: 2, steps: 3, flow_inducing: 1, predictor_inducing: 5, ..small }),
    ];
    for (name, shape) in shapes {
        let names = if shape.inputs == 1 { Vec::new() } else { names(&shape) };
        let classes = if shape.inputs == 1 { Vec::new() } else { classes(&shape) };
        let metadata = Metadata {
            scaling: &scaling(&shape),
            names: &names,
            classes: &classes,
            model_id: b"",
            discretisation: None,
        };
        let bytes = export(&model(&shape), &metadata, &[]).expect("the model can be exported").bytes;
        for target in ["blob", "repaired"] {
            let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target).join(name);
            fs::write(&path, &bytes).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        }
        println!("{name}: {} bytes", bytes.len());
    }
}
