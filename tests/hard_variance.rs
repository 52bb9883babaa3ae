//! A posterior variance far below the prior's, where an explicit inverse fails in f32 and the weighted directions hold.

use diffgp_core::kernel::KernelKind;
use diffgp_infer::{Model, Workspace};
use diffgp_train::exact::{Exact, correlation, whitening_factor};
use diffgp_train::params::{Kernel, Likelihood, Params, Posterior, Process};
use nalgebra::{DMatrix, DVector};

use crate::random_models::Normals;
use crate::runtime_goldens::blob_of;
use crate::tolerances::{HARD_MEAN, HARD_VARIANCE};

const NOISE: f64 = 9e-5;

/// A sparse Gaussian process at the optimum of its bound for 500 nearly noiseless rows of a smooth function.
fn hard_model(normals: &mut Normals) -> Params {
    let (rows, inducing) = (500, 60);
    let kernel = Kernel { kind: KernelKind::Rbf, variance: 1.0, length_scales: vec![1.5, 2.0] };
    let jitter = 1e-5;
    let x = normals.matrix(rows, 2);
    let z = normals.matrix(inducing, 2);
    let y = DVector::from_fn(rows, |i, _| (x[(i, 0)] * 1.3).sin() + 0.3 * x[(i, 1)]);
    // A = R⁻¹ ρ(Z,X),  Λ = I + (s²/σ²) A Aᵀ,  q(v) = N(Λ⁻¹ A y s/σ², Λ⁻¹)
    let factor = whitening_factor(&kernel, &z, jitter).unwrap();
    let rho = DMatrix::from_fn(inducing, rows, |m, i| correlation(&kernel, z.row(m).iter(), x.row(i).iter()));
    let a = factor.solve_lower_triangular(&rho).unwrap();
    let precision = DMatrix::identity(inducing, inducing) + &a * a.transpose() / NOISE;
    let covariance = precision.cholesky().unwrap().inverse();
    let mean = &covariance * &a * y / NOISE;
    Params {
        flow: None,
        predictor: Process {
            inducing: z,
            kernels: vec![kernel],
            posteriors: vec![Posterior { mean, factor: covariance.cholesky().unwrap().unpack() }],
        },
        likelihood: Likelihood::Gaussian { noise: vec![NOISE] },
        jitter,
        variance_floor: 1e-12,
    }
}

/// s²(1 − ρᵀ W ρ) with W = R⁻ᵀ(I − S)R⁻¹ computed in float64, rounded to f32 and multiplied in f32.
fn by_explicit_inverse(params: &Params, x: &[f32]) -> f64 {
    let predictor = &params.predictor;
    let factor = whitening_factor(predictor.kernel(0), &predictor.inducing, params.jitter).unwrap();
    let inverse = factor.clone().try_inverse().unwrap();
    let l = &predictor.posteriors[0].factor;
    let size = l.nrows();
    let w = (inverse.transpose() * (DMatrix::identity(size, size) - l * l.transpose()) * inverse).cast::<f32>();
    let point: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
    let rho = DVector::from_fn(size, |m, _| {
        correlation(predictor.kernel(0), point.iter(), predictor.inducing.row(m).iter()) as f32
    });
    f64::from(predictor.kernel(0).variance as f32 * (1.0 - rho.dot(&(w * &rho))))
}

#[test]
fn weighted_directions_hold_where_an_explicit_inverse_fails() {
    let mut normals = Normals::new(17);
    let params = hard_model(&mut normals);
    let exact = Exact::new(&params).unwrap();
    let blob = blob_of(&params);
    let model = Model::parse(blob.as_slice()).unwrap();
    let mut workspace = Workspace::<2, 64>::new();
    let (mut ours, mut inverse, mut mean, mut smallest) = (0.0_f64, 0.0_f64, 0.0_f64, f64::MAX);
    for _ in 0..500 {
        let x = [(); 2].map(|()| (0.6 * normals.next()).clamp(-1.2, 1.2) as f32);
        let expected = exact.predict(&x.map(f64::from))[0];
        assert!(expected.variance < 1e-3 * params.predictor.kernel(0).variance, "not a hard case: {expected:?}");
        smallest = smallest.min(expected.variance);
        let with_noise = expected.variance + NOISE;
        let mut run = model.begin_drift(&x, &mut workspace).unwrap();
        run.finish_path().unwrap();
        let latent = run.latents().next().unwrap();
        ours = ours.max((f64::from(latent.variance) - expected.variance).abs() / with_noise);
        inverse = inverse.max((by_explicit_inverse(&params, &x) - expected.variance).abs() / with_noise);
        mean = mean.max((f64::from(latent.mean) - expected.mean).abs());
    }
    println!(
        "smallest variance {smallest:.1e} s²; worst error of the variance with noise: ours {ours:.1e}, \
         explicit inverse {inverse:.1e}; of the mean {mean:.1e}"
    );
    assert!(ours < HARD_VARIANCE && mean < HARD_MEAN, "variance {ours:e}, mean {mean:e}");
    assert!(inverse > 0.1, "the explicit inverse holds as well ({inverse:e}): not a hard case");
}
