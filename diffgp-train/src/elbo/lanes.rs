//! Adding up lanes: in float64, one after the other, whoever computed them.
//!
//! The numbers of a lane stand in a row: Σ E_q[log p(y|g)], Σ ∂/∂σ², those of the flow, those of the predictor. Each is
//! added on its own, so the row can be cut anywhere.

use std::ops::Range;

use rayon::prelude::*;

use super::chunk::{LaneSums, Model};
use super::layer::Totals;
use super::real::Real;
use crate::exchange::ExchangeError;
use crate::threads::Threads;

/// Numbers that a thread adds up at a time.
const PIECE: usize = 4096;

/// Some numbers of a lane.
pub(super) enum Part<'a, T> {
    Real(&'a [T]),
    Double(&'a [f64]),
}

/// The sums of all lanes.
pub(super) struct LaneTotals {
    pub(super) flow: Option<Totals>,
    pub(super) predictor: Totals,
    pub(super) log_density: f64,
    pub(super) noise: Vec<f64>,
}

impl<T: Real> Part<'_, T> {
    fn len(&self) -> usize {
        match self {
            Self::Real(values) => values.len(),
            Self::Double(values) => values.len(),
        }
    }

    fn add_to(&self, range: Range<usize>, totals: &mut [f64]) {
        match self {
            Self::Real(values) => totals.iter_mut().zip(&values[range]).for_each(|(total, v)| *total += v.to_f64()),
            Self::Double(values) => totals.iter_mut().zip(&values[range]).for_each(|(total, v)| *total += v),
        }
    }
}

impl<T: Real> LaneSums<T> {
    /// Adds the numbers `start..` of the lane to as many totals.
    fn add_to(&self, start: usize, totals: &mut [f64]) {
        let own = [Part::Double(std::slice::from_ref(&self.log_density)), Part::Double(&self.noise)];
        let layers = self.flow.iter().chain([&self.predictor]).flat_map(|sums| sums.parts());
        let (mut before, end) = (0, start + totals.len());
        for part in own.into_iter().chain(layers) {
            let (first, last) = (start.max(before), end.min(before + part.len()));
            if first < last {
                part.add_to(first - before..last - before, &mut totals[first - start..last - start]);
            }
            before += part.len();
        }
    }
}

impl LaneTotals {
    /// Adds up the lanes of this process, and between those of the ranks before and after it.
    pub(super) fn of<T: Real>(
        model: &Model<T>,
        lanes: &[LaneSums<T>],
        threads: &Threads,
    ) -> Result<Self, ExchangeError> {
        let noise = model.likelihood.noise().len();
        let flow_len = model.flow.as_ref().map_or(0, |flow| flow.layer.total_len());
        let mut numbers = vec![0.0; 1 + noise + flow_len + model.predictor.total_len()];
        threads.exchange().fold(&mut numbers, |range, totals| {
            let add = |(piece, totals): (usize, &mut [f64])| {
                lanes.iter().for_each(|lane| lane.add_to(range.start + piece * PIECE, totals));
            };
            match totals.len() > PIECE {
                true => threads.pool.install(|| totals.par_chunks_mut(PIECE).enumerate().for_each(add)),
                false => add((0, totals)),
            }
        })?;
        let (own, layers) = numbers.split_at(1 + noise);
        let (flow, predictor) = layers.split_at(flow_len);
        Ok(threads.pool.install(|| Self {
            flow: model.flow.as_ref().map(|model| model.layer.total(flow)),
            predictor: model.predictor.total(predictor),
            log_density: own[0],
            noise: own[1..].to_vec(),
        }))
    }
}
