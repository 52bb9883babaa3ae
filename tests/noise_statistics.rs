//! The normal generator, at a million draws.

use diffgp_core::noise::{Noise, keyed_rng};

const DRAWS: usize = 1_000_000;

fn sorted_draws(seed: u64) -> Vec<f64> {
    let mut rng = keyed_rng(seed, 0, 0);
    let mut draws: Vec<f64> = (0..DRAWS).map(|_| f64::from(rng.normal())).collect();
    draws.sort_by(f64::total_cmp);
    draws
}

/// Φ in double precision, through libm: nothing of ours.
fn phi(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

#[test]
fn draws_pass_kolmogorov_and_smirnov() {
    // √n·D exceeds 1.95 with probability 1e-3 under the hypothesis; the seeds are fixed, so this fails or it does not.
    for seed in 0..5 {
        let draws = sorted_draws(seed);
        let n = DRAWS as f64;
        let distance = draws.iter().enumerate().fold(0.0_f64, |d, (i, &z)| {
            let p = phi(z);
            d.max(p - i as f64 / n).max((i + 1) as f64 / n - p)
        });
        println!("seed {seed}: √n·D = {:.3}", distance * n.sqrt());
        assert!(distance * n.sqrt() < 1.95, "seed {seed}: {}", distance * n.sqrt());
    }
}

#[test]
fn tails_hold_as_many_draws_as_they_should() {
    // Binomial counts beyond ±z: within five standard deviations on both sides.
    let draws = sorted_draws(42);
    for z in [2.0, 3.0, 4.0, 4.5] {
        let expected = DRAWS as f64 * phi(-z);
        let spread = 5.0 * expected.sqrt();
        let below = draws.partition_point(|&draw| draw < -z) as f64;
        let above = DRAWS as f64 - draws.partition_point(|&draw| draw <= z) as f64;
        println!("beyond {z}: {below} and {above}, expected {expected:.1} ± {:.1}", spread / 5.0);
        assert!((below - expected).abs() < spread && (above - expected).abs() < spread, "{z}");
    }
    let largest = draws[0].abs().max(draws[DRAWS - 1]);
    assert!((4.0..6.34).contains(&largest), "largest draw {largest}");
}

#[test]
fn moments_are_those_of_the_standard_normal() {
    // Standard errors of the first four moments at n draws: 1, √2, √15, √96 over √n.
    let draws = sorted_draws(7);
    let n = DRAWS as f64;
    for (power, expected, deviation) in
        [(1, 0.0, 1.0), (2, 1.0, 2.0_f64.sqrt()), (3, 0.0, 15.0_f64.sqrt()), (4, 3.0, 96.0_f64.sqrt())]
    {
        let moment = draws.iter().map(|z| z.powi(power)).sum::<f64>() / n;
        assert!((moment - expected).abs() < 5.0 * deviation / n.sqrt(), "moment {power}: {moment}");
    }
}

#[test]
fn successive_draws_are_uncorrelated() {
    let mut rng = keyed_rng(3, 0, 0);
    let draws: Vec<f64> = (0..DRAWS).map(|_| f64::from(rng.normal())).collect();
    for lag in 1..=16 {
        let correlation = draws.windows(lag + 1).map(|w| w[0] * w[lag]).sum::<f64>() / DRAWS as f64;
        assert!(correlation.abs() < 5.0 / (DRAWS as f64).sqrt(), "lag {lag}: {correlation}");
    }
}
