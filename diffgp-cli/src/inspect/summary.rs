//! The figures of a model.

use std::fmt::Write;

use diffgp_core::blob::{CHECKSUM_BYTES, KernelRecord, OutputRecord, PRELUDE_BYTES, TargetRecord};
use diffgp_infer::Model;
use diffgp_train::device_cost::{Core, Work};
use diffgp_train::relevance;
use serde::Serialize;

use super::categories::{self, CategorySummary};
use super::compression::Compression;
use super::sizes::Sizes;
use crate::calibrate::Calibrated;
use crate::{console, model_names, shown};

/// Stack of parse and sampled prediction in one call, the least and the most of eight boards; it does not grow with the
/// model.
pub(crate) const STACK_BYTES: (usize, usize) = (900, 1108);

/// Everything that `inspect` shows.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub(super) bytes: usize,
    pub(super) task: &'static str,
    pub(super) inputs: usize,
    pub(super) flow_inducing: usize,
    pub(super) predictor_inducing: usize,
    pub(super) steps: usize,
    pub(super) flow_time: f32,
    pub(super) workspace_bytes: usize,
    /// M of the workspace.
    pub(super) features: usize,
    pub(super) stack_bytes_estimated: usize,
    pub(super) flow_kernels: usize,
    pub(super) inducing_times: usize,
    pub(super) kernel: String,
    pub(super) model_id: String,
    parts: Vec<Part>,
    work: Vec<Work>,
    pub(super) input: Vec<InputSummary>,
    /// Inputs that stand for words.
    pub(super) categories: Vec<CategorySummary>,
    /// O of the workspace.
    pub(super) model_outputs: usize,
    /// The first of `targets`.
    target: TargetSummary,
    targets: Vec<TargetSummary>,
    /// Names of the targets, as they are called where the model holds none.
    outputs: Vec<String>,
    /// Names of the classes; null for real targets.
    pub(super) classes: Option<Vec<String>>,
    /// How a step of the flow is made.
    scheme: &'static str,
    arithmetic: &'static str,
    /// How far the flow is from the solution of its equation, as a share of the displacement; null if it is not known.
    discretisation_error: Option<f32>,
    /// Null if this model's intervals are those of its Gaussians.
    calibration: Option<Calibrated>,
    export_errors: ExportErrors,
    #[serde(skip_serializing_if = "Option::is_none")]
    compression: Option<Compression>,
}

