//! Correlations ρ(r²) of points and inducing points, and their derivatives with respect to r² = Σᵢ ((xᵢ−zᵢ)/ℓᵢ)².
//!
//! | kind | ρ | dρ/dr² |
//! |---|---|---|
//! | RBF | exp(−r²/2) | −ρ/2 |
//! | Matérn 3/2 | (1 + √3 r) exp(−√3 r) | −(3/2) exp(−√3 r) |
//! | Matérn 5/2 | (1 + √5 r + 5r²/3) exp(−√5 r) | −(5/6)(1 + √5 r) exp(−√5 r) |
//!
//! The derivatives are finite at r = 0. Distances come from explicit differences, so ρ(z,z) = 1 exactly and nothing
//! cancels; at D = 8 this costs a sixth of one B × M × M product. Loops run over blocks of [`LANES`] rows with the
//! widest vectors of the processor.

use diffgp_core::kernel::KernelKind;

use super::real::Real;

/// Chunks of rows are padded to a multiple of this.
pub(super) const LANES: usize = 16;

/// Runs a loop compiled for the vector units of this processor.
#[inline(always)]
pub(super) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// ρ(r²).
#[inline(always)]
pub(crate) fn correlation<T: Real>(kind: KernelKind, r2: T) -> T {
    let constant = T::from_f64;
    match kind {
        KernelKind::Rbf => (constant(-0.5) * r2).exp_nonpositive(),
        KernelKind::Matern32 => {
            let u = constant(3.0_f64.sqrt()) * r2.root();
            (T::one() + u) * (-u).exp_nonpositive()
        }
        KernelKind::Matern52 => {
            let u = constant(5.0_f64.sqrt()) * r2.root();
            (T::one() + u + constant(5.0 / 3.0) * r2) * (-u).exp_nonpositive()
        }
    }
}

/// dρ/dr².
#[inline(always)]
pub(crate) fn slope<T: Real>(kind: KernelKind, r2: T) -> T {
    let constant = T::from_f64;
    match kind {
        KernelKind::Rbf => constant(-0.5) * (constant(-0.5) * r2).exp_nonpositive(),
        KernelKind::Matern32 => constant(-1.5) * (-(constant(3.0_f64.sqrt()) * r2.root())).exp_nonpositive(),
        KernelKind::Matern52 => {
            let u = constant(5.0_f64.sqrt()) * r2.root();
            constant(-5.0 / 6.0) * (T::one() + u) * (-u).exp_nonpositive()
        }
    }
}

/// ρ(Z, x) for a chunk: `out[j][n] = ρ(|xₙ − zⱼ|²)`, points already divided by the length-scales.
///
/// `x`: `[D, c]`, `z`: `[M, D]`, `out`: `[M, c]`, row-major; c a multiple of [`LANES`].
pub(super) fn correlate<T: Real>(kind: KernelKind, x: &[T], z: &[T], out: &mut [T], rows: usize) {
    // One copy of the loop per kind: the match must not stay inside it.
    match kind {
        KernelKind::Rbf => each_distance(
            x,
            z,
            out,
            rows,
            #[inline(always)]
            |r2, _| correlation(KernelKind::Rbf, r2),
        ),
        KernelKind::Matern32 => each_distance(
            x,
            z,
            out,
            rows,
            #[inline(always)]
            |r2, _| correlation(KernelKind::Matern32, r2),
        ),
        KernelKind::Matern52 => each_distance(
            x,
            z,
            out,
            rows,
            #[inline(always)]
            |r2, _| correlation(KernelKind::Matern52, r2),
        ),
    }
}

/// ∂/∂r² from ∂/∂ρ, in place: `bar[j][n] *= dρ/dr²(|xₙ − zⱼ|²)`; shapes as for [`correlate`].
pub(super) fn chain_to_distance<T: Real>(kind: KernelKind, x: &[T], z: &[T], bar: &mut [T], rows: usize) {
    match kind {
        KernelKind::Rbf => each_distance(
            x,
            z,
            bar,
            rows,
            #[inline(always)]
            |r2, bar| bar * slope(KernelKind::Rbf, r2),
        ),
        KernelKind::Matern32 => each_distance(
            x,
            z,
            bar,
            rows,
            #[inline(always)]
            |r2, bar| bar * slope(KernelKind::Matern32, r2),
        ),
        KernelKind::Matern52 => each_distance(
            x,
            z,
            bar,
            rows,
            #[inline(always)]
            |r2, bar| bar * slope(KernelKind::Matern52, r2),
        ),
    }
}

/// `out[j][n] = f(|xₙ − zⱼ|², out[j][n])`.
#[inline(always)]
fn each_distance<T: Real>(x: &[T], z: &[T], out: &mut [T], rows: usize, f: impl Fn(T, T) -> T + Copy) {
    let inputs = x.len() / rows;
    vectorised(
        #[inline(always)]
        || {
            for (out, z) in out.chunks_exact_mut(rows).zip(z.chunks_exact(inputs)) {
                for (block, out) in out.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                    let mut r2 = [T::zero(); LANES];
                    for (x, &z) in x.chunks_exact(rows).zip(z) {
                        let x = &x.as_chunks::<LANES>().0[block];
                        for lane in 0..LANES {
                            let difference = x[lane] - z;
                            r2[lane] = difference.fused(difference, r2[lane]);
                        }
                    }
                    for lane in 0..LANES {
                        out[lane] = f(r2[lane], out[lane]);
                    }
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [KernelKind; 3] = [KernelKind::Rbf, KernelKind::Matern32, KernelKind::Matern52];

    #[test]
    fn slopes_are_the_derivatives() {
        for kind in KINDS {
            for r2 in [0.01, 0.3, 1.0, 4.0, 30.0] {
                let h = 1e-5 * r2;
                let difference = (correlation::<f64>(kind, r2 + h) - correlation(kind, r2 - h)) / (2.0 * h);
                assert!((slope::<f64>(kind, r2) / difference - 1.0).abs() < 1e-8, "{kind:?} at {r2}");
            }
            assert_eq!(correlation::<f64>(kind, 0.0), 1.0);
            assert!(slope::<f64>(kind, 0.0).is_finite());
        }
    }

    #[test]
    fn blocks_of_rows_give_the_scalar_values() {
        let (rows, inputs, inducing) = (2 * LANES, 3, 5);
        let x: Vec<f64> = (0..rows * inputs).map(|i| (i as f64 * 0.37).sin()).collect();
        let z: Vec<f64> = (0..inducing * inputs).map(|i| (i as f64 * 0.61).cos()).collect();
        for kind in KINDS {
            let mut rho = vec![0.0; inducing * rows];
            let mut bar = vec![2.0; inducing * rows];
            correlate(kind, &x, &z, &mut rho, rows);
            chain_to_distance(kind, &x, &z, &mut bar, rows);
            for j in 0..inducing {
                for n in 0..rows {
                    let r2 = (0..inputs).map(|i| (x[i * rows + n] - z[j * inputs + i]).powi(2)).sum::<f64>();
                    assert!((rho[j * rows + n] - correlation(kind, r2)).abs() < 1e-14);
                    assert!((bar[j * rows + n] - 2.0 * slope(kind, r2)).abs() < 1e-14);
                }
            }
        }
    }
}
