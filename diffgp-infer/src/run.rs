//! The flow dx = μ(x,t) dt + √Σ(x,t) dW, solved in the sense of Itô, and what the predictor says of where it ends, over all
//! paths.
//!
//! ```text
//! x_{k+1} = x_k + μ(x_k,t_k) dt + √(max(var(x_k,t_k), floor) dt) ε_k      t_k = k dt,  dt = T/K,  k = 0 … K−1
//! ```
//!
//! That is the scheme of Euler and Maruyama; the midpoint scheme takes μ and var at x_k + ½ μ(x_k) dt instead of x_k.
//!
//! K steps are K updates. Σ is diagonal. One state machine ([`Course`]) owns where a prediction is: path, step and output.
//! Every prediction runs through it, in one go or piece by piece, so the bits are the same.

mod fixed;
mod raw;

pub(crate) use raw::Integers;
pub use raw::{RawOutput, RawPrediction};

use diffgp_core::blob::Blob;
use diffgp_core::device::{keep_rolled, sqrt};
use diffgp_core::noise::Noise;

use crate::error::Error;
use crate::gp;
use crate::mixture;
use crate::model::Model;
use crate::prediction::{Latent, OutOfRange, Prediction};
use crate::workspace::{Column, Scratch, Sizes};

/// Whether there is work left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Progress {
    /// Call again.
    Pending,
    /// The prediction is ready.
    Ready,
}

impl Progress {
    /// Whether there is work left.
    pub fn is_pending(self) -> bool {
        self == Self::Pending
    }
}

/// The noise of a run along the drift, which draws none.
#[derive(Clone, Copy, Debug)]
pub enum Drift {}

impl Noise for Drift {
    fn begin_path(&mut self, _path: u32) {
        match *self {}
    }

    fn normal(&mut self) -> f32 {
        match *self {}
    }
}

/// A prediction that is made piece by piece; begun by [`Model::begin`] or [`Model::begin_drift`].
///
/// One call of [`Run::advance`] evaluates one output of one Gaussian process, of the flow or of the predictor: the
/// largest piece of work that there is. Between two calls an executor may do something else; the bits are those of
/// [`Model::predict_sampled`].
///
/// ```
/// # use diffgp_infer::{Keyed, Model, Workspace, include_model};
/// # static MODEL: &[u8] = include_model!("../models/power.dgp");
/// # let model = Model::parse(MODEL)?;
/// # let mut workspace = Workspace::<4, 50>::new();
/// # let x = [14.96, 41.76, 1024.07, 73.17];
/// let mut noise = Keyed::new(0, 0);
/// let mut run = model.begin(&x, 8, &mut noise, &mut workspace)?;
/// while run.advance()?.is_pending() {
///     // yield_now().await
/// }
/// let mean = run.prediction()?.mean();
/// # assert_eq!(mean, model.predict_sampled(&x, 8, &mut Keyed::new(0, 0), &mut workspace)?.mean());
/// # Ok::<(), diffgp_infer::Error>(())
/// ```
///
/// Those who want to see the paths go step by step ([`Run::step`]) or path by path ([`Run::finish_path`]) and look at
/// [`Run::state`], [`Run::field`] and [`Run::latents`].
#[derive(Debug)]
pub struct Run<'w, 'n, N: ?Sized = Drift> {
    course: Course<'w>,
    noise: Option<&'n mut N>,
}

impl<'w, 'n, N: Noise> Run<'w, 'n, N> {
    pub(crate) fn new(course: Course<'w>, noise: Option<&'n mut N>) -> Self {
        let mut run = Self { course, noise };
        run.show();
        run
    }

    /// The state as singles, where it is not in singles anyway.
    fn show(&mut self) {
        if self.course.index == 0 && self.course.model.is_fixed() {
            self.course.show_fixed();
        }
    }

    /// The next piece of work. After an error every further call gives the same error.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`] if the flow or the predictor overflowed.
    pub fn advance(&mut self) -> Result<Progress, Error> {
        let progress = match &mut self.noise {
            Some(noise) => self.course.advance(Some(&mut **noise)),
            None => self.course.advance(None),
        };
        self.show();
        progress.ok_or(Error::NotFinite)
    }

    /// What is left of the present step: `false`, and nothing is done, if the flow of the present path is at its end.
    /// A step that overflows is not taken: after an error the state is the one before it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`] if the step overflowed.
    pub fn step(&mut self) -> Result<bool, Error> {
        let (before, steps) = (self.steps_taken(), self.steps());
        while self.steps_taken() == before && before < steps && !self.is_ready() {
            let _ = self.advance()?;
        }
        Ok(self.steps_taken() != before)
    }

