//! Rows that occur twice, inputs and target, within the data and across the split.
//!
//! One in a hundred is worth a word. Rows are sorted by a hash of their bits, and compared where the hashes are the same.

use super::NAMED;
use super::finding::Finding;
use crate::data::Dataset;

/// One in so many.
const ONE_IN: usize = 100;

pub(super) fn find(data: &Dataset, held_out: &[usize]) -> Vec<Finding> {
    let mut is_held_out = vec![false; data.rows()];
    for &row in held_out {
        // Rows that are not there are refused elsewhere.
        is_held_out.get_mut(row).into_iter().for_each(|is_held_out| *is_held_out = true);
    }
    let mut repeated: Vec<(usize, usize)> = Vec::new();
    let mut across: Vec<(usize, usize)> = Vec::new();
    for same in groups(data).iter().filter(|same| same.len() > 1) {
        repeated.extend(same[1..].iter().map(|&row| (row, same[0])));
        if let Some(&trained) = same.iter().find(|&&row| !is_held_out[row]) {
            across.extend(same.iter().filter(|&&row| is_held_out[row]).map(|&row| (row, trained)));
        }
    }
    let are_many = |pairs: &[(usize, usize)], of: usize| ONE_IN * pairs.len() >= of;
    let mut found = Vec::new();
    if repeated.len() > 1 && are_many(&repeated, data.rows()) {
        let (count, of) = (repeated.len(), data.rows());
        let (rows, twins) = first(repeated);
        found.push(Finding::Duplicates { count, of, rows, twins });
    }
    if !across.is_empty() && are_many(&across, held_out.len()) {
        let (count, of) = (across.len(), held_out.len());
        let (rows, twins) = first(across);
        found.push(Finding::HeldOutTwins { count, of, rows, twins });
    }
    found
}

fn first(mut pairs: Vec<(usize, usize)>) -> (Vec<usize>, Vec<usize>) {
    pairs.sort_unstable();
    pairs.into_iter().take(NAMED).unzip()
}

/// Rows of the same bits together, each group ascending.
fn groups(data: &Dataset) -> Vec<Vec<usize>> {
    let mut hashed: Vec<(u64, usize)> = (0..data.rows()).map(|row| (hash(data, row), row)).collect();
    hashed.sort_unstable();
    let equal = |a: usize, b: usize| data.input_row(a) == data.input_row(b) && data.target_row(a) == data.target_row(b);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for same in hashed.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
        // Of one hash there is one row, but for chance.
        let from = groups.len();
        for &(_, row) in same {
            match groups[from..].iter_mut().find(|group| equal(group[0], row)) {
                Some(group) => group.push(row),
                None => groups.push(vec![row]),
            }
        }
    }
    groups
}

/// FNV-1a over words; -0 is 0.
fn hash(data: &Dataset, row: usize) -> u64 {
    let values = data.input_row(row).iter().chain(data.target_row(row));
    values.fold(0xcbf2_9ce4_8422_2325, |hash, value| {
        (hash ^ u64::from((value + 0.0).to_bits())).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
