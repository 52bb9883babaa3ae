//! What the page is told: names, ranges, costs, and as base64 the model, the runtime and some rows.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use diffgp_infer::Model;
use diffgp_train::device_cost::Core;
use serde::Serialize;

use super::page::{Page, RUNTIME, Rows};
use crate::{importance, inspect, model_names};

/// Processors, the family whose instructions are theirs, and the clock that the README's tables have.
const BOARDS: [(&str, Core, u32); 7] = [
    ("Cortex-M0", Core::M0, 16),
    ("Cortex-M3", Core::M3, 72),
    ("Cortex-M4F", Core::M4f, 100),
    ("Cortex-M7", Core::M4f, 400),
    ("Cortex-M33", Core::M33, 100),
    ("Cortex-M55", Core::M33, 100),
    ("RV32IMAC", Core::Rv32, 100),
];

#[derive(Serialize)]
pub(super) struct Facts<'a> {
    title: &'a str,
    inputs: Vec<Input>,
    /// Real targets, or the one column of a class.
    targets: Vec<Target>,
    /// O.
    outputs: usize,
    /// None for real targets.
    classes: Option<Vec<String>>,
    flow: Option<Flow>,
    /// One over the predictor's length-scale of every input.
    importance: Vec<f64>,
    cost: Cost,
    rows: Option<RowFacts<'a>>,
    model: String,
    runtime: String,
}

#[derive(Serialize)]
struct Input {
    name: String,
    unit: Option<String>,
    low: f32,
    high: f32,
    mean: f32,
    deviation: f32,
}

#[derive(Serialize)]
struct Target {
    name: String,
    unit: Option<String>,
    mean: f32,
    deviation: f32,
}

#[derive(Serialize)]
struct Flow {
    time: f32,
    steps: usize,
    /// Whether the drift changes with time.
    timed: bool,
}

#[derive(Serialize)]
struct Cost {
    bytes: usize,
    ram: usize,
    stack: usize,
    boards: Vec<Board>,
}

#[derive(Serialize)]
struct Board {
    name: &'static str,
    megahertz: u32,
    along_drift: u64,
    per_path: u64,
}

#[derive(Serialize)]
struct RowFacts<'a> {
    described: &'a str,
    /// Of every row its number in the file.
    numbers: Vec<u32>,
    /// Row by row the inputs and then the targets: singles, the lowest byte first.
    cells: String,
}

impl<'a> Facts<'a> {
    pub(super) fn new(page: &Page<'a>) -> Self {
        let model = page.file.model();
        let (blob, header) = (model.blob(), model.blob().header());
        let mut units = blob.units().map(|unit| (!unit.is_empty()).then(|| unit.to_owned()));
        let mut unit = || units.next().flatten();
        let named_inputs = model_names::inputs(&model).into_iter().enumerate();
        let inputs = named_inputs.filter_map(|(index, name)| {
            let input = blob.input(index)?;
            let (unit, deviation) = (unit(), 1.0 / input.scale);
            Some(Input { name, unit, low: input.low, high: input.high, mean: input.mean, deviation })
        });
        let inputs = inputs.collect();
        let named_targets = model_names::targets(&model).into_iter().enumerate();
        let targets = named_targets.map(|(index, name)| {
            let target = blob.target(index);
            Target { name, unit: unit(), mean: target.mean, deviation: target.scale }
        });
        let targets = targets.collect();
        let timed = header.inducing_times > 0 || header.tables > 1;
        Self {
            title: page.name,
            inputs,
            targets,
            outputs: model.outputs(),
            classes: model.is_classifier().then(|| model_names::classes(&model)),
            flow: (model.steps() > 0).then(|| Flow { time: header.flow_time, steps: model.steps(), timed }),
            importance: importance::sensitivities(&model),
            cost: Cost::new(&model, page.file.bytes().len()),
            rows: page.rows.map(RowFacts::new),
            model: BASE64_STANDARD.encode(page.file.bytes()),
            runtime: BASE64_STANDARD.encode(RUNTIME),
        }
    }
}

impl Cost {
    fn new(model: &Model<'_>, bytes: usize) -> Self {
        let boards = BOARDS.into_iter().map(|(name, core, megahertz)| {
            let work = core.work(model);
            let (along_drift, per_path) = (work.instructions_per_prediction, work.instructions_per_sampled_path);
            Board { name, megahertz, along_drift, per_path }
        });
        Self { bytes, ram: 4 * model.workspace_words(), stack: inspect::STACK_BYTES.1, boards: boards.collect() }
    }
}

impl<'a> RowFacts<'a> {
    fn new(rows: Rows<'a>) -> Self {
        let (mut numbers, mut cells) = (Vec::new(), Vec::new());
        for known in rows.some() {
            numbers.push(known.row.number);
            cells.extend(known.row.x.iter().chain(known.targets).flat_map(|value| value.to_le_bytes()));
        }
        Self { described: rows.described, numbers, cells: BASE64_STANDARD.encode(cells) }
    }
}
