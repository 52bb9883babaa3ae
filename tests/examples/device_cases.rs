//! Writes what the boards are asked to compute, and what the host computes for it.
//!
//! `cargo run --release -p diffgp-tests --example device_cases -- DIRECTORY` writes three files per case: the model
//! (`NAME.dgp`), the inputs (`NAME.job`, see `firmware-example/src/job.rs`) and the lines that a device must print
//! (`NAME.expected`): bit patterns, computed here by diffgp-infer.

#[path = "device_cases/random_model.rs"]
mod random_model;

use diffgp_infer::{Error, Keyed, Model, Noise, Prediction, Workspace};
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::data::{Affine, Range, Scaling};
use diffgp_train::export::{Metadata, export};
use random_model::{Shape, random_model};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const SEED: u64 = 0x0123_4567_89ab_cdef;

/// A model and how much is asked of it.
struct Case {
    name: &'static str,
    shape: Shape,
    rows: u32,
    paths: u32,
}

fn cases() -> Vec<Case> {
    // The model of the bars: D = 8, M = 100, K = 20, one kernel per dimension, variance of full rank.
    let bars = Shape { inputs: 8, inducing: 100, steps: 20, ..Shape::default() };
    // What fits into the smallest board.
    let small = Shape { inputs: 4, inducing: 50, steps: 20, ..Shape::default() };
    vec![
        Case { name: "bars", shape: bars, rows: 10, paths: 1 },
        // No directions, a few, and fewer steps: the differences are the cost of the directions and of a step. They
        // also fit into boards that have no room for `bars`.
        Case { name: "rank-0", shape: Shape { rank: 0, ..bars }, rows: 1, paths: 1 },
        Case { name: "rank-16", shape: Shape { rank: 16, ..bars }, rows: 1, paths: 1 },
        Case { name: "rank-0-half-the-steps", shape: Shape { rank: 0, steps: 10, ..bars }, rows: 1, paths: 1 },
        Case { name: "small", shape: small, rows: 20, paths: 2 },
        Case { name: "small-shared", shape: Shape { shared: true, ..small }, rows: 20, paths: 2 },
        Case { name: "small-classifier", shape: Shape { classifier: true, shared: true, ..small }, rows: 20, paths: 2 },
        Case { name: "small-matern32", shape: Shape { matern: Some(3), shared: true, ..small }, rows: 20, paths: 2 },
        Case { name: "small-matern52", shape: Shape { matern: Some(5), shared: true, ..small }, rows: 20, paths: 2 },
        Case { name: "small-temporal", shape: Shape { inducing: 20, times: 3, ..small }, rows: 20, paths: 2 },
        Case { name: "small-no-flow", shape: Shape { steps: 0, ..small }, rows: 20, paths: 2 },
    ]
}

fn main() {
    let directory = env::args_os().nth(1).expect("usage: device_cases DIRECTORY");
    let directory = Path::new(&directory);
    fs::create_dir_all(directory).expect("the directory can be made");
    for case in cases() {
        let write = |extension: &str, bytes: &[u8]| {
            let path = directory.join(case.name).with_extension(extension);
            fs::write(&path, bytes).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        };
        let blob = blob(&case);
        let inputs = inputs(&case);
        write("job", &job(&case, &inputs));
        write("expected", expected(&case, &blob, &inputs).as_bytes());
        write("dgp", &blob);
    }
}

fn blob(case: &Case) -> Vec<u8> {
    let scaling = Scaling {
        inputs: vec![Affine { mean: 20.0, scale: 4.0 }; case.shape.inputs],
        target: if case.shape.classifier { Affine::IDENTITY } else { Affine { mean: 100.0, scale: 30.0 } },
        ranges: vec![Range { min: 12.0, max: 28.0 }; case.shape.inputs],
    };
    let metadata = Metadata { scaling: &scaling, names: &[], model_id: case.name.as_bytes() };
    export(&random_model(&case.shape), &metadata, &[]).expect("the model can be exported").bytes
}

/// Raw inputs, some of them outside the range.
fn inputs(case: &Case) -> Vec<f32> {
    let mut noise = Keyed::new(SEED, 1);
    (0..case.rows as usize * case.shape.inputs).map(|_| 20.0 + 4.0 * noise.normal()).collect()
}

fn job(case: &Case, inputs: &[f32]) -> Vec<u8> {
    let head = [case.shape.inputs as u32, case.rows, case.paths, SEED as u32, (SEED >> 32) as u32];
    head.into_iter().chain(inputs.iter().map(|x| x.to_bits())).flat_map(u32::to_le_bytes).collect()
}

/// What `firmware-example/src/bin/measure.rs` prints for every row.
fn expected(case: &Case, blob: &[u8], inputs: &[f32]) -> String {
    let aligned = AlignedBytes::new(blob);
    let model = Model::parse(aligned.as_slice()).expect("the blob can be parsed");
    let mut workspace = Workspace::<8, 100>::new();
    let mut lines = String::new();
    for (row, x) in inputs.chunks_exact(case.shape.inputs).enumerate() {
        show(&mut lines, "drift", row, model.predict(x, &mut workspace));
        let mut noise = Keyed::new(SEED, row as u32);
        show(&mut lines, "sampled", row, model.predict_sampled(x, case.paths, &mut noise, &mut workspace));
    }
    lines
}

fn show(lines: &mut String, name: &str, row: usize, prediction: Result<Prediction, Error>) {
    let p = prediction.expect("a prediction of a model of moderate size is finite");
    let numbers = [p.mean(), p.variance(), p.latent_variance(), p.probability().unwrap_or(-1.0)];
    write!(lines, "{name} {row:08x}").expect("a string can grow");
    for number in numbers {
        write!(lines, " {:08x}", number.to_bits()).expect("a string can grow");
    }
    writeln!(lines, " {:08x}", u32::from(p.in_range())).expect("a string can grow");
}
