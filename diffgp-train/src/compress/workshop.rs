//! The original model, what it is compared on, and the predictors that were adapted to fewer steps.

use std::collections::HashMap;

use diffgp_core::blob::{Input, TargetRecord, layout, stored_checksum};
use diffgp_infer::Model;
use nalgebra::DMatrix;

use super::adapt::adapt;
use super::choice::{Choice, Part};
use super::file::{About, Source, Writer};
use super::rows::InputRows;
use super::states::{Visited, spread, visit};
use super::tensors::{Process, Tensors};
use super::{ADAPT_PATHS, Bound, Certificate, CompressError, FLOW_STATES, STATE_PATHS, STATE_ROWS};
use crate::aligned::AlignedBytes;
use crate::evaluate::{Evaluated, Sampling, evaluate};
use crate::export::Bits;
use crate::export::tables::Output;
use crate::threads::Threads;

/// Everything that is needed to build a model from a choice, and what was computed before.
pub(super) struct Workshop<'a> {
    original: &'a [u8],
    /// Bytes and checksum of the file that it came from.
    file: (u32, u32),
    rows: InputRows<'a>,
    threads: &'a Threads,
    tensors: Tensors,
    writer: Writer<'a>,
    /// The original's standardised means, output by output, for the rows that predictors are adapted to, once they are
    /// needed.
    means: Vec<Vec<f64>>,
    /// By number of steps.
    adapted: HashMap<usize, Adapted>,
    adaptations: usize,
}

/// A predictor that was adapted, with a number of its own.
pub(super) struct Adapted {
    number: usize,
    predictor: Vec<Process>,
}

impl<'a> Workshop<'a> {
    /// The certificate names this file instead: the original with the calibration that was taken out of it.
    pub(super) fn came_from(&mut self, file: &[u8]) {
        self.file = (file.len() as u32, stored_checksum(file).unwrap_or_default());
    }

    pub(super) fn new(
        model: &Model<'a>,
        original: &'a [u8],
        inputs: &'a [f32],
        mean_only: bool,
        threads: &'a Threads,
    ) -> Result<Self, CompressError> {
        let rows = InputRows { inputs, dimensions: model.inputs() };
        if rows.total() == 0 {
            return Err(CompressError::NoRows);
        }
        let some = spread(rows.total(), STATE_ROWS);
        let visited = visit(model, inputs, &some, STATE_PATHS, threads)?;
        let visited = Visited { flow: thin(visited.flow, FLOW_STATES), ..visited };
        let constant_variance = if mean_only {
            let evaluated = evaluate(model, &rows.numbered(&some), Sampling::Paths { count: 16, seed: 1 }, threads)?;
            let of_output = |o: usize| {
                let scale = f64::from(model.blob().target(o).scale).powi(2);
                let of_row = |one: &Evaluated| f64::from(one.answer.outputs()[o].latent_variance()) / scale;
                evaluated.iter().map(of_row).sum::<f64>() / evaluated.len() as f64
            };
            let of_outputs: Vec<f64> = (0..model.outputs()).map(of_output).collect();
            // Outputs on one kernel have one variance.
            let per_kernel = model.outputs() / usize::from(model.blob().header().predictor_kernels);
            let mean = |outputs: &[f64]| outputs.iter().sum::<f64>() / outputs.len() as f64;
            Some(of_outputs.chunks(per_kernel).map(mean).collect())
        } else {
            None
        };
        Ok(Self {
            original,
            file: (original.len() as u32, stored_checksum(original).unwrap_or_default()),
            rows,
            threads,
            tensors: Tensors::read(model.blob()).ok_or(CompressError::Singular)?,
            writer: Writer::new(model, scaling(model), visited, constant_variance),
            means: Vec::new(),
            adapted: HashMap::new(),
            adaptations: 0,
        })
    }

