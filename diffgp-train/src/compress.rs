//! A smaller model file that predicts nearly the same, with a bound on what changed.
//!
//! Inducing points, drift weights and variance directions are cut and rounded ([`Choice`] says how far), always with the
//! states in view that the model visits (`basis`, `rounding`); for fewer steps the predictor is adapted (`adapt`). A
//! greedy search (`search`) takes the step that saves most for what it costs in log-likelihood, measured with the
//! device's own code (`loss`), until the goal is reached. What one evaluation of the field and of the predictor can differ by,
//! at any state, is computed from the finished file (`certificate`) and stored in it.

mod adapt;
mod basis;
mod certificate;
mod changes;
mod choice;
mod file;
mod loss;
mod rounding;
mod rows;
mod search;
mod states;
mod tensors;
mod workshop;

use diffgp_core::blob::limits;
use diffgp_infer::{Model, ParseError};

pub use basis::fixed::NotFixed;
pub use certificate::{Bound, Certificate};
pub use choice::Choice;
pub use states::made_up_inputs;

use crate::aligned::AlignedBytes;
use crate::calibration::with_calibration;
use crate::discretisation::{Discretisation, FINER};
use crate::evaluate::RowError;
use crate::threads::Threads;
use file::About;
use tensors::Tensors;
use workshop::Workshop;

/// When to stop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Goal {
    /// The largest file.
    pub max_bytes: Option<usize>,
    /// The most instructions of a sampled path, as the caller estimates them.
    pub max_instructions: Option<u64>,
    /// The most log-likelihood to lose, in nats per row.
    pub tolerance: Option<f64>,
    /// For a device that computes in integers. Alone, nothing else is changed.
    pub integers: bool,
    /// Give up the variance: a constant error bar is left, and no noise in the flow.
    pub mean_only: bool,
}

/// A point of the trade-off: what was chosen, what it takes and what it loses.
#[derive(Clone, Debug)]
pub struct Point {
    /// What was chosen.
    pub choice: Choice,
    /// Bytes of the file.
    pub bytes: usize,
    /// Instructions of a sampled path.
    pub instructions: u64,
    /// Nats per row on the rows that were searched with.
    pub loss: f64,
}

/// What changed in one output, over the states that the model visits, next to what can change anywhere.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// Anywhere.
    pub bound: Bound,
    /// At the visited states, in float64.
    pub measured: Bound,
    /// Mean variance of the original there.
    pub variance: f64,
}

/// A compressed model.
#[derive(Clone, Debug)]
pub struct Compressed {
    /// The file.
    pub bytes: Vec<u8>,
    /// To what was chosen, from the original with time folded in and, if it is given up, without its variance.
    pub curve: Vec<Point>,
    /// For every dimension of the flow.
    pub flow: Vec<Change>,
    /// For the predictor, the worst over its outputs.
    pub predictor: Change,
    /// Whether the predictor's mean was adapted to the changed flow.
    pub adapted: bool,
}

