//! From a choice to a model file.

use std::collections::HashMap;
use std::rc::Rc;

use diffgp_core::blob::{Header, layout, stored_checksum};
use diffgp_infer::Model;
use nalgebra::DMatrix;

use super::basis::{Basis, Storage};
use super::states::{Visited, spread, visit};
use super::tensors::{OutputTensors, Process, Tensors};
use super::{
    ADAPT_PATHS, ADAPT_ROWS, Bound, Certificate, Change, CompressError, FLOW_STATES, LOSS_ROWS, STATE_PATHS,
    STATE_ROWS, adapt, moments,
};
use crate::aligned::AlignedBytes;
use crate::evaluate::{Row, Sampling, evaluate};
use crate::export::numbers::{Numbers, interleaved};
use crate::export::writer::{Body, StoredKernel, StoredOutput};
use crate::export::{Bits, fingerprint};

/// How far a model is cut and rounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// K.
    pub steps: usize,
    /// M_f.
    pub flow_points: usize,
    /// M_g.
    pub predictor_points: usize,
    /// Of all inducing points.
    pub point_bits: Bits,
    /// Of the weights of all means.
    pub weight_bits: Bits,
    /// Of the directions of the flow's variances.
    pub flow_bits: Bits,
    /// Of the directions of the predictor's variance.
    pub predictor_bits: Bits,
    /// Directions of every output of the flow, kernel by kernel.
    pub flow_ranks: Vec<Vec<usize>>,
    /// Directions of the predictor.
    pub predictor_rank: usize,
}

/// Which process of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// The flow's kernel with this index.
    Flow(usize),
    Predictor,
}

/// Everything that is needed to build a model from a choice, and what was computed before.
pub(super) struct Workshop<'a> {
    header: Header<'a>,
    original: &'a [u8],
    /// T1 to T4.
    scaling: Vec<f32>,
    tensors: Tensors,
    /// Raw inputs of all rows.
    inputs: &'a [f32],
    /// The original's standardised means for the rows that predictors are adapted to, once they are needed.
    means: Vec<f64>,
    visited: Visited,
    /// Mean latent variance of the original's predictions, standardised, if that is all that is kept of the variance.
    constant_variance: Option<f64>,
    /// Predictors that were adapted, by number of steps, each with a number of its own.
    adapted: HashMap<usize, (usize, Process)>,
    adaptations: usize,
    bases: HashMap<(Part, usize, Bits, usize), Rc<Basis>>,
    /// H16 and H17 over H18 rows: the compressed model against the original.
    errors: (f32, f32, u32),
}

impl<'a> Workshop<'a> {
    pub(super) fn new(
        model: &Model<'a>,
        original: &'a [u8],
        inputs: &'a [f32],
        mean_only: bool,
    ) -> Result<Self, CompressError> {
        let dimensions = model.inputs();
        let total = inputs.len() / dimensions;
        if total == 0 {
            return Err(CompressError::NoRows);
        }
        let visited = visit(model, inputs, &spread(total, STATE_ROWS), STATE_PATHS)?;
        let visited = Visited { flow: thin(visited.flow, FLOW_STATES), ..visited };
        let part = |part: &dyn Fn(diffgp_core::blob::Input) -> f32| -> Vec<f32> {
            (0..dimensions).filter_map(|index| model.blob().input(index)).map(part).collect()
        };
        let scaling = [
            part(&|input| input.mean),
            part(&|input| input.scale),
            part(&|input| input.low),
            part(&|input| input.high),
        ];
        let mut workshop = Self {
            header: *model.blob().header(),
            original,
            scaling: scaling.concat(),
            tensors: Tensors::read(model.blob()).ok_or(CompressError::Singular)?,
            inputs,
            means: Vec::new(),
            visited,
            constant_variance: None,
            adapted: HashMap::new(),
            adaptations: 0,
            bases: HashMap::new(),
            errors: (0.0, 0.0, 0),
        };
        if mean_only {
            let numbers = spread(total, STATE_ROWS);
            let evaluated = evaluate(model, &workshop.numbered(&numbers), Sampling::Paths { count: 16, seed: 1 })?;
            let scale = f64::from(workshop.header.target_scale).powi(2);
            let sum: f64 = evaluated.iter().map(|one| f64::from(one.prediction.latent_variance()) / scale).sum();
            workshop.constant_variance = Some(sum / evaluated.len() as f64);
        }
        Ok(workshop)
    }

