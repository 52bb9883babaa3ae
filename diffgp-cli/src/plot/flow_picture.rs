//! The flow itself, for one and two inputs.

use diffgp_infer::{Error, Model};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::canvas::{Axis, BLUE, Drawn, GREY, IN_PAGE, Key, ORANGE, Picture, axes, line};
use super::paths::{self, Path};

/// One input: where it goes as time passes.
pub(super) struct FlowLines {
    input: String,
    times: Vec<f64>,
    drift: Vec<Path>,
    sampled: Vec<Path>,
}

impl FlowLines {
    /// From evenly spread places over the range seen in training.
    pub(super) fn new(model: &Model<'_>, input: String, seed: u64) -> Result<Self, Error> {
        const PLACES: u32 = 48;
        let range = model.blob().input(0).map_or((0.0, 1.0), |input| (input.low, input.high));
        let place = |i: u32| range.0 + (range.1 - range.0) * i as f32 / (PLACES - 1) as f32;
        let drift = (0..PLACES).map(|i| paths::path(model, &[place(i)], None)).collect::<Result<_, _>>()?;
        let sampled =
            (0..PLACES).map(|i| paths::path(model, &[place(i)], Some((seed, i, 0)))).collect::<Result<_, _>>()?;
        Ok(Self { input, times: paths::times(model), drift, sampled })
    }

    fn line(&self, path: &Path) -> Vec<(f64, f64)> {
        self.times.iter().zip(path).map(|(&t, state)| (t, state[0])).collect()
    }
}

impl Picture for FlowLines {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let x = Axis::around("flow time t", self.times.iter().copied());
        let y = Axis::around(&self.input, self.drift.iter().chain(&self.sampled).flatten().map(|state| state[0]));
        let keys = [Key::line("along the drift", BLUE), Key::line("sampled paths", ORANGE)];
        let mut chart = axes(area, "The flow: how inputs are carried before the prediction", &keys, x, y)?;
        for path in &self.sampled {
            chart.draw_series(LineSeries::new(self.line(path), ORANGE.mix(0.6).stroke_width(1)))?;
        }
        for path in &self.drift {
            chart.draw_series(LineSeries::new(self.line(path), BLUE.stroke_width(1)))?;
        }
        Ok(())
    }
}

/// What of a field is drawn.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    Both,
    Beginning,
    End,
}

/// Two inputs: the field with paths through it, and where the rows end.
#[derive(Clone)]
pub(super) struct Field {
    shown: Shown,
    inputs: [String; 2],
    /// Foot and drift of every arrow.
    arrows: Vec<([f64; 2], [f64; 2])>,
    paths: Vec<Path>,
    /// Ends of the rows along the drift, and where their target lies between lowest (0) and highest (1).
    ends: Vec<([f64; 2], f64)>,
    /// What the colours of the ends say.
    coloured: String,
}

impl Field {
    pub(super) fn new(
        model: &Model<'_>,
        inputs: [String; 2],
        rows: &[(Vec<f32>, f32)],
        coloured: String,
        seed: u64,
    ) -> Result<Self, Error> {
        const ARROWS: usize = 18;
        const PATHS: usize = 30;
        let range = |d: usize| model.blob().input(d).map_or((0.0, 1.0), |input| (input.low, input.high));
        let place = |d: usize, i: usize| range(d).0 + (range(d).1 - range(d).0) * i as f32 / (ARROWS - 1) as f32;
        let mut arrows = Vec::new();
        for (i, j) in (0..ARROWS * ARROWS).map(|k| (k / ARROWS, k % ARROWS)) {
            let foot = [place(0, i), place(1, j)];
            let drift = paths::drift(model, &foot)?;
            arrows.push((foot.map(f64::from), [drift[0], drift[1]]));
        }
        let shown = rows.iter().step_by(rows.len().div_ceil(PATHS)).zip(0..);
        let paths = shown.map(|((x, _), row)| paths::path(model, x, Some((seed, row, 0)))).collect::<Result<_, _>>()?;
        let (low, high) = rows.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), (_, y)| (l.min(*y), h.max(*y)));
        let end = |(x, y): &(Vec<f32>, f32)| {
            let path = paths::path(model, x, None)?;
            let last = &path[path.len() - 1];
            let share = if high > low { (y - low) / (high - low) } else { 0.5 };
            Ok(([last[0], last[1]], f64::from(share)))
        };
        Ok(Self {
            shown: Shown::Both,
            inputs,
            arrows,
            paths,
            ends: rows.iter().map(end).collect::<Result<_, Error>>()?,
            coloured,
        })
    }
}

