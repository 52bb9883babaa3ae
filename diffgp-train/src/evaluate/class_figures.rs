//! How good predicted classes and their probabilities are.

use serde::Serialize;

use super::auc::area_under_curve;

/// Bins of the calibration error, of equal width.
pub const BINS: usize = 15;

/// The smallest probability that a logarithm is taken of: the smallest normal f32, in which the device counts.
const LEAST: f64 = f32::MIN_POSITIVE as f64;

/// Figures of a classification over some rows. Field names are keys of JSON output (`docs/figures.md`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassFigures {
    /// Rows.
    pub n: usize,
    /// Share of the rows whose most probable class is the true one; of equally probable classes the first counts.
    pub accuracy: f64,
    /// Mean of log P(true class).
    pub log_likelihood: f64,
    /// Expected calibration error: rows are sorted into 15 bins of equal width by the probability of their most probable
    /// class; Σ_b (n_b/n) |share of right rows in b − mean of that probability in b|.
    pub calibration_error: f64,
    /// Area under the receiver operating curve: of the second class for two, else of every class against the rest,
    /// averaged over the classes that occur. `None` if one class only occurs.
    pub auc: Option<f64>,
    /// Rows by true class, then by most probable class.
    pub confusion: Vec<Vec<usize>>,
}

/// Rows whose most probable class has about the same probability.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// How many.
    pub rows: usize,
    /// Mean of that probability.
    pub promised: f64,
    /// Share of them that are of that class.
    pub observed: f64,
}

/// Probabilities of classes and the true ones, row by row.
#[derive(Clone, Debug)]
pub struct ClassTally {
    classes: usize,
    /// `[N, C]`.
    probabilities: Vec<f64>,
    truths: Vec<usize>,
}

impl ClassTally {
    /// No rows yet.
    pub fn new(classes: usize) -> Self {
        Self { classes, probabilities: Vec::new(), truths: Vec::new() }
    }

    /// C.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// One row: its true class and the probabilities of all.
    pub fn add(&mut self, truth: usize, probabilities: impl IntoIterator<Item = f64>) {
        self.probabilities.extend(probabilities);
        self.truths.push(truth);
        assert_eq!(self.probabilities.len(), self.truths.len() * self.classes, "a probability for every class");
    }

    /// The figures of the rows so far: not numbers if there were none.
    pub fn finish(&self) -> ClassFigures {
        let rows = self.truths.len() as f64;
        let mut confusion = vec![vec![0; self.classes]; self.classes];
        let (mut right, mut log_likelihood) = (0, 0.0);
        for (probabilities, &truth) in self.rows() {
            let class = most_probable(probabilities);
            confusion[truth][class] += 1;
            right += usize::from(class == truth);
            log_likelihood += probabilities[truth].max(LEAST).ln();
        }
        let off = |bin: &Bin| bin.rows as f64 / rows * (bin.promised - bin.observed).abs();
        ClassFigures {
            n: self.truths.len(),
            accuracy: right as f64 / rows,
            log_likelihood: log_likelihood / rows,
            calibration_error: self.bins(BINS).iter().map(off).sum(),
            auc: self.auc(),
            confusion,
        }
    }

    /// Rows by the probability of their most probable class, in bins of equal width; empty bins too.
    pub fn bins(&self, count: usize) -> Vec<Bin> {
        let mut bins = vec![Bin::default(); count];
        for (probabilities, &truth) in self.rows() {
            let class = most_probable(probabilities);
            let probability = probabilities[class];
            let bin = &mut bins[((probability * count as f64) as usize).min(count - 1)];
            bin.rows += 1;
            bin.promised += probability;
            bin.observed += f64::from(class == truth);
        }
        for bin in bins.iter_mut().filter(|bin| bin.rows > 0) {
            bin.promised /= bin.rows as f64;
            bin.observed /= bin.rows as f64;
        }
        bins
    }