    /// D.
    pub(super) fn dimensions(&self) -> usize {
        self.header.inputs.into()
    }

    /// The original.
    pub(super) fn untouched(&self) -> Choice {
        let rank =
            |output: &OutputTensors| if self.constant_variance.is_some() { 0 } else { output.coefficients.len() };
        Choice {
            steps: self.header.steps.into(),
            flow_points: self.header.flow_inducing.into(),
            predictor_points: self.header.predictor_inducing.into(),
            point_bits: Bits::ThirtyTwo,
            weight_bits: Bits::ThirtyTwo,
            flow_bits: Bits::ThirtyTwo,
            predictor_bits: Bits::ThirtyTwo,
            flow_ranks: self.tensors.flow.iter().map(|p| p.outputs.iter().map(rank).collect()).collect(),
            predictor_rank: self.tensors.predictor.outputs.iter().map(rank).sum(),
        }
    }

    /// The most steps that are at most three quarters of those of a choice.
    pub(super) fn fewer_steps(&self, steps: usize) -> Option<usize> {
        let all = usize::from(self.header.steps);
        (1..=steps * 3 / 4).rev().find(|&fewer| self.tensors.tables <= 1 || all.is_multiple_of(fewer))
    }

    /// The model that a choice with all its numbers would be compressed from: its steps, its predictor.
    pub(super) fn reference(&mut self, choice: &Choice) -> Result<Tensors, CompressError> {
        let predictor = self.predictor(choice.steps)?.1;
        let mut tensors = Tensors { predictor, ..self.tensors.clone() };
        tensors.keep_every(usize::from(self.header.steps) / choice.steps.max(1));
        Ok(tensors)
    }

    /// The predictor for this many steps, adapted to them, and the number of its adaptation.
    fn predictor(&mut self, steps: usize) -> Result<(usize, Process), CompressError> {
        if let Some((number, process)) = self.adapted.get(&steps) {
            return Ok((*number, process.clone()));
        }
        if steps == usize::from(self.header.steps) {
            return Ok((0, self.tensors.predictor.clone()));
        }
        let choice = self.cut_tables(&self.untouched(), steps);
        let bytes = self.write(&choice, &self.tensors.predictor.clone(), 0, &[])?;
        self.adapt_to(steps, &bytes)?;
        self.predictor(steps)
    }

    /// What a choice with these steps is compressed from.
    pub(super) fn reference_file(&mut self, steps: usize) -> Result<Vec<u8>, CompressError> {
        let choice = self.cut_tables(&self.untouched(), steps);
        self.build(&choice, &[])
    }

    /// Ranks for the tables that are left with fewer steps.
    pub(super) fn cut_tables(&self, choice: &Choice, steps: usize) -> Choice {
        let mut choice = choice.clone();
        if self.tensors.tables > 1 {
            let stride = choice.steps / steps;
            let tables = choice.steps;
            for ranks in &mut choice.flow_ranks {
                let per_table = ranks.len() / tables;
                *ranks = ranks.chunks(per_table).step_by(stride).flatten().copied().collect();
            }
        }
        choice.steps = steps;
        choice
    }

    /// Adapts the predictor for this many steps to the flow of a file.
    pub(super) fn adapt_to(&mut self, steps: usize, bytes: &[u8]) -> Result<(), CompressError> {
        let numbers = self.adapted_rows();
        if self.means.is_empty() {
            let aligned = AlignedBytes::new(self.original);
            let sampling = Sampling::Paths { count: ADAPT_PATHS, seed: 5 };
            let evaluated = evaluate(&Model::parse(aligned.as_slice())?, &self.numbered(&numbers), sampling)?;
            let (mean, scale) = (f64::from(self.header.target_mean), f64::from(self.header.target_scale));
            self.means = evaluated.iter().map(|one| (f64::from(one.prediction.mean()) - mean) / scale).collect();
        }
        let aligned = AlignedBytes::new(bytes);
        let ends = visit(&Model::parse(aligned.as_slice())?, self.inputs, &numbers, ADAPT_PATHS)?.ends;
        // A classifier has no noise, and its latent function is of the order of one.
        let noise = if self.header.noise > 0.0 { self.header.noise.into() } else { 1.0 };
        let predictor = &self.tensors.predictor;
        let output = adapt::adapt(predictor, &ends, &self.means, noise).ok_or(CompressError::Singular)?;
        let process = Process { kernel: predictor.kernel.clone(), outputs: vec![output] };
        self.adaptations += 1;
        self.adapted.insert(steps, (self.adaptations, process));
        Ok(())
    }

