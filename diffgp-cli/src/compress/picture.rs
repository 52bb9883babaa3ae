//! The trade-off, drawn: what is lost against what is kept.

use std::path::{Path, PathBuf};

use diffgp_train::compress::Point;
use plotters::coord::Shift;
use plotters::prelude::*;

use super::Original;
use crate::output;
use crate::plot::canvas::{self, Axis, BLUE, Drawn, Key, ORANGE, Picture, axes};

struct TradeOff<'a> {
    curve: &'a [Point],
    original: Original,
}

/// Draws the curve beside the model.
pub(super) fn write(curve: &[Point], original: Original, model: &Path) -> anyhow::Result<[PathBuf; 2]> {
    let stem = model.file_stem().map_or_else(|| "model".to_owned(), |stem| stem.to_string_lossy().into_owned());
    canvas::write(&TradeOff { curve, original }, output::parent(model), &format!("{stem}.tradeoff"))
}

impl Picture for TradeOff<'_> {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let original = self.original;
        let share = |value: f64, whole: f64| 100.0 * value / whole.max(1.0);
        let bytes = |point: &Point| share(point.bytes as f64, original.bytes as f64);
        let work = |point: &Point| share(point.instructions as f64, original.instructions as f64);
        let x = Axis::new("share of the original, %", 0.0..103.0);
        let y = Axis::around("loss, nats per row", self.curve.iter().map(|point| point.loss));
        let title = format!("What is lost for what is saved (original: {} bytes)", original.bytes);
        let keys = [Key::line("bytes", BLUE), Key::line("instructions of a sampled path", ORANGE)];
        let mut chart = axes(area, &title, &keys, x, y)?;
        let series = [
            (BLUE, self.curve.iter().map(|point| (bytes(point), point.loss)).collect::<Vec<_>>()),
            (ORANGE, self.curve.iter().map(|point| (work(point), point.loss)).collect()),
        ];
        for (colour, points) in series {
            chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
            chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, colour.filled())))?;
        }
        Ok(())
    }
}