    /// What is left of the present path, with its part of the prediction: `false` if there was none left.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`] if the path overflowed.
    pub fn finish_path(&mut self) -> Result<bool, Error> {
        let before = self.paths_taken();
        while self.paths_taken() == before && self.advance()?.is_pending() {}
        Ok(self.paths_taken() != before)
    }

    /// The rest of the work, and the prediction.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`] if the prediction overflowed.
    pub fn finish(mut self) -> Result<Prediction<'w>, Error> {
        while self.advance()?.is_pending() {}
        self.course.into_prediction()
    }

    /// The prediction, if the run is ready.
    ///
    /// # Errors
    ///
    /// [`Error::Unfinished`] if it is not, [`Error::NotFinite`] if the prediction overflowed.
    pub fn prediction(&self) -> Result<Prediction<'_>, Error> {
        self.course.prediction()
    }

    /// Whether nothing is left to do.
    pub fn is_ready(&self) -> bool {
        self.course.path >= self.course.paths
    }

    /// Paths that came to their end.
    pub fn paths_taken(&self) -> u32 {
        self.course.path
    }

    /// K: the updates of a path; zero for a model without a flow.
    pub fn steps(&self) -> usize {
        self.course.model.steps()
    }

    /// Updates of the present path so far.
    pub fn steps_taken(&self) -> usize {
        self.course.step
    }

    /// t_k: the flow time reached so far.
    pub fn time(&self) -> f32 {
        self.course.step as f32 * self.course.model.step_size()
    }

    /// x_k of the present path in standardised units: `[D]`.
    pub fn state(&self) -> &[f32] {
        self.course.scratch.state(self.course.model.inputs())
    }

    /// x_k in the units of the inputs, value by value.
    pub fn position(&self) -> impl Iterator<Item = f32> + '_ {
        let inputs = (0..).map_while(|index| self.course.model.blob().input(index));
        self.state().iter().zip(inputs).map(|(state, input)| state / input.scale + input.mean)
    }

    /// What the predictor said of the end of the last path that came to its end, output by output; zeros before that.
    pub fn latents(&self) -> impl Iterator<Item = Latent> + '_ {
        self.course.scratch.outputs.iter().map(|&[mean, variance, ..]| Latent { mean, variance })
    }

    /// Drift and diffusion variance at the present state and time, in standardised units, without moving; for those
    /// who want to see the field. Both slices have D values. Nothing is written at the end of the flow or without one;
    /// after an error what was written has no meaning.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`] if the field overflowed.
    pub fn field(&mut self, drift: &mut [f32], diffusion: &mut [f32]) -> Result<(), Error> {
        self.course.field(drift, diffusion)
    }

    /// Inputs outside the range seen in training.
    pub fn out_of_range(&self) -> OutOfRange {
        self.course.out_of_range
    }
}

/// Where a prediction is.
#[derive(Debug)]
pub(crate) struct Course<'w> {
    model: &'w Model<'w>,
    scratch: Scratch<'w>,
    out_of_range: OutOfRange,
    paths: u32,
    sampled: bool,
    /// Paths that came to their end.
    path: u32,
    /// Updates of the present path so far.
    step: usize,
    /// The next dimension of the flow (with the midpoint scheme D more, after those of the midpoint), or at its end the
    /// next output of the predictor, or behind those the next class.
    index: usize,
}

impl<'w> Course<'w> {
    #[inline(always)]
    pub(crate) fn new(
        model: &'w Model<'w>,
        x: &[f32],
        paths: u32,
        sampled: bool,
        scratch: Option<Scratch<'w>>,
    ) -> Result<Self, Error> {
        let Sizes { inputs, features, outputs } = model.sizes();
        let mut scratch = scratch.ok_or(Error::Capacity { inputs, features, outputs })?;
        let out_of_range = begin(model, x, paths, &mut scratch)?;
        // Without a flow all paths are the same.
        let paths = if model.steps() == 0 { 1 } else { paths };
        Ok(Self { model, scratch, out_of_range, paths, sampled, path: 0, step: 0, index: 0 })
    }