    /// Back to the adaptation to the uncompressed flow, which is found again when it is needed.
    pub(super) fn forget(&mut self, steps: usize) {
        self.adapted.remove(&steps);
    }

    /// Four fifths of the rows to adapt to; the others judge.
    fn adapted_rows(&self) -> Vec<usize> {
        let others: Vec<usize> = (0..self.total()).filter(|number| number % 5 != 2).collect();
        spread(others.len(), ADAPT_ROWS).iter().map(|&index| others[index]).collect()
    }

    /// Rows that losses are measured on: of those that predictors are not adapted to, if there are enough.
    pub(super) fn judged_rows(&self) -> Vec<usize> {
        let others: Vec<usize> = (0..self.total()).filter(|number| number % 5 == 2 || self.total() < 5).collect();
        spread(others.len(), LOSS_ROWS).iter().map(|&index| others[index]).collect()
    }

    /// The file that is compressed.
    pub(super) fn original(&self) -> &'a [u8] {
        self.original
    }

    /// K of the original.
    pub(super) fn original_steps(&self) -> usize {
        self.header.steps.into()
    }

    /// How many rows there are.
    pub(super) fn total(&self) -> usize {
        self.inputs.len() / self.dimensions()
    }

    /// The model file of a choice.
    pub(super) fn build(&mut self, choice: &Choice, certificate: &[u8]) -> Result<Vec<u8>, CompressError> {
        let (fit, predictor) = self.predictor(choice.steps)?;
        self.write(choice, &predictor, fit, certificate)
    }

    fn write(
        &mut self,
        choice: &Choice,
        predictor: &Process,
        fit: usize,
        certificate: &[u8],
    ) -> Result<Vec<u8>, CompressError> {
        let mut tensors = self.tensors.clone();
        tensors.keep_every(usize::from(self.header.steps) / choice.steps.max(1));
        let mut body = Body::default();
        body.singles(self.scaling.iter().copied());
        let mut outputs: Vec<Vec<StoredOutput>> = Vec::new();
        for (index, process) in tensors.flow.iter().enumerate() {
            let form = Form {
                points: choice.flow_points,
                point_bits: choice.point_bits,
                weights: choice.weight_bits,
                directions: choice.flow_bits,
                ranks: &choice.flow_ranks[index],
            };
            let (mut kernel, stored) = self.store(process, Part::Flow(index), 0, &form)?;
            if self.constant_variance.is_some() {
                kernel.variance = *diffgp_core::blob::limits::KERNEL_VARIANCE.start();
            }
            body.stored_kernel(&kernel);
            outputs.push(stored);
        }
        // Table by table, and in a table dimension by dimension.
        let inputs = self.dimensions();
        for table in 0..tensors.tables {
            for d in 0..inputs {
                let kernel = d.min(outputs.len() - 1);
                let per_table = outputs[kernel].len() / tensors.tables;
                let within = if outputs.len() == 1 { d } else { 0 };
                body.stored_output(&outputs[kernel][table * per_table + within]);
            }
        }
        let form = Form {
            points: choice.predictor_points,
            point_bits: choice.point_bits,
            weights: choice.weight_bits,
            directions: choice.predictor_bits,
            ranks: &[choice.predictor_rank],
        };
        let (mut kernel, stored) = self.store(predictor, Part::Predictor, fit, &form)?;
        if let Some(variance) = self.constant_variance {
            kernel.variance = variance.clamp(1e-12, 1e12) as f32;
        }
        body.stored_kernel(&kernel);
        stored.iter().for_each(|output| body.stored_output(output));

        let id = fingerprint(&body).to_le_bytes();
        let (mean_error, variance_error, checked_rows) = self.errors;
        let header = Header {
            variance_floor: if self.constant_variance.is_some() { 0.0 } else { self.header.variance_floor },
            steps: choice.steps as u16,
            flow_inducing: choice.flow_points as u16,
            inducing_times: 0,
            tables: tensors.tables as u16,
            predictor_inducing: choice.predictor_points as u16,
            block: layout::BLOCK as u8,
            mean_error,
            variance_error,
            checked_rows,
            model_id: &id,
            descriptors: &body.descriptors,
            ..self.header
        };
        Ok(body.finish(&header, certificate))
    }

    fn store(
        &mut self,
        process: &Process,
        part: Part,
        fit: usize,
        form: &Form<'_>,
    ) -> Result<(StoredKernel, Vec<StoredOutput>), CompressError> {
        if form.is_untouched(process) {
            return Ok((as_it_is(process), process.outputs.iter().map(output_as_it_is).collect()));
        }
        let basis = self.basis(process, part, fit, form.points, form.point_bits)?;
        // Outputs of tables that are left out are not stored.
        let outputs = form
            .ranks
            .iter()
            .enumerate()
            .map(|(index, &rank)| {
                let storage = Storage { weights: form.weights, directions: form.directions, rank };
                basis.stored_output(index, storage).ok_or(CompressError::Singular)
            })
            .collect::<Result<_, _>>()?;
        Ok((basis.stored_kernel(), outputs))
    }

    fn basis(
        &mut self,
        process: &Process,
        part: Part,
        fit: usize,
        points: usize,
        bits: Bits,
    ) -> Result<Rc<Basis>, CompressError> {
        // Fewer tables are another process.
        let key = (part, points, bits, fit * 100_000 + process.outputs.len());
        if let Some(basis) = self.bases.get(&key) {
            return Ok(Rc::clone(basis));
        }
        let states = if part == Part::Predictor { &self.visited.ends } else { &self.visited.flow };
        let basis = Rc::new(Basis::new(process, states, points, bits).ok_or(CompressError::Singular)?);
        self.bases.insert(key, Rc::clone(&basis));
        Ok(basis)
    }

    /// What every block of eight directions of a part contributes to mean variances, output by output, in units that
    /// compare across the outputs of the flow.
    pub(super) fn blocks(&mut self, choice: &Choice, part: Part) -> Result<Vec<Vec<f64>>, CompressError> {
        let reference = self.reference(choice)?;
        let (process, points, fit) = match part {
            Part::Flow(index) => (&reference.flow[index], choice.flow_points, 0),
            Part::Predictor => (&reference.predictor, choice.predictor_points, self.predictor(choice.steps)?.0),
        };
        let basis = self.basis(process, part, fit, points, choice.point_bits)?;
        let inputs = self.dimensions();
        let shared = reference.flow.len() == 1;
        let score = |index: usize| {
            // Noise in an input matters as much as the predictor is sensitive to it.
            let sensitivity = match part {
                Part::Flow(kernel) => {
                    let d = if shared { index % inputs } else { kernel };
                    reference.predictor.kernel.scales[d].powi(2)
                }
                Part::Predictor => 1.0,
            };
            let values = &basis.outputs[index].values;
            values
                .chunks(layout::BLOCK)
                .map(|block| process.kernel.variance * sensitivity * block.iter().map(|value| value.abs()).sum::<f64>())
                .collect()
        };
        Ok((0..basis.outputs.len()).map(score).collect())
    }

    /// Where a certificate comes from, without its bounds.
    pub(super) fn provenance(&self, choice: &Choice) -> Certificate {
        Certificate {
            original_bytes: self.original.len() as u32,
            original_checksum: stored_checksum(self.original).unwrap_or_default(),
            original_steps: self.header.steps,
            adapted: self.adapted.contains_key(&choice.steps),
            flow: Vec::new(),
            predictor: Bound::default(),
        }
    }

    /// Remembers how far a compressed model's predictions along the drift are from the original's.
    pub(super) fn compare(&mut self, bytes: &[u8]) -> Result<(), CompressError> {
        let (before, after) = (AlignedBytes::new(self.original), AlignedBytes::new(bytes));
        let numbers = spread(self.total(), 500);
        let rows = self.numbered(&numbers);
        let before = evaluate(&Model::parse(before.as_slice())?, &rows, Sampling::Drift)?;
        let after = evaluate(&Model::parse(after.as_slice())?, &rows, Sampling::Drift)?;
        let (mut mean, mut variance) = (0.0_f32, 0.0_f32);
        for (before, after) in before.iter().zip(&after) {
            let (before, after) = (before.prediction, after.prediction);
            mean = mean.max((after.mean() - before.mean()).abs() / self.header.target_scale);
            variance = variance.max((after.variance() / before.variance() - 1.0).abs());
        }
        self.errors = (mean, variance, rows.len() as u32);
        Ok(())
    }

    /// What changed at the visited states, next to the bounds.
    pub(super) fn changes(
        &self,
        reference: &Tensors,
        stored: &Tensors,
        certificate: &Certificate,
    ) -> (Vec<Change>, Change) {
        let none = |bound: Bound| Change { bound, measured: Bound::default(), variance: 0.0 };
        let mut flow: Vec<Change> = certificate.flow.iter().map(|&bound| none(bound)).collect();
        let inputs = self.dimensions();
        for (kernel, (before, after)) in reference.flow.iter().zip(&stored.flow).enumerate() {
            for (index, (old, new)) in before.outputs.iter().zip(&after.outputs).enumerate() {
                let d = if reference.flow.len() == 1 { index % inputs } else { kernel };
                measure(&mut flow[d], (before, old), (after, new), &self.visited.flow);
            }
        }
        let mut predictor = none(certificate.predictor);
        let (before, after) = (&reference.predictor, &stored.predictor);
        measure(&mut predictor, (before, &before.outputs[0]), (after, &after.outputs[0]), &self.visited.ends);
        (flow, predictor)
    }

    pub(super) fn numbered(&self, numbers: &[usize]) -> Vec<Row<'a>> {
        let inputs = self.dimensions();
        let rows = self.inputs;
        numbers
            .iter()
            .map(|&number| Row { number: number as u32, x: &rows[number * inputs..(number + 1) * inputs] })
            .collect()
    }
}

