//! Standard normals for the Brownian increments, addressed by (seed, purpose, iteration, path, row, step, dimension).
//!
//! Box–Muller in f32 on Philox words, four dimensions per counter; |ε| ≤ √(48 ln 2) ≈ 5.8. Filled in parallel on the
//! current rayon pool; the numbers do not depend on how many threads it has.

use std::f32::consts::TAU;
use std::ops::Range;

use rayon::prelude::*;

use crate::philox::{Purpose, key, philox, tag};

/// Dimensions served by one counter.
const LANES: usize = 4;
/// Rows of D normals that a thread takes at a time.
const ROWS_PER_TASK: usize = 256;

/// Which normals to make.
#[derive(Clone, Copy, Debug)]
pub struct NoiseKey {
    /// The run's seed.
    pub seed: u64,
    /// What they are for.
    pub purpose: Purpose,
    /// The iteration they are for.
    pub iteration: u64,
}

/// Fills `noise`, shaped `[paths, steps, rows.len(), inputs]`, for the given rows of the data set.
///
/// Preconditions: paths, steps < 2¹⁶ (checked in debug builds); iteration and rows < 2³², beyond which noise repeats.
pub fn fill(noise: &mut Vec<f32>, key: NoiseKey, rows: &[usize], paths: usize, steps: usize, inputs: usize) {
    debug_assert!(paths < 1 << 16);
    fill_part(noise, key, rows, 0..paths * steps * rows.len(), steps, inputs);
}

/// Fills `noise` with some of that: `part` are places in `[paths, steps, rows.len()]`.
pub(crate) fn fill_part(
    noise: &mut Vec<f32>,
    key: NoiseKey,
    rows: &[usize],
    part: Range<usize>,
    steps: usize,
    inputs: usize,
) {
    debug_assert!(steps < 1 << 16);
    noise.resize(part.len() * inputs, 0.0);
    noise.par_chunks_mut(inputs).with_min_len(ROWS_PER_TASK).enumerate().for_each(|(index, normals)| {
        let index = part.start + index;
        let (row, outer) = (rows[index % rows.len()], index / rows.len());
        fill_row(normals, key, row, outer / steps, outer % steps);
    });
}

fn fill_row(
    normals: &mut [f32],
    NoiseKey { seed, purpose, iteration }: NoiseKey,
    row: usize,
    path: usize,
    step: usize,
) {
    for (block, lanes) in normals.chunks_mut(LANES).enumerate() {
        let place = (path as u32) << 16 | step as u32;
        let counter = [row as u32, iteration as u32, place, tag(purpose, block as u32)];
        let words = philox(counter, key(seed));
        let pairs = [normal_pair(words[0], words[1]), normal_pair(words[2], words[3])];
        for (lane, normal) in lanes.iter_mut().zip(pairs.into_iter().flatten()) {
            *lane = normal;
        }
    }
}

/// √(−2 ln u)·(cos 2πv, sin 2πv), u in (0, 1], v in [0, 1).
fn normal_pair(radius: u32, angle: u32) -> [f32; 2] {
    const UNIT: f32 = 1.0 / (1 << 24) as f32;
    let u = ((radius >> 8) + 1) as f32 * UNIT;
    let v = (angle >> 8) as f32 * UNIT;
    let radius = libm::sqrtf(-2.0 * libm::logf(u));
    let (sin, cos) = libm::sincosf(TAU * v);
    [radius * cos, radius * sin]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(threads: usize, rows: &[usize], iteration: u64) -> Vec<f32> {
        let mut noise = Vec::new();
        let key = NoiseKey { seed: 11, purpose: Purpose::Training, iteration };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fill(&mut noise, key, rows, 2, 3, 5));
        noise
    }

    #[test]
    fn threads_do_not_matter() {
        let rows: Vec<usize> = (0..700).collect();
        assert_eq!(filled(1, &rows, 4), filled(3, &rows, 4));
        assert_ne!(filled(1, &rows, 4), filled(1, &rows, 5));
    }

    #[test]
    fn parts_are_those_of_the_whole() {
        let rows: Vec<usize> = (0..700).collect();
        let (whole, key) = (filled(2, &rows, 4), NoiseKey { seed: 11, purpose: Purpose::Training, iteration: 4 });
        let parts = [0..1, 1..1300, 1300..4200].map(|part| {
            let mut noise = Vec::new();
            fill_part(&mut noise, key, &rows, part, 3, 5);
            noise
        });
        assert_eq!(parts.concat(), whole);
    }

    #[test]
    fn a_row_has_its_normals_whatever_batch_it_is_in() {
        let (all, one) = (filled(1, &[3, 8, 5], 0), filled(1, &[8], 0));
        // [paths, steps, rows, inputs]: path 1, step 2.
        let (path, step) = (1, 2);
        let of = |noise: &[f32], batch: usize, place: usize| {
            let start = ((path * 3 + step) * batch + place) * 5;
            noise[start..start + 5].to_vec()
        };
        assert_eq!(of(&all, 3, 1), of(&one, 1, 0));
    }

    #[test]
    fn moments_of_a_standard_normal() {
        let rows: Vec<usize> = (0..20_000).collect();
        let noise = filled(1, &rows, 1);
        let n = noise.len() as f64;
        let moment = |power| noise.iter().map(|&z| f64::from(z).powi(power)).sum::<f64>() / n;
        // Six standard errors of each estimate: √(Var zᵖ / n), n = 600 000.
        for (power, expected, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
            assert!((moment(power) - expected).abs() < 6.0 * f64::sqrt(variance / n), "moment {power}");
        }
        let neighbours = noise.windows(2).map(|pair| f64::from(pair[0] * pair[1])).sum::<f64>() / n;
        assert!(neighbours.abs() < 6.0 / n.sqrt());
    }
}
