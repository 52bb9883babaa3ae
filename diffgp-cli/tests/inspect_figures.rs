//! What `diffgp inspect` estimates against what was measured on the boards (`firmware-example/figures.json`).

use std::fs;
use std::path::Path;

use diffgp_core::kernel::KernelKind;
use diffgp_train::data::{Affine, Range, Scaling};
use diffgp_train::export::{Metadata, export};
use diffgp_train::params::{Flow, Kernel, Likelihood, Params, Posterior, Process};
use nalgebra::{DMatrix, DVector};
use serde_json::Value;

use crate::runner::Folder;

/// Steps of every measured model.
const STEPS: usize = 20;

/// One set of figures stands for every shape; `tests/device_work.rs` holds the estimates to shapes that span the format.
const HARDWARE: f64 = 0.025;
/// Arithmetic in software takes longer for some numbers than for others, and the measured models have numbers of their own.
const SOFTWARE: f64 = 0.05;

/// Which of the families in `inspect` a board belongs to, and how close the estimate must be.
fn family(board: &str) -> (&'static str, f64) {
    match board {
        "m0" => ("Cortex-M0", SOFTWARE),
        "m3" => ("Cortex-M3", SOFTWARE),
        "m4f" | "m7" => ("Cortex-M4F, M7", HARDWARE),
        "m33" | "m55" => ("Cortex-M33, M55", HARDWARE),
        "rv32" | "rv32imc" => ("RISC-V RV32IMAC", SOFTWARE),
        other => panic!("board {other} has no family in `inspect`"),
    }
}

fn figures() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-example/figures.json");
    let record: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    record["boards"].as_array().unwrap().clone()
}

/// A model of a measured shape: D inputs, M inducing points, one kernel per dimension, variances of full rank or, in the
/// flow, none at all. The estimate looks at nothing else.
fn model(inputs: usize, inducing: usize, full_rank: bool, kind: KernelKind) -> Vec<u8> {
    let points = || DMatrix::from_fn(inducing, inputs, |m, d| ((m * (7 + d) + d) % 97) as f64 / 20.0 - 2.5);
    let kernel = || Kernel { kind, variance: 0.5, length_scales: vec![1.0; inputs] };
    // I − L Lᵀ has the rank of I for L = I/2, and none for L = I.
    let posterior = |scale: f64| Posterior {
        mean: DVector::from_element(inducing, 0.1),
        factor: DMatrix::identity(inducing, inducing) * scale,
    };
    let params = Params {
        flow: Some(Flow {
            time: 2.0,
            steps: STEPS,
            scheme: diffgp_core::scheme::Scheme::EulerMaruyama,
            temporal: None,
            field: Process {
                inducing: points(),
                kernels: (0..inputs).map(|_| kernel()).collect(),
                posteriors: (0..inputs).map(|_| posterior(if full_rank { 0.5 } else { 1.0 })).collect(),
            },
        }),
        predictor: Process { inducing: points(), kernels: vec![kernel()], posteriors: vec![posterior(0.5)] },
        likelihood: Likelihood::Gaussian { noise: vec![0.05] },
        jitter: 1e-5,
        variance_floor: 1e-9,
    };
    let scaling = Scaling {
        inputs: vec![Affine::IDENTITY; inputs],
        targets: vec![Affine::IDENTITY],
        ranges: vec![Range { min: -1.0, max: 1.0 }; inputs],
    };
    export(
        &params,
        &Metadata { scaling: &scaling, names: &[], classes: &[], model_id: b"shape", discretisation: None },
        &[],
    )
    .unwrap()
    .bytes
}

#[test]
fn estimated_work_is_close_to_the_measured_work_on_every_board() {
    let folder = Folder::new();
    let estimate = |name: &str, bytes: Vec<u8>| {
        folder.write(name, bytes);
        folder.run(&format!("inspect {name} --json")).json()["work"].clone()
    };
    let small = estimate("small.dgp", model(4, 50, true, KernelKind::Rbf));
    let rough = estimate("rough.dgp", model(4, 50, true, KernelKind::Matern32));
    let large = estimate("large.dgp", model(8, 100, true, KernelKind::Rbf));
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/blobs/v2-kin8nm-32k.dgp");
    let compressed = estimate("compressed.dgp", fs::read(stored).unwrap());
    let compared = [
        ("instructions_small_prediction", &small, "instructions_per_prediction"),
        ("instructions_small_sampled_path", &small, "instructions_per_sampled_path"),
        ("instructions_small_matern32_prediction", &rough, "instructions_per_prediction"),
        ("instructions_small_matern32_sampled_path", &rough, "instructions_per_sampled_path"),
        // The drift needs no variance in the flow: its rank makes no difference.
        ("instructions_per_prediction", &large, "instructions_per_prediction"),
        ("instructions_per_sampled_path", &large, "instructions_per_sampled_path"),
        ("instructions_compressed_prediction", &compressed, "instructions_per_prediction"),
        ("instructions_compressed_sampled_path", &compressed, "instructions_per_sampled_path"),
    ];
    for figures in figures() {
        let board = figures["board"].as_str().unwrap();
        let (core, tolerance) = family(board);
        for (figure, work, key) in compared {
            // Absent where the model does not fit.
            let Some(measured) = figures[figure].as_f64() else { continue };
            let of_core = work.as_array().unwrap().iter().find(|work| work["core"] == core).unwrap();
            let ratio = of_core[key].as_f64().unwrap() / measured;
            assert!((ratio - 1.0).abs() < tolerance, "{board}: {key} is {ratio} times {figure}");
        }
    }
}

#[test]
fn the_drift_costs_the_same_whatever_the_rank() {
    let folder = Folder::new();
    let [full, none] = [true, false].map(|full_rank| {
        folder.write("model.dgp", model(8, 100, full_rank, KernelKind::Rbf));
        folder.run("inspect model.dgp --json").json()["work"][0].clone()
    });
    assert_eq!(full["instructions_per_prediction"], none["instructions_per_prediction"]);
    let sampled = |work: &Value| work["instructions_per_sampled_path"].as_f64().unwrap();
    assert!(sampled(&full) > 2.0 * sampled(&none), "{full} {none}");
}

#[test]
fn the_stack_is_the_measured_one() {
    let folder = Folder::new();
    folder.write("model.dgp", model(4, 50, true, KernelKind::Rbf));
    let stacks: Vec<u64> = figures().iter().map(|figures| figures["stack_bytes"].as_u64().unwrap()).collect();
    let (least, most) = (stacks.iter().min().unwrap(), stacks.iter().max().unwrap());
    assert_eq!(folder.run("inspect model.dgp --json").json()["stack_bytes_estimated"], *most);
    let text = folder.run("inspect model.dgp").succeeds().stdout;
    assert!(text.contains(&format!("measured: {least} to {most}")), "{text}");
}