#[derive(Debug, Serialize)]
struct Part {
    part: &'static str,
    bytes: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct InputSummary {
    pub(super) name: Option<String>,
    pub(super) mean: f32,
    pub(super) scale: f32,
    pub(super) low: f32,
    pub(super) high: f32,
    /// One over the length-scale of the predictor, in deviations; null in integers.
    sensitivity: Option<f64>,
    /// The same of the flow, averaged over what it moves; null without one.
    flow_sensitivity: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
struct TargetSummary {
    name: Option<String>,
    mean: f32,
    scale: f32,
    /// Standard deviation of the noise, in the target's units; null for a classifier.
    noise: Option<f32>,
}

#[derive(Debug, Serialize)]
struct ExportErrors {
    mean: f32,
    variance: f32,
    rows: u32,
}

impl Summary {
    /// Of a model and the bytes it was parsed from.
    pub(super) fn new(model: &Model<'_>, file: &[u8]) -> Self {
        let blob = model.blob();
        let header = blob.header();
        let mut names = blob.names().map(str::to_owned);
        let (sensitivity, of_flow) = (relevance::sensitivities(model), relevance::flow_sensitivities(model));
        let input: Vec<InputSummary> = (0..model.inputs())
            .map_while(|index| Some((index, blob.input(index)?)))
            .map(|(index, input)| InputSummary {
                name: names.next(),
                mean: input.mean,
                scale: 1.0 / input.scale,
                low: input.low,
                high: input.high,
                sensitivity: sensitivity.as_ref().map(|of| of[index]),
                flow_sensitivity: of_flow.as_ref().map(|of| of[index]),
            })
            .collect();
        let target = |index: usize| {
            let target = blob.target(index);
            let noise = (!model.is_classifier()).then(|| target.noise.sqrt() * target.scale);
            TargetSummary { name: names.next(), mean: target.mean, scale: target.scale, noise }
        };
        let targets: Vec<TargetSummary> = (0..model_names::target_count(model)).map(target).collect();
        let (parts, bytes) = parts(model, header_bytes(file));
        Self {
            bytes,
            task: if model.is_classifier() { "classification" } else { "regression" },
            inputs: model.inputs(),
            flow_inducing: header.flow_inducing.into(),
            predictor_inducing: header.predictor_inducing.into(),
            steps: header.steps.into(),
            flow_time: header.flow_time,
            workspace_bytes: 4 * model.workspace_words(),
            features: model.features(),
            stack_bytes_estimated: STACK_BYTES.1,
            flow_kernels: header.flow_kernels.into(),
            inducing_times: header.inducing_times.into(),
            kernel: Sizes::of(model, model.steps(), 0)
                .map_or_else(String::new, |sizes| format!("{:?}", sizes.kind).to_lowercase()),
            model_id: header.model_id.iter().map(|byte| format!("{byte:02x}")).collect(),
            parts,
            work: Core::ALL.iter().map(|core| core.work(model)).collect(),
            categories: categories::of(&input),
            input,
            model_outputs: model.outputs(),
            target: targets[0].clone(),
            targets,
            outputs: model_names::targets(model),
            classes: model.is_classifier().then(|| model_names::classes(model)),
            scheme: model.scheme().id(),
            arithmetic: if model.is_fixed() { "integer" } else { "f32" },
            discretisation_error: (header.discretisation_rows > 0).then_some(header.discretisation_error),
            calibration: Calibrated::of(model),
            export_errors: ExportErrors {
                mean: header.mean_error,
                variance: header.variance_error,
                rows: header.checked_rows,
            },
            compression: Compression::new(model, file),
        }
    }

    /// For people.
    pub(super) fn text(&self, name: &str) -> String {
        let what = match (&self.classes, self.outputs.len()) {
            (Some(classes), _) => format!("{} of {} classes by", self.task, classes.len()),
            (None, 1) => format!("{} of", self.task),
            (None, targets) => format!("{} of {targets} targets on", self.task),
        };
        let name = shown::line(name);
        let mut text = format!("{name}: {what} {} inputs, {}\n", self.inputs, console::bytes(self.bytes));
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        if self.steps > 0 {
            let kernels = if self.flow_kernels == 1 { "one kernel" } else { "a kernel per input" };
            let times = match self.inducing_times {
                0 => String::new(),
                times => format!(", {times} inducing times"),
            };
            writeln!(
                text,
                "flow         T = {} in {} steps ({}), {} inducing points{times}, {kernels}",
                self.flow_time, self.steps, self.scheme, self.flow_inducing
            )?;
            if let Some(error) = self.discretisation_error {
                writeln!(text, "             {}", console::steps_error(error.into()))?;
            }
        } else {
            writeln!(text, "flow         none (a sparse Gaussian process)")?;
        }
        writeln!(text, "predictor    {} inducing points, {} kernel", self.predictor_inducing, self.kernel)?;
        let bars =
            self.calibration.as_ref().map_or_else(|| "not calibrated: as the model has them".into(), Calibrated::text);
        writeln!(text, "error bars   {bars}")?;
        if self.arithmetic == "integer" {
            writeln!(text, "arithmetic   integers: for cores without floating-point hardware")?;
        }
        writeln!(text, "model id     {}", self.model_id)?;
        writeln!(text, "\nmemory")?;
        for part in &self.parts {
            writeln!(text, "  flash  {:>9}  {}", part.bytes, part.part)?;
        }
        writeln!(text, "  flash  {:>9}  in all", self.bytes)?;
        writeln!(text, "  RAM    {:>9}  workspace", self.workspace_bytes)?;
        let (least, most) = STACK_BYTES;
        writeln!(text, "  stack  {most:>9}  about, parse and predict (measured: {least} to {most})")?;
        writeln!(text, "\nwork, estimated instructions")?;
        for work in &self.work {
            writeln!(
                text,
                "  {:<26} {:>12}  per prediction along the drift",
                work.core, work.instructions_per_prediction
            )?;
            writeln!(text, "  {:<26} {:>12}  per sampled path", "", work.instructions_per_sampled_path)?;
        }
        self.write_inputs(text)?;
        let errors = &self.export_errors;
        let compared = match &self.compression {
            Some(compression) => {
                compression.write(text)?;
                "along the drift, against the original"
            }
            None => "f32 against float64",
        };
        writeln!(
            text,
            "\n{compared} on {} rows: mean within {:.1e} standard deviations, variance within {:.1e}",
            errors.rows, errors.mean, errors.variance
        )
    }

    fn write_inputs(&self, text: &mut String) -> std::fmt::Result {
        let shown = |name: &Option<String>| name.as_deref().map_or("-".to_owned(), shown::line);
        let width = self.input.iter().map(|input| shown(&input.name).chars().count()).max().unwrap_or(0).max(6);
        writeln!(text, "\ninputs, in raw units, in this order")?;
        writeln!(
            text,
            "  {:>3}  {:<width$} {:>12} {:>12} {:>12} {:>12}{}",
            "",
            "name",
            "lowest",
            "highest",
            "mean",
            "deviation",
            sensitivities(self.input.first(), |_| "sensitivity".to_owned(), "of flow")
        )?;
        for (index, input) in self.input.iter().enumerate() {
            writeln!(
                text,
                "  {index:>3}  {:<width$} {:>12} {:>12} {:>12} {:>12}{}",
                shown(&input.name),
                end(input.low),
                end(input.high),
                mean(input.mean, input.scale),
                deviation(input.scale),
                sensitivities(
                    Some(input),
                    |value| format!("{value:.3}"),
                    &input.flow_sensitivity.map_or_else(String::new, |value| format!("{value:.3}"))
                )
            )?;
        }
        if self.input.iter().any(|input| input.sensitivity.is_some()) {
            writeln!(
                text,
                "sensitivity: one over the length-scale, in deviations of the input; near 0, answers hardly change with it"
            )?;
        }
        let classes: Option<Vec<String>> =
            self.classes.as_ref().map(|names| names.iter().map(|name| shown::line(name)).collect());
        for target in &self.targets {
            let name = shown(&target.name);
            match (target.noise, classes.as_deref()) {
                (Some(noise), _) => writeln!(
                    text,
                    "target {name}: mean {}, deviation {}, noise deviation {}",
                    mean(target.mean, target.scale),
                    deviation(target.scale),
                    deviation(noise)
                )?,
                (None, Some([_, second])) if is_number(second) => {
                    writeln!(text, "target {name}: probability of class {second}")?
                }
                (None, Some([first, second])) => {
                    writeln!(text, "target {name}: probability of {second}, the others are {first}")?
                }
                (None, classes) => {
                    writeln!(text, "target {name}: probabilities of {}", classes.unwrap_or_default().join(", "))?
                }
            }
        }
        Ok(())
    }
}

/// The columns of the sensitivities, as far as the model has them.
fn sensitivities(input: Option<&InputSummary>, of_predictor: impl Fn(f64) -> String, of_flow: &str) -> String {
    let predictor = input.and_then(|input| input.sensitivity).map(|value| format!(" {:>12}", of_predictor(value)));
    let flow = input.and_then(|input| input.flow_sensitivity).map(|_| format!(" {of_flow:>8}"));
    [predictor, flow].into_iter().flatten().collect()
}

fn is_number(name: &str) -> bool {
    name.parse::<f64>().is_ok()
}

/// An end of a range, every digit of it.
fn end(value: f32) -> String {
    match value == 0.0 || (1e-4..1e9).contains(&value.abs()) {
        true => value.to_string(),
        false => format!("{value:e}"),
    }
}

fn deviation(deviation: f32) -> String {
    console::figure(deviation.into(), 5)
}

/// Small only where the deviation is small too.
fn mean(mean: f32, deviation: f32) -> String {
    console::figure_beside(mean.into(), deviation.into(), 5)
}

/// Where the bytes go, and how many there are in all.
fn parts(model: &Model<'_>, header_bytes: usize) -> (Vec<Part>, usize) {
    let header = model.blob().header();
    let inputs = model.inputs();
    // A kernel that is shared counts once, with its first output.
    let owns_kernel = |kernels: u8, index: usize| index < usize::from(kernels);
    let (mut flow_kernels, mut drift, mut diffusion) = (0, 0, 0);
    for index in 0..usize::from(header.tables) * inputs {
        let Some(sizes) = Sizes::of(model, index / inputs, index % inputs) else { continue };
        if owns_kernel(header.flow_kernels, index) {
            flow_kernels += sizes.kernel_bytes;
        }
        drift += sizes.mean_bytes;
        diffusion += sizes.variance_bytes;
    }
    let times = 4 * usize::from(header.steps) * usize::from(header.inducing_times);
    let (mut predictor, mut predictor_variance) = (0, 0);
    for index in 0..model.outputs() {
        let Some(sizes) = Sizes::of(model, model.steps(), index) else { continue };
        if owns_kernel(header.predictor_kernels, index) {
            predictor += sizes.kernel_bytes;
        }
        predictor += sizes.mean_bytes;
        predictor_variance += sizes.variance_bytes;
    }
    let kernels = usize::from(header.flow_kernels) + usize::from(header.predictor_kernels);
    let outputs = usize::from(header.tables) * inputs + model.outputs();
    let records = 4
        * (kernels * KernelRecord::WORDS + outputs * OutputRecord::WORDS + header.real_targets() * TargetRecord::WORDS);
    let scaling = 4 * 4 * inputs;
    let calibration = model.blob().calibration_bytes();
    let tensors =
        records + calibration + scaling + flow_kernels + drift + diffusion + times + predictor + predictor_variance;
    let parts = [
        ("header and names", header_bytes),
        ("records of kernels, outputs and targets", records),
        ("calibration of the error bars", calibration),
        ("scaling and ranges of the inputs", scaling),
        ("flow: inducing points", flow_kernels),
        ("flow: drift", drift),
        ("flow: diffusion", diffusion),
        ("flow: time features", times),
        ("predictor: inducing points and mean", predictor),
        ("predictor: variance", predictor_variance),
        ("checksum", CHECKSUM_BYTES),
    ];
    let parts = parts.into_iter().filter(|&(_, bytes)| bytes > 0).map(|(part, bytes)| Part { part, bytes }).collect();
    (parts, header_bytes + tensors + CHECKSUM_BYTES)
}

/// Prelude and header (P4) with the zeros that align the tensors.
fn header_bytes(file: &[u8]) -> usize {
    let length = file.get(12..16).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes);
    PRELUDE_BYTES + (length as usize).next_multiple_of(4)
}
