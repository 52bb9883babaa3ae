//! Whether error bars and probabilities mean what they say.

use diffgp_infer::Output;
use diffgp_train::evaluate::{Answer, Bin};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::canvas::{Axis, BLUE, Drawn, GREY, Key, ORANGE, Picture, axes};

/// Levels at which coverage is compared, and bins of probabilities.
const LEVELS: usize = 20;
const BINS: usize = 10;

/// What was promised against what happened.
pub(super) struct Calibration {
    title: String,
    promised: String,
    observed: String,
    /// One, or before and after the calibration of the error bars.
    curves: Vec<Curve>,
}

struct Curve {
    label: &'static str,
    colour: RGBColor,
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
    /// Of a regression: the share of the rows in their interval, level by level; of a calibrated model also with the error
    /// bars that it had before. One of several targets has its name in the title.
    pub(super) fn of_intervals(
        predictions: &[Output],
        before: Option<&[Output]>,
        targets: &[f32],
        name: Option<&str>,
    ) -> Self {
        let points = coverage(predictions, targets);
        let error = average_error(&points);
        let before = before.map(|before| coverage(before, targets));
        let remark = before
            .as_ref()
            .map_or_else(String::new, |before| format!(", {:.3} before calibration", average_error(before)));
        let of = name.map_or_else(String::new, |name| format!(" of {name}"));
        let label = if before.is_some() { "after calibration" } else { "this model" };
        let before = before.map(|points| Curve { label: "before calibration", colour: ORANGE, points });
        let mut curves: Vec<Curve> = before.into_iter().collect();
        curves.push(Curve { label, colour: BLUE, points });
        Self {
            title: format!("Calibration{of}: coverage off by {error:.3} on average{remark}"),
            promised: "predicted coverage".into(),
            observed: "observed coverage".into(),
            curves,
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
            curves: this_model(filled().map(|&(rows, promised, observed)| Point {
                promised: promised / rows,
                observed: observed / rows,
                rows,
            })),
        }
    }

    /// Of more than two classes: the share of right rows among those whose most probable class is about as probable.
    pub(super) fn of_classes(bins: &[Bin], error: f64) -> Self {
        let point = |bin: &Bin| Point { promised: bin.promised, observed: bin.observed, rows: bin.rows as f64 };
        Self {
            title: format!("Reliability: expected calibration error {error:.3}"),
            promised: "probability of the most probable class".into(),
            observed: "share of rows that are of it".into(),
            curves: this_model(bins.iter().filter(|bin| bin.rows > 0).map(point)),
        }
    }
}

fn this_model(points: impl Iterator<Item = Point>) -> Vec<Curve> {
    vec![Curve { label: "this model", colour: BLUE, points: points.collect() }]
}

/// The share of the rows in their interval, level by level.
fn coverage(predictions: &[Output], targets: &[f32]) -> Vec<Point> {
    let rows = targets.len() as f64;
    let covered = |level: f64| {
        let holds = |(prediction, &y): (&Output, &f32)| {
            prediction.interval(level as f32).is_some_and(|(low, high)| low <= y && y <= high)
        };
        predictions.iter().zip(targets).filter(|&pair| holds(pair)).count() as f64 / rows
    };
    let levels = (1..LEVELS).map(|i| i as f64 / LEVELS as f64);
    levels.map(|promised| Point { promised, observed: covered(promised), rows }).collect()
}

fn average_error(points: &[Point]) -> f64 {
    points.iter().map(|point| (point.promised - point.observed).abs()).sum::<f64>() / points.len() as f64
}

impl Picture for Calibration {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let most = self.curves.iter().flat_map(|curve| &curve.points).map(|point| point.rows).fold(1.0, f64::max);
        let differ = self.curves.iter().flat_map(|curve| &curve.points).any(|point| point.rows < most);
        let remark = if differ { " (size: rows)" } else { "" };
        let mut keys = vec![Key::line("perfect", GREY)];
        for (index, curve) in self.curves.iter().enumerate() {
            let remark = if index + 1 == self.curves.len() { remark } else { "" };
            keys.push(Key::line(format!("{} ± standard error{remark}", curve.label), curve.colour));
        }
        let [promised, observed] = [&self.promised, &self.observed].map(|label| Axis::new(label, 0.0..1.0));
        let mut chart = axes(area, &self.title, &keys, promised, observed)?;
        chart.draw_series(LineSeries::new([(0.0, 0.0), (1.0, 1.0)], GREY.stroke_width(2)))?;
        for Curve { colour, points, .. } in &self.curves {
            // ± one binomial standard error, with a row more on either side: few rows that agree are not sure.
            chart.draw_series(points.iter().map(|point| {
                let share = (point.observed * point.rows + 1.0) / (point.rows + 2.0);
                let error = (share * (1.0 - share) / (point.rows + 2.0)).sqrt();
                let ends = [(point.observed - error).max(0.0), (point.observed + error).min(1.0)];
                PathElement::new(ends.map(|end| (point.promised, end)), colour.mix(0.5).stroke_width(2))
            }))?;
            let line = points.iter().map(|point| (point.promised, point.observed));
            chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
            let size = |point: &Point| if differ { 2 + (6.0 * (point.rows / most).sqrt()) as i32 } else { 4 };
            let circle = |point: &Point| Circle::new((point.promised, point.observed), size(point), colour.filled());
            chart.draw_series(points.iter().map(circle))?;
        }
        Ok(())
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
        let points = &picture.curves[0].points;
        assert!(points.len() < BINS && points.iter().all(|point| point.rows > 0.0));
        assert!(canvas::svg_in_page(&picture).unwrap().contains("expected calibration error"));
    }
}
