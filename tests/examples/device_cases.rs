//! Writes what the boards are asked to compute, and what the host computes for it.
//!
//! `cargo run --release -p diffgp-tests --example device_cases -- DIRECTORY` writes three files per case: the model
//! (`NAME.dgp`), the inputs (`NAME.job`, see `firmware-example/src/job.rs`) and the lines that a device must print
//! (`NAME.expected`): bit patterns, computed here by diffgp-infer.

#[path = "device_cases/random_model.rs"]
mod random_model;

use diffgp_core::blob::CalibrationRecord;
use diffgp_infer::{Error, Keyed, Model, Noise, Prediction, Scheme, Workspace};
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::calibration::{Bars, Calibration, CalibrationSource, with_calibration};
use diffgp_train::compress::{Goal, compress, made_up_inputs};
use diffgp_train::data::{Affine, Range, Scaling};
use diffgp_train::export::{Metadata, export};
use diffgp_train::threads::Threads;
use random_model::{Shape, random_model};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

const SEED: u64 = 0x0123_4567_89ab_cdef;

/// A model and how much is asked of it.
struct Case {
    name: String,
    blob: AlignedBytes,
    rows: u32,
    paths: u32,
}

/// Trained models, 100 rows each or nearly all, then random ones: those that the figures are derived from, and those of kinds that
/// no stored model has.
fn cases() -> Vec<Case> {
    // The model of the bars: D = 8, M = 100, K = 20, one kernel per dimension, variance of full rank.
    let bars = Shape { inputs: 8, inducing: 100, steps: 20, ..Shape::default() };
    // What fits into the smallest board.
    let small = Shape { inputs: 4, inducing: 50, steps: 20, ..Shape::default() };
    let random = [
        ("bars", bars, 5),
        // No directions, a few, and fewer steps: the differences are the cost of the directions and of a step. They
        // also fit into boards that have no room for `bars`.
        ("rank-0", Shape { rank: 0, ..bars }, 1),
        ("rank-16", Shape { rank: 16, ..bars }, 1),
        ("rank-0-half-the-steps", Shape { rank: 0, steps: 10, ..bars }, 1),
        ("small", small, 10),
        ("small-midpoint", Shape { steps: 5, scheme: Scheme::Midpoint, ..small }, 10),
        ("small-matern32", Shape { matern: Some(3), ..small }, 10),
        ("small-matern52", Shape { matern: Some(5), shared: true, ..small }, 10),
        ("small-time-features", Shape { inducing: 20, times: 3, ..small }, 10),
        ("small-six-classes", Shape { inducing: 20, outputs: 6, classes: true, ..small }, 10),
        ("small-two-targets", Shape { inducing: 30, outputs: 2, per_output: true, ..small }, 10),
        ("small-no-flow", Shape { steps: 0, ..small }, 10),
    ];
    let random = random.map(|(name, shape, rows)| {
        let blob = AlignedBytes::new(&random_blob(name, &shape));
        Case { name: name.to_owned(), blob, rows, paths: 1 }
    });
    // What no stored model in integers has.
    let fixed = Shape { inducing: 20, steps: 5, ..small };
    let fixed = [
        // As many steps as by default, and `small-midpoint` otherwise.
        ("small-midpoint-integers", Shape { steps: 5, scheme: Scheme::Midpoint, ..small }),
        ("small-matern32-integers", Shape { matern: Some(3), ..fixed }),
        ("small-matern52-integers", Shape { matern: Some(5), shared: true, outputs: 2, per_output: true, ..fixed }),
        ("small-no-flow-integers", Shape { steps: 0, ..fixed }),
    ];
    let fixed = fixed.map(|(name, shape)| {
        let blob = integers(&AlignedBytes::new(&random_blob(name, &shape)));
        Case { name: name.to_owned(), blob, rows: 100, paths: 1 }
    });
    let bars = calibrated(&Shape { steps: 5, scheme: Scheme::Midpoint, ..small });
    stored().chain(random).chain(fixed).chain([bars]).collect()
}

/// Error bars that depend on the mean and have heavy tails, other ones along the drift.
fn calibrated(shape: &Shape) -> Case {
    let record = CalibrationRecord {
        noise_factor: 0.7,
        latent_factor: 1.9,
        slope: -0.4,
        curvature: 0.15,
        low: -1.5,
        high: 1.5,
        spread: 1.3,
        quantiles: [0.3, 0.6, 0.9, 1.3, 1.9, 2.7, 4.1, 7.0],
    };
    let sampled = CalibrationRecord { slope: 0.3, ..record };
    let ways = [record, sampled].map(|record| Bars::Targets(vec![record])).to_vec();
    let calibration = Calibration { rows: 100, source: CalibrationSource::Fresh, ways };
    let name = "small-calibrated";
    let blob = with_calibration(&random_blob(name, shape), Some(&calibration)).expect("a model");
    Case { name: name.to_owned(), blob: AlignedBytes::new(&blob), rows: 10, paths: 1 }
}

