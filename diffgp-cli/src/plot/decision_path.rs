//! The decision path: what the flow does to chosen rows, input by input.

use diffgp_infer::{Error, Model};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::canvas::{Axis, BLUE, Drawn, FONT, ORANGE, Picture, VERMILLION, small_axes};
use super::paths::{self, Path};

/// Inputs shown at most: those that are moved furthest, in standard deviations.
const SHOWN: usize = 9;
/// Sampled paths per row.
const SAMPLES: u32 = 8;
const COLOURS: [(&str, RGBColor); 4] =
    [("blue", BLUE), ("red", VERMILLION), ("green", RGBColor(0, 158, 115)), ("orange", ORANGE)];

/// Rows that can be told apart in one picture.
pub(super) const MOST_ROWS: usize = COLOURS.len();

pub(super) struct DecisionPath {
    times: Vec<f64>,
    /// (index, name) of the inputs shown.
    inputs: Vec<(usize, String)>,
    rows: Vec<Followed>,
}

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

impl Picture for DecisionPath {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let labels: Vec<String> =
            self.rows.iter().zip(COLOURS).map(|(row, (colour, _))| format!("{} ({colour})", row.label)).collect();
        let title = format!("Decision path of {}: bold along the drift, faint sampled", labels.join(", "));
        let area = area.margin(8, 0, 0, 0).titled(&title, (FONT, 18))?;
        let columns = (self.inputs.len() as f64).sqrt().ceil() as usize;
        let panels = area.split_evenly((self.inputs.len().div_ceil(columns), columns));
        for ((d, name), panel) in self.inputs.iter().zip(&panels) {
            let line = |path: &Path| -> Vec<(f64, f64)> {
                self.times.iter().zip(path).map(|(&t, state)| (t, state[*d])).collect()
            };
            let all = self.rows.iter().flat_map(|row| row.sampled.iter().chain([&row.drift]));
            let y = Axis::around("", all.flatten().map(|state| state[*d]));
            let mut chart = small_axes(panel, name, Axis::around("flow time t", self.times.iter().copied()), y)?;
            for (row, (_, colour)) in self.rows.iter().zip(COLOURS) {
                for path in &row.sampled {
                    chart.draw_series(LineSeries::new(line(path), colour.mix(0.3).stroke_width(1)))?;
                }
                chart.draw_series(LineSeries::new(line(&row.drift), colour.stroke_width(3)))?;
            }
        }
        Ok(())
    }
}
