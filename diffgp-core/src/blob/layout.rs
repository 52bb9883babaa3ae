//! How matrices lie in the blob: rows interleaved in blocks of [`BLOCK`], zero-padded.
//!
//! A matrix A `[rows, columns]` is stored as `[⌈rows/8⌉][columns][8]`: element A(r, c) lies at
//! (r div 8)·columns·8 + c·8 + r mod 8. The device multiplies eight rows at once, with eight accumulators in
//! registers, and reads memory strictly forwards.

/// Rows that are interleaved (H15).
pub const BLOCK: usize = 8;

/// `rows` rounded up to whole blocks.
pub const fn padded(rows: usize) -> usize {
    rows.div_ceil(BLOCK).saturating_mul(BLOCK)
}

/// Where element (row, column) of a matrix with this many columns lies.
pub const fn position(row: usize, column: usize, columns: usize) -> usize {
    (row / BLOCK) * columns * BLOCK + column * BLOCK + row % BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_a_permutation_of_the_padded_matrix() {
        let (rows, columns) = (16, 3);
        let mut seen = [0_u8; 48];
        for row in 0..rows {
            for column in 0..columns {
                seen[position(row, column, columns)] += 1;
            }
        }
        assert_eq!(seen, [1; 48]);
    }

    #[test]
    fn padding_rounds_up() {
        assert_eq!([0, 1, 8, 9, 100].map(padded), [0, 8, 8, 16, 104]);
    }
}