    fn rows(&self) -> impl Iterator<Item = (&[f64], &usize)> {
        self.probabilities.chunks_exact(self.classes).zip(&self.truths)
    }

    fn auc(&self) -> Option<f64> {
        let of_class = |class: usize| {
            let mut rows: Vec<(f64, bool)> = self.rows().map(|(p, &truth)| (p[class], truth == class)).collect();
            area_under_curve(&mut rows)
        };
        if self.classes == 2 {
            return of_class(1);
        }
        let areas: Vec<f64> = (0..self.classes).filter_map(of_class).collect();
        (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64)
    }
}

/// The class with the largest probability, the first of equal ones.
pub fn most_probable(probabilities: &[f64]) -> usize {
    (1..probabilities.len())
        .fold(0, |best, class| if probabilities[class] > probabilities[best] { class } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(rows: &[(usize, &[f64])]) -> ClassTally {
        let mut tally = ClassTally::new(rows[0].1.len());
        rows.iter().for_each(|(truth, probabilities)| tally.add(*truth, probabilities.iter().copied()));
        tally
    }

    #[test]
    fn three_classes_by_hand() {
        let figures =
            tally(&[(0, &[0.7, 0.2, 0.1]), (1, &[0.5, 0.3, 0.2]), (2, &[0.1, 0.2, 0.7]), (2, &[0.2, 0.4, 0.4])])
                .finish();
        assert_eq!((figures.n, figures.accuracy), (4, 0.5));
        assert_eq!(figures.confusion, [[1, 0, 0], [1, 0, 0], [0, 1, 1]]);
        let expected = (0.7_f64.ln() + 0.3_f64.ln() + 0.7_f64.ln() + 0.4_f64.ln()) / 4.0;
        assert!((figures.log_likelihood - expected).abs() < 1e-15);
        // Bins of 0.7 (both right), 0.5 and 0.4 (both wrong).
        assert!((figures.calibration_error - (2.0 * 0.3 + 0.5 + 0.4) / 4.0).abs() < 1e-15);
        // Class 0: 0.7 against 0.5, 0.1, 0.2. Class 1: 0.3 against 0.2, 0.2, 0.4. Class 2: 0.7 and 0.4 against 0.1, 0.2.
        assert!((figures.auc.unwrap() - (1.0 + 2.0 / 3.0 + 1.0) / 3.0).abs() < 1e-15);
    }

    #[test]
    fn two_classes_are_ranked_by_the_second() {
        let rows: Vec<(usize, [f64; 2])> = [(0, 0.1), (1, 0.6), (0, 0.6), (1, 0.9)]
            .iter()
            .map(|&(truth, p): &(usize, f64)| (truth, [1.0 - p, p]))
            .collect();
        let figures = tally(&rows.iter().map(|(truth, p)| (*truth, p.as_slice())).collect::<Vec<_>>()).finish();
        assert_eq!(figures.auc, Some(3.5 / 4.0));
        assert_eq!(figures.accuracy, 0.75);
        assert_eq!(figures.confusion, [[1, 1], [0, 2]]);
    }

    #[test]
    fn classes_that_do_not_occur_are_left_out_of_the_auc() {
        let some = tally(&[(0, &[0.7, 0.2, 0.1]), (1, &[0.5, 0.3, 0.2])]).finish();
        assert_eq!(some.auc, Some(1.0));
        let one = tally(&[(1, &[0.7, 0.2, 0.1]), (1, &[0.5, 0.3, 0.2])]).finish();
        assert_eq!((one.auc, one.confusion[1].clone()), (None, vec![2, 0, 0]));
    }

    #[test]
    fn a_probability_of_zero_costs_no_infinity() {
        assert!(tally(&[(0, &[0.0, 1.0])]).finish().log_likelihood.is_finite());
        assert_eq!(tally(&[(0, &[0.0, 1.0])]).bins(15)[14], Bin { rows: 1, promised: 1.0, observed: 0.0 });
    }
}
