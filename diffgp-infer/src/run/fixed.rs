//! The flow of a model that is evaluated in integers.
//!
//! Rows of the workspace, by their bits: x₀ in `start`, x_k in `next`, the midpoint or x_{k+1} in `middle`, all in Q24; and
//! X in `scaled`. `state` is x_k as singles, for those who look at it: whoever goes through a prediction in one go does not.

use diffgp_core::device::keep_rolled;
use diffgp_core::fixed::{single_from_state, state_from_single};

use super::{Course, NOWHERE, copy};
use crate::fixed::{self, integers};
use crate::workspace::{InputRows, Scratch};

/// What an output says, and what a step makes of it.
pub(super) struct Answer {
    pub(super) sum: i32,
    gain: i32,
    pub(super) share: i32,
    spread: u32,
    pub(super) unit: f32,
    pub(super) prior: f32,
}

/// x₀ from what the singles say.
#[inline(never)]
pub(super) fn begin(scratch: &mut Scratch<'_>, inputs: usize) {
    let Some((rows, _)) = scratch.input_rows(inputs) else { return };
    for start in rows.start.iter_mut() {
        keep_rolled();
        *start = f32::from_bits(state_from_single(*start) as u32);
    }
    copy(rows.next, rows.start);
}

impl Course<'_> {
    /// Back to x₀.
    pub(super) fn restart_fixed(&mut self) -> Option<()> {
        let (rows, _) = self.scratch.input_rows(self.model.inputs())?;
        copy(rows.next, rows.start);
        Some(())
    }

    /// x_k as singles, at the end of a step.
    #[inline(never)]
    pub(super) fn show_fixed(&mut self) {
        let Some((rows, _)) = self.scratch.input_rows(self.model.inputs()) else { return };
        for (state, number) in rows.state.iter_mut().zip(rows.next) {
            keep_rolled();
            *state = single_from_state(number.to_bits() as i32);
        }
    }

    /// As [`Course::move_dimension`].
    #[inline(never)]
    pub(super) fn move_dimension_fixed(&mut self, noise: Option<&mut dyn FnMut() -> i32>) -> Option<()> {
        let inputs = self.model.inputs();
        let evaluations = inputs * self.model.scheme().evaluations();
        let in_two = evaluations > inputs;
        if self.index < evaluations {
            let at_middle = self.index >= inputs;
            let to_middle = in_two && !at_middle;
            let d = if at_middle { self.index - inputs } else { self.index };
            let noise = noise.filter(|_| !to_middle);
            let answer = self.answer_fixed(d, at_middle, noise.is_some())?;
            let mut change = fixed::drift(answer.sum, answer.gain, to_middle.into());
            if let Some(noise) = noise {
                let diffusion = fixed::diffusion(answer.share, answer.spread, noise());
                change = fixed::add(change, diffusion);
            }
            let (InputRows { middle, next, .. }, _) = self.scratch.input_rows(inputs)?;
            let (middle, next) = (integers(middle).get_mut(d)?, integers(next).get_mut(d)?);
            // The midpoint is known when its second half begins: x_k may then become x_{k+1} where it is.
            let to = if at_middle {
                next
            } else {
                *middle = *next;
                middle
            };
            *to = fixed::add(*to, change);
            self.index += 1;
        }
        if self.index == evaluations {
            let (rows, _) = self.scratch.input_rows(inputs)?;
            if !in_two {
                copy(rows.next, rows.middle);
            }
            (self.step, self.index) = (self.step + 1, 0);
        }
        Some(())
    }

    /// As [`Course::evaluate`].
    #[inline(never)]
    pub(super) fn evaluate_fixed(&mut self, index: usize) -> (f32, f32) {
        let Some(answer) = self.answer_fixed(index, false, true) else { return NOWHERE };
        (fixed::mean(answer.unit, answer.sum), fixed::variance(answer.prior, answer.share))
    }

    /// One output at x_k or at the midpoint.
    #[inline(never)]
    pub(super) fn answer_fixed(&mut self, index: usize, at_middle: bool, with_variance: bool) -> Option<Answer> {
        let (blob, header) = (self.model.blob(), self.model.blob().header());
        let flows = self.step < self.model.steps();
        let inducing = if flows { header.flow_inducing } else { header.predictor_inducing };
        let (rows, features) = self.scratch.input_rows(header.inputs.into())?;
        let features = fixed::words(features.get_mut(..inducing.into())?);
        let Some(kernel) = &blob.fixed_kernel_of(self.step, index) else { return None };
        // A shared kernel is evaluated once, for the first output.
        let kernels = if flows { header.flow_kernels } else { header.predictor_kernels };
        if index == 0 || kernels > 1 {
            let at = if at_middle { rows.middle } else { rows.next };
            fixed::correlations(kernel, integers(at), fixed::words(rows.scaled), features);
        }
        let Some(output) = &blob.fixed_output_of(self.step, index) else { return None };
        Some(Answer {
            sum: fixed::weighted_sum(output, features),
            gain: output.gain,
            share: if with_variance { fixed::share(output, features, kernel.least) } else { 0 },
            spread: kernel.spread,
            unit: output.unit,
            prior: kernel.variance,
        })
    }
}
