//! All pictures that a model and its rows allow.

use std::ops::Range;
use std::path::{Path, PathBuf};

use diffgp_infer::Model;
use diffgp_train::evaluate::{Answer, Known, Row, Sampling, evaluate};
use diffgp_train::threads::Threads;
use plotters::coord::Shift;
use plotters::prelude::*;

use super::calibration::Calibration;
use super::canvas::{self, Drawn, Picture};
use super::decision_path::DecisionPath;
use super::flow_picture::{Field, FlowLines};
use super::predictions::{AgainstTruth, Curve, Predicted, SideBySide};
use super::trace::Trace;
use crate::console::tell;

/// The level of error bars and bands.
const LEVEL: f32 = 0.95;
/// Places of a curve over one input.
const PLACES: usize = 400;
/// Rows in one scatter plot at most; more hide each other.
const MOST_POINTS: usize = 2000;

/// What is to be drawn.
pub(crate) struct Gallery<'a> {
    pub(crate) model: &'a Model<'a>,
    pub(crate) rows: Vec<Known<'a>>,
    /// Rows whose path is followed.
    pub(crate) followed: Vec<Known<'a>>,
    pub(crate) sampling: Sampling,
    pub(crate) threads: &'a Threads,
    /// `metrics.jsonl` of the run.
    pub(crate) metrics: Option<PathBuf>,
}