    /// A whole prediction.
    #[inline(never)]
    pub(crate) fn run(
        model: &'w Model<'w>,
        x: &[f32],
        paths: u32,
        mut noise: Option<&mut dyn Noise>,
        scratch: Option<Scratch<'w>>,
    ) -> Result<Prediction<'w>, Error> {
        let mut course = Self::new(model, x, paths, noise.is_some(), scratch)?;
        while course
            .advance(match &mut noise {
                Some(noise) => Some(&mut **noise),
                None => None,
            })
            .ok_or(Error::NotFinite)?
            .is_pending()
        {}
        course.into_prediction()
    }

    /// One output of one Gaussian process, or one class; `None` if it overflowed.
    #[inline(never)]
    fn advance(&mut self, mut noise: Option<&mut dyn Noise>) -> Option<Progress> {
        if self.path >= self.paths {
            return Some(Progress::Ready);
        }
        if let (0, 0, Some(noise)) = (self.step, self.index, &mut noise) {
            noise.begin_path(self.path);
        }
        if self.step < self.model.steps() {
            self.move_dimension(noise)?
        } else {
            self.answer()?
        }
        Some(if self.path < self.paths { Progress::Pending } else { Progress::Ready })
    }

    /// x_{k+1,d} = x_{k,d} + μ_d dt + √(var_d dt) ε, μ and var at x_k or at the midpoint; or before that the midpoint,
    /// x̃_d = x_{k,d} + ½ μ_d dt.
    #[inline(always)]
    fn move_dimension(&mut self, noise: Option<&mut dyn Noise>) -> Option<()> {
        if self.model.is_fixed() {
            return match noise {
                Some(noise) => self.move_dimension_fixed(Some(&mut || noise.fixed_normal())),
                None => self.move_dimension_fixed(None),
            };
        }
        let (inputs, mut dt) = (self.model.inputs(), self.model.step_size());
        let evaluations = inputs * self.model.scheme().evaluations();
        if self.index < evaluations {
            let at_middle = self.index >= inputs;
            let to_middle = !at_middle && evaluations > inputs;
            let d = if at_middle { self.index - inputs } else { self.index };
            let noise = noise.filter(|_| !to_middle);
            let (mean, variance) = self.evaluate(d, at_middle, noise.is_some());
            let (rows, _) = self.scratch.input_rows(inputs)?;
            let mut to = rows.next;
            if to_middle {
                (to, dt) = (rows.middle, 0.5 * dt);
            }
            if let (Some(to), Some(state)) = (to.get_mut(d), rows.state.get(d)) {
                *to = state + mean * dt;
                if let Some(noise) = noise {
                    *to += sqrt(variance * dt) * noise.normal();
                }
            }
            self.index += 1;
        }
        if self.index == evaluations {
            let (rows, _) = self.scratch.input_rows(inputs)?;
            // A step that overflows is not taken, however often it is asked for.
            if !rows.next.iter().all(|x| x.is_finite()) {
                return None;
            }
            copy(rows.state, rows.next);
            (self.step, self.index) = (self.step + 1, 0);
        }
        Some(())
    }

    /// Output o of the predictor at x_K, then, for more than two classes, class c; and the end of the path.
    #[inline(always)]
    fn answer(&mut self) -> Option<()> {
        let (index, outputs) = (self.index, self.model.outputs());
        if index < outputs {
            let (mean, variance) = self.evaluate(index, false, true);
            if !(mean.is_finite() && variance.is_finite()) {
                return None;
            }
            if let Some([mean_of_path, variance_of_path, ..]) = self.scratch.outputs.get_mut(index) {
                (*mean_of_path, *variance_of_path) = (mean, variance);
            }
        } else if cfg!(feature = "classes") {
            mixture::share(self.scratch.outputs, index - outputs);
        }
        self.index = index + 1;
        let likelihood = self.model.likelihood();
        if self.index == mixture::pieces(likelihood, outputs) {
            self.path = self.path.saturating_add(1);
            mixture::add(self.scratch.outputs, likelihood, self.model.blob().header().epsilon, self.path);
            self.index = 0;
            if self.path < self.paths {
                self.step = 0;
                if self.model.is_fixed() {
                    return self.restart_fixed();
                }
                let (rows, _) = self.scratch.input_rows(self.model.inputs())?;
                copy(rows.state, rows.start);
            }
        }
        Some(())
    }

    /// Mean at x_k or at the midpoint, and variance if it is wanted, else zero, of one output: of the flow, or at its end
    /// of the predictor.
    #[inline(never)]
    fn evaluate(&mut self, index: usize, at_middle: bool, with_variance: bool) -> (f32, f32) {
        if self.model.is_fixed() {
            return self.evaluate_fixed(index);
        }
        let (blob, header) = (self.model.blob(), self.model.blob().header());
        let flows = self.step < self.model.steps();
        let Some((kernel, output)) = &blob.part(self.step, index) else { return NOWHERE };
        let Some((rows, features)) = self.scratch.input_rows(header.inputs.into()) else { return NOWHERE };
        let Some(features) = features.get_mut(..output.weights.elements.len()) else { return NOWHERE };
        // A shared kernel is evaluated once, for the first output.
        let kernels = if flows { header.flow_kernels } else { header.predictor_kernels };
        if index == 0 || kernels > 1 {
            let inducing = if flows { header.flow_inducing } else { header.predictor_inducing };
            let Some(correlations) = features.get_mut(..inducing.into()) else { return NOWHERE };
            let at = if at_middle { rows.middle } else { rows.state };
            gp::correlations(kernel, at, rows.scaled, correlations);
            if flows {
                gp::expand_in_time(features, blob.time_features(self.step));
            }
        }
        let mean = gp::mean(output, features);
        let variance =
            if with_variance { gp::variance(kernel.variance, output, features, header.variance_floor) } else { 0.0 };
        (mean, variance)
    }

    fn field(&mut self, drift: &mut [f32], diffusion: &mut [f32]) -> Result<(), Error> {
        if self.step >= self.model.steps() {
            return Ok(());
        }
        let mut finite = true;
        for (d, (drift, diffusion)) in drift.iter_mut().zip(diffusion).enumerate().take(self.model.inputs()) {
            (*drift, *diffusion) = self.evaluate(d, false, true);
            finite &= drift.is_finite() && diffusion.is_finite();
        }
        if finite { Ok(()) } else { Err(Error::NotFinite) }
    }

    fn prediction(&self) -> Result<Prediction<'_>, Error> {
        if self.path < self.paths {
            return Err(Error::Unfinished { paths: self.paths - self.path });
        }
        Prediction::new(self.model, self.scratch.outputs, self.path, self.sampled, self.out_of_range)
    }

    fn into_prediction(self) -> Result<Prediction<'w>, Error> {
        if self.path < self.paths {
            return Err(Error::Unfinished { paths: self.paths - self.path });
        }
        Prediction::new(self.model, self.scratch.outputs, self.path, self.sampled, self.out_of_range)
    }
}