impl Field {
    /// In parts for a page.
    pub(super) fn parts(self) -> Vec<Self> {
        vec![Self { shown: Shown::Beginning, ..self.clone() }, Self { shown: Shown::End, ..self }]
    }

    fn draw_beginning<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let axis = |d: usize| {
            let states = self.paths.iter().flatten().map(move |state| state[d]);
            Axis::around(&self.inputs[d], states.chain(self.arrows.iter().map(|(foot, _)| foot[d])))
        };
        let (x, y) = (axis(0), axis(1));
        // Arrows keep their relative lengths; the longest is a bit more than the distance between two.
        let spans = [x.range.end - x.range.start, y.range.end - y.range.start];
        let length = |drift: &[f64; 2]| (drift[0] / spans[0]).hypot(drift[1] / spans[1]);
        let longest = self.arrows.iter().map(|(_, drift)| length(drift)).fold(f64::MIN_POSITIVE, f64::max);
        let mut chart = axes(area, "Drift and sampled paths", &[], x, y)?;
        for (foot, drift) in &self.arrows {
            let tip = [0, 1].map(|d| foot[d] + 0.06 * drift[d] / longest);
            line(&mut chart, &[(foot[0], foot[1]), (tip[0], tip[1])], GREY.stroke_width(1))?;
            chart.draw_series([Circle::new((foot[0], foot[1]), 1, GREY.filled())])?;
        }
        for path in &self.paths {
            chart.draw_series(LineSeries::new(path.iter().map(|s| (s[0], s[1])), BLUE.mix(0.7).stroke_width(1)))?;
            let start = &path[0];
            chart.draw_series([Circle::new((start[0], start[1]), 3, BLUE.filled())])?;
        }
        Ok(())
    }

    fn draw_end<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let axis =
            |d: usize| Axis::around(format!("{} at the end", self.inputs[d]), self.ends.iter().map(|(e, _)| e[d]));
        let mut chart = axes(area, &format!("Warped rows, {}", self.coloured), &[], axis(0), axis(1))?;
        let points = self.ends.iter().map(|(end, share)| Circle::new((end[0], end[1]), 3, between(*share).filled()));
        chart.draw_series(points)?;
        Ok(())
    }
}

impl Picture for Field {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let (width, height) = area.dim_in_pixel();
        // Beside each other, or where there is no room one above the other.
        let (left, right) =
            if width > height { area.split_horizontally(width / 2) } else { area.split_vertically(height / 2) };
        match self.shown {
            Shown::Beginning => self.draw_beginning(area),
            Shown::End => self.draw_end(area),
            Shown::Both => {
                self.draw_beginning(&left)?;
                self.draw_end(&right)
            }
        }
    }

    fn size_in_page(&self) -> (u32, u32) {
        (IN_PAGE.0, if self.shown == Shown::Both { 2 * IN_PAGE.1 } else { IN_PAGE.1 })
    }
}

/// From blue to orange.
fn between(share: f64) -> RGBColor {
    let mix = |low: u8, high: u8| (f64::from(low) + share * (f64::from(high) - f64::from(low))) as u8;
    RGBColor(mix(BLUE.0, ORANGE.0), mix(BLUE.1, ORANGE.1), mix(BLUE.2, ORANGE.2))
}
