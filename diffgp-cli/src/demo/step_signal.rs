//! A signal with steps, after the paper's first experiment: flat pieces, sudden jumps, a little noise.
//!
//! A stationary kernel has one length-scale for both: short enough for the jumps, it wiggles on the pieces.

use diffgp_core::noise::{Keyed, Noise};
use diffgp_core::normal;

/// Where the signal jumps.
pub(crate) const EDGES: [f32; 4] = [-1.2, -0.5, 0.3, 1.1];
const LEVELS: [f32; 5] = [0.0, 1.0, -0.5, 0.7, -1.0];
/// Deviation of the noise.
const NOISE: f32 = 0.05;
/// Inputs lie in ±REACH.
const REACH: f32 = 2.0;

/// The signal without noise.
pub(crate) fn signal(x: f32) -> f32 {
    LEVELS[EDGES.iter().filter(|&&edge| x > edge).count()]
}

/// Rows over the whole range, one at a random place in each of `count` equal cells; `set` tells training from test rows.
pub(super) fn rows(count: usize, seed: u64, set: u32) -> Vec<(f32, f32)> {
    let mut noise = Keyed::new(seed, set);
    noise.begin_path(0);
    let row = |cell: usize| {
        let place = (cell as f32 + normal::cdf(noise.normal())) / count as f32;
        let x = REACH * (2.0 * place - 1.0);
        (x, signal(x) + NOISE * noise.normal())
    };
    (0..count).map(row).collect()
}
