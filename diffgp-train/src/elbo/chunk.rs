//! One chunk of rows through the whole model and back.
//!
//! ```text
//! x_{k+1} = x_k + μ(x_k) dt + √(max(Σ(x_k), floor) dt) ε_k          forward, Itô
//! x̄_k = x̄_{k+1} + (∂μ/∂x)ᵀ μ̄ + (∂Σ/∂x)ᵀ Σ̄,   μ̄ = dt x̄_{k+1},   Σ̄ = ½ √(dt/Σ) ε_k x̄_{k+1}   (0 at the floor)
//! ```
//!
//! With the midpoint scheme μ and Σ are those at x̃_k = x_k + ½ μ(x_k) dt, and
//!
//! ```text
//! x̃̄_k = (∂μ/∂x̃)ᵀ μ̄ + (∂Σ/∂x̃)ᵀ Σ̄        x̄_k = x̄_{k+1} + x̃̄_k + ½ dt (∂μ/∂x)ᵀ x̃̄_k
//! ```
//!
//! States, drifts and activations are numbered by the evaluations of the field: x_0, x_1, …, x_K or x_0, x̃_0, x_1, x̃_1, …,
//! x_K.
//!
//! A worker does this without talking to others. PathRows that pad a chunk repeat its last row and carry no weight.

use diffgp_core::scheme::Scheme;

use super::layer::{Activations, Layer, OutputMoments, Points, Sums};
use super::real::Real;
use super::workspace::{Workspace, padded};
use crate::likelihood::{Latent, Likelihood, Slopes};

/// The model, rounded to `T`.
pub(super) struct Model<T> {
    /// What is subtracted from rows and inducing points: `[D]`.
    pub(super) centre: Vec<T>,
    pub(super) flow: Option<FlowModel<T>>,
    pub(super) predictor: Layer<T>,
    pub(super) likelihood: Likelihood,
    pub(super) floor: T,
}

/// The flow's layer and its steps.
pub(super) struct FlowModel<T> {
    pub(super) layer: Layer<T>,
    pub(super) steps: usize,
    pub(super) scheme: Scheme,
    pub(super) slots: usize,
    pub(super) dt: T,
}

/// The rows: S paths of B rows, path after path.
#[derive(Clone, Copy)]
pub(super) struct PathRows<'a, T> {
    /// `[B, D]`.
    pub(super) x: &'a [T],
    /// ε: `[S, K, B, D]`, or nothing for the drift-only flow.
    pub(super) noise: Option<&'a [T]>,
    /// B.
    pub(super) batch: usize,
}

/// PathRows `first..first + count` of the S·B.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub(super) first: usize,
    pub(super) count: usize,
}

/// What a lane of chunks adds up.
pub(super) struct LaneSums<T> {
    pub(super) flow: Option<Sums<T>>,
    pub(super) predictor: Sums<T>,
    /// Σ E_q[log p(y|g)].
    pub(super) log_density: f64,
    /// Σ ∂/∂σ² of every Gaussian output.
    pub(super) noise: Vec<f64>,
}

impl<T: Real> LaneSums<T> {
    pub(super) fn new(model: &Model<T>) -> Self {
        let flow = model.flow.as_ref().map(|flow| Sums::new(&flow.layer));
        let noise = vec![0.0; model.likelihood.noise().len()];
        Self { flow, predictor: Sums::new(&model.predictor), log_density: 0.0, noise }
    }
}

impl Chunk {
    /// PathRows with padding: c.
    pub(super) fn rows(&self) -> usize {
        padded(self.count)
    }

    /// Path and batch row of the chunk's row n.
    fn source(&self, n: usize, batch: usize) -> (usize, usize) {
        let row = self.first + n.min(self.count - 1);
        (row / batch, row % batch)
    }
}

impl<T: Real> Model<T> {
    /// Carries a chunk to its moments; states, moments and (all or the last of) the activations stay in `work`.
    pub(super) fn forward(&self, data: PathRows<'_, T>, chunk: Chunk, slots: usize, work: &mut Workspace<T>) {
        let (c, d) = (chunk.rows(), self.predictor.inputs);
        work.fit(self.flow.as_ref().map(|flow| (&flow.layer, flow.evaluations())), slots, &self.predictor, c);
        for n in 0..c {
            let (_, row) = chunk.source(n, data.batch);
            for i in 0..d {
                work.states[i * c + n] = data.x[row * d + i] - self.centre[i];
            }
        }
        if let Some(flow) = &self.flow {
            let per_step = flow.scheme.evaluations();
            for e in 0..flow.evaluations() {
                let (k, ends_step) = (e / per_step, (e + 1) % per_step == 0);
                let noise = data.noise.filter(|_| ends_step);
                flow.evaluate(e, e % slots, c, noise.is_some(), work);
                let (before, after) = work.states.split_at_mut((e + 1) * d * c);
                let (x, next) = (&before[k * per_step * d * c..], &mut after[..d * c]);
                let drift = &work.drift[e * d * c..(e + 1) * d * c];
                // x + μ dt, or the midpoint
                let dt = if ends_step { flow.dt } else { half(flow.dt) };
                for ((next, &x), &drift) in next.iter_mut().zip(x).zip(drift) {
                    *next = x + drift * dt;
                }
                let Some(noise) = noise else { continue };
                for n in 0..c {
                    let eps = noise_of(noise, chunk.source(n, data.batch), k, flow.steps, data.batch, d);
                    for i in 0..d {
                        // + √(max(Σ, floor) dt) ε
                        let variance = larger(work.diffusion[(e * d + i) * c + n], self.floor);
                        next[i * c + n] += (variance * flow.dt).root() * eps[i];
                    }
                }
            }
        }
        let last = work.states.len() - d * c;
        self.predictor.forward(
            Points { step: 0, x: &work.states[last..], rows: c, variance: true },
            &mut Activations {
                features: &mut work.features,
                products: &mut work.products,
                moments: OutputMoments { mean: &mut work.mean, variance: &mut work.variance },
            },
            &mut work.scratch,
        );
    }

