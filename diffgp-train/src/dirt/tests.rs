//! Each kind of dirt, put into clean data by hand; and clean data that looks a little like it.

use super::{Finding, look};
use crate::data::Dataset;

/// A number in 0..1 that looks like chance.
fn chance(row: usize, column: usize) -> f64 {
    let mut word =
        (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (column as u64 + 7).wrapping_mul(0xd6e8_feb8_6659_fd93);
    for shift in [32, 29, 32] {
        word = (word ^ (word >> shift)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
    (word >> 11) as f64 / (1_u64 << 53) as f64
}

/// Roughly normal.
fn noise(row: usize, column: usize) -> f64 {
    (0..12).map(|part| chance(row, 100 + 12 * column + part)).sum::<f64>() - 6.0
}

/// 400 rows of a, b and c, with y = sin 3a + b² + 0.3 noise, each row through `change`.
fn data(change: impl Fn(usize, &mut [f64; 4])) -> Dataset {
    named(["a", "b", "c", "y"], change)
}

fn named(names: [&str; 4], change: impl Fn(usize, &mut [f64; 4])) -> Dataset {
    let rows = (0..400).map(|row| {
        let [a, b, c] = [0, 1, 2].map(|column| 2.0 * chance(row, column) - 1.0);
        let mut cells = [a, b, c, (3.0 * a).sin() + b * b + 0.3 * noise(row, 0)];
        change(row, &mut cells);
        cells
    });
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for [a, b, c, target] in rows {
        x.extend([a, b, c]);
        y.push(target);
    }
    Dataset::from_named_rows(&x, &y, &names[..3], &names[3..]).unwrap()
}

fn kinds(data: &Dataset) -> Vec<&'static str> {
    look(data, &[]).iter().map(Finding::kind).collect()
}

/// Every fifth row.
fn fifth() -> Vec<usize> {
    (0..400).step_by(5).collect()
}

#[test]
fn clean_data_is_silent() {
    assert_eq!(look(&data(|_, _| ()), &fifth()), []);
    // Skewed inputs, flags with a rare value, rounded values, far from zero, few values.
    let odd = data(|row, cells| {
        cells[0] = (2.0 * noise(row, 1)).exp();
        cells[1] = f64::from(u8::from(row % 200 == 7));
        cells[2] = 1000.0 + (5.0 * cells[2]).round();
    });
    assert_eq!(look(&odd, &fifth()), []);
    // Zero where something is not used, as in a recipe.
    assert_eq!(look(&data(|row, cells| cells[0] = if row % 2 == 0 { 0.0 } else { 10.0 + 5.0 * cells[0] }), &[]), []);
}

#[test]
fn too_few_rows_are_silent() {
    let x: Vec<f64> = (0..19).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|&x| if x == 3.0 { -999.0 } else { x }).collect();
    assert_eq!(look(&Dataset::from_rows(&x, &y, 1).unwrap(), &[]), []);
}

#[test]
fn sentinels_are_found_with_their_rows() {
    let dirty = data(|row, cells| {
        if [11, 50, 203].contains(&row) {
            cells[1] = -999.0;
        }
    });
    let found = look(&dirty, &[]);
    let [Finding::Sentinel { column, value, count, rows, others }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((column.name.as_deref(), *value, *count, rows.as_slice()), (Some("b"), -999.0, 3, &[11, 50, 203][..]));
    assert!(others.0 >= -1.0 && others.1 <= 1.0);
    let text = found[0].to_string();
    assert!(
        text.starts_with("\"b\" is -999 in 3 rows (rows 12, 51, 204), far from all others, which are -0.9"),
        "{text}"
    );
}

#[test]
fn sentinels_of_all_kinds_are_found() {
    let values_of = |change: &dyn Fn(usize, &mut [f64; 4])| -> Vec<f32> {
        let of = |finding| if let Finding::Sentinel { value, .. } = finding { value } else { panic!("{finding:?}") };
        look(&data(change), &[]).into_iter().map(of).collect()
    };
    assert_eq!(values_of(&|row, cells| cells[0] = if row % 9 == 0 { 9999.0 } else { cells[0] }), [9999.0]);
    assert_eq!(values_of(&|row, cells| cells[3] = if row == 8 { -1e30 } else { cells[3] }), [-1e30]);
    assert_eq!(values_of(&|row, cells| cells[2] = if row == 8 { 65_535.0 } else { 20e3 * cells[2] }), [65_535.0]);
    // A zero where all others are far from it, and not used otherwise.
    assert_eq!(values_of(&|row, cells| cells[0] = if row % 50 == 0 { 0.0 } else { 300.0 + cells[0] }), [0.0]);
    // Two of them.
    let two = values_of(&|row, cells| match row % 20 {
        0 => cells[0] = -999.0,
        1 => cells[0] = 9999.0,
        _ => {}
    });
    assert_eq!(two, [9999.0, -999.0]);
}

#[test]
fn a_handful_of_values_far_from_the_rest_is_found() {
    let spikes = |column: usize, size: f64| {
        data(move |row, cells| {
            if [5, 100].contains(&row) {
                cells[column] = size + row as f64;
            }
        })
    };
    let found = look(&spikes(3, 1000.0), &[]);
    let [Finding::FarOff { column, count: 2, rows, values, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((column.shown.as_str(), rows.as_slice()), ("the target \"y\"", &[5, 100][..]));
    assert_eq!(values.as_slice(), [1005.0, 1100.0]);
    assert!(found[0].to_string().contains("2 values of the target \"y\" are far from all others"), "{}", found[0]);
    assert!(found[0].to_string().contains("(row 6: 1005, row 101: 1100)"), "{}", found[0]);
    assert_eq!(kinds(&spikes(0, -1000.0)), ["far-off"]);
    assert_eq!(kinds(&data(|row, cells| cells[0] *= if row < 2 { 1e6 } else { 1.0 })), ["far-off"]);
    // The largest of normal and lognormal values.
    assert_eq!(kinds(&data(|row, cells| cells[3] += noise(row, 3))), [""; 0]);
    assert_eq!(kinds(&data(|row, cells| cells[0] = noise(row, 3).exp())), [""; 0]);
}

#[test]
fn lopsided_positive_targets_are_found() {
    let priced = data(|row, cells| cells[3] = (1.5 * cells[3] + noise(row, 5)).exp());
    let found = look(&priced, &[]);
    let [Finding::Skewed { column, median, largest }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(column.name.as_deref(), Some("y"));
    assert!(20.0 * median < *largest, "{median} {largest}");
    // A value far off on that scale too.
    let priced = data(|row, cells| cells[3] = if row == 9 { 1e12 } else { (1.5 * cells[3] + noise(row, 5)).exp() });
    assert!(kinds(&priced).contains(&"far-off"));
    // Not positive; or as lopsided upside down.
    assert_eq!(kinds(&data(|row, cells| cells[3] = (1.5 * cells[3] + noise(row, 5)).exp() - 0.1)), [""; 0]);
    assert_eq!(kinds(&data(|_, cells| cells[3] += 10.0)), [""; 0]);
}

#[test]
fn rows_that_repeat_others_are_found_within_the_data_and_across_the_split() {
    let clean = data(|_, _| ());
    let (mut x, mut y) = (Vec::new(), clean.targets().to_vec());
    (0..400).for_each(|row| x.extend_from_slice(clean.input_row(row)));
    // Rows 400 to 411 are rows 0 to 11.
    x.extend_from_within(..36);
    y.extend_from_within(..12);
    let doubled = Dataset::new(x.clone(), y.clone(), 3).unwrap();
    let found = look(&doubled, &[3, 50, 401, 405]);
    let [Finding::Duplicates { count, of, rows, twins }, Finding::HeldOutTwins { count: across, of: held, .. }] =
        found.as_slice()
    else {
        panic!("{found:?}")
    };
    assert_eq!((*count, *of, *across, *held), (12, 412, 3, 4));
    assert_eq!((rows.as_slice(), twins.as_slice()), (&[400, 401, 402, 403, 404][..], &[0, 1, 2, 3, 4][..]));
    assert_eq!((found[1].rows(), &found[1].to_string()[..19]), (&[3, 401, 405][..], "3 of 4 held-out row"));
    assert!(found[1].to_string().contains("row 4 is row 404, row 402 is row 2, row 406 is row 6"), "{}", found[1]);
    // Both of a pair held out, or one in a thousand: nothing flatters.
    assert_eq!(look(&doubled, &[3, 403]).len(), 1);
    assert_eq!(look(&Dataset::new(x[..1206].to_vec(), y[..402].to_vec(), 3).unwrap(), &[]), []);
    // The same inputs with another target are measurements that were repeated.
    y[400..].iter_mut().for_each(|y| *y += 0.5);
    assert_eq!(look(&Dataset::new(x, y, 3).unwrap(), &[]), []);
}

#[test]
fn copies_of_columns_are_found() {
    let found = look(&data(|_, cells| cells[2] = cells[0]), &[]);
    let [Finding::Copy { column, of, exact: true, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((column.name.as_deref(), of.name.as_deref()), (Some("c"), Some("a")));
    let found = look(&data(|row, cells| cells[2] = 32.0 - 1.8 * cells[0] + 1e-3 * noise(row, 1)), &[]);
    assert!(matches!(found.as_slice(), [Finding::Copy { exact: false, correlation, .. }] if *correlation < -0.9999));
    assert_eq!(kinds(&data(|row, cells| cells[2] = cells[0] + 0.05 * noise(row, 1))), [""; 0]);
    // A column that does not vary is no copy of another such one; training says that it does not.
    assert_eq!(kinds(&data(|_, cells| (cells[0], cells[2]) = (1.0, 1.0))), [""; 0]);
}

#[test]
fn inputs_that_determine_the_target_are_found() {
    let leaks = |change: &dyn Fn(usize, &mut [f64; 4])| {
        let found = look(&data(change), &[]);
        let [Finding::Leak { column, open, .. }] = found.as_slice() else { panic!("{found:?}") };
        assert!(*open < 1e-3);
        column.name.clone().unwrap()
    };
    assert_eq!(leaks(&|_, cells| cells[2] = cells[3]), "c");
    assert_eq!(leaks(&|row, cells| cells[1] = cells[3].powi(3) + 1e-4 * noise(row, 1)), "b");
    // A code: one target for each of its values.
    let code = |row: usize| (8.0 * chance(row, 9)).floor();
    assert_eq!(leaks(&|row, cells| (cells[0], cells[3]) = (code(row), chance(code(row) as usize, 4))), "a");
    // Rows sorted by the target, with an input of few values that says nothing of it.
    let sorted = data(|row, cells| (cells[1], cells[3]) = ((row % 7) as f64, (row / 10) as f64));
    assert_eq!(kinds(&sorted), [""; 0]);
    // With one input alone there is nothing else to learn from.
    let x: Vec<f64> = (0..100).map(|row| chance(row, 0)).collect();
    assert_eq!(look(&Dataset::from_rows(&x, &x, 1).unwrap(), &[]), []);
}

#[test]
fn inputs_that_determine_the_class_are_found() {
    let labelled = |input: &dyn Fn(usize) -> f64, class: &dyn Fn(usize) -> &'static str| {
        let x: Vec<f64> = (0..300).flat_map(|row| [chance(row, 0), input(row)]).collect();
        let labels: Vec<&str> = (0..300).map(class).collect();
        look(&Dataset::from_named_labels(&x, &labels, &["a", "b"], "fault").unwrap(), &[])
    };
    let third = |row: usize| ["inner", "none", "outer"][(3.0 * chance(row, 5)) as usize];
    let number = |row: usize| (3.0 * chance(row, 5)).floor();
    let found = labelled(&number, &third);
    assert!(matches!(found.as_slice(), [Finding::Leak { open: 0.0, .. }]), "{found:?}");
    assert_eq!(
        found[0].to_string(),
        "\"b\" alone determines the target \"fault\": is it known when the model is asked?"
    );
    assert_eq!(labelled(&|row| number(row) + 0.9 * chance(row, 6), &third).len(), 1);
    assert_eq!(labelled(&|row| number(row) + 1.5 * chance(row, 6), &third), []);
}

#[test]
fn second_targets_are_found() {
    let like = |names: [&str; 4], noise_share: f64| {
        let data = named(names, |row, cells| cells[2] = 2.0 * cells[3] + noise_share * noise(row, 2));
        look(&data, &[]).first().map(|finding| (finding.kind(), finding.columns()[0].name.clone()))
    };
    let found = |kind: &'static str, name: &str| Some((kind, Some(name.to_owned())));
    assert_eq!(like(["a", "b", "cooling", "heating"], 0.3), found("like-target", "cooling"));
    assert_eq!(like(["a", "b", "cooling", "heating"], 1.5), None);
    assert_eq!(like(["a", "b", "y2", "y1"], 1.5), found("like-target", "y2"));
    assert_eq!(like(["a", "b", "y2", "y1"], 15.0), None);
}

#[test]
fn rows_in_the_order_of_time_are_found() {
    // A slow wave that the inputs do not tell.
    let wave = |row: usize, cells: &mut [f64; 4]| cells[3] = cells[0] + 4.0 * (row as f64 / 30.0).sin();
    let found = look(&data(wave), &fifth());
    let [Finding::InOrder { column: None, correlation, held_out: true }] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert!(*correlation > 0.8, "{correlation}");
    // A column of times, from row to row.
    let timed = data(|row, cells| {
        wave(row, cells);
        cells[1] = 1000.0 + 0.5 * row as f64;
    });
    let found = look(&timed, &[]);
    assert!(
        matches!(found.as_slice(), [Finding::InOrder { column: Some(column), held_out: false, .. }] if column.shown == "\"b\""),
        "{found:?}"
    );
    // The last rows are held out, and stretches are kept together.
    let last: Vec<usize> = (320..400).collect();
    assert_eq!(look(&timed.clone().in_blocks(20).unwrap(), &last), []);
    assert_eq!(kinds(&timed.in_blocks(20).unwrap()), [""; 0]);
    // The last rows alone: rows for validation are still scattered.
    assert_eq!(look(&data(wave), &last).len(), 1);
}

#[test]
fn rows_that_are_sorted_otherwise_are_silent() {
    // By the target; by an input; along a grid of inputs that determine the target.
    assert_eq!(kinds(&data(|row, cells| cells[3] = (row / 40) as f64 + 1e-9 * cells[0])), [""; 0]);
    let sorted = data(|row, cells| {
        cells[0] = (row as f64 / 400.0).powi(3) + 1e-3 * chance(row, 3);
        cells[3] = cells[0] + 0.1 * noise(row, 4);
    });
    assert_eq!(kinds(&sorted), [""; 0]);
    let grid = data(|row, cells| {
        (cells[0], cells[1]) = ((row / 20) as f64, (row % 20) as f64);
        cells[3] = (cells[0] / 5.0).sin() + cells[1] / 20.0 + 0.05 * noise(row, 4);
    });
    assert_eq!(kinds(&grid), [""; 0]);
}

#[test]
fn classes_in_the_order_of_time_are_found() {
    let x: Vec<f64> = (0..400).flat_map(|row| [chance(row, 0), chance(row, 1)]).collect();
    // Sixteen shifts of day and night.
    let labels: Vec<&str> = (0..400).map(|row| if row / 25 % 2 == 0 { "day" } else { "night" }).collect();
    let found = look(&Dataset::from_labels(&x, &labels, 2).unwrap(), &fifth());
    assert!(matches!(found.as_slice(), [Finding::InOrder { .. }]), "{found:?}");
    let sorted: Vec<&str> = (0..400).map(|row| if row < 200 { "day" } else { "night" }).collect();
    assert_eq!(look(&Dataset::from_labels(&x, &sorted, 2).unwrap(), &fifth()), []);
}
