//! The decision path: what the flow does to chosen rows, input by input.

use diffgp_infer::{Error, Model};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::canvas::{self, Axis, BLUE, Drawn, IN_PAGE, Key, ORANGE, Picture, VERMILLION, heading, small_axes};
use super::paths::{self, Path};

/// Inputs shown at most: those that are moved furthest, in standard deviations.
const SHOWN: usize = 9;
/// Sampled paths per row.
const SAMPLES: u32 = 8;
const COLOURS: [RGBColor; 4] = [BLUE, VERMILLION, RGBColor(0, 158, 115), ORANGE];

/// Rows that can be told apart in one picture.
pub(super) const MOST_ROWS: usize = COLOURS.len();

pub(super) struct DecisionPath {
    times: Vec<f64>,
    /// (index, name) of the inputs shown.
    inputs: Vec<(usize, String)>,
    rows: Vec<Followed>,
}

#[derive(Clone)]
struct Followed {
    label: String,
    drift: Path,
    sampled: Vec<Path>,
}

impl DecisionPath {
    /// Of rows with their number in the file.
    pub(super) fn new(model: &Model<'_>, names: &[String], rows: &[(u32, Vec<f32>)], seed: u64) -> Result<Self, Error> {
        let follow = |(number, x): &(u32, Vec<f32>)| {
            let sampled = (0..SAMPLES).map(|path| paths::path(model, x, Some((seed, *number, path))));
            Ok(Followed {
                label: format!("row {number}"),
                drift: paths::path(model, x, None)?,
                sampled: sampled.collect::<Result<_, _>>()?,
            })
        };
        let rows: Vec<Followed> = rows.iter().map(follow).collect::<Result<_, Error>>()?;
        let moved = |d: usize| {
            let scale = model.blob().input(d).map_or(1.0, |input| f64::from(input.scale));
            let most = |path: &Path| path.iter().map(|state| (state[d] - path[0][d]).abs()).fold(0.0, f64::max);
            rows.iter().map(|row| scale * most(&row.drift)).fold(0.0, f64::max)
        };
        let mut inputs: Vec<(usize, String)> = names.iter().cloned().enumerate().collect();
        inputs.sort_by(|a, b| moved(b.0).total_cmp(&moved(a.0)));
        inputs.truncate(SHOWN);
        Ok(Self { times: paths::times(model), inputs, rows })
    }
}

impl DecisionPath {
    /// In parts for a page.
    pub(super) fn parts(self) -> Vec<Self> {
        let Self { times, mut inputs, rows } = self;
        let mut parts = Vec::new();
        for count in canvas::panels_of_parts(inputs.len()) {
            let rest = inputs.split_off(count);
            parts.push(Self { times: times.clone(), inputs, rows: rows.clone() });
            inputs = rest;
        }
        parts
    }
}

impl Picture for DecisionPath {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let keys: Vec<Key> =
            self.rows.iter().zip(COLOURS).map(|(row, colour)| Key::line(row.label.clone(), colour)).collect();
        let (width, height) = area.dim_in_pixel();
        let sizes = if width > height { (18, 15) } else { (16, 14) };
        let area = heading(area, "Decision paths: bold along the drift, faint sampled", &keys, sizes)?;
        let columns = if width > height { (self.inputs.len() as f64).sqrt().ceil() as usize } else { 2 };
        let panels = area.split_evenly((self.inputs.len().div_ceil(columns), columns));
        for ((d, name), panel) in self.inputs.iter().zip(&panels) {
            let line = |path: &Path| -> Vec<(f64, f64)> {
                self.times.iter().zip(path).map(|(&t, state)| (t, state[*d])).collect()
            };
            let all = self.rows.iter().flat_map(|row| row.sampled.iter().chain([&row.drift]));
            let y = Axis::around("", all.flatten().map(|state| state[*d]));
            let mut chart = small_axes(panel, name, Axis::around("flow time t", self.times.iter().copied()), y)?;
            for (row, colour) in self.rows.iter().zip(COLOURS) {
                for path in &row.sampled {
                    chart.draw_series(LineSeries::new(line(path), colour.mix(0.3).stroke_width(1)))?;
                }
                chart.draw_series(LineSeries::new(line(&row.drift), colour.stroke_width(3)))?;
            }
        }
        Ok(())
    }
    fn size_in_page(&self) -> (u32, u32) {
        (IN_PAGE.0, 80 + 170 * self.inputs.len().div_ceil(2) as u32)
    }
}
