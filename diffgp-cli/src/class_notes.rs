//! What is worth saying about the classes of training rows and held-out rows before anything is trained.

use diffgp_train::data::Dataset;

use super::console::tell;

/// Classes with fewer training rows than this get rough probabilities.
const FEW_ROWS: usize = 10;
/// Classes that one message names.
const NAMED: usize = 5;

/// Notes about one split.
pub(crate) fn tell_about(training: &Dataset, held_out: Option<&Dataset>) {
    let names = training.classes().unwrap_or_default();
    let counts = training.class_counts();
    let held_out = held_out.map(Dataset::class_counts);
    for note in notes(names, &counts, held_out.as_deref()) {
        tell!("{note}");
    }
}

/// Notes about many splits, each by its held-out rows.
pub(crate) fn tell_about_splits<'a>(data: &Dataset, splits: impl Iterator<Item = &'a [usize]>) {
    let Some(names) = data.classes() else { return };
    let all = data.class_counts();
    let (mut splits_of, mut without_training, mut without_test) = (0, vec![0; all.len()], vec![0; all.len()]);
    for held_out in splits {
        splits_of += 1;
        let mut test = vec![0; all.len()];
        held_out.iter().for_each(|&row| test[data.targets()[row] as usize] += 1);
        for class in 0..all.len() {
            without_training[class] += usize::from(test[class] == all[class]);
            without_test[class] += usize::from(test[class] == 0);
        }
    }
    notes(names, &all, None).iter().for_each(|note| tell!("{note}"));
    for (missing, rows) in [(without_training, "training"), (without_test, "held-out")] {
        for (name, count) in names.iter().zip(missing).filter(|&(_, count)| count > 0).take(NAMED) {
            tell!("note: {count} of {splits_of} splits have no {rows} row of the class {name:?}");
        }
    }
}

fn notes(names: &[String], training: &[usize], held_out: Option<&[usize]>) -> Vec<String> {
    let missing = |counts: &[usize]| listed(names, |class| counts[class] == 0, |_| String::new());
    let mut notes = Vec::new();
    if let Some(missing) = missing(training) {
        notes.push(format!("warning: no training row is of {missing}; the model cannot learn what it looks like"));
    }
    if let Some(rare) = rare(names, training) {
        notes.push(format!(
            "warning: few rows are of {rare}; with fewer than {FEW_ROWS}, a probability is a rough guess"
        ));
    }
    if let Some(missing) = held_out.and_then(missing) {
        notes.push(format!("note: no held-out row is of {missing}; figures on them say nothing about it"));
    }
    notes
}

fn rare(names: &[String], counts: &[usize]) -> Option<String> {
    listed(names, |class| (1..FEW_ROWS).contains(&counts[class]), |class| format!(" ({})", counts[class]))
}

/// The classes that are so, and what to say of each.
fn listed(names: &[String], is_so: impl Fn(usize) -> bool, remark: impl Fn(usize) -> String) -> Option<String> {
    let classes: Vec<usize> = (0..names.len()).filter(|&class| is_so(class)).collect();
    let mut named: Vec<String> =
        classes.iter().take(NAMED).map(|&class| format!("{:?}{}", names[class], remark(class))).collect();
    if classes.len() > NAMED {
        named.push(format!("{} more", classes.len() - NAMED));
    }
    let (last, first) = named.split_last()?;
    let noun = if classes.len() == 1 { "the class" } else { "the classes" };
    Some(if first.is_empty() { format!("{noun} {last}") } else { format!("{noun} {} and {last}", first.join(", ")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        ["a", "b", "c", "d", "e", "f", "g", "h"].iter().take(count).map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn rare_and_missing_classes_are_named() {
        assert_eq!(notes(&names(3), &[10, 20, 30], Some(&[1, 2, 3])), [""; 0]);
        assert_eq!(
            notes(&names(3), &[9, 0, 30], Some(&[0, 2, 0])),
            [
                "warning: no training row is of the class \"b\"; the model cannot learn what it looks like",
                "warning: few rows are of the class \"a\" (9); with fewer than 10, a probability is a rough guess",
                "note: no held-out row is of the classes \"a\" and \"c\"; figures on them say nothing about it",
            ]
        );
        let many = notes(&names(8), &[1; 8], None);
        assert!(many[0].contains("\"a\" (1), \"b\" (1), \"c\" (1), \"d\" (1), \"e\" (1) and 3 more;"), "{many:?}");
        assert_eq!(notes(&[], &[], Some(&[])), [""; 0]);
    }
}
