//! Whether error bars and probabilities mean what they say.

use diffgp_infer::Output;
use diffgp_train::evaluate::{Answer, Bin};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::canvas::{Axis, BLUE, Drawn, GREY, Picture, axes, legend};

/// Levels at which coverage is compared, and bins of probabilities.
const LEVELS: usize = 20;
const BINS: usize = 10;

/// What was promised against what happened.
pub(super) struct Calibration {
    title: String,
    promised: String,
    observed: String,
    /// By what was promised, ascending.
    points: Vec<Point>,
}

/// A promise, the share of rows for which it held, and how many rows that share is taken from.
struct Point {
    promised: f64,
    observed: f64,
    rows: f64,
}

impl Calibration {
    /// Of a regression: the share of the rows in their interval, level by level.
    pub(super) fn of_intervals(predictions: &[Output], targets: &[f32]) -> Self {
        let covered = |level: f64| {
            let holds = |(prediction, &y): (&Output, &f32)| {
                prediction.interval(level as f32).is_some_and(|(low, high)| low <= y && y <= high)
            };
            predictions.iter().zip(targets).filter(|&pair| holds(pair)).count() as f64 / targets.len() as f64
        };
        let levels = (1..LEVELS).map(|i| i as f64 / LEVELS as f64);
        let rows = targets.len() as f64;
        let points: Vec<Point> = levels.map(|promised| Point { promised, observed: covered(promised), rows }).collect();
        let off = |point: &Point| (point.promised - point.observed).abs();
        let error = points.iter().map(off).sum::<f64>() / points.len() as f64;
        Self {
            title: format!("Calibration: coverage off by {error:.3} on average"),
            promised: "predicted coverage".into(),
            observed: "observed coverage".into(),
            points,
        }
    }

    /// Of two classes: the share of the second among rows of about the same probability.
    pub(super) fn of_probabilities(predictions: &[Answer], targets: &[f32], second: &str) -> Self {
        let second = if second.parse::<f64>().is_ok() { format!("class {second}") } else { second.to_owned() };
        let mut bins = [(0.0, 0.0, 0.0); BINS];
        for (prediction, &y) in predictions.iter().zip(targets) {
            let probability = f64::from(prediction.probability().unwrap_or(0.5));
            let bin = &mut bins[((probability * BINS as f64) as usize).min(BINS - 1)];
            *bin = (bin.0 + 1.0, bin.1 + probability, bin.2 + f64::from(y));
        }
        let filled = || bins.iter().filter(|bin| bin.0 > 0.0);
        let error: f64 = filled().map(|bin| (bin.1 - bin.2).abs()).sum::<f64>() / targets.len() as f64;
        Self {
            title: format!("Calibration: expected error {error:.3}"),
            promised: format!("predicted probability of {second}"),
            observed: format!("observed share of {second}"),
            points: filled()
                .map(|&(rows, promised, observed)| Point { promised: promised / rows, observed: observed / rows, rows })
                .collect(),
        }
    }

    /// Of more than two classes: the share of right rows among those whose most probable class is about as probable.
    pub(super) fn of_classes(bins: &[Bin], error: f64) -> Self {
        let point = |bin: &Bin| Point { promised: bin.promised, observed: bin.observed, rows: bin.rows as f64 };
        Self {
            title: format!("Reliability: expected calibration error {error:.3}"),
            promised: "probability of the most probable class".into(),
            observed: "share of rows that are of it".into(),
            points: bins.iter().filter(|bin| bin.rows > 0).map(point).collect(),
        }
    }
}

impl Picture for Calibration {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let mut chart =
            axes(area, &self.title, Axis::new(&self.promised, 0.0..1.0), Axis::new(&self.observed, 0.0..1.0))?;
        chart
            .draw_series(LineSeries::new([(0.0, 0.0), (1.0, 1.0)], GREY.stroke_width(2)))?
            .label("perfect")
            .legend(|(x, y)| PathElement::new([(x, y), (x + 20, y)], GREY.stroke_width(2)));
        // ± one binomial standard error, with a row more on either side: few rows that agree are not sure.
        chart.draw_series(self.points.iter().map(|point| {
            let share = (point.observed * point.rows + 1.0) / (point.rows + 2.0);
            let error = (share * (1.0 - share) / (point.rows + 2.0)).sqrt();
            let ends = [(point.observed - error).max(0.0), (point.observed + error).min(1.0)];
            PathElement::new(ends.map(|end| (point.promised, end)), BLUE.mix(0.5).stroke_width(2))
        }))?;
        let line = self.points.iter().map(|point| (point.promised, point.observed));
        let most = self.points.iter().map(|point| point.rows).fold(1.0, f64::max);
        let differ = self.points.iter().any(|point| point.rows < most);
        let remark = if differ { "; large points have many rows" } else { "" };
        chart
            .draw_series(LineSeries::new(line, BLUE.stroke_width(2)))?
            .label(format!("this model ± standard error{remark}"))
            .legend(|(x, y)| PathElement::new([(x, y), (x + 20, y)], BLUE.stroke_width(2)));
        let size = |point: &Point| if differ { 2 + (6.0 * (point.rows / most).sqrt()) as i32 } else { 4 };
        chart.draw_series(
            self.points.iter().map(|point| Circle::new((point.promised, point.observed), size(point), BLUE.filled())),
        )?;
        legend(&mut chart, SeriesLabelPosition::LowerRight)
    }
}

#[cfg(test)]
mod tests {
    use diffgp_train::evaluate::{BINS, ClassTally};

    use super::*;
    use crate::plot::canvas;

    #[test]
    fn bins_without_rows_are_left_out() {
        let mut tally = ClassTally::new(3);
        for row in 0..500_u32 {
            let top = 0.4 + 0.55 * f64::from(row * 37 % 101) / 100.0;
            tally.add(usize::from(f64::from(row * 53 % 97) / 97.0 > top - 0.05), [top, 0.9 - top, 0.1]);
        }
        let picture = Calibration::of_classes(&tally.bins(BINS), tally.finish().calibration_error);
        assert!(picture.points.len() < BINS && picture.points.iter().all(|point| point.rows > 0.0));
        assert!(canvas::svg(&picture).unwrap().contains("expected calibration error"));
    }
}
