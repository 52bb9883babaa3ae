//! What compression did to a model, and what it can have changed.

use std::fmt::Write;

use diffgp_infer::Model;
use diffgp_train::compress::{Bound, Certificate};
use serde::Serialize;

use super::sizes::Sizes;

/// Of a compressed model.
#[derive(Debug, Serialize)]
pub(super) struct Compression {
    original_bytes: u32,
    /// Of the original file, as eight hexadecimal digits.
    original_checksum: String,
    original_steps: u16,
    /// Whether the predictor's mean was adapted to the changed flow.
    adapted: bool,
    point_bits: u32,
    weight_bits: u32,
    /// Of the flow's outputs; of every table, if there are several.
    flow_ranks: Vec<usize>,
    flow_direction_bits: u32,
    predictor_rank: usize,
    predictor_direction_bits: u32,
    /// What can differ at any state, standardised.
    flow_bounds: Vec<Bound>,
    predictor_bound: Bound,
}

impl Compression {
    /// `None` for a model that was not compressed.
    pub(super) fn new(model: &Model<'_>, file: &[u8]) -> Option<Self> {
        let certificate = Certificate::read(file)?;
        let predictor = Sizes::of(model, model.steps(), 0)?;
        let (mut flow_ranks, mut flow_direction_bits) = (Vec::new(), 32);
        for index in 0..usize::from(model.blob().header().tables) * model.inputs() {
            let output = Sizes::of(model, index / model.inputs(), index % model.inputs())?;
            flow_ranks.push(output.rank);
            flow_direction_bits = output.direction_bits;
        }
        Some(Self {
            original_bytes: certificate.original_bytes,
            original_checksum: format!("{:08x}", certificate.original_checksum),
            original_steps: certificate.original_steps,
            adapted: certificate.adapted,
            point_bits: predictor.point_bits,
            weight_bits: predictor.weight_bits,
            flow_ranks,
            flow_direction_bits,
            predictor_rank: predictor.rank,
            predictor_direction_bits: predictor.direction_bits,
            flow_bounds: certificate.flow,
            predictor_bound: certificate.predictor,
        })
    }

    pub(super) fn write(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "\ncompressed from {} bytes (checksum {})", self.original_bytes, self.original_checksum)?;
        let ranks = self.flow_ranks.iter().sum::<usize>() as f64 / self.flow_ranks.len().max(1) as f64;
        writeln!(
            text,
            "  steps {} before; bits: points {}, weights {}, directions {} and {}; ranks: flow {ranks:.1} on average, \
             predictor {}",
            self.original_steps,
            self.point_bits,
            self.weight_bits,
            self.flow_direction_bits,
            self.predictor_direction_bits,
            self.predictor_rank
        )?;
        writeln!(
            text,
            "  one evaluation can differ from the original's at any state by at most (standardised):\n\
             \x20 {:<12} {:>10} {:>18} {:>18}",
            "", "mean", "variance too small", "variance too large"
        )?;
        let flow = self.flow_bounds.iter().enumerate().map(|(d, bound)| (format!("flow {d}"), bound));
        for (name, bound) in flow.chain([("predictor".to_owned(), &self.predictor_bound)]) {
            writeln!(text, "  {name:<12} {:>10.1e} {:>18.1e} {:>18.1e}", bound.mean, bound.narrower, bound.wider)?;
        }
        if self.adapted {
            writeln!(
                text,
                "  the predictor's mean was adapted to the changed flow; its bounds are against the adapted one"
            )?;
        }
        Ok(())
    }
}
