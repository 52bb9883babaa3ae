//! The order in which a run takes its rows: random, and group by group if rows belong together.

use std::sync::Arc;

use crate::data::Dataset;
use crate::permutation::Permutation;
use crate::philox::Purpose;

/// A permutation of the rows, chosen by the seed.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// Every row by itself; computed, not stored.
    Single(Permutation),
    /// The groups in a random order, the rows of each one after the other.
    Grouped(Arc<[usize]>),
}

impl Order {
    pub(super) fn new(data: &Dataset, seed: u64) -> Self {
        match data.groups() {
            None => Self::Single(Permutation::new(data.rows(), seed, Purpose::Split, 0)),
            Some(groups) => {
                let mut rows: Vec<usize> = (0..groups.len()).collect();
                let count = groups.iter().max().map_or(1, |&last| last as usize + 1);
                let place = Permutation::new(count, seed, Purpose::Split, 0);
                rows.sort_by_key(|&row| place.at(groups[row] as usize));
                Self::Grouped(rows.into())
            }
        }
    }

    /// The row at a place.
    pub(super) fn at(&self, place: usize) -> usize {
        match self {
            Self::Single(permutation) => permutation.at(place),
            Self::Grouped(rows) => rows[place],
        }
    }
}

/// The places where the rows may be cut: all of them, or only those between two groups.
#[derive(Clone, Debug)]
pub(super) struct Cuts(Option<Vec<usize>>);

impl Cuts {
    /// Anywhere.
    pub(super) const ANYWHERE: Self = Self(None);

    pub(super) fn new(data: &Dataset, seed: u64) -> Self {
        let Some(groups) = data.groups() else { return Self::ANYWHERE };
        let (order, rows) = (Order::new(data, seed), data.rows());
        let ends = |&place: &usize| place == rows || groups[order.at(place - 1)] != groups[order.at(place)];
        Self(Some(std::iter::once(0).chain((1..=rows).filter(ends)).collect()))
    }

    /// The cut that is nearest to a place.
    pub(super) fn nearest(&self, place: usize) -> usize {
        let Self(Some(cuts)) = self else { return place };
        let after = cuts.partition_point(|&cut| cut < place).min(cuts.len() - 1);
        let before = after.saturating_sub(1);
        if cuts[after].abs_diff(place) < cuts[before].abs_diff(place) { cuts[after] } else { cuts[before] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(groups: &[u32]) -> Dataset {
        let rows = groups.len();
        Dataset::new(vec![0.0; rows], vec![0.0; rows], 1).unwrap().with_groups(groups.to_vec()).unwrap()
    }

    #[test]
    fn groups_stay_together_in_a_random_order() {
        let groups: Vec<u32> = (0..100).map(|row| (row * 7) % 20).collect();
        let data = data(&groups);
        let order = |seed| (0..100).map(|place| Order::new(&data, seed).at(place)).collect::<Vec<_>>();
        let first = order(0);
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..100));
        assert_eq!(first.chunk_by(|&a, &b| groups[a] == groups[b]).count(), 20);
        assert_ne!(first, order(1));
    }

    #[test]
    fn cuts_are_between_groups() {
        // In whatever order: groups of one, two and five rows.
        let groups = [0, 1, 1, 2, 2, 2, 2, 2];
        let data = data(&groups);
        let (cuts, order) = (Cuts::new(&data, 3), Order::new(&data, 3));
        for place in 0..=8 {
            let cut = cuts.nearest(place);
            let between = cut == 0 || cut == 8 || groups[order.at(cut - 1)] != groups[order.at(cut)];
            assert!(between && cut.abs_diff(place) <= 2, "{place}: {cut}");
        }
        assert_eq!((cuts.nearest(0), cuts.nearest(8)), (0, 8));
        assert_eq!(Cuts::ANYWHERE.nearest(5), 5);
    }
}
