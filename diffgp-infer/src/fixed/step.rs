//! What a step adds to a state, in Q24.

use diffgp_core::fixed::{SHARE_BITS, root, saturated};

/// μ dt / 2^`halvings`, from the sum of an output and its gain.
#[inline(always)]
pub(crate) fn drift(sum: i32, gain: i32, halvings: u32) -> i32 {
    // Rounded before it is halved: half a unit of Q24 more or less.
    ((i64::from(sum) * i64::from(gain) + (1 << 31)) >> 32) as i32 >> halvings
}

/// √(share s² dt) ε for a share of at least one unit, with `spread` = s √dt in Q24 and ε in Q24.
#[inline(never)]
pub(crate) fn diffusion(share: i32, spread: u32, epsilon: i32) -> i32 {
    let share = share.max(1) as u32;
    // An even number of zeros, so that the root, in Q13, is in [2²⁸, 2²⁹].
    let zeros = share.leading_zeros() & !1;
    let root = root(share << zeros);
    // √(share/2²⁸) = root / 2^(13 + 14 + zeros/2)
    let deviation = (u64::from(root) * u64::from(spread)) >> (13 + SHARE_BITS / 2 + zeros / 2);
    let deviation = i64::from(deviation.min(1 << 30) as u32);
    saturated((deviation * i64::from(epsilon)) >> 24)
}

/// x + change, or the nearest state that there is.
#[inline(always)]
pub(crate) fn add(x: i32, change: i32) -> i32 {
    x.saturating_add(change)
}
