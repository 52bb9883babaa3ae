//! From tensors and a choice to the bytes of a model file.

use std::collections::HashMap;
use std::rc::Rc;

use diffgp_core::blob::{Header, TargetRecord, layout, limits};
use diffgp_infer::Model;

use super::CompressError;
use super::basis::{Basis, Storage};
use super::changes::Differences;
use super::choice::{Choice, Part};
use super::states::Visited;
use super::tensors::{Process, Tensors};
use crate::discretisation::Discretisation;
use crate::export::numbers::{Numbers, interleaved};
use crate::export::tables::Output;
use crate::export::writer::{Body, StoredKernel, StoredOutput};
use crate::export::{Bits, fingerprint};

/// What a file starts from: tensors with the steps it has, and how often their predictor was adapted before.
pub(super) struct Source {
    pub(super) tensors: Tensors,
    pub(super) adaptation: usize,
}

/// What a finished file says about itself.
#[derive(Clone, Copy, Default)]
pub(super) struct About<'a> {
    /// H27.
    pub(super) certificate: &'a [u8],
    /// H18 to H20.
    pub(super) differences: Differences,
    /// H21 and H22.
    pub(super) discretisation: Option<Discretisation>,
    /// Another H10, to measure that.
    pub(super) steps: Option<usize>,
}

/// A basis depends on the process and on what is done to its points. Of one part there are as many processes as
/// adaptations and numbers of tables.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct BasisKey {
    part: Part,
    adaptation: usize,
    outputs: usize,
    points: usize,
    bits: Bits,
}

/// Writes model files, and remembers every basis that was computed for one.
pub(super) struct Writer<'a> {
    /// Of the original.
    pub(super) header: Header<'a>,
    /// T1 to T4.
    pub(super) scaling: Vec<f32>,
    /// Its real targets.
    pub(super) targets: Vec<TargetRecord>,
    /// Where the original goes.
    pub(super) visited: Visited,
    /// Mean latent variance of the original's predictions, standardised, for every kernel of the predictor, if that is
    /// all that is kept of the variance.
    pub(super) constant_variance: Option<Vec<f64>>,
    bases: HashMap<BasisKey, Rc<Basis>>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        model: &Model<'a>,
        scaling: Vec<f32>,
        visited: Visited,
        constant_variance: Option<Vec<f64>>,
    ) -> Self {
        let (blob, header) = (model.blob(), *model.blob().header());
        let targets = (0..header.real_targets()).map(|output| blob.target(output)).collect();
        Self { header, scaling, targets, visited, constant_variance, bases: HashMap::new() }
    }

    /// The file of a choice.
    pub(super) fn write(
        &mut self,
        source: &Source,
        choice: &Choice,
        about: About<'_>,
    ) -> Result<Vec<u8>, CompressError> {
        let tensors = &source.tensors;
        let mut body = Body::default();
        body.singles(self.scaling.iter().copied());
        let mut outputs: Vec<Vec<StoredOutput>> = Vec::new();
        for (index, ranks) in choice.flow_ranks.iter().enumerate() {
            let form = Form {
                points: choice.flow_points,
                point_bits: choice.point_bits,
                weights: choice.weight_bits,
                directions: choice.flow_bits,
                ranks,
            };
            let (mut kernel, stored) = self.store(source, Part::Flow(index), &form)?;
            if self.constant_variance.is_some() {
                kernel.variance = *limits::KERNEL_VARIANCE.start();
            }
            body.stored_kernel(&kernel);
            outputs.push(stored);
        }
        // Table by table, and in a table dimension by dimension.
        for table in 0..tensors.tables {
            for d in 0..self.header.inputs.into() {
                let kernel = d.min(outputs.len() - 1);
                let per_table = outputs[kernel].len() / tensors.tables;
                let within = if outputs.len() == 1 { d } else { 0 };
                body.stored_output(&outputs[kernel][table * per_table + within]);
            }
        }
        let mut outputs = Vec::new();
        for (index, process) in tensors.predictor.iter().enumerate() {
            let form = Form {
                points: choice.predictor_points,
                point_bits: choice.point_bits,
                weights: choice.weight_bits,
                directions: choice.predictor_bits,
                ranks: &vec![choice.predictor_rank; process.outputs.len()],
            };
            let (mut kernel, stored) = self.store(source, Part::Predictor(index), &form)?;
            if let Some(variances) = &self.constant_variance {
                kernel.variance = variances[index].clamp(1e-12, 1e12) as f32;
            }
            body.stored_kernel(&kernel);
            outputs.extend(stored);
        }
        outputs.iter().for_each(|output| body.stored_output(output));

        for target in &self.targets {
            body.target(*target);
        }
        let id = fingerprint(&body).to_le_bytes();
        let header = Header {
            variance_floor: if self.constant_variance.is_some() { 0.0 } else { self.header.variance_floor },
            steps: about.steps.unwrap_or(choice.steps) as u16,
            flow_inducing: choice.flow_points as u16,
            inducing_times: 0,
            tables: tensors.tables as u16,
            predictor_inducing: choice.predictor_points as u16,
            block: layout::BLOCK as u8,
            mean_error: about.differences.mean,
            variance_error: about.differences.variance,
            checked_rows: about.differences.rows,
            discretisation_error: about.discretisation.map_or(0.0, |of| of.error as f32),
            discretisation_rows: about.discretisation.map_or(0, |of| of.rows as u32),
            model_id: &id,
            certificate: about.certificate,
            ..self.header
        };
        Ok(body.finish(&header))
    }

    fn store(
        &mut self,
        source: &Source,
        part: Part,
        form: &Form<'_>,
    ) -> Result<(StoredKernel, Vec<StoredOutput>), CompressError> {
        let process = source.process(part);
        if form.is_untouched(process) {
            return Ok((as_it_is(process), process.outputs.iter().map(StoredOutput::new).collect()));
        }
        let basis = self.basis(source, part, form.points, form.point_bits)?;
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

    /// A part in fewer or coarser points.
    pub(super) fn basis(
        &mut self,
        source: &Source,
        part: Part,
        points: usize,
        bits: Bits,
    ) -> Result<Rc<Basis>, CompressError> {
        let process = source.process(part);
        let adaptation = if part.is_predictor() { source.adaptation } else { 0 };
        let key = BasisKey { part, adaptation, outputs: process.outputs.len(), points, bits };
        if let Some(basis) = self.bases.get(&key) {
            return Ok(Rc::clone(basis));
        }
        let states = if part.is_predictor() { &self.visited.ends } else { &self.visited.flow };
        let basis = Rc::new(Basis::new(process, states, points, bits).ok_or(CompressError::Singular)?);
        self.bases.insert(key, Rc::clone(&basis));
        Ok(basis)
    }
}

impl Source {
    /// One of its Gaussian processes.
    pub(super) fn process(&self, part: Part) -> &Process {
        match part {
            Part::Flow(index) => &self.tensors.flow[index],
            Part::Predictor(index) => &self.tensors.predictor[index],
        }
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
        let whole = |(output, &rank): (&Output, &usize)| rank >= output.coefficients.len();
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