impl Gallery<'_> {
    /// Draws everything that applies; returns the files.
    pub(crate) fn write(&self, directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for (name, picture) in self.pictures()? {
            files.extend(canvas::write(&picture, directory, name)?);
        }
        Ok(files)
    }

    /// Everything that applies, as SVG to be put into a page.
    pub(crate) fn svgs(&self) -> anyhow::Result<Vec<String>> {
        self.pictures()?.iter().map(|(_, picture)| canvas::svg(picture)).collect()
    }

    fn pictures(&self) -> anyhow::Result<Vec<(&'static str, AnyPicture)>> {
        let predictions = self.predict()?;
        let targets: Vec<f32> = self.rows.iter().map(|known| known.y).collect();
        let mut pictures = Vec::new();
        if self.model.inputs() == 1 {
            pictures.push(("predictions", AnyPicture::Curve(self.curve("Predictions", None)?)));
        } else if !self.model.is_classifier() {
            let rows = predictions.iter().zip(&targets).map(|(p, &y)| predicted(p, y)).step_by(self.stride()).collect();
            let picture = AgainstTruth { target: self.target_name(), rows };
            pictures.push(("predictions", AnyPicture::AgainstTruth(picture)));
        }
        let calibration = if self.model.is_classifier() {
            Calibration::of_probabilities(&predictions, &targets)
        } else {
            Calibration::of_intervals(&predictions, &targets)
        };
        pictures.push(("calibration", AnyPicture::Calibration(calibration)));
        if self.model.blob().header().steps > 0 {
            pictures.push(self.flow()?);
        }
        if let Some(metrics) = &self.metrics {
            match Trace::read(metrics)? {
                Some(trace) => pictures.push(("trace", AnyPicture::Trace(trace))),
                None => tell!("note: {} holds no iterations; no trace is drawn", metrics.display()),
            }
        }
        Ok(pictures)
    }

    /// Draws this model's curve over its only input beside another model's, with the same vertical range.
    pub(crate) fn write_beside(
        &self,
        other: &Gallery<'_>,
        titles: [&str; 2],
        range: Range<f64>,
        stem: (&Path, &str),
    ) -> anyhow::Result<[PathBuf; 2]> {
        let curves = [self.curve(titles[0], Some(range.clone()))?, other.curve(titles[1], Some(range))?];
        canvas::write(&SideBySide { curves }, stem.0, stem.1)
    }

    /// The prediction over the only input.
    fn curve(&self, title: &str, range: Option<Range<f64>>) -> anyhow::Result<Curve> {
        let ends = self.model.blob().input(0).map_or((0.0, 1.0), |input| (input.low, input.high));
        let places: Vec<[f32; 1]> =
            (0..PLACES).map(|i| [ends.0 + (ends.1 - ends.0) * i as f32 / (PLACES - 1) as f32]).collect();
        let rows: Vec<Row<'_>> = places.iter().zip(0..).map(|(x, number)| Row { number, x }).collect();
        let evaluated = evaluate(self.model, &rows, self.sampling, self.threads)?;
        let curve = places.iter().zip(&evaluated).map(|(x, e)| (f64::from(x[0]), predicted(&e.answer, 0.0)));
        Ok(Curve {
            title: title.to_owned(),
            input: self.input_names()[0].clone(),
            target: self.target_name(),
            curve: curve.collect(),
            rows: self.rows.iter().map(|known| (f64::from(known.row.x[0]), f64::from(known.y))).collect(),
            range,
        })
    }

    /// Draws the flow itself, or what it does to the followed rows.
    pub(crate) fn write_flow(&self, directory: &Path) -> anyhow::Result<[PathBuf; 2]> {
        let (name, picture) = self.flow()?;
        canvas::write(&picture, directory, name)
    }

    fn flow(&self) -> anyhow::Result<(&'static str, AnyPicture)> {
        let seed = match self.sampling {
            Sampling::Paths { seed, .. } => seed,
            Sampling::Drift => 0,
        };
        let names = self.input_names();
        Ok(match names.as_slice() {
            [input] => ("flow", AnyPicture::FlowLines(FlowLines::new(self.model, input.clone(), seed)?)),
            [first, second] => {
                let rows = self.rows.iter().step_by(self.stride());
                let rows: Vec<(Vec<f32>, f32)> = rows.map(|known| (known.row.x.to_vec(), known.y)).collect();
                let names = [first.clone(), second.clone()];
                ("flow", AnyPicture::Field(Field::new(self.model, names, &rows, seed)?))
            }
            _ => {
                let followed: Vec<(u32, Vec<f32>)> =
                    self.followed.iter().map(|known| (known.row.number, known.row.x.to_vec())).collect();
                let picture = DecisionPath::new(self.model, &names, &followed, seed)?;
                ("decision-path", AnyPicture::DecisionPath(picture))
            }
        })
    }

    /// From one drawn row to the next.
    fn stride(&self) -> usize {
        self.rows.len().div_ceil(MOST_POINTS).max(1)
    }

    fn predict(&self) -> anyhow::Result<Vec<Answer>> {
        let rows: Vec<Row<'_>> = self.rows.iter().map(|known| known.row).collect();
        let mut predictions = Vec::with_capacity(rows.len());
        for chunk in rows.chunks(MOST_POINTS) {
            let evaluated = evaluate(self.model, chunk, self.sampling, self.threads)?;
            predictions.extend(evaluated.into_iter().map(|row| row.answer));
        }
        Ok(predictions)
    }

    fn input_names(&self) -> Vec<String> {
        let names: Vec<&str> = self.model.blob().names().collect();
        let name = |index: usize| names.get(index).map_or_else(|| format!("input {index}"), |name| (*name).to_owned());
        (0..self.model.inputs()).map(name).collect()
    }

    fn target_name(&self) -> String {
        self.model.blob().names().last().unwrap_or("target").to_owned()
    }
}

/// One of the pictures.
enum AnyPicture {
    AgainstTruth(AgainstTruth),
    Calibration(Calibration),
    Curve(Curve),
    DecisionPath(DecisionPath),
    Field(Field),
    FlowLines(FlowLines),
    Trace(Trace),
}

impl Picture for AnyPicture {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        match self {
            Self::AgainstTruth(picture) => picture.draw(area),
            Self::Calibration(picture) => picture.draw(area),
            Self::Curve(picture) => picture.draw(area),
            Self::DecisionPath(picture) => picture.draw(area),
            Self::Field(picture) => picture.draw(area),
            Self::FlowLines(picture) => picture.draw(area),
            Self::Trace(picture) => picture.draw(area),
        }
    }
}

/// Mean and interval; for a classifier the probability alone.
fn predicted(prediction: &Answer, truth: f32) -> Predicted {
    let mean = prediction.probability().unwrap_or(prediction.mean());
    let (low, high) = prediction.interval(LEVEL).unwrap_or((mean, mean));
    Predicted { truth: truth.into(), mean: mean.into(), low: low.into(), high: high.into() }
}