    /// The file that is compressed.
    pub(super) fn original(&self) -> &'a [u8] {
        self.original
    }

    /// K of the original.
    pub(super) fn original_steps(&self) -> usize {
        self.writer.header.steps.into()
    }

    /// The rows that models are compared on.
    pub(super) fn rows(&self) -> InputRows<'a> {
        self.rows
    }

    /// The threads that follow rows.
    pub(super) fn threads(&self) -> &'a Threads {
        self.threads
    }

    /// Where the original goes.
    pub(super) fn visited(&self) -> &Visited {
        &self.writer.visited
    }

    /// The original.
    pub(super) fn untouched(&self) -> Choice {
        let header = &self.writer.header;
        let mean_only = self.writer.constant_variance.is_some();
        let rank = |output: &Output| if mean_only { 0 } else { output.coefficients.len() };
        Choice {
            fixed: false,
            steps: header.steps.into(),
            flow_points: header.flow_inducing.into(),
            predictor_points: header.predictor_inducing.into(),
            point_bits: Bits::ThirtyTwo,
            weight_bits: Bits::ThirtyTwo,
            flow_bits: Bits::ThirtyTwo,
            predictor_bits: Bits::ThirtyTwo,
            flow_ranks: self.tensors.flow.iter().map(|p| p.outputs.iter().map(rank).collect()).collect(),
            predictor_rank: self.tensors.predictor.iter().flat_map(|p| &p.outputs).map(rank).max().unwrap_or(0),
        }
    }

    /// Where a search begins: the original, or its nearest form in integers.
    pub(super) fn start(&self, integers: bool) -> Choice {
        let original = self.untouched();
        if !integers {
            return original;
        }
        let bits = Bits::Sixteen;
        Choice { fixed: true, point_bits: bits, flow_bits: bits, predictor_bits: bits, ..original }
    }

    /// The most steps that are at most three quarters of those of a choice.
    pub(super) fn fewer_steps(&self, steps: usize) -> Option<usize> {
        // Of the tables that are left, every nth is kept.
        (1..=steps * 3 / 4).rev().find(|&fewer| self.tensors.tables <= 1 || steps.is_multiple_of(fewer))
    }

    /// A choice with fewer steps, and ranks for the tables that are left with them.
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

    /// The model file of a choice.
    pub(super) fn build(&mut self, choice: &Choice, about: About<'_>) -> Result<Vec<u8>, CompressError> {
        let source = self.source(choice.steps)?;
        self.writer.write(&source, choice, about)
    }

    /// The file of the original with these steps, all its numbers, and a predictor adapted to them.
    pub(super) fn reference_file(&mut self, steps: usize) -> Result<Vec<u8>, CompressError> {
        self.build(&self.cut_tables(&self.untouched(), steps), About::default())
    }

    /// What a choice with these steps is compressed from. Fewer steps need another predictor.
    pub(super) fn source(&mut self, steps: usize) -> Result<Source, CompressError> {
        if steps != self.original_steps() && !self.adapted.contains_key(&steps) {
            let source = Source { tensors: self.with_steps(steps), adaptation: 0 };
            let choice = self.cut_tables(&self.untouched(), steps);
            let bytes = self.writer.write(&source, &choice, About::default())?;
            self.adapt_to(steps, &bytes)?;
        }
        let mut source = Source { tensors: self.with_steps(steps), adaptation: 0 };
        if let Some(adapted) = self.adapted.get(&steps) {
            source.adaptation = adapted.number;
            source.tensors.predictor = adapted.predictor.clone();
        }
        Ok(source)
    }

    /// The original's tensors without the tables of steps that are left out.
    fn with_steps(&self, steps: usize) -> Tensors {
        let mut tensors = self.tensors.clone();
        tensors.keep_every(self.original_steps() / steps.max(1));
        tensors
    }

    /// Adapts the predictor for this many steps to the flow of a file. Returns the one that was there.
    pub(super) fn adapt_to(&mut self, steps: usize, bytes: &[u8]) -> Result<Option<Adapted>, CompressError> {
        let outputs = usize::from(self.writer.header.outputs);
        let target = |output: usize| self.writer.targets.get(output).copied().unwrap_or(TargetRecord::LATENT);
        let numbers = self.rows.adapted_to();
        if self.means.is_empty() {
            let aligned = AlignedBytes::new(self.original);
            let sampling = Sampling::Paths { count: ADAPT_PATHS, seed: 5 };
            let evaluated =
                evaluate(&Model::parse(aligned.as_slice())?, &self.rows.numbered(&numbers), sampling, self.threads)?;
            let of_output = |o: usize| {
                let (mean, scale) = (f64::from(target(o).mean), f64::from(target(o).scale));
                let of_row = |one: &Evaluated| (f64::from(one.answer.outputs()[o].mean()) - mean) / scale;
                evaluated.iter().map(of_row).collect()
            };
            self.means = (0..outputs).map(of_output).collect();
        }
        let aligned = AlignedBytes::new(bytes);
        let ends =
            visit(&Model::parse(aligned.as_slice())?, self.rows.inputs, &numbers, ADAPT_PATHS, self.threads)?.ends;
        let mut predictor = self.tensors.predictor.clone();
        let of_kernels = predictor.iter_mut().flat_map(|process| {
            let kernel = &process.kernel;
            process.outputs.iter_mut().map(move |output| (kernel, output))
        });
        for (o, (kernel, output)) in of_kernels.enumerate() {
            // A classifier has no noise, and its latent functions are of the order of one.
            let noise = if target(o).noise > 0.0 { target(o).noise.into() } else { 1.0 };
            *output = adapt(kernel, output, &ends, &self.means[o], noise).ok_or(CompressError::Singular)?;
        }
        self.adaptations += 1;
        Ok(self.adapted.insert(steps, Adapted { number: self.adaptations, predictor }))
    }

    /// Goes back to the predictor that was there before an adaptation.
    pub(super) fn restore(&mut self, steps: usize, before: Option<Adapted>) {
        match before {
            Some(adapted) => self.adapted.insert(steps, adapted),
            None => self.adapted.remove(&steps),
        };
    }

    /// What every block of eight directions of one of the flow's kernels contributes to mean variances, output by
    /// output, in units that compare across kernels.
    pub(super) fn blocks(&mut self, choice: &Choice, kernel: usize) -> Result<Vec<Vec<f64>>, CompressError> {
        let source = self.source(choice.steps)?;
        let part = Part::Flow(kernel);
        let basis = self.writer.basis(&source, part, (choice.flow_points, choice.point_bits, choice.fixed))?;
        let prior = source.process(part).kernel.variance;
        let score = |(index, output): (usize, &super::basis::BasisOutput)| {
            // Noise in an input matters as much as the predictor is sensitive to it.
            let d = source.tensors.dimension(kernel, index, self.rows.dimensions);
            let of_kernels = source.tensors.predictor.iter().map(|process| process.kernel.scales[d].powi(2));
            let sensitivity = of_kernels.fold(0.0, f64::max);
            let explained = |block: &[f64]| block.iter().map(|value| value.abs()).sum::<f64>();
            output.values.chunks(layout::BLOCK).map(|block| prior * sensitivity * explained(block)).collect()
        };
        Ok(basis.outputs.iter().enumerate().map(score).collect())
    }

    /// Where a certificate comes from, with its bounds.
    pub(super) fn certificate(&self, choice: &Choice, (flow, predictor): (Vec<Bound>, Bound)) -> Certificate {
        Certificate {
            original_bytes: self.file.0,
            original_checksum: self.file.1,
            original_steps: self.writer.header.steps,
            adapted: self.adapted.contains_key(&choice.steps),
            flow,
            predictor,
        }
    }
}

/// T1 to T4.
fn scaling(model: &Model<'_>) -> Vec<f32> {
    let parts: [fn(Input) -> f32; 4] = [|input| input.mean, |input| input.scale, |input| input.low, |input| input.high];
    let known = || (0..model.inputs()).filter_map(|index| model.blob().input(index));
    parts.iter().flat_map(|&part| known().map(part)).collect()
}

/// Every nth row, so that at most `count` are left.
fn thin(states: DMatrix<f64>, count: usize) -> DMatrix<f64> {
    if states.nrows() <= count { states } else { states.select_rows(&spread(states.nrows(), count)) }
}
