//! What a prediction takes: counts against a walk through it, and the instructions that are estimated from them against
//! those that were counted on emulated boards (`firmware-example/cost.json`, written by `cargo xtask cost`).

#[path = "examples/cost_shapes/blob.rs"]
mod blob;
#[path = "examples/cost_shapes/shape.rs"]
mod shape;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use diffgp_infer::{Model, Work};
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::device_cost::Core;
use serde::Deserialize;
use shape::Shape;

#[derive(Deserialize)]
struct Record {
    instructions: BTreeMap<String, BTreeMap<String, f64>>,
    validated: Vec<Counted>,
    fitted: Vec<Counted>,
}

#[derive(Deserialize)]
struct Counted {
    shape: Shape,
    /// By core: along the drift and of a sampled path.
    instructions: BTreeMap<String, [u64; 2]>,
}

fn record() -> Record {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-example/cost.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn with_model<R>(shape: &Shape, look: impl FnOnce(&Model<'_>) -> R) -> R {
    let bytes = AlignedBytes::new(&blob::blob(shape));
    look(&Model::parse(bytes.as_slice()).unwrap())
}

/// Estimate over count, along the drift and of a sampled path.
fn ratios(counted: &Counted, core: Core) -> Option<[f64; 2]> {
    let [drift, sampled] = *counted.instructions.get(core.id())?;
    let work = with_model(&counted.shape, |model| core.work(model));
    let ratio = |estimate: u64, counted: u64| estimate as f64 / counted as f64;
    Some([ratio(work.instructions_per_prediction, drift), ratio(work.instructions_per_sampled_path, sampled)])
}

#[test]
fn estimates_are_close_to_what_was_counted_on_every_shape() {
    let record = record();
    assert!(record.validated.len() >= 30);
    for core in Core::ALL {
        let bar = if [Core::M4f, Core::M33].contains(&core) { 0.05 } else { 0.1 };
        for counted in record.validated.iter().chain(&record.fitted) {
            for ratio in ratios(counted, core).into_iter().flatten() {
                assert!((ratio - 1.0).abs() < bar, "{core:?}: {ratio} times what was counted: {:?}", counted.shape);
            }
        }
    }
}

/// These two were once estimated at a small share of their work.
#[test]
fn the_shapes_of_the_record_include_the_worst_and_those_that_change_with_time() {
    let record = record();
    let has = |what: &dyn Fn(&Shape) -> bool| record.validated.iter().filter(|c| what(&c.shape)).count();
    let worst = |s: &Shape| (s.inputs, s.steps, s.inducing) == (64, 4096, 1);
    assert_eq!(has(&worst), 1);
    assert!(has(&|s| s.times > 0) >= 2 && has(&|s| s.folded) >= 2);
    let hostile = record.validated.iter().find(|c| worst(&c.shape)).unwrap();
    assert_eq!(hostile.instructions.keys().collect::<Vec<_>>(), ["m0", "m3", "m33", "m4f", "rv32"]);
    assert!(hostile.instructions["m4f"].iter().all(|&count| count > 100_000_000));
}

#[test]
fn figures_are_those_of_the_record() {
    let record = record();
    for core in Core::ALL {
        let figures: BTreeMap<String, f64> = core.figures().iter().map(|&(name, f)| (name.to_owned(), f)).collect();
        assert_eq!(record.instructions[core.id()], figures, "`cargo xtask cost` writes both");
    }
}

/// 2.4 instructions of a core with floating-point hardware each.
#[test]
fn operations_are_proportional_to_instructions() {
    for counted in &record().validated {
        let [drift, sampled] = counted.instructions["m4f"];
        let (of_drift, of_path) =
            with_model(&counted.shape, |model| (model.work().operations(), model.work_per_path().operations()));
        for (operations, instructions) in [(of_drift, drift), (of_path, sampled)] {
            let ratio = operations as f64 * 2.4 / instructions as f64;
            assert!((0.9..1.1).contains(&ratio), "{ratio}: {:?}", counted.shape);
        }
    }
}

/// Goes through a prediction piece by piece and adds up what each does, from the shape alone.
fn walk(shape: &Shape, sampled: bool) -> BTreeMap<&'static str, u64> {
    let mut counts: BTreeMap<&'static str, u64> = Work::NAMES.iter().map(|&name| (name, 0)).collect();
    let mut add = |name: &'static str, count: usize| *counts.get_mut(name).unwrap() += count as u64;
    add("paths", 1);
    add("seeds", usize::from(sampled));
    add("inputs", shape.inputs);
    if shape.fixed {
        walk_in_integers(shape, sampled, &mut add);
    } else {
        walk_in_singles(shape, sampled, &mut add);
    }
    match shape.likelihood {
        1 => add("probits", 1),
        2 => {
            add("classes", shape.outputs);
            add("class_pairs", shape.outputs * (shape.outputs - 1));
        }
        _ => {}
    }
    counts
}

fn walk_in_singles(shape: &Shape, sampled: bool, add: &mut impl FnMut(&'static str, usize)) {
    for step in 0..=shape.steps {
        let flows = step < shape.steps;
        let (outputs, shared, points, times) = match flows {
            true => (shape.inputs, shape.shared, shape.inducing, shape.times),
            false => (shape.outputs, !shape.per_output, shape.predictor_inducing, 0),
        };
        let rank = if flows { shape.rank } else { shape.predictor_rank };
        let features = points * times.max(1);
        for output in 0..outputs {
            add("outputs", 1);
            if output == 0 || !shared {
                add("kernels", 1);
                add("products", shape.inputs + points * times);
                add("timed_points", if times > 0 { points } else { 0 });
                add(if shape.kernel == 0 { "exponentials" } else { "matern" }, points);
                for block in 0..points.div_ceil(8) {
                    let here = (points - 8 * block).min(8);
                    let integers = shape.bits[0] < 32;
                    add(if integers { "integer_blocks" } else { "point_blocks" }, 1);
                    add(if integers { "integer_squares" } else { "squares" }, here * shape.inputs);
                    add(
                        if integers { "filling_integer_squares" } else { "filling_squares" },
                        (8 - here) * shape.inputs,
                    );
                    add("products", if integers { here } else { 0 });
                }
            }
            match shape.bits[1] {
                32 => {
                    add("weights", features / 8 * 8);
                    add("loose_weights", features % 8);
                }
                _ => add("integer_weights", features),
            }
            if sampled || !flows {
                add("variances", 1);
                let integers = shape.bits[2] < 32;
                for block in 0..rank.div_ceil(8) {
                    let here = (rank - 8 * block).min(8);
                    add(if integers { "integer_blocks" } else { "direction_blocks" }, 1);
                    add(if integers { "integer_directions" } else { "directions" }, here * features);
                    add(
                        if integers { "filling_integer_directions" } else { "filling_directions" },
                        (8 - here) * features,
                    );
                }
            }
            add("normals", usize::from(sampled && flows));
        }
    }
}

fn walk_in_integers(shape: &Shape, sampled: bool, add: &mut impl FnMut(&'static str, usize)) {
    add("fixed_inputs", shape.inputs);
    add("fixed_answers", shape.outputs);
    for step in 0..=shape.steps {
        let flows = step < shape.steps;
        let (outputs, shared, points, rank) = match flows {
            true => (shape.inputs, shape.shared, shape.inducing, shape.rank),
            false => (shape.outputs, !shape.per_output, shape.predictor_inducing, shape.predictor_rank),
        };
        for output in 0..outputs {
            add("fixed_outputs", 1);
            if output == 0 || !shared {
                add("fixed_kernels", 1);
                add("fixed_scales", shape.inputs);
                add("fixed_squares", points.next_multiple_of(8) * shape.inputs);
                add(if shape.kernel == 0 { "fixed_points" } else { "fixed_matern" }, points);
            }
            add("fixed_weights", points);
            if sampled || !flows {
                let blocks = rank.div_ceil(8);
                add("fixed_blocks", blocks);
                let elements = if shape.bits[2] == 8 { "fixed_bytes" } else { "fixed_directions" };
                add(elements, 8 * blocks * points);
                // The first three blocks have shifts of their own, the rest that of the third.
                add("fixed_rounded", blocks.min(3) * points);
            }
            add("fixed_normals", usize::from(sampled && flows));
        }
    }
}

#[test]
fn counts_are_those_of_a_walk_through_the_prediction() {
    for counted in &record().validated {
        let shape = &counted.shape;
        let of = |work: Work| Work::NAMES.iter().copied().zip(work.counts()).collect::<BTreeMap<_, _>>();
        let (drift, sampled) = with_model(shape, |model| (of(model.work()), of(model.work_per_path())));
        assert_eq!(drift, walk(shape, false), "{shape:?}");
        assert_eq!(sampled, walk(shape, true), "{shape:?}");
    }
}
