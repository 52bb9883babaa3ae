//! Inputs that give the target away, and inputs that look like a second target.
//!
//! With rows sorted by one input, the target hardly changes from row to row where the input determines it:
//! Σ(yᵢ₊₁ − yᵢ)²/(2 (n − 1) var y) is the share of the variance that the input leaves open (von Neumann's ratio). An input of
//! few values determines it if rows of one value have one target. Classes: rows whose neighbour is of another class, beyond
//! those between one class and the next. Less than 0.1 % is a leak (40/n² of few rows), and so is a correlation of 0.9999, if
//! there are other inputs. A correlation of 0.97, or of
//! 0.5 with a name like the target's, is that of a second target. On up to 5000 rows.

use super::column::{Column, correlation, sample};
use super::finding::{Finding, Label};
use crate::data::Dataset;

/// Rows that are looked at: at most, and at least.
const ROWS: usize = 5000;
const FEW: usize = 50;
/// A share of this or less is a leak.
const LEAK: f64 = 1e-3;
/// Of n rows, neighbours leave 12/n² open even of a straight line.
const COARSE: f64 = 40.0;
/// A correlation of a copy of the target.
const SAME: f64 = 0.9999;
/// A correlation like that of a second target: whatever its name, and with a name like the target's.
const LIKE: [f64; 2] = [0.97, 0.5];
/// Values of an input with so many rows each on the average are few.
const ROWS_PER_VALUE: usize = 10;

pub(super) fn find(data: &Dataset) -> Vec<Finding> {
    if data.rows() < FEW || data.inputs() < 2 {
        return Vec::new();
    }
    let rows = sample(data.rows(), ROWS);
    (0..data.inputs()).filter_map(|input| of_input(data, &rows, input)).collect()
}

fn of_input(data: &Dataset, rows: &[usize], input: usize) -> Option<Finding> {
    let column = Column::Input(input);
    let mut order: Vec<usize> = rows.to_vec();
    // Rows of one value in an order that has nothing to do with the target: files may be sorted by it.
    order.sort_by_cached_key(|&row| (ordered(column.at(data, row)), scrambled(row)));
    let values: Vec<f32> = order.iter().map(|&row| column.at(data, row)).collect();
    let distinct = values.chunk_by(|a, b| a == b).count();
    if distinct < 2 {
        return None;
    }
    let label = || Label::input(data, input);
    let of_output = |output: usize| {
        let target = Label::target(data, output);
        let open = match data.classes() {
            Some(classes) => open_classes(data, &order, distinct, classes.len()),
            None => open_variance(data, &order, &values, distinct, output),
        }?;
        let limit = LEAK.max(COARSE / (order.len() as f64).powi(2));
        if data.classes().is_some() {
            return (open < LEAK).then(|| Finding::Leak { column: label(), target, open });
        }
        let correlation =
            correlation(&column.standardised(data, rows)?, &Column::Target(output).standardised(data, rows)?);
        let open = if correlation.abs() >= SAME { open.min((1.0 - correlation.powi(2)).max(0.0)) } else { open };
        if open < limit {
            return Some(Finding::Leak { column: label(), target, open });
        }
        let alike = match (label().name, &target.name) {
            (Some(name), Some(target)) => names_are_alike(&name, target),
            _ => false,
        };
        let is_like = correlation.abs() >= LIKE[0] || (alike && correlation.abs() >= LIKE[1]);
        is_like.then(|| Finding::LikeTarget { column: label(), target, correlation })
    };
    (0..data.outputs()).find_map(of_output)
}

/// The share of the variance of a target that an input leaves open.
fn open_variance(data: &Dataset, order: &[usize], values: &[f32], distinct: usize, output: usize) -> Option<f64> {
    let y = Column::Target(output).standardised(data, order)?;
    let steps = || y.windows(2).map(|pair| 0.5 * (pair[1] - pair[0]).powi(2)).zip(values.windows(2));
    let share = |(sum, count): (f64, usize)| if count > 0 { sum / count as f64 } else { 1.0 };
    let mean = |only_same: bool| {
        let counted = steps().filter(|(_, pair)| !only_same || pair[0] == pair[1]);
        share(counted.fold((0.0, 0), |(sum, count), (step, _)| (sum + step, count + 1)))
    };
    let all = mean(false);
    Some(if ROWS_PER_VALUE * distinct <= order.len() { all.min(mean(true)) } else { all })
}

/// The share of the rows whose neighbour is of another class, beyond those between one class and the next.
fn open_classes(data: &Dataset, order: &[usize], distinct: usize, classes: usize) -> Option<f64> {
    let class = |row: usize| data.target_row(row)[0];
    let changes = order.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    if changes == 0 {
        return None;
    }
    let allowed = if ROWS_PER_VALUE * distinct <= order.len() { distinct.max(classes) } else { classes } - 1;
    Some(changes.saturating_sub(allowed) as f64 / order.len() as f64)
}

/// `y1` and `y2`, `heating_load` and `cooling_load`.
fn names_are_alike(name: &str, target: &str) -> bool {
    let stem = |name: &str| {
        let name = name.to_lowercase();
        name.trim_end_matches(|c: char| c.is_ascii_digit() || !c.is_alphanumeric()).to_owned()
    };
    let last_word = |name: &str| {
        let name = name.to_lowercase();
        name.rsplit(|c: char| !c.is_alphanumeric()).next().map(str::to_owned).filter(|word| word.len() > 3)
    };
    (!stem(name).is_empty() && stem(name) == stem(target))
        || last_word(name).is_some_and(|word| Some(word) == last_word(target))
}

/// A number that sorts as the value does.
fn ordered(value: f32) -> u32 {
    let bits = (value + 0.0).to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// The finaliser of SplitMix64.
fn scrambled(row: usize) -> u64 {
    let mixed = (row as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_two_targets_are_alike() {
        for (a, b) in [("y1", "Y2"), ("heating_load", "cooling_load"), ("target", "target_2"), ("Fx peak", "Fy peak")] {
            assert!(names_are_alike(a, b), "{a} {b}");
        }
        for (a, b) in [("x1", "y1"), ("load", "height"), ("jet_1_pt", "jet_2_eta"), ("1", "2"), ("a_x", "b_x")] {
            assert!(!names_are_alike(a, b), "{a} {b}");
        }
    }

    #[test]
    fn values_are_sorted_by_their_size() {
        let mut values = [3.0_f32, -1.0, 0.0, -7.5, 1e30, -1e30, -0.0];
        values.sort_by_key(|&value| ordered(value));
        assert!(values.is_sorted());
    }
}
