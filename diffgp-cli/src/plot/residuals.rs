//! Errors over the answer and over every input: where they lean to one side, something is left to learn.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::canvas::{
    self, Axis, BLUE, Drawn, GREY, IN_PAGE, Key, Picture, VERMILLION, heading, is_inside, line, small_axes,
};

/// Panels at most, and groups of rows whose average is drawn in each.
pub(super) const MOST_PANELS: usize = 12;
const GROUPS: usize = 8;
/// Rows of a group at least.
const LEAST: usize = 8;

pub(super) struct Residuals {
    pub(super) title: String,
    /// What an error is.
    pub(super) error: &'static str,
    /// One per row.
    pub(super) errors: Vec<f64>,
    /// What the errors are drawn over: a name, and a value per row.
    pub(super) panels: Vec<(String, Vec<f64>)>,
}

impl Residuals {
    /// In parts for a page, with the same axes of errors.
    pub(super) fn parts(self) -> Vec<Self> {
        let Self { title, error, errors, mut panels } = self;
        let mut parts = Vec::new();
        for count in canvas::panels_of_parts(panels.len()) {
            let rest = panels.split_off(count);
            parts.push(Self { title: title.clone(), error, errors: errors.clone(), panels });
            panels = rest;
        }
        parts
    }

    /// Errors leave the axis out that are far away from all others.
    fn axis(&self) -> Axis {
        Axis::around_most("", self.errors.iter().copied().chain([0.0]), 0.98)
    }

    /// Middle, average and standard error of groups of as many rows, by what is drawn across.
    fn averages(&self, values: &[f64]) -> Vec<[f64; 3]> {
        let mut rows: Vec<(f64, f64)> = values.iter().copied().zip(self.errors.iter().copied()).collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let groups = GROUPS.min(rows.len() / LEAST);
        let group = |index: usize| &rows[index * rows.len() / groups..(index + 1) * rows.len() / groups];
        (0..groups).map(|index| average(group(index))).collect()
    }
}

fn average(rows: &[(f64, f64)]) -> [f64; 3] {
    let n = rows.len() as f64;
    let mean = rows.iter().map(|row| row.1).sum::<f64>() / n;
    let squares: f64 = rows.iter().map(|row| (row.1 - mean).powi(2)).sum();
    [rows.iter().map(|row| row.0).sum::<f64>() / n, mean, (squares / (n - 1.0) / n).sqrt()]
}

impl Picture for Residuals {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let (width, height) = area.dim_in_pixel();
        let wide = width > height;
        let keys = [Key::dot(self.error, BLUE), Key::line("averages ± standard error", VERMILLION)];
        let area = heading(area, &self.title, &keys, if wide { (18, 15) } else { (16, 14) })?;
        let columns = if wide { (self.panels.len() as f64).sqrt().ceil() as usize } else { 2.min(self.panels.len()) };
        let places = area.split_evenly((self.panels.len().div_ceil(columns), columns));
        for ((name, values), place) in self.panels.iter().zip(&places) {
            let x = Axis::around_most("", values.iter().copied(), 0.98);
            let mut chart = small_axes(place, name, x, self.axis())?;
            let x = chart.x_range();
            line(&mut chart, &[(x.start, 0.0), (x.end, 0.0)], GREY.stroke_width(1))?;
            let rows = values.iter().copied().zip(self.errors.iter().copied());
            let inside: Vec<(f64, f64)> = rows.filter(|&row| is_inside(&chart, row)).collect();
            chart.draw_series(inside.into_iter().map(|row| Circle::new(row, 2, BLUE.mix(0.4).filled())))?;
            let averages = self.averages(values);
            let middles: Vec<(f64, f64)> = averages.iter().map(|&[x, mean, _]| (x, mean)).collect();
            line(&mut chart, &middles, VERMILLION.stroke_width(2))?;
            for [x, mean, error] in averages {
                line(&mut chart, &[(x, mean - error), (x, mean + error)], VERMILLION.stroke_width(2))?;
            }
        }
        Ok(())
    }

    fn size_in_page(&self) -> (u32, u32) {
        (IN_PAGE.0, (90 + 175 * self.panels.len().div_ceil(2) as u32).max(IN_PAGE.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_those_of_rows_side_by_side() {
        let errors: Vec<f64> = (0..16).map(|row| if row % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let values: Vec<f64> = (0..16).map(|row| f64::from(row % 2)).collect();
        let picture = Residuals {
            title: String::new(),
            error: "truth − answer",
            errors,
            panels: vec![("a".into(), values.clone())],
        };
        assert_eq!(picture.averages(&values), [[0.0, 1.0, 0.0], [1.0, -1.0, 0.0]]);
        // Too few rows for a group.
        let few = Residuals { errors: vec![1.0; 7], ..picture };
        assert!(few.averages(&values[..7]).is_empty());
    }
}
