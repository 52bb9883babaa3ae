//! Sums over interleaved rows of small integers.
//!
//! One function for both kinds of integers and both sums that a Gaussian process needs: four copies would take as much
//! flash as the parser. What differs is decided for every row of eight, at a quarter of an instruction per
//! multiply-add. Integers of sixteen bits are exact in single precision.

use diffgp_core::blob::Elements;
use diffgp_core::blob::layout::BLOCK;
use diffgp_core::device::{keep_rolled, opaque};

/// The rows of eight that are left.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows<'a> {
    I16(&'a [[i16; BLOCK]]),
    I8(&'a [[i8; BLOCK]]),
}

/// What is summed, for an x and an integer n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    /// (x − n)²
    Square,
    /// x n
    Product,
}

impl<'a> Rows<'a> {
    /// The rows of a tensor of integers; none of one of singles.
    pub(crate) fn new(elements: Elements<'a>) -> Self {
        match elements {
            Elements::F32(_) => Self::I8(&[]),
            Elements::I16(values) => Self::I16(values.as_chunks().0),
            Elements::I8(values) => Self::I8(values.as_chunks().0),
        }
    }

    /// Eight sums over the next rows, one for every value of x.
    #[inline(never)]
    pub(crate) fn block_sums(&mut self, x: &[f32], term: Term) -> [f32; BLOCK] {
        let mut sums = [0.0; BLOCK];
        for &x in x {
            keep_rolled();
            let Some(row) = self.next() else { return sums };
            // Hidden from the compiler, which would otherwise make two loops of this one.
            match opaque(term) {
                Term::Square => {
                    for (sum, n) in sums.iter_mut().zip(row) {
                        let difference = x - n;
                        *sum += difference * difference;
                    }
                }
                Term::Product => {
                    for (sum, n) in sums.iter_mut().zip(row) {
                        *sum += x * n;
                    }
                }
            }
        }
        sums
    }

    #[inline(always)]
    fn next(&mut self) -> Option<[f32; BLOCK]> {
        match opaque(&mut *self) {
            Self::I16(rows) => {
                let (row, rest) = rows.split_first()?;
                *rows = rest;
                Some(row.map(f32::from))
            }
            Self::I8(rows) => {
                let (row, rest) = rows.split_first()?;
                *rows = rest;
                Some(row.map(f32::from))
            }
        }
    }
}
