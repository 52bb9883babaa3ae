//! The bound of a sparse Gaussian process with its best q(u_g), for rows that are too many for an exact one.
//!
//! For every θ q(u_g) takes its closed form, so the slope of the bound along θ is the one at that q. The inducing points
//! stay where they are: rows, chosen as in [`growth`](crate::train::growth).

use diffgp_core::kernel::KernelKind;
use nalgebra::DVector;

use super::{Found, found};
use crate::elbo::{Batch, value_and_gradient};
use crate::optimise::{Point, Surface, natural_step_or_shorter};
use crate::params::Params;
use crate::permutation::Permutation;
use crate::philox::Purpose;
use crate::threads::Threads;
use crate::train::config::Config;
use crate::train::growth;
use crate::train::objective::Standardised;

/// The choice of rows of this module among those that `Purpose::Inducing` makes.
const ROWS: u64 = 3;

/// Rows, and a model without a flow whose kernel and noise are looked for.
pub(super) struct Sparse<'a> {
    /// `[N, D]`.
    x: Vec<f32>,
    /// `[N, O]`.
    y: Vec<f32>,
    model: Params,
    threads: &'a Threads,
}

impl<'a> Sparse<'a> {
    /// On as many rows as the last fit sees.
    pub(super) fn new(rows_of: Standardised<'_>, model: &Params, config: &Config, threads: &'a Threads) -> Self {
        let total = rows_of.data.rows();
        let order = Permutation::new(total, config.seed, Purpose::Inducing, ROWS);
        let rows: Vec<usize> = (0..total.min(config.refit.max_rows)).map(|index| order.at(index)).collect();
        let (x, y) = rows_of.gather(&rows);
        Self { x, y, model: model.clone(), threads }
    }

    /// Gives the model the inducing points that this kernel and this noise ask for.
    pub(super) fn choose_points(&mut self, at: &Found, most: usize) {
        at.apply_to(&mut self.model);
        let x: Vec<f64> = self.x.iter().copied().map(f64::from).collect();
        growth::grow(&mut self.model.predictor, &x, at.noise, most, false);
    }

    /// How many there are.
    pub(super) fn inducing(&self) -> usize {
        self.model.predictor.inducing.nrows()
    }
}

/// The bound along θ = log (ℓ₁ … ℓ_D, s², σ²/s²), for one kernel.
pub(super) struct SparseGp<'a> {
    pub(super) kind: KernelKind,
    pub(super) sparse: &'a Sparse<'a>,
}

impl Surface for SparseGp<'_> {
    type Note = f64;

    fn at(&self, theta: &[f64]) -> Option<Point<f64>> {
        let Sparse { x, y, model, threads } = self.sparse;
        let at = found(self.kind, theta);
        let mut model = model.clone();
        at.apply_to(&mut model);
        let batch = Batch { x, y, total_rows: x.len() / model.inputs() };
        let evaluate = |model: &Params| value_and_gradient(model, &batch, 1, None, threads).ok();
        // From the prior, one whole step ends at the optimum.
        let slopes = evaluate(&model)?.gradient.predictor.posteriors;
        for (posterior, slope) in model.predictor.posteriors.iter_mut().zip(&slopes) {
            *posterior = natural_step_or_shorter(posterior, slope, 1.0)?.0;
        }
        let end = evaluate(&model)?;
        let share = 1.0 / y.len() as f64;
        let (kernels, inputs) = (&end.gradient.predictor.kernels, theta.len() - 2);
        let along_noise: f64 = at.noise * end.gradient.noise.iter().sum::<f64>();
        let slope = DVector::from_fn(theta.len(), |index, _| {
            let along = match index.checked_sub(inputs) {
                None => at.kernel.length_scales[index] * kernels.iter().map(|of| of.length_scales[index]).sum::<f64>(),
                Some(0) => at.kernel.variance * kernels.iter().map(|of| of.variance).sum::<f64>() + along_noise,
                Some(_) => along_noise,
            };
            share * along
        });
        let value = share * end.elbo;
        let is_finite = value.is_finite() && slope.iter().all(|slope| slope.is_finite());
        is_finite.then_some(Point { value, slope, note: value })
    }
}
