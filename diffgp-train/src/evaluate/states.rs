//! Where the flow carries rows: the states along the way, for those who want to see it.

use diffgp_infer::{Keyed, Model, Noise, Run};
use rayon::prelude::*;

use super::{AnyWorkspace, Row, RowError, Sampling};
use crate::threads::Threads;

/// The states that every row passes, in the units of the inputs: `[S][K + 1][D]`, from the row itself to the end of the
/// flow. S = 1 along the drift and without a flow.
pub fn states(
    model: &Model<'_>,
    rows: &[Row<'_>],
    sampling: Sampling,
    threads: &Threads,
) -> Result<Vec<Vec<f32>>, RowError> {
    let one = |workspace: &mut Box<AnyWorkspace>, row: &Row<'_>| {
        let followed = match sampling {
            Sampling::Drift => model.begin_drift(row.x, &mut **workspace).and_then(follow),
            Sampling::Paths { count, seed } => {
                let mut noise = Keyed::new(seed, row.number);
                model.begin(row.x, count, &mut noise, &mut **workspace).and_then(follow)
            }
        };
        followed.map_err(|error| RowError { number: row.number, problem: error.into() })
    };
    threads.pool.install(|| rows.par_iter().map_init(|| Box::new(AnyWorkspace::new()), one).collect())
}

fn follow<N: Noise>(mut run: Run<'_, '_, N>) -> Result<Vec<f32>, diffgp_infer::Error> {
    let mut states = Vec::new();
    while !run.is_ready() {
        states.extend(run.position());
        while run.step()? {
            states.extend(run.position());
        }
        run.finish_path()?;
    }
    Ok(states)
}