/// The same model, to be evaluated in integers.
fn integers(original: &AlignedBytes) -> AlignedBytes {
    let inputs = made_up_inputs(&Model::parse(original.as_slice()).expect("the blob can be parsed"));
    let goal = Goal { integers: true, ..Goal::default() };
    let threads = Threads::new(0).expect("threads can be started");
    let compressed = compress(original.as_slice(), &inputs, &goal, &|_| 1, &mut |_| (), &threads);
    AlignedBytes::new(&compressed.expect("a random model has a form in integers").bytes)
}

/// Trained on real data: a regression, a classifier, a field that changes with time; shared kernels and one for each.
fn stored() -> impl Iterator<Item = Case> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("blobs");
    let entries = fs::read_dir(directory).expect("tests/blobs exists").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "dgp")).map(|path| {
        let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let blob = AlignedBytes::new(&fs::read(&path).expect("a stored model can be read"));
        // The one large model that runs on boards without floating-point hardware, where a path takes a second.
        let rows = if name == "v2-kin8nm-32k" { 20 } else { 100 };
        Case { name, blob, rows, paths: 1 }
    })
}

fn main() {
    let directory = env::args_os().nth(1).expect("usage: device_cases DIRECTORY");
    let directory = Path::new(&directory);
    fs::create_dir_all(directory).expect("the directory can be made");
    for case in cases() {
        let write = |extension: &str, bytes: &[u8]| {
            let path = directory.join(&case.name).with_extension(extension);
            fs::write(&path, bytes).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        };
        let model = Model::parse(case.blob.as_slice()).expect("the blob can be parsed");
        let inputs = inputs(&case, &model);
        write("job", &job(&case, &model, &inputs));
        write("expected", expected(&case, &model, &inputs).as_bytes());
        write("dgp", case.blob.as_slice());
    }
}

fn random_blob(name: &str, shape: &Shape) -> Vec<u8> {
    let scaling = Scaling {
        inputs: vec![Affine { mean: 20.0, scale: 4.0 }; shape.inputs],
        targets: if shape.classes {
            vec![Affine::IDENTITY]
        } else {
            vec![Affine { mean: 100.0, scale: 30.0 }; shape.outputs]
        },
        ranges: vec![Range { min: 12.0, max: 28.0 }; shape.inputs],
    };
    let metadata =
        Metadata { scaling: &scaling, names: &[], classes: &[], model_id: name.as_bytes(), discretisation: None };
    export(&random_model(shape), &metadata, &[]).expect("the model can be exported").bytes
}

/// Raw inputs around the middle of the ranges seen in training, some of them outside.
fn inputs(case: &Case, model: &Model<'_>) -> Vec<f32> {
    let mut noise = Keyed::new(SEED, 1);
    let ranges: Vec<_> = (0..).map_while(|index| model.blob().input(index)).collect();
    let row = |_| ranges.iter().map(|r| 0.5 * (r.low + r.high)).zip(ranges.iter().map(|r| 0.2 * (r.high - r.low)));
    (0..case.rows).flat_map(row).map(|(middle, spread)| middle + spread * noise.normal()).collect()
}

fn job(case: &Case, model: &Model<'_>, inputs: &[f32]) -> Vec<u8> {
    let head = [model.inputs() as u32, case.rows, case.paths, SEED as u32, (SEED >> 32) as u32];
    head.into_iter().chain(inputs.iter().map(|x| x.to_bits())).flat_map(u32::to_le_bytes).collect()
}

/// What `firmware-example/src/bin/measure.rs` prints for every row.
fn expected(case: &Case, model: &Model<'_>, inputs: &[f32]) -> String {
    let mut workspace = Workspace::<64, 1024, 32>::new();
    let mut lines = String::new();
    for (row, x) in inputs.chunks_exact(model.inputs()).enumerate() {
        show(&mut lines, "drift", row, model.predict(x, &mut workspace));
        let mut noise = Keyed::new(SEED, row as u32);
        show(&mut lines, "sampled", row, model.predict_sampled(x, case.paths, &mut noise, &mut workspace));
        // The host does it in one go, the device piece by piece.
        let mut noise = Keyed::new(SEED, row as u32);
        show(&mut lines, "resumed", row, model.predict_sampled(x, case.paths, &mut noise, &mut workspace));
    }
    lines
}

/// Row, inputs out of range, then mean, variance, latent variance and the low end of the 90 % interval of every output, then every probability.
fn show(lines: &mut String, name: &str, row: usize, prediction: Result<Prediction<'_>, Error>) {
    let p = prediction.expect("a prediction of a model of moderate size is finite");
    let outputs = p.outputs().flat_map(|output| {
        let (low, _) = output.interval(0.9).unwrap_or_default();
        [output.mean(), output.variance(), output.latent_variance(), low]
    });
    write!(lines, "{name} {row:08x} {:08x}", p.out_of_range().bits()).expect("a string can grow");
    for number in outputs.chain(p.probabilities()) {
        write!(lines, " {:08x}", number.to_bits()).expect("a string can grow");
    }
    lines.push('\n');
}