    /// After [`Model::forward`]: adds the chunk's expectations and gradient to `sums`.
    ///
    /// `weight` is N/(B S), the weight of one row's expectation in the bound; `y` the targets of the batch.
    pub(super) fn backward(
        &self,
        data: PathRows<'_, T>,
        y: &[T],
        chunk: Chunk,
        weight: f64,
        work: &mut Workspace<T>,
        sums: &mut LaneSums<T>,
    ) {
        let (c, d) = (chunk.rows(), self.predictor.inputs);
        let size = self.predictor.outputs * c;
        work.state_bar.fill(T::zero());
        self.expectations(data, y, chunk, weight, work, sums);
        let last = work.states.len() - d * c;
        self.predictor.backward(
            Points { step: 0, x: &work.states[last..], rows: c, variance: true },
            &Activations {
                features: &mut work.features,
                products: &mut work.products,
                moments: OutputMoments { mean: &mut work.mean, variance: &mut work.variance },
            },
            &mut OutputMoments { mean: &mut work.mean_bar[..size], variance: &mut work.variance_bar[..size] },
            &mut work.state_bar,
            &mut sums.predictor,
            &mut work.scratch,
        );
        let (Some(flow), Some(flow_sums)) = (&self.flow, &mut sums.flow) else { return };
        for k in (0..flow.steps).rev() {
            self.step_backward(flow, k, data, chunk, work, flow_sums);
        }
    }

    /// Adds Σ E_q[log p(y|g)] to `sums`, and leaves its derivatives by the moments of g in `work`.
    fn expectations(
        &self,
        data: PathRows<'_, T>,
        y: &[T],
        chunk: Chunk,
        weight: f64,
        work: &mut Workspace<T>,
        sums: &mut LaneSums<T>,
    ) {
        let (c, outputs, targets) = (chunk.rows(), self.predictor.outputs, self.likelihood.targets());
        work.mean_bar[..outputs * c].fill(T::zero());
        work.variance_bar[..outputs * c].fill(T::zero());
        let mut numbers = vec![0.0; targets + 4 * outputs];
        let (target, moments) = numbers.split_at_mut(targets);
        let (at, slopes) = moments.split_at_mut(2 * outputs);
        self.likelihood.with(|density| {
            for n in 0..chunk.count {
                let (_, row) = chunk.source(n, data.batch);
                target.iter_mut().zip(&y[row * targets..]).for_each(|(target, &y)| *target = y.to_f64());
                for o in 0..outputs {
                    at[o] = work.mean[o * c + n].to_f64();
                    at[outputs + o] = larger(work.variance[o * c + n], self.floor).to_f64();
                }
                let (mean, variance) = at.split_at(outputs);
                let (by_mean, by_variance) = slopes.split_at_mut(outputs);
                let mut slopes = Slopes { mean: by_mean, variance: by_variance, own: &mut sums.noise };
                sums.log_density += density.expectation(target, Latent { mean, variance }, &mut slopes);
                for o in 0..outputs {
                    work.mean_bar[o * c + n] = T::from_f64(weight * by_mean[o]);
                    if work.variance[o * c + n] > self.floor {
                        work.variance_bar[o * c + n] = T::from_f64(weight * by_variance[o]);
                    }
                }
            }
        });
    }

