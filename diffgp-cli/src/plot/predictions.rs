//! Predictions with their error bars against the truth.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::canvas::{self, Axis, BLUE, Drawn, GREY, Key, Picture, VERMILLION, axes, is_inside, line};

/// One row: what was predicted and what was true.
#[derive(Clone, Copy, Debug)]
pub(super) struct Predicted {
    pub(super) truth: f64,
    pub(super) mean: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Predicted against true, a bar per row: for any number of inputs.
pub(super) struct AgainstTruth {
    pub(super) target: String,
    pub(super) rows: Vec<Predicted>,
}

impl Picture for AgainstTruth {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let values = || self.rows.iter().flat_map(|row| [row.truth, row.mean]);
        let x = Axis::around(format!("true {}", self.target), values());
        let y =
            Axis::around(format!("predicted {}", self.target), self.rows.iter().flat_map(|row| [row.low, row.high]));
        // Only where both axes reach: a line that leaves the chart would be bent, not cut.
        let (low, high) = (x.range.start.max(y.range.start), x.range.end.min(y.range.end));
        let keys = [Key::dot("mean and 95 % bar of a row", BLUE), Key::line("predicted = true", GREY)];
        let mut chart = axes(area, "Predictions with 95 % error bars", &keys, x, y)?;
        let bars = self.rows.iter().map(|row| {
            PathElement::new(vec![(row.truth, row.low), (row.truth, row.high)], BLUE.mix(0.35).stroke_width(1))
        });
        chart.draw_series(bars)?;
        chart.draw_series(self.rows.iter().map(|row| Circle::new((row.truth, row.mean), 3, BLUE.filled())))?;
        if low < high {
            chart.draw_series(LineSeries::new([(low, low), (high, high)], GREY.stroke_width(2)))?;
        }
        Ok(())
    }
}

/// The prediction over a single input: mean and band, with the rows themselves.
pub(super) struct Curve {
    pub(super) title: String,
    pub(super) input: String,
    pub(super) target: String,
    /// Place, and the prediction there (its truth is not used).
    pub(super) curve: Vec<(f64, Predicted)>,
    /// Places and targets of the rows.
    pub(super) rows: Vec<(f64, f64)>,
    /// The vertical range, where several curves are to be compared.
    pub(super) range: Option<std::ops::Range<f64>>,
}

impl Picture for Curve {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let places = self.curve.iter().map(|&(x, _)| x).chain(self.rows.iter().map(|&(x, _)| x));
        let x = Axis::around(&self.input, places);
        let heights = self.curve.iter().flat_map(|(_, p)| [p.low, p.high]).chain(self.rows.iter().map(|&(_, y)| y));
        let mut y = Axis::around(&self.target, heights);
        if let Some(range) = &self.range {
            y.range = range.clone();
        }
        let keys = [
            Key::line("predicted mean", BLUE),
            Key::band("95 % band, noise included", BLUE),
            Key::dot("rows", VERMILLION),
        ];
        let mut chart = axes(area, &self.title, &keys, x, y)?;
        let (bottom, top) = (chart.y_range().start, chart.y_range().end);
        let upper = self.curve.iter().map(|&(x, p)| (x, p.high.clamp(bottom, top)));
        let lower = self.curve.iter().rev().map(|&(x, p)| (x, p.low.clamp(bottom, top)));
        let band: Vec<(f64, f64)> = upper.chain(lower).collect();
        chart.draw_series(std::iter::once(Polygon::new(band, BLUE.mix(0.25))))?;
        let mean: Vec<(f64, f64)> = self.curve.iter().map(|&(x, p)| (x, p.mean)).collect();
        line(&mut chart, &mean, BLUE.stroke_width(2))?;
        let rows: Vec<(f64, f64)> = self.rows.iter().copied().filter(|&row| is_inside(&chart, row)).collect();
        chart.draw_series(rows.into_iter().map(|row| Circle::new(row, 2, VERMILLION.filled())))?;
        Ok(())
    }
}

/// The probabilities of all classes over a single input, with the rows themselves.
pub(super) struct ClassCurves {
    pub(super) input: String,
    pub(super) classes: Vec<String>,
    /// Place and probability, one curve per class.
    pub(super) curves: Vec<Vec<(f64, f64)>>,
    /// Places and classes of the rows.
    pub(super) rows: Vec<(f64, usize)>,
}

impl Picture for ClassCurves {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let places = self.curves.iter().flatten().map(|&(x, _)| x).chain(self.rows.iter().map(|&(x, _)| x));
        let (x, y) = (Axis::around(&self.input, places), Axis::new("probability", -0.1..1.02));
        let colour = |class: usize| canvas::of_many(class, self.classes.len());
        let keys: Vec<Key> =
            self.classes.iter().enumerate().map(|(class, name)| Key::line(name, colour(class))).collect();
        let mut chart = axes(area, "Predictions", &keys, x, y)?;
        for (class, curve) in self.curves.iter().enumerate() {
            line(&mut chart, curve, colour(class).stroke_width(2))?;
        }
        // Below zero, a line of rows.
        chart.draw_series(
            self.rows.iter().map(|&(x, class)| Circle::new((x, -0.05), 2, colour(class).mix(0.6).filled())),
        )?;
        Ok(())
    }
}

/// Two curves side by side.
pub(super) struct SideBySide {
    pub(super) curves: [Curve; 2],
}

impl Picture for SideBySide {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        for (curve, half) in self.curves.iter().zip(area.split_evenly((1, 2))) {
            curve.draw(&half)?;
        }
        Ok(())
    }
}
