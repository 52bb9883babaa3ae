//! From tensors and a choice to the bytes of a model file.

use std::collections::HashMap;
use std::rc::Rc;

use diffgp_core::blob::{ARITHMETIC_FIXED, ARITHMETIC_SINGLE, Header, TargetRecord, layout, limits};
use diffgp_infer::Model;

use super::CompressError;
use super::basis::fixed::Setting;
use super::basis::{Basis, Storage};
use super::changes::Differences;
use super::choice::{Choice, Part};
use super::states::Visited;
use super::tensors::{Process, Tensors};
use crate::discretisation::Discretisation;
use crate::export::numbers::{Numbers, interleaved};
use crate::export::tables::Output;
use crate::export::writer::{AnyKernel, AnyOutput, Body, StoredKernel, StoredOutput};
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
    fixed: bool,
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
        let floor = if self.constant_variance.is_some() { 0.0 } else { self.header.variance_floor.into() };
        let steps = about.steps.unwrap_or(choice.steps);
        let step = f64::from(self.header.flow_time) / steps.max(1) as f64;
        let mut outputs: Vec<Vec<AnyOutput>> = Vec::new();
        for (index, ranks) in choice.flow_ranks.iter().enumerate() {
            let constant = self.constant_variance.as_ref().map(|_| f64::from(*limits::KERNEL_VARIANCE.start()));
            let prior = constant.unwrap_or(tensors.flow[index].kernel.variance);
            let form = Form {
                points: choice.flow_points,
                point_bits: choice.point_bits,
                weights: choice.weight_bits,
                directions: choice.flow_bits,
                ranks,
                fixed: choice.fixed,
                setting: Setting { step, floor, prior },
            };
            let (kernel, stored) = self.store(source, Part::Flow(index), &form)?;
            body.any_kernel(&kernel);
            outputs.push(stored);
        }
        // Table by table, and in a table dimension by dimension.
        for table in 0..tensors.tables {
            for d in 0..self.header.inputs.into() {
                let kernel = d.min(outputs.len() - 1);
                let per_table = outputs[kernel].len() / tensors.tables;
                let within = if outputs.len() == 1 { d } else { 0 };
                body.any_output(&outputs[kernel][table * per_table + within]);
            }
        }
        let mut outputs = Vec::new();
        for (index, process) in tensors.predictor.iter().enumerate() {
            let constant = self.constant_variance.as_ref().map(|variances| variances[index].clamp(1e-12, 1e12));
            let form = Form {
                points: choice.predictor_points,
                point_bits: choice.point_bits,
                weights: choice.weight_bits,
                directions: choice.predictor_bits,
                ranks: &vec![choice.predictor_rank; process.outputs.len()],
                fixed: choice.fixed,
                setting: Setting { step: 0.0, floor, prior: constant.unwrap_or(process.kernel.variance) },
            };
            let (kernel, stored) = self.store(source, Part::Predictor(index), &form)?;
            body.any_kernel(&kernel);
            outputs.extend(stored);
        }
        outputs.iter().for_each(|output| body.any_output(output));

        for target in &self.targets {
            body.target(*target);
        }
        let id = fingerprint(&body).to_le_bytes();
        let header = Header {
            // Its bars are no longer those that were calibrated.
            calibration: 0,
            arithmetic: if choice.fixed { ARITHMETIC_FIXED } else { ARITHMETIC_SINGLE },
            variance_floor: if self.constant_variance.is_some() { 0.0 } else { self.header.variance_floor },
            steps: steps as u16,
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
    ) -> Result<(AnyKernel, Vec<AnyOutput>), CompressError> {
        let process = source.process(part);
        if form.is_untouched(process) {
            let outputs = process.outputs.iter().map(|output| AnyOutput::Single(StoredOutput::new(output)));
            return Ok((AnyKernel::Single(as_it_is(process, form.setting.prior)), outputs.collect()));
        }
        let basis = self.basis(source, part, (form.points, form.point_bits, form.fixed))?;
        // Outputs of tables that are left out are not stored.
        let outputs = form.ranks.iter().enumerate().map(|(index, &rank)| {
            let storage = Storage { weights: form.weights, directions: form.directions, rank };
            if form.fixed {
                return Ok(AnyOutput::Fixed(basis.fixed_output(index, storage, form.setting)?));
            }
            Ok(AnyOutput::Single(basis.stored_output(index, storage).ok_or(CompressError::Singular)?))
        });
        let outputs = outputs.collect::<Result<_, CompressError>>()?;
        let kernel = if form.fixed {
            AnyKernel::Fixed(basis.fixed_kernel(form.setting)?)
        } else {
            AnyKernel::Single(StoredKernel { variance: form.setting.prior as f32, ..basis.stored_kernel() })
        };
        Ok((kernel, outputs))
    }

    /// A part in fewer or coarser points, for arithmetic in integers or not.
    pub(super) fn basis(
        &mut self,
        source: &Source,
        part: Part,
        (points, bits, fixed): (usize, Bits, bool),
    ) -> Result<Rc<Basis>, CompressError> {
        let process = source.process(part);
        let adaptation = if part.is_predictor() { source.adaptation } else { 0 };
        let key = BasisKey { part, adaptation, outputs: process.outputs.len(), points, bits, fixed };
        if let Some(basis) = self.bases.get(&key) {
            return Ok(Rc::clone(basis));
        }
        let states = if part.is_predictor() { &self.visited.ends } else { &self.visited.flow };
        let basis = Rc::new(Basis::new(process, states, points, bits, fixed)?);
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
    /// For arithmetic in integers.
    fixed: bool,
    setting: Setting,
}

impl Form<'_> {
    /// Whether nothing is cut or rounded.
    fn is_untouched(&self, process: &Process) -> bool {
        let whole = |(output, &rank): (&Output, &usize)| rank >= output.coefficients.len();
        !self.fixed
            && self.points == process.kernel.points.nrows()
            && [self.point_bits, self.weights, self.directions] == [Bits::ThirtyTwo; 3]
            && process.outputs.iter().zip(self.ranks).all(whole)
    }
}

fn as_it_is(process: &Process, prior: f64) -> StoredKernel {
    let kernel = &process.kernel;
    let (rows, columns) = kernel.points.shape();
    StoredKernel {
        kind: kernel.kind,
        variance: prior as f32,
        scales: kernel.scales.iter().map(|&scale| scale as f32).collect(),
        points: Numbers::Singles(interleaved(rows, columns, |m, i| kernel.points[(m, i)] as f32)),
    }
}
