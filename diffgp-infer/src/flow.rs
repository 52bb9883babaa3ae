//! The flow dx = μ(x,t) dt + √Σ(x,t) dW, solved by Euler and Maruyama in the sense of Itô.
//!
//! ```text
//! x_{k+1} = x_k + μ(x_k,t_k) dt + √(max(var(x_k,t_k), floor) dt) ε_k      t_k = k dt,  dt = T/K,  k = 0 … K−1
//! ```
//!
//! K steps are K updates. Σ is diagonal. Vector field (`field`), solver (`advance`) and noise ([`Noise`]) are apart.

use diffgp_core::blob::Cursor;
use diffgp_core::noise::Noise;
use diffgp_core::rolled::keep_rolled;
use diffgp_core::sqrt::sqrt;

use crate::error::Error;
use crate::gp;
use crate::model::Model;
use crate::prediction::{Latent, Prediction};
use crate::workspace::Scratch;

/// An input on its way through the flow; made by [`Model::start`].
///
/// For callers with a time budget, one call of [`Flow::step`] or [`Flow::step_drift`] is one of K equal pieces of
/// work. For those who want to see the path, [`Flow::state`] and [`Flow::position`] show where it is after each.
#[derive(Debug)]
pub struct Flow<'m, 'w> {
    model: &'m Model<'m>,
    scratch: Scratch<'w>,
    /// At the outputs of the next step.
    outputs: Cursor<'m>,
    taken: usize,
    in_range: bool,
}

impl<'m, 'w> Flow<'m, 'w> {
    #[inline(always)]
    pub(crate) fn start(model: &'m Model<'m>, x: &[f32], scratch: Scratch<'w>) -> Result<Self, Error> {
        let blob = model.blob();
        let expected = scratch.state.len();
        if x.len() != expected {
            return Err(Error::InputLength { expected, found: x.len() });
        }
        let mut in_range = true;
        for (index, (state, &x)) in scratch.state.iter_mut().zip(x).enumerate() {
            keep_rolled();
            if !x.is_finite() {
                return Err(Error::InputNotFinite { index });
            }
            let input = blob.input(index).ok_or(Error::Damaged)?;
            *state = (x - input.mean) * input.scale;
            if !state.is_finite() {
                return Err(Error::NotFinite);
            }
            in_range &= input.low <= x && x <= input.high;
        }
        Ok(Self { model, scratch, outputs: blob.flow_outputs(), taken: 0, in_range })
    }

    /// K: the updates from beginning to end; zero for a model without a flow.
    pub fn steps(&self) -> usize {
        usize::from(self.model.blob().header().steps)
    }

    /// Updates that are left.
    pub fn remaining(&self) -> usize {
        self.steps().saturating_sub(self.taken)
    }

    /// t_k: the flow time reached so far.
    pub fn time(&self) -> f32 {
        self.taken as f32 * self.model.step_size()
    }

    /// x_k in standardised units: `[D]`.
    pub fn state(&self) -> &[f32] {
        self.scratch.state
    }

