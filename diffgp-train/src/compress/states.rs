//! Where a model goes: the states its flow visits and the states it ends in, in standardised units.

use diffgp_infer::{Keyed, Model, Noise};
use nalgebra::DMatrix;
use rayon::prelude::*;

use crate::evaluate::AnyWorkspace;
use crate::threads::Threads;

/// Seed of the paths, apart from those that losses are measured with.
const SEED: u64 = 0x5eed;

/// Rows of [`made_up_inputs`].
const MADE_UP_ROWS: usize = 1000;

/// States, one in a row.
pub(super) struct Visited {
    /// At the beginning of every step.
    pub(super) flow: DMatrix<f64>,
    /// At the end.
    pub(super) ends: DMatrix<f64>,
}

/// Follows `paths` sampled paths from each of the rows.
pub(super) fn visit(
    model: &Model<'_>,
    rows: &[f32],
    numbers: &[usize],
    paths: u32,
    threads: &Threads,
) -> Result<Visited, diffgp_infer::Error> {
    let inputs = model.inputs();
    let follow = |workspace: &mut Box<AnyWorkspace>, &number: &usize| {
        let mut noise = Keyed::new(SEED, number as u32);
        let (mut flow_states, mut ends) = (Vec::new(), Vec::new());
        let mut run =
            model.begin(&rows[number * inputs..(number + 1) * inputs], paths, &mut noise, &mut **workspace)?;
        while !run.is_ready() {
            while run.steps_taken() < run.steps() {
                flow_states.extend_from_slice(run.state());
                run.step()?;
            }
            ends.extend_from_slice(run.state());
            run.finish_path()?;
        }
        Ok::<_, diffgp_infer::Error>((flow_states, ends))
    };
    let all = || numbers.par_iter().map_init(|| Box::new(AnyWorkspace::new()), follow).collect::<Result<_, _>>();
    let followed: Vec<(Vec<f32>, Vec<f32>)> = threads.pool.install(all)?;
    let matrix = |parts: Vec<&Vec<f32>>| {
        let values: Vec<f64> = parts.into_iter().flatten().map(|&value| f64::from(value)).collect();
        DMatrix::from_row_slice(values.len() / inputs, inputs, &values)
    };
    Ok(Visited {
        flow: matrix(followed.iter().map(|(flow, _)| flow).collect()),
        ends: matrix(followed.iter().map(|(_, ends)| ends).collect()),
    })
}

/// Raw inputs like those of training, as far as the model knows: normal, with its means and deviations, within its
/// ranges. For those who have no rows at hand.
pub fn made_up_inputs(model: &Model<'_>) -> Vec<f32> {
    let mut noise = Keyed::new(2, 0);
    let mut inputs = Vec::new();
    for _ in 0..MADE_UP_ROWS {
        let known = (0..model.inputs()).filter_map(|index| model.blob().input(index));
        inputs.extend(known.map(|input| (input.mean + noise.normal() / input.scale).clamp(input.low, input.high)));
    }
    inputs
}

/// At most `count` of `total` numbers, evenly spread.
pub(super) fn spread(total: usize, count: usize) -> Vec<usize> {
    let count = count.min(total);
    (0..count).map(|i| i * total / count).collect()
}