/// Checks and standardises x, once for all paths.
fn begin(model: &Model<'_>, x: &[f32], paths: u32, scratch: &mut Scratch<'_>) -> Result<OutOfRange, Error> {
    let inputs = model.inputs();
    if x.len() != inputs {
        return Err(Error::InputLength { expected: inputs, found: x.len() });
    }
    if paths == 0 {
        return Err(Error::NoPaths);
    }
    let out_of_range = standardise(model.blob(), x, scratch)?;
    if model.is_fixed() {
        fixed::begin(scratch, inputs);
    }
    for column in &mut *scratch.outputs {
        keep_rolled();
        *column = Column::default();
    }
    Ok(out_of_range)
}

/// x₀ = (x − mean)·scale, and which values lie outside the ranges seen in training.
#[inline(never)]
fn standardise(blob: &Blob<'_>, x: &[f32], scratch: &mut Scratch<'_>) -> Result<OutOfRange, Error> {
    let (mut out_of_range, mut bit) = (0, 1_u64);
    let (rows, _) = scratch.input_rows(x.len()).ok_or(Error::NotFinite)?;
    for (index, ((start, state), &x)) in rows.start.iter_mut().zip(rows.state).zip(x).enumerate() {
        keep_rolled();
        if !x.is_finite() {
            return Err(Error::InputNotFinite { index });
        }
        let input = blob.input(index).ok_or(Error::NotFinite)?;
        *start = (x - input.mean) * input.scale;
        *state = *start;
        if !start.is_finite() {
            return Err(Error::NotFinite);
        }
        if !(input.low <= x && x <= input.high) {
            out_of_range |= bit;
        }
        bit <<= 1;
    }
    Ok(OutOfRange::of_bits(out_of_range))
}

/// What there is where there is no kernel or no memory, which parsing and cutting have excluded.
const NOWHERE: (f32, f32) = (f32::NAN, f32::NAN);

/// Not `copy_from_slice`, which would keep its length check, and a panic, in the image.
#[inline(never)]
fn copy(to: &mut [f32], from: &[f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        keep_rolled();
        *to = *from;
    }
}
