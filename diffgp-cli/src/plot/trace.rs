//! The course of a run: bound and validation log-likelihood, iteration by iteration.

use std::path::Path;

use diffgp_train::train::StageName;
use plotters::coord::Shift;
use plotters::prelude::*;
use serde_json::Value;

use super::canvas::{Axis, BLUE, Drawn, GREY, Picture, VERMILLION, axes};
use crate::failure::mistake;

/// Read from `metrics.jsonl`.
pub(super) struct Trace {
    elbo: Vec<(f64, f64)>,
    validation: Vec<(f64, f64)>,
    /// Where a stage after the first began.
    starts: Vec<f64>,
}

impl Trace {
    /// `None` if the run has no iterations yet, or was to have none.
    pub(super) fn read(metrics: &Path) -> anyhow::Result<Option<Self>> {
        let shown = metrics.display();
        let text = std::fs::read_to_string(metrics)
            .map_err(|error| mistake(format!("{shown}: {error}; expected the run directory of `diffgp train`")))?;
        let mut trace = Self { elbo: Vec::new(), validation: Vec::new(), starts: Vec::new() };
        let (mut stage, mut last) = (Value::Null, 0.0);
        let mut lines = text.lines().enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            let value: Value = match serde_json::from_str(line) {
                Ok(value) => value,
                // A run that was killed, or is going on, may end with a part of a line.
                Err(_) if lines.peek().is_none() => break,
                Err(error) => {
                    let number = number + 1;
                    return Err(mistake(format!("{shown}: line {number}: {error}; expected a JSON object")));
                }
            };
            // Candidate kernels and further folds are runs of their own.
            if value["name"] == StageName::CandidateKernel.id() || value["fold"] != 0 {
                continue;
            }
            if stage != value["stage"] && !stage.is_null() {
                trace.starts.push(last);
            }
            stage = value["stage"].clone();
            // Stages count from 0; the picture shows them one after the other.
            let iteration = trace.starts.last().unwrap_or(&0.0) + value["iteration"].as_f64().unwrap_or_default();
            last = iteration;
            if let Some(elbo) = value["elbo"].as_f64() {
                trace.elbo.push((iteration, elbo));
            }
            if let Some(log_likelihood) = value["validation"]["log_likelihood"].as_f64() {
                trace.validation.push((iteration, log_likelihood));
            }
        }
        Ok((!trace.elbo.is_empty()).then_some(trace))
    }

    /// Values worth showing: without the first steep tenth, which would flatten the rest.
    fn late(points: &[(f64, f64)]) -> impl Iterator<Item = f64> + '_ {
        points.iter().skip(points.len() / 10).map(|&(_, value)| value)
    }

    fn panel<DB: DrawingBackend>(
        &self,
        area: &DrawingArea<DB, Shift>,
        title: &str,
        label: &str,
        points: &[(f64, f64)],
        colour: RGBColor,
    ) -> Drawn<(), DB> {
        let x = Axis::around("iteration", self.elbo.iter().map(|&(iteration, _)| iteration));
        let y = Axis::around(label, Self::late(points));
        let (bottom, top) = (y.range.start, y.range.end);
        let mut chart = axes(area, title, x, y)?;
        for &start in &self.starts {
            chart.draw_series(LineSeries::new([(start, bottom), (start, top)], GREY.stroke_width(1)))?;
        }
        let inside = points.iter().copied().filter(|&(_, value)| value >= bottom);
        chart.draw_series(LineSeries::new(inside, colour.stroke_width(2)))?;
        Ok(())
    }
}

impl Picture for Trace {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let title = if self.starts.is_empty() { "Bound" } else { "Bound (grey: where another stage begins)" };
        if self.validation.is_empty() {
            return self.panel(area, title, "ELBO", &self.elbo, BLUE);
        }
        let (upper, lower) = area.split_vertically(320);
        self.panel(&upper, title, "ELBO", &self.elbo, BLUE)?;
        self.panel(&lower, "Validation rows", "log-likelihood per row", &self.validation, VERMILLION)
    }
}
