//! Sums over interleaved rows of small integers, modulo 2³².

use diffgp_core::blob::layout::BLOCK;
use diffgp_core::device::{keep_rolled, opaque};

/// Whether eight sums and what feeds them have registers: not on ARMv6-M, whose instructions see eight.
const EIGHT_AT_ONCE: bool = !cfg!(target_arch = "arm") || cfg!(target_has_atomic = "32");

/// Σ term(x, n) of eight rows that lie side by side, for as many values of x as they have columns.
#[inline(always)]
pub(crate) fn block_sums<N: Copy>(rows: &[[N; BLOCK]], x: &[u32], term: impl Fn(u32, N) -> u32 + Copy) -> [u32; BLOCK] {
    if EIGHT_AT_ONCE {
        return sums(rows, x, |row| *row, term);
    }
    let half = |&[a, b, c, d, ..]: &[N; BLOCK]| [a, b, c, d];
    let [a, b, c, d] = sums(rows, x, half, term);
    // The other half from a pointer of its own, because there are no negative offsets: all columns but the last begin
    // there, and of that one four numbers are left.
    let (shifted, last) = opaque(rows.as_flattened().get(4..).unwrap_or_default()).as_chunks();
    let mut others = sums(shifted, x, half, term);
    if let Some(&x) = x.last() {
        for (sum, &n) in others.iter_mut().zip(last) {
            *sum = sum.wrapping_add(term(x, n));
        }
    }
    let [e, f, g, h] = others;
    [a, b, c, d, e, f, g, h]
}

#[inline(always)]
fn sums<N: Copy, const L: usize>(
    rows: &[[N; BLOCK]],
    x: &[u32],
    part: impl Fn(&[N; BLOCK]) -> [N; L],
    term: impl Fn(u32, N) -> u32,
) -> [u32; L] {
    let mut sums = [0_u32; L];
    for (row, &x) in rows.iter().zip(x) {
        keep_rolled();
        for (sum, n) in sums.iter_mut().zip(part(row)) {
            *sum = sum.wrapping_add(term(x, n));
        }
    }
    sums
}