/// How one process is stored.
struct Form<'a> {
    points: usize,
    point_bits: Bits,
    weights: Bits,
    directions: Bits,
    ranks: &'a [usize],
}

impl Form<'_> {
    /// Whether nothing is cut or rounded.
    fn is_untouched(&self, process: &Process) -> bool {
        let whole = |(output, &rank): (&OutputTensors, &usize)| rank >= output.coefficients.len();
        self.points == process.kernel.points.nrows()
            && [self.point_bits, self.weights, self.directions] == [Bits::ThirtyTwo; 3]
            && process.outputs.iter().zip(self.ranks).all(whole)
    }
}

fn as_it_is(process: &Process) -> StoredKernel {
    let kernel = &process.kernel;
    let (rows, columns) = kernel.points.shape();
    StoredKernel {
        kind: kernel.kind,
        variance: kernel.variance as f32,
        scales: kernel.scales.iter().map(|&scale| scale as f32).collect(),
        points: Numbers::Singles(interleaved(rows, columns, |m, i| kernel.points[(m, i)] as f32)),
    }
}

fn output_as_it_is(output: &OutputTensors) -> StoredOutput {
    let (features, rank) = output.directions.shape();
    StoredOutput {
        weights: Numbers::Singles(output.weights.iter().map(|&w| w as f32).collect()),
        directions: Numbers::Singles(interleaved(rank, features, |r, m| output.directions[(m, r)] as f32)),
        coefficients: output.coefficients.iter().map(|&c| c as f32).collect(),
    }
}

/// Every nth row, so that at most `count` are left.
fn thin(states: DMatrix<f64>, count: usize) -> DMatrix<f64> {
    if states.nrows() <= count { states } else { states.select_rows(&spread(states.nrows(), count)) }
}

/// Adds the differences of one output to a change.
fn measure(
    change: &mut Change,
    (before, old): (&Process, &OutputTensors),
    (after, new): (&Process, &OutputTensors),
    states: &DMatrix<f64>,
) {
    let (old_means, old_variances) = moments(before, old, states);
    let (new_means, new_variances) = moments(after, new, states);
    let measured = &mut change.measured;
    for (new, old) in new_means.iter().zip(&old_means) {
        measured.mean = measured.mean.max((new - old).abs() as f32);
    }
    for (new, old) in new_variances.iter().zip(&old_variances) {
        measured.wider = measured.wider.max((new - old) as f32);
        measured.narrower = measured.narrower.max((old - new) as f32);
    }
    let mean = old_variances.iter().sum::<f64>() / old_variances.len().max(1) as f64;
    change.variance = change.variance.max(mean);
}
