//! 1 − Σ_r ± y_r² in Q28: what of s² is left.

use diffgp_core::blob::layout::BLOCK;
use diffgp_core::blob::{FixedOutput, FixedRow, FixedRows};
use diffgp_core::device::keep_rolled;
use diffgp_core::fixed::SHARE_BITS;

use super::lanes::block_sums;

/// max(1 − Σ_r ± y_r², least), at least one unit.
///
/// y_r is the sum of a direction's stored numbers times the features, these rounded to what its block has bits for, times
/// a factor.
#[inline(never)]
pub(crate) fn share(output: &FixedOutput<'_>, features: &[u32], least: i32) -> i32 {
    let explained = match output.directions {
        FixedRows::U16(rows) => explained(rows, 1 << 15, output.rows, features),
        FixedRows::U8(rows) => explained(rows, 1 << 7, output.rows, features),
    };
    (1_i32 << SHARE_BITS).wrapping_sub(explained).max(least).max(1)
}

/// Σ_r ± y_r² in Q28, for directions that have been raised by `offset`.
#[inline(always)]
fn explained<N: Copy + Into<u32>>(
    directions: &[[N; BLOCK]],
    offset: u32,
    rows: &[[u32; BLOCK]],
    features: &[u32],
) -> i32 {
    let (mut explained, mut left) = (0_i32, directions);
    // Of the features as the last block had them; no shift is that large.
    let (mut raised, mut shift_before) = (0, u32::MAX);
    for rows in rows {
        keep_rolled();
        let Some((block, rest)) = left.split_at_checked(features.len()) else { break };
        left = rest;
        let [first, ..] = rows;
        let shift = FixedRow::read(*first).feature_shift;
        let half = (1 << shift) >> 1;
        let rounded = |feature: u32| feature.wrapping_add(half) >> shift;
        if shift != shift_before {
            raised = offset.wrapping_mul(sum(features, rounded));
            shift_before = shift;
        }
        let sums = block_sums(block, features, |feature, n| rounded(feature).wrapping_mul(n.into()));
        explained = explained.wrapping_add(of_block(&sums, raised, rows));
    }
    explained
}

/// The same of eight directions, from their sums and what all of these were raised by.
#[inline(never)]
fn of_block(sums: &[u32; BLOCK], raised: u32, rows: &[u32; BLOCK]) -> i32 {
    let mut explained = 0_i32;
    for (sum, &row) in sums.iter().zip(rows) {
        keep_rolled();
        let row = FixedRow::read(row);
        let square = square(scaled(sum.wrapping_sub(raised) as i32, row)) >> (30 - SHARE_BITS);
        explained =
            if row.negative { explained.wrapping_sub(square as i32) } else { explained.wrapping_add(square as i32) };
    }
    explained
}

#[inline(always)]
fn sum(features: &[u32], rounded: impl Fn(u32) -> u32) -> u32 {
    let mut sum = 0_u32;
    for &feature in features {
        keep_rolled();
        sum = sum.wrapping_add(rounded(feature));
    }
    sum
}

/// x · factor / 2^shift, from two products of sixteen bits, whose sum is a product without its last sixteen bits.
#[inline(always)]
fn scaled(x: i32, row: FixedRow) -> i32 {
    let (high, low) = (x >> 16, x as u32 & 0xffff);
    let product = high.wrapping_mul(row.factor as i32).wrapping_add(((low * row.factor) >> 16) as i32);
    product << 16_u32.saturating_sub(row.shift) >> row.shift.saturating_sub(16)
}

/// y² in Q30 for y in Q30, |y| < 2, up to a unit.
#[inline(always)]
fn square(y: i32) -> u32 {
    let (high, low) = (y.unsigned_abs() >> 15, y.unsigned_abs() & 0x7fff);
    high.wrapping_mul(high).wrapping_add(high.wrapping_mul(low) >> 14)
}
