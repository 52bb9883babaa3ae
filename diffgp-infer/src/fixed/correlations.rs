//! ρ(Z, x) for all inducing points, in Q20.

use diffgp_core::blob::FixedKernel;
use diffgp_core::blob::layout::BLOCK;
use diffgp_core::device::{keep_rolled, opaque};
use diffgp_core::fixed::{exp2, matern};
use diffgp_core::kernel::KernelKind;

use super::lanes::block_sums;

/// What the stored numbers of points have been raised by.
const OFFSET: u32 = 1 << 15;

/// `features[m] = ρ(q²)`, for RBF kernels 2^(−q²), q² = 2⁻²ᵖ Σᵢ (Xᵢ − n_mᵢ)², for states in Q24.
///
/// Inside of the kernel's box no sum overflows. Outside of it sums stop at the largest number there is, at three times the
/// work.
#[inline(never)]
pub(crate) fn correlations(kernel: &FixedKernel<'_>, x: &[i32], scaled: &mut [u32], features: &mut [u32]) {
    let mut inside = true;
    let boxes = kernel.low.iter().zip(kernel.high);
    for (((scaled, &x), &scale), (&low, &high)) in scaled.iter_mut().zip(x).zip(kernel.scales).zip(boxes) {
        keep_rolled();
        let rounded = (i64::from(x) * i64::from(scale) + (1 << 31)) >> 32;
        let here = rounded as i32;
        inside &= low <= here && here <= high;
        *scaled = (here as u32).wrapping_add(OFFSET);
    }
    let scaled = &*scaled;
    let mut points = kernel.points;
    for features in features.chunks_mut(BLOCK) {
        keep_rolled();
        let Some((block, rest)) = points.split_at_checked(scaled.len()) else { return };
        points = rest;
        if !inside {
            saturating_sums(block, scaled, features);
            continue;
        }
        let squares = block_sums(block, scaled, square);
        match <&mut [u32; BLOCK]>::try_from(&mut *features) {
            Ok(whole) => *whole = squares,
            // Points that only fill the last block were computed, and are left out here.
            Err(_) => {
                for (feature, square) in features.iter_mut().zip(opaque(squares)) {
                    keep_rolled();
                    *feature = square;
                }
            }
        }
    }
    // Apart from the sums, so that each loop has the registers to itself.
    if kernel.kind == KernelKind::Rbf {
        for feature in features {
            keep_rolled();
            *feature = exp2(*feature, kernel.digits);
        }
    } else {
        for feature in features {
            keep_rolled();
            *feature = matern(kernel.kind, *feature, kernel.digits);
        }
    }
}

#[inline(always)]
fn square(x: u32, n: u16) -> u32 {
    let difference = x.wrapping_sub(n.into());
    difference.wrapping_mul(difference)
}

/// The same sums, cut off at the largest number, for as many points of a block as there are.
#[inline(never)]
fn saturating_sums(block: &[[u16; BLOCK]], x: &[u32], squares: &mut [u32]) {
    for (lane, sum) in squares.iter_mut().enumerate() {
        *sum = 0;
        for (row, &x) in block.iter().zip(x) {
            keep_rolled();
            let n = row.get(lane).copied().unwrap_or_default();
            let difference = (x as i32).wrapping_sub(n.into()).unsigned_abs();
            *sum = sum.saturating_add(difference.saturating_mul(difference));
        }
    }
}
