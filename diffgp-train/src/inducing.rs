//! Inducing points: k-means++ seeds, then Lloyd's iterations, on standardised rows.
//!
//! Runs on one thread on at most [`SAMPLE_PER_POINT`]·M rows, so it neither depends on the number of threads nor grows
//! with N. Fewer distinct rows than M gives fewer points. Cost: O(iterations · sample · M · D).
//! Reference: Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.

use nalgebra::DMatrix;

use crate::data::{Dataset, Scaling};
use crate::permutation::Permutation;
use crate::philox::{Purpose, key, philox, tag, uniform};

/// Rows looked at for each inducing point.
pub const SAMPLE_PER_POINT: usize = 100;
const LLOYD_ITERATIONS: usize = 20;

/// At most `wanted` points `[M, D]` that cover the standardised inputs; `number` tells apart several choices of one run.
///
/// Precondition: `data` has rows and `wanted > 0`.
pub fn inducing_points(data: &Dataset, scaling: &Scaling, wanted: usize, seed: u64, number: u32) -> DMatrix<f64> {
    let inputs = data.inputs();
    let sample = data.rows().min(wanted * SAMPLE_PER_POINT);
    let order = Permutation::new(data.rows(), seed, Purpose::Inducing, u64::from(number));
    let mut rows = Vec::with_capacity(sample * inputs);
    for index in 0..sample {
        scaling.push_row(data.input_row(order.at(index)), &mut rows);
    }
    let rows: Vec<f64> = rows.into_iter().map(f64::from).collect();
    let centres = lloyd(&rows, seeds(&rows, inputs, wanted, seed, number), inputs);
    DMatrix::from_row_slice(centres.len() / inputs, inputs, &centres)
}

/// k-means++: each next centre is a row drawn with probability proportional to its squared distance to the nearest
/// centre so far; stops early when every row is a centre.
fn seeds(rows: &[f64], inputs: usize, wanted: usize, seed: u64, number: u32) -> Vec<f64> {
    let mut nearest = vec![f64::INFINITY; rows.len() / inputs];
    // The rows are in random order already: the first is as good a start as any.
    let mut centres = rows[..inputs].to_vec();
    loop {
        let newest = &centres[centres.len() - inputs..];
        for (distance, row) in nearest.iter_mut().zip(rows.chunks_exact(inputs)) {
            *distance = distance.min(squared_distance(row, newest));
        }
        let total: f64 = nearest.iter().sum();
        if total == 0.0 || centres.len() == wanted * inputs {
            return centres;
        }
        let words = philox([centres.len() as u32, number, 0, tag(Purpose::Inducing, 1 << 23)], key(seed));
        let mut remaining = uniform(words[0], words[1]) * total;
        let mut chosen = 0;
        for (index, &distance) in nearest.iter().enumerate().filter(|&(_, &distance)| distance > 0.0) {
            chosen = index;
            remaining -= distance;
            if remaining < 0.0 {
                break;
            }
        }
        centres.extend_from_slice(&rows[chosen * inputs..(chosen + 1) * inputs]);
    }
}

/// Moves every centre to the mean of the rows nearest to it; a centre without rows stays.
fn lloyd(rows: &[f64], mut centres: Vec<f64>, inputs: usize) -> Vec<f64> {
    for _ in 0..LLOYD_ITERATIONS {
        let mut sums = vec![0.0; centres.len()];
        let mut counts = vec![0.0; centres.len() / inputs];
        for row in rows.chunks_exact(inputs) {
            let centre = nearest_centre(row, &centres);
            counts[centre] += 1.0;
            for (sum, value) in sums[centre * inputs..].iter_mut().zip(row) {
                *sum += value;
            }
        }
        let mut moved = false;
        for (index, count) in counts.into_iter().enumerate().filter(|&(_, count)| count > 0.0) {
            for at in index * inputs..(index + 1) * inputs {
                let mean = sums[at] / count;
                moved |= mean != centres[at];
                centres[at] = mean;
            }
        }
        if !moved {
            break;
        }
    }
    centres
}

fn nearest_centre(row: &[f64], centres: &[f64]) -> usize {
    let distances = centres.chunks_exact(row.len()).map(|centre| squared_distance(row, centre));
    distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(index, _)| index)
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(x: Vec<f32>, inputs: usize, wanted: usize) -> DMatrix<f64> {
        let rows = x.len() / inputs;
        let data = Dataset::new(x, vec![0.0; rows], inputs).unwrap();
        inducing_points(&data, &Scaling::of(&data, true), wanted, 5, 0)
    }

    #[test]
    fn fewer_distinct_rows_than_points() {
        let x: Vec<f32> = (0..300).map(|i| (i % 3) as f32).collect();
        let found = points(x, 1, 50);
        assert_eq!(found.shape(), (3, 1));
        let mut values: Vec<f64> = found.iter().copied().collect();
        values.sort_by(f64::total_cmp);
        // Standardised 0, 1, 2: ∓√1.5 and 0, in f32.
        let side = f64::from(1.0_f32 / (2.0_f64 / 3.0).sqrt() as f32);
        assert_eq!(values, [-side, 0.0, side]);
    }

    #[test]
    fn one_row_gives_one_point() {
        assert_eq!(points(vec![4.0, 5.0], 2, 10).shape(), (1, 2));
    }

    #[test]
    fn separated_clusters_get_one_centre_each() {
        let x: Vec<f32> = (0..400).map(|i| (i % 4 * 100) as f32 + (i / 4) as f32 * 0.01).collect();
        let found = points(x.clone(), 1, 4);
        let data = Dataset::new(x, vec![0.0; 400], 1).unwrap();
        let affine = Scaling::of(&data, true).inputs[0];
        let mut values: Vec<f64> = found.iter().map(|u| u * f64::from(affine.scale) + f64::from(affine.mean)).collect();
        values.sort_by(f64::total_cmp);
        for (cluster, value) in values.into_iter().enumerate() {
            let mean = cluster as f64 * 100.0 + 0.495;
            assert!((value - mean).abs() < 1e-3, "{value} should be {mean}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_points() {
        let x: Vec<f32> = (0..2000).map(|i| ((i * 7919) % 2003) as f32).collect();
        assert_eq!(points(x.clone(), 2, 20), points(x, 2, 20));
    }
}