    /// x_k in the units of the inputs, value by value.
    pub fn position(&self) -> impl Iterator<Item = f32> + '_ {
        let inputs = (0..).map_while(|index| self.model.blob().input(index));
        self.scratch.state.iter().zip(inputs).map(|(state, input)| state / input.scale + input.mean)
    }

    /// One update along the drift alone. `false` if the end had been reached before. A step that overflows is not taken:
    /// after an error the state is the one before it, and there is no prediction from there.
    pub fn step_drift(&mut self) -> Result<bool, Error> {
        self.advance(None)
    }

    /// One Euler–Maruyama update with D draws of noise; like [`Flow::step_drift`] otherwise.
    pub fn step(&mut self, noise: &mut impl Noise) -> Result<bool, Error> {
        self.advance(Some(noise))
    }

    /// Drift and diffusion variance at the present state and time, in standardised units, without moving; for those
    /// who want to see the field. Both slices have D values. Nothing is written at the end of the flow or without one;
    /// after an error what was written has no meaning.
    pub fn field(&mut self, drift: &mut [f32], diffusion: &mut [f32]) -> Result<(), Error> {
        if self.remaining() == 0 {
            return Ok(());
        }
        let mut pairs = drift.iter_mut().zip(diffusion);
        let mut finite = true;
        evaluate(self.model, &mut self.scratch, &mut { self.outputs }, self.taken, true, &mut |_, mean, var| {
            finite &= mean.is_finite() && var.is_finite();
            if let Some((drift, diffusion)) = pairs.next() {
                *drift = mean;
                *diffusion = var;
            }
        })?;
        if finite { Ok(()) } else { Err(Error::NotFinite) }
    }

    /// What the predictor says of the end point: mean and variance of g, standardised.
    pub fn latent(&mut self) -> Result<Latent, Error> {
        match self.remaining() {
            0 => self.predict_latent(),
            remaining => Err(Error::Unfinished { remaining }),
        }
    }

    /// The prediction from the end point of this one path.
    pub fn prediction(&mut self) -> Result<Prediction, Error> {
        let mut mixture = self.model.mixture();
        mixture.add(self.latent()?);
        self.model.prediction(&mixture, self.in_range)
    }

    /// Whether every input value lies in the range seen in training.
    pub fn in_range(&self) -> bool {
        self.in_range
    }

    #[inline(always)]
    pub(crate) fn advance(&mut self, mut noise: Option<&mut dyn Noise>) -> Result<bool, Error> {
        if self.remaining() == 0 {
            return Ok(false);
        }
        let mut outputs = self.outputs;
        let dt = self.model.step_size();
        let sampled = noise.is_some();
        let mut finite = true;
        evaluate(self.model, &mut self.scratch, &mut outputs, self.taken, sampled, &mut |next, mean, var| {
            *next += mean * dt;
            if let Some(noise) = noise.as_deref_mut() {
                *next += sqrt(var * dt) * noise.normal();
            }
            finite &= next.is_finite();
        })?;
        if !finite {
            return Err(Error::NotFinite);
        }
        if self.model.blob().header().tables > 1 {
            self.outputs = outputs;
        }
        self.taken += 1;
        // Not `copy_from_slice`, which would keep its length check, and a panic, in the image.
        for (state, next) in self.scratch.state.iter_mut().zip(self.scratch.next.iter()) {
            keep_rolled();
            *state = *next;
        }
        Ok(true)
    }

    #[inline(always)]
    fn predict_latent(&mut self) -> Result<Latent, Error> {
        let Some((kernel, output)) = &self.model.blob().predictor() else { return Err(Error::Damaged) };
        let header = self.model.blob().header();
        let inducing = usize::from(header.predictor_inducing);
        let features = self.scratch.features.get_mut(..inducing).ok_or(Error::Damaged)?;
        gp::correlations(kernel, self.scratch.state, self.scratch.scaled, features);
        let mean = gp::mean(output, features);
        let variance = gp::variance(kernel.variance, output, features, header.variance_floor);
        if mean.is_finite() && variance.is_finite() { Ok(Latent { mean, variance }) } else { Err(Error::NotFinite) }
    }
}

/// The vector field at x_k: calls `visit(next_d, μ_d, var_d)` for every dimension in order, `next_d` holding x_k,d.
/// var_d is zero unless `with_variance`.
fn evaluate(
    model: &Model<'_>,
    scratch: &mut Scratch<'_>,
    outputs: &mut Cursor<'_>,
    step: usize,
    with_variance: bool,
    visit: &mut dyn FnMut(&mut f32, f32, f32),
) -> Result<(), Error> {
    let blob = model.blob();
    let header = blob.header();
    let inputs = usize::from(header.inputs);
    let inducing = usize::from(header.flow_inducing);
    let shared = header.flow_kernels == 1;
    let features = scratch.features.get_mut(..header.flow_features()).ok_or(Error::Damaged)?;
    let mut kernels = blob.flow_kernels();
    let mut prior = 0.0;
    for (d, (next, &state)) in scratch.next.iter_mut().zip(scratch.state.iter()).enumerate() {
        // A shared kernel is evaluated once, for the first dimension.
        if d == 0 || !shared {
            let Some(kernel) = &kernels.next_kernel(inputs, inducing) else { return Err(Error::Damaged) };
            prior = kernel.variance;
            let correlations = features.get_mut(..inducing).ok_or(Error::Damaged)?;
            gp::correlations(kernel, scratch.state, scratch.scaled, correlations);
            gp::expand_in_time(features, blob.time_features(step));
        }
        let Some(output) = &outputs.next_output(features.len()) else { return Err(Error::Damaged) };
        let mean = gp::mean(output, features);
        let variance = if with_variance { gp::variance(prior, output, features, header.variance_floor) } else { 0.0 };
        *next = state;
        visit(next, mean, variance);
    }
    Ok(())
}
