//! Random models of shapes that span the format, for `cargo xtask cost`.
//!
//! `cost_shapes DIRECTORY` writes a model (`NAME.dgp`) and an input (`NAME.job`, D singles) for every shape, and
//! `fitted.json` and `validated.json` with the shapes and what is counted of them.

#[path = "cost_shapes/blob.rs"]
mod blob;
#[path = "cost_shapes/random.rs"]
mod random;
#[path = "cost_shapes/shape.rs"]
mod shape;

use diffgp_infer::{Keyed, Model, Noise, Work, Workspace};
use diffgp_train::aligned::AlignedBytes;
use serde_json::{Map, Value, json};
use shape::Shape;
use std::path::Path;
use std::{env, fs};

/// What the largest board holds.
const MOST_BYTES: usize = 900 << 10;
/// Of a sampled path: so that a case takes seconds in an emulator.
const MOST_OPERATIONS: u64 = 12_000_000;
/// The same where arithmetic is done in software.
const MOST_IN_SOFTWARE: u64 = 1_200_000;
/// Shapes that figures are fitted to, and others that show how good they are.
const FITTED: usize = 240;
const VALIDATED: usize = 30;
/// The same of models that are evaluated in integers.
const FITTED_INTEGERS: usize = 120;
const VALIDATED_INTEGERS: usize = 30;

fn main() {
    let directory = env::args_os().nth(1).expect("usage: cost_shapes DIRECTORY");
    let directory = Path::new(&directory);
    fs::create_dir_all(directory).expect("the directory can be made");
    let random = |seed, count| (0..).map(move |number| Shape::random(seed, number)).filter(is_moderate).take(count);
    let integers = |seed| (0..).map(move |number| Shape::random(seed, number).in_integers()).filter(is_moderate);
    let cases = |name: &str, shapes: &mut dyn Iterator<Item = Shape>| {
        let cases: Vec<Value> =
            shapes.enumerate().map(|(n, shape)| case(directory, &format!("{name}-{n}"), shape)).collect();
        let text = serde_json::to_string(&cases).expect("cases are JSON");
        fs::write(directory.join(format!("{name}.json")), text).expect("the list can be written");
    };
    cases("fitted", &mut random(1, FITTED).chain(integers(3).take(FITTED_INTEGERS)));
    cases("validated", &mut random(2, VALIDATED).chain([Shape::hostile()]).chain(integers(4).take(VALIDATED_INTEGERS)));
}

/// Writes the files of a case; what is counted of it.
fn case(directory: &Path, name: &str, shape: Shape) -> Value {
    let bytes = AlignedBytes::new(&blob::blob(&shape));
    let model = Model::parse(bytes.as_slice()).expect("the blob can be parsed");
    let mut noise = Keyed::new(1, 1);
    let x: Vec<f32> = (0..shape.inputs).map(|_| 20.0 + 4.0 * noise.normal()).collect();
    let mut workspace = Workspace::<64, 1024, 32>::new();
    model.predict_sampled(&x, 1, &mut Keyed::new(0, 0), &mut workspace).expect("a finite prediction");
    let job: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
    fs::write(directory.join(format!("{name}.dgp")), bytes.as_slice()).expect("the model can be written");
    fs::write(directory.join(format!("{name}.job")), job).expect("the input can be written");
    let hostile = shape.steps == 4096;
    let everywhere = hostile || model.work_per_path().operations() <= MOST_IN_SOFTWARE;
    json!({ "name": name, "shape": shape, "bytes": bytes.as_slice().len(), "everywhere": everywhere,
        "drift": counts(model.work()), "sampled": counts(model.work_per_path()) })
}

fn is_moderate(shape: &Shape) -> bool {
    let outputs = if shape.folded { shape.steps } else { 1 } * shape.inputs;
    let features = shape.inducing * shape.times.max(1);
    let numbers = outputs * features * (1 + shape.rank.next_multiple_of(8))
        + shape.outputs * shape.predictor_inducing * (1 + shape.predictor_rank.next_multiple_of(8))
        + (shape.inputs + shape.outputs)
            * shape.inputs
            * (shape.inducing + shape.predictor_inducing).next_multiple_of(8);
    // Not even tried: most of the time would go into writing them.
    if features > 1024 || numbers > 1_500_000 {
        return false;
    }
    let bytes = AlignedBytes::new(&blob::blob(shape));
    let model = Model::parse(bytes.as_slice()).expect("the blob can be parsed");
    bytes.as_slice().len() <= MOST_BYTES && model.work_per_path().operations() <= MOST_OPERATIONS
}

fn counts(work: Work) -> Value {
    let counts = Work::NAMES.iter().zip(work.counts()).map(|(&name, count)| (name.to_owned(), count.into()));
    Value::Object(counts.collect::<Map<_, _>>())
}
