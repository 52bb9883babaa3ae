//! Prediction sets of a classifier.
//!
//! A class belongs to the set of a row if its probability is at least a threshold of its own: the ⌊(n + 1)(1 − p)⌋-th
//! smallest probability that the n calibration rows of that class had for it, p = 0.9. So nine in ten new rows of that
//! class have it in their set, whichever class it is.

use diffgp_core::blob::CLASS_SET_LEVEL;

use super::ClassResidual;

/// The threshold of every class; 0, which keeps a class in every set, where too few rows speak for another.
pub(super) fn thresholds(classes: usize, rows: &[ClassResidual]) -> Vec<f32> {
    let threshold = |class: usize| {
        let of_class = rows.iter().filter(|row| row.class == class);
        let mut probabilities: Vec<f64> = of_class.map(|row| row.probabilities[class]).collect();
        probabilities.sort_by(f64::total_cmp);
        let place = (probabilities.len() as f64 + 1.0) * (1.0 - f64::from(CLASS_SET_LEVEL));
        match (place.floor() as usize).checked_sub(1) {
            // Not above the number that was counted, however it is rounded.
            Some(index) => (probabilities[index] as f32).next_down().clamp(0.0, 1.0),
            None => 0.0,
        }
    };
    (0..classes).map(threshold).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_in_ten_rows_of_every_class_keep_it() {
        let rows: Vec<ClassResidual> = (0..60)
            .map(|i| {
                let p = f64::from(i) / 60.0;
                ClassResidual { probabilities: vec![p, 1.0 - p, 0.0], class: usize::from(i % 3 == 0) }
            })
            .collect();
        let thresholds = thresholds(3, &rows);
        for (class, &threshold) in thresholds.iter().enumerate().take(2) {
            let of_class: Vec<_> = rows.iter().filter(|row| row.class == class).collect();
            let kept = of_class.iter().filter(|row| row.probabilities[class] >= f64::from(threshold)).count();
            let share = kept as f64 / of_class.len() as f64;
            assert!((0.9..0.97).contains(&share), "{class}: {share}");
        }
        // Nothing is known of the third.
        assert_eq!(thresholds[2], 0.0);
    }
}