    /// From x̄_{k+1} to x̄_k in `work.state_bar`.
    fn step_backward(
        &self,
        flow: &FlowModel<T>,
        k: usize,
        data: PathRows<'_, T>,
        chunk: Chunk,
        work: &mut Workspace<T>,
        sums: &mut Sums<T>,
    ) {
        let (c, d, e) = (chunk.rows(), self.predictor.inputs, (k + 1) * flow.scheme.evaluations() - 1);
        // μ̄ = dt x̄; with more outputs than inputs there is room left
        weigh(&mut work.mean_bar, &work.state_bar, flow.dt);
        work.variance_bar.fill(T::zero());
        flow.evaluate_again(e, c, data.noise.is_some(), work);
        if let Some(noise) = data.noise {
            for n in 0..chunk.count {
                let eps = noise_of(noise, chunk.source(n, data.batch), k, flow.steps, data.batch, d);
                for i in 0..d {
                    // Σ̄ = ½ √(dt/Σ) ε x̄
                    let variance = work.diffusion[(e * d + i) * c + n];
                    if variance > self.floor {
                        let bar = work.state_bar[i * c + n];
                        work.variance_bar[i * c + n] = half((flow.dt / variance).root()) * eps[i] * bar;
                    }
                }
            }
        }
        match flow.scheme {
            Scheme::EulerMaruyama => flow.backward(e, c, data.noise.is_some(), work, sums),
            Scheme::Midpoint => {
                // x̄_{k+1} waits while x̃̄ takes its place.
                std::mem::swap(&mut work.state_bar, &mut work.waiting_bar);
                work.state_bar.fill(T::zero());
                flow.backward(e, c, data.noise.is_some(), work, sums);
                weigh(&mut work.mean_bar, &work.state_bar, half(flow.dt));
                work.state_bar.iter_mut().zip(&work.waiting_bar).for_each(|(bar, &waiting)| *bar += waiting);
                work.variance_bar.fill(T::zero());
                flow.evaluate_again(e - 1, c, false, work);
                flow.backward(e - 1, c, false, work, sums);
            }
        }
    }
}

impl<T: Real> FlowModel<T> {
    /// Evaluations of the field along a path.
    pub(super) fn evaluations(&self) -> usize {
        self.steps * self.scheme.evaluations()
    }

    /// μ and Σ at state e, with the activations left in `slot`.
    fn evaluate(&self, e: usize, slot: usize, rows: usize, variance: bool, work: &mut Workspace<T>) {
        let moments = OutputMoments { mean: &mut work.drift, variance: &mut work.diffusion };
        self.layer.forward(
            self.points(e, &work.states, rows, variance),
            &mut self.activations(e, slot, rows, &mut work.flow_features, &mut work.flow_products, moments),
            &mut work.scratch,
        );
    }

    /// The same on the way back, unless its activations were kept.
    fn evaluate_again(&self, e: usize, rows: usize, variance: bool, work: &mut Workspace<T>) {
        if self.slots < self.evaluations() && e + 1 < self.evaluations() {
            self.evaluate(e, 0, rows, variance, work);
        }
    }

    /// Adds to `work.state_bar` what evaluation e leads back, from the bars of its mean and variance.
    fn backward(&self, e: usize, rows: usize, variance: bool, work: &mut Workspace<T>, sums: &mut Sums<T>) {
        let Workspace { states, mean_bar, variance_bar, state_bar, scratch, .. } = work;
        let moments = OutputMoments { mean: &mut work.drift, variance: &mut work.diffusion };
        let slot = e % self.slots;
        self.layer.backward(
            self.points(e, states, rows, variance),
            &self.activations(e, slot, rows, &mut work.flow_features, &mut work.flow_products, moments),
            &mut OutputMoments { mean: mean_bar, variance: variance_bar },
            state_bar,
            sums,
            scratch,
        );
    }

    fn points<'a>(&self, e: usize, states: &'a [T], rows: usize, variance: bool) -> Points<'a, T> {
        let size = self.layer.inputs * rows;
        // A field that changes with time has one evaluation per step.
        Points { step: e, x: &states[e * size..(e + 1) * size], rows, variance }
    }

    /// The part of evaluation e of the arrays of all of them, features and products being in `slot`.
    fn activations<'a>(
        &self,
        e: usize,
        slot: usize,
        rows: usize,
        features: &'a mut [T],
        products: &'a mut [T],
        moments: OutputMoments<'a, T>,
    ) -> Activations<'a, T> {
        let part = |index: usize, size: usize| index * size..(index + 1) * size;
        let (one, size) = (self.layer.inducing * rows, self.layer.outputs * rows);
        Activations {
            features: &mut features[part(slot, self.layer.kernels() * one)],
            products: &mut products[part(slot, self.layer.outputs * one)],
            moments: OutputMoments {
                mean: &mut moments.mean[part(e, size)],
                variance: &mut moments.variance[part(e, size)],
            },
        }
    }
}

/// ε of one row at one step: `[D]`.
fn noise_of<T>(noise: &[T], source: (usize, usize), k: usize, steps: usize, batch: usize, d: usize) -> &[T] {
    let (path, row) = source;
    let start = ((path * steps + k) * batch + row) * d;
    &noise[start..start + d]
}

fn half<T: Real>(value: T) -> T {
    T::from_f64(0.5) * value
}

/// bars · weight, as far as there are any.
fn weigh<T: Real>(weighted: &mut [T], bars: &[T], weight: T) {
    weighted.iter_mut().zip(bars).for_each(|(weighted, &bar)| *weighted = bar * weight);
}

/// max(a, b) that lets a NaN through.
fn larger<T: Real>(a: T, b: T) -> T {
    if a < b { b } else { a }
}