/// Why a model cannot be compressed as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompressError {
    /// No choice is small enough.
    #[error(
        "no choice fits: the smallest found has {bytes} bytes and {instructions} instructions per sampled path, and \
         loses {loss:.2e} nats per row"
    )]
    OutOfReach {
        /// Of the smallest model found.
        bytes: usize,
        /// Of the same model.
        instructions: u64,
        /// Of the same model.
        loss: f64,
    },
    /// A row cannot be predicted.
    #[error(transparent)]
    Row(#[from] RowError),
    /// A row cannot be followed through the flow.
    #[error("a row cannot be followed through the flow: {0}")]
    Flow(#[from] diffgp_infer::Error),
    /// The compressed model is not one that the runtime accepts.
    #[error("the runtime would refuse the compressed model: {0}")]
    Refused(#[from] ParseError),
    /// The model's own predictions cannot be compared with each other.
    #[error("the model's predictions have no variance, or one beyond all numbers: what is lost cannot be measured")]
    NoLoss,
    /// There are no rows to judge by.
    #[error("there are no rows to judge by")]
    NoRows,
    /// It cannot be evaluated in integers.
    #[error("the model cannot be evaluated in integers: {0}")]
    NotFixed(#[from] NotFixed),
    /// The tensors are beyond what float64 can factorise.
    #[error("the model's kernel matrices cannot be factorised")]
    Singular,
}

/// Rows that losses are measured on, at most.
const LOSS_ROWS: usize = 400;
/// Paths of each, and paths of each when the number of steps changes.
const LOSS_PATHS: u32 = 16;
const STEP_PATHS: u32 = 32;
/// Rows whose states say what matters, and paths of each.
const STATE_ROWS: usize = 200;
const STATE_PATHS: u32 = 2;
/// Visited states of the flow that are looked at.
const FLOW_STATES: usize = 2000;
/// Rows that predictors are adapted to, at most, and paths of each.
const ADAPT_ROWS: usize = 2000;
const ADAPT_PATHS: u32 = 8;
/// Rows whose end points are compared with those of finer steps, at most.
const END_ROWS: usize = 100;
/// Rows whose predictions along the drift are compared for the file's header, at most.
const COMPARED_ROWS: usize = 500;

/// Compresses a model, judged by raw input rows (row-major, D values each). `instructions`
/// estimates the work of a sampled path; `report` hears of every point on the way. The result does not depend on the
/// number of threads.
pub fn compress(
    original: &[u8],
    inputs: &[f32],
    goal: &Goal,
    instructions: &(dyn Fn(&Model<'_>) -> u64 + Sync),
    report: &mut dyn FnMut(&Point),
    threads: &Threads,
) -> Result<Compressed, CompressError> {
    // Bars that were calibrated are not those of the smaller model: both are compared as they were trained.
    let aligned = AlignedBytes::new(&with_calibration(original, None)?);
    let model = Model::parse(aligned.as_slice())?;
    let mut workshop = Workshop::new(&model, aligned.as_slice(), inputs, goal.mean_only, threads)?;
    workshop.came_from(original);
    let mut judge = loss::Judge::default();
    let curve = search::search(&mut workshop, &mut judge, goal, instructions, report)?;
    let last = curve.last().ok_or(CompressError::NoRows)?;
    let finished = finish(&mut workshop, &mut judge, &last.choice.clone(), curve)?;
    match (goal.max_bytes, finished.curve.last()) {
        (Some(most), Some(&Point { bytes, instructions, loss, .. })) if bytes > most => {
            Err(CompressError::OutOfReach { bytes, instructions, loss })
        }
        _ => Ok(finished),
    }
}

/// How far the flow of a compressed model is from its equation, against the same file with finer steps; `None` without a
/// flow, where every step has a table of its own, between which there is nothing, and where no finer steps can be stored.
fn discretisation(
    workshop: &mut Workshop<'_>,
    choice: &Choice,
    compressed: &Model<'_>,
) -> Result<Option<Discretisation>, CompressError> {
    let finer = (choice.steps * FINER).min(limits::MAX_STEPS);
    if finer < 2 * choice.steps.max(1) || compressed.blob().header().tables != 1 {
        return Ok(None);
    }
    let steps = Some(finer);
    // In singles: integers may have no unit for steps that small.
    let choice = &Choice { fixed: false, ..choice.clone() };
    let finer = AlignedBytes::new(&workshop.build(choice, About { steps, ..About::default() })?);
    Ok(Some(changes::discretisation(compressed, &Model::parse(finer.as_slice())?, workshop.rows())?))
}

/// Adapts the predictor to the flow as it is now stored, if that helps; computes the certificate.
fn finish(
    workshop: &mut Workshop<'_>,
    judge: &mut loss::Judge,
    choice: &Choice,
    mut curve: Vec<Point>,
) -> Result<Compressed, CompressError> {
    let mut bytes = workshop.build(choice, About::default())?;
    if choice.steps > 0 && curve.len() > 1 {
        let before = workshop.adapt_to(choice.steps, &bytes)?;
        let adapted = workshop.build(choice, About::default())?;
        let loss = judge.loss(workshop, choice, &adapted)?;
        match curve.last_mut() {
            Some(last) if loss < last.loss => {
                last.loss = loss;
                bytes = adapted;
            }
            _ => workshop.restore(choice.steps, before),
        }
    }
    let reference = workshop.source(choice.steps)?.tensors;
    let (original, parsed) = (AlignedBytes::new(workshop.original()), AlignedBytes::new(&bytes));
    let (original, compressed) = (Model::parse(original.as_slice())?, Model::parse(parsed.as_slice())?);
    let stored = Tensors::read(compressed.blob()).ok_or(CompressError::Singular)?;
    let bounds = certificate::bounds(&reference, &stored, workshop.rows().dimensions);
    let certificate = workshop.certificate(choice, bounds);
    let differences = changes::differences(&original, &compressed, workshop.rows(), workshop.threads())?;
    let discretisation = discretisation(workshop, choice, &compressed)?;
    let certificate_bytes = certificate.encode();
    let about = About { certificate: &certificate_bytes, differences, discretisation, steps: None };
    let bytes = workshop.build(choice, about)?;
    if let Some(last) = curve.last_mut() {
        last.bytes = bytes.len();
    }
    let (flow, predictor) = changes::changes(&reference, &stored, &certificate, workshop.visited());
    Ok(Compressed { bytes, curve, flow, predictor, adapted: certificate.adapted })
}
