//! All pictures that a model and its rows allow.

use std::ops::Range;
use std::path::{Path, PathBuf};

use diffgp_infer::{Model, Output};
use diffgp_train::calibration::with_calibration;
use diffgp_train::evaluate::{Answer, BINS, ClassTally, Known, Row, Sampling, evaluate};
use diffgp_train::model_file::ModelFile;
use diffgp_train::threads::Threads;
use plotters::coord::Shift;
use plotters::prelude::*;

use super::calibration::Calibration;
use super::canvas::{self, Drawn, Picture};
use super::confusion::Confusion;
use super::decision_path::DecisionPath;
use super::flow_picture::{Field, FlowLines};
use super::predictions::{AgainstTruth, ClassCurves, Curve, Predicted, SideBySide};
use super::residuals::{self, Residuals};
use super::trace::{Course, Half};
use crate::console::tell;
use crate::{importance, model_names};

/// The level of error bars and bands.
const LEVEL: f32 = 0.95;
/// Places of a curve over one input.
const PLACES: usize = 400;
/// Rows in one scatter plot at most; more hide each other.
const MOST_POINTS: usize = 2000;

/// What is to be drawn.
pub(crate) struct Gallery<'a> {
    pub(crate) file: &'a ModelFile,
    /// That of the file.
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
        for (name, picture) in self.pictures(&self.predict()?)? {
            files.extend(canvas::write(&picture, directory, &name)?);
        }
        Ok(files)
    }

    /// Everything that applies, as SVG to be put into a page, with the names that the files would have.
    pub(crate) fn svgs(&self, answers: &[Answer]) -> anyhow::Result<Vec<(String, String)>> {
        let mut svgs = Vec::new();
        for (name, picture) in self.pictures(answers)? {
            for part in picture.parts() {
                svgs.push((name.clone(), canvas::svg_in_page(&part)?));
            }
        }
        Ok(svgs)
    }

    /// Of the answers to all rows.
    fn pictures(&self, answers: &[Answer]) -> anyhow::Result<Vec<(String, AnyPicture)>> {
        let mut pictures =
            if self.model.is_classifier() { self.class_pictures(answers)? } else { self.number_pictures(answers)? };
        if self.model.steps() > 0 {
            let (name, picture) = self.flow()?;
            pictures.push((name.to_owned(), picture));
        }
        if let Some(metrics) = &self.metrics {
            match Course::read(metrics)? {
                Some(course) => pictures.push(("trace".to_owned(), AnyPicture::Course(course))),
                None => tell!("note: {} holds no iterations; no trace is drawn", metrics.display()),
            }
        }
        Ok(pictures)
    }

    /// Three for every target; with several of them, its name is part of theirs.
    fn number_pictures(&self, answers: &[Answer]) -> anyhow::Result<Vec<(String, AnyPicture)>> {
        let names = model_names::targets(self.model);
        let before = self.uncalibrated()?;
        let mut pictures = Vec::new();
        for (output, target) in names.iter().enumerate() {
            let named = |picture: &str| match names.len() {
                1 => picture.to_owned(),
                _ => format!("{picture}-{}", file_name(target, output)),
            };
            let targets: Vec<f32> = self.rows.iter().map(|known| known.targets[output]).collect();
            let outputs: Vec<Output> = answers.iter().map(|answer| answer.outputs()[output]).collect();
            let picture = if self.model.inputs() == 1 {
                AnyPicture::Curve(self.curve("Predictions", output, None)?)
            } else {
                let rows = outputs.iter().zip(&targets).map(|(p, &y)| predicted(p, y)).step_by(self.stride()).collect();
                AnyPicture::AgainstTruth(AgainstTruth { target: target.clone(), rows })
            };
            pictures.push((named("predictions"), picture));
            let before: Option<Vec<Output>> =
                before.as_ref().map(|answers| answers.iter().map(|answer| answer.outputs()[output]).collect());
            let name = (names.len() > 1).then_some(target.as_str());
            let calibration = Calibration::of_intervals(&outputs, before.as_deref(), &targets, name);
            pictures.push((named("calibration"), AnyPicture::Calibration(calibration)));
            let means: Vec<f64> = outputs.iter().map(|output| output.mean().into()).collect();
            let errors = means.iter().zip(&targets).map(|(mean, &truth)| f64::from(truth) - mean).collect();
            let of = name.map_or_else(String::new, |name| format!(" of {name}"));
            let title = format!("Errors{of} over the answer and the inputs");
            let across = ("the answer".to_owned(), means);
            pictures.push((named("residuals"), self.residuals(title, "truth − answer", errors, across)));
        }
        Ok(pictures)
    }

    fn class_pictures(&self, answers: &[Answer]) -> anyhow::Result<Vec<(String, AnyPicture)>> {
        let classes = model_names::classes(self.model);
        let targets: Vec<f32> = self.rows.iter().map(|known| known.targets[0]).collect();
        let mut tally = ClassTally::new(classes.len());
        for (answer, &class) in answers.iter().zip(&targets) {
            tally.add(class as usize, answer.probabilities().iter().map(|&probability| probability.into()));
        }
        let figures = tally.finish();
        let mut pictures = Vec::new();
        if self.model.inputs() == 1 {
            pictures.push(("predictions", AnyPicture::ClassCurves(self.class_curves(&classes)?)));
        }
        let calibration = match classes.as_slice() {
            [_, second] => Calibration::of_probabilities(answers, &targets, second),
            _ => Calibration::of_classes(&tally.bins(BINS), figures.calibration_error),
        };
        pictures.push(("calibration", AnyPicture::Calibration(calibration)));
        pictures.push(("confusion", AnyPicture::Confusion(Confusion::new(classes, figures.confusion))));
        let of_truth = |(answer, &class): (&Answer, &f32)| 1.0 - f64::from(answer.probabilities()[class as usize]);
        let errors = answers.iter().zip(&targets).map(of_truth).collect();
        let largest = |answer: &Answer| answer.probabilities().iter().copied().fold(0.0, f32::max).into();
        let across = ("largest probability".to_owned(), answers.iter().map(largest).collect());
        let title = "Errors over the largest probability and the inputs".to_owned();
        pictures.push(("residuals", self.residuals(title, "1 − probability of the truth", errors, across)));
        Ok(pictures.into_iter().map(|(name, picture)| (name.to_owned(), picture)).collect())
    }

    /// Errors over something of the answer and over the inputs that matter most.
    fn residuals(
        &self,
        title: String,
        error: &'static str,
        errors: Vec<f64>,
        answer: (String, Vec<f64>),
    ) -> AnyPicture {
        let step = self.stride();
        let names = self.input_names();
        let mut inputs = importance::by_sensitivity(self.model);
        inputs.truncate(residuals::MOST_PANELS - 1);
        let mut panels = vec![(answer.0, answer.1.into_iter().step_by(step).collect())];
        panels.extend(inputs.into_iter().map(|input| {
            let values = self.rows.iter().step_by(step).map(|known| known.row.x[input].into());
            (names[input].clone(), values.collect())
        }));
        AnyPicture::Residuals(Residuals { title, error, errors: errors.into_iter().step_by(step).collect(), panels })
    }

    /// Draws this model's curve over its only input beside another model's, with the same vertical range.
    pub(crate) fn write_beside(
        &self,
        other: &Gallery<'_>,
        titles: [&str; 2],
        range: Range<f64>,
        stem: (&Path, &str),
    ) -> anyhow::Result<[PathBuf; 2]> {
        let curves = [self.curve(titles[0], 0, Some(range.clone()))?, other.curve(titles[1], 0, Some(range))?];
        canvas::write(&SideBySide { curves }, stem.0, stem.1)
    }

    /// The prediction of one target over the only input.
    fn curve(&self, title: &str, output: usize, range: Option<Range<f64>>) -> anyhow::Result<Curve> {
        let curve = self.over_input()?.into_iter().map(|(x, answer)| (x, predicted(&answer.outputs()[output], 0.0)));
        let point = |known: &Known<'_>| (f64::from(known.row.x[0]), f64::from(known.targets[output]));
        Ok(Curve {
            title: title.to_owned(),
            input: self.input_names()[0].clone(),
            target: model_names::targets(self.model)[output].clone(),
            curve: curve.collect(),
            rows: self.rows.iter().map(point).collect(),
            range,
        })
    }

    /// The probabilities of all classes over the only input.
    fn class_curves(&self, classes: &[String]) -> anyhow::Result<ClassCurves> {
        let answers = self.over_input()?;
        let curve = |class: usize| {
            answers.iter().map(|(x, answer)| (*x, f64::from(answer.probabilities()[class]))).collect::<Vec<_>>()
        };
        Ok(ClassCurves {
            input: self.input_names()[0].clone(),
            classes: classes.to_vec(),
            curves: (0..classes.len()).map(curve).collect(),
            rows: self
                .rows
                .iter()
                .step_by(self.stride())
                .map(|known| (f64::from(known.row.x[0]), known.targets[0] as usize))
                .collect(),
        })
    }

    /// Answers at places all over the range of the only input.
    fn over_input(&self) -> anyhow::Result<Vec<(f64, Answer)>> {
        let ends = self.model.blob().input(0).map_or((0.0, 1.0), |input| (input.low, input.high));
        let places: Vec<[f32; 1]> =
            (0..PLACES).map(|i| [ends.0 + (ends.1 - ends.0) * i as f32 / (PLACES - 1) as f32]).collect();
        let rows: Vec<Row<'_>> = places.iter().zip(0..).map(|(x, number)| Row { number, x }).collect();
        let evaluated = evaluate(self.model, &rows, self.sampling, self.threads)?;
        Ok(places.iter().zip(evaluated).map(|(x, evaluated)| (x[0].into(), evaluated.answer)).collect())
    }

    /// Draws the flow itself, or what it does to the followed rows.
    pub(crate) fn write_flow(&self, directory: &Path) -> anyhow::Result<[PathBuf; 2]> {
        let (name, picture) = self.flow()?;
        canvas::write(&picture, directory, name)
    }

    /// The same as SVG, to be put into a page.
    pub(crate) fn flow_svg(&self) -> anyhow::Result<String> {
        canvas::svg_in_page(&self.flow()?.1)
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
                let rows: Vec<(Vec<f32>, f32)> = rows.map(|known| (known.row.x.to_vec(), known.targets[0])).collect();
                let names = [first.clone(), second.clone()];
                let coloured = match (self.model.classes(), model_names::targets(self.model).as_slice()) {
                    (0, [_]) => "blue low, orange high".to_owned(),
                    (0, [first, ..]) => format!("blue low, orange high {first}"),
                    _ => "blue the first class, orange the last".to_owned(),
                };
                ("flow", AnyPicture::Field(Field::new(self.model, names, &rows, coloured, seed)?))
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

    /// What the model says of all rows.
    pub(crate) fn predict(&self) -> anyhow::Result<Vec<Answer>> {
        self.predict_with(self.model)
    }

    /// The same without the calibration of the error bars, if they have one.
    fn uncalibrated(&self) -> anyhow::Result<Option<Vec<Answer>>> {
        if self.model.blob().calibration().is_none() {
            return Ok(None);
        }
        let file = ModelFile::new(&with_calibration(self.file.bytes(), None)?)?;
        self.predict_with(&file.model()).map(Some)
    }

    fn predict_with(&self, model: &Model<'_>) -> anyhow::Result<Vec<Answer>> {
        let rows: Vec<Row<'_>> = self.rows.iter().map(|known| known.row).collect();
        let mut predictions = Vec::with_capacity(rows.len());
        for chunk in rows.chunks(MOST_POINTS) {
            let evaluated = evaluate(model, chunk, self.sampling, self.threads)?;
            predictions.extend(evaluated.into_iter().map(|row| row.answer));
        }
        Ok(predictions)
    }

    fn input_names(&self) -> Vec<String> {
        model_names::inputs(self.model)
    }
}

/// A target's name as a part of a file's: letters, digits and hyphens; its number where nothing is left.
fn file_name(target: &str, number: usize) -> String {
    let plain = target.to_lowercase().replace(|letter: char| !letter.is_alphanumeric(), "-");
    match plain.trim_matches('-') {
        "" => number.to_string(),
        plain => plain.chars().take(40).collect(),
    }
}

/// One of the pictures.
enum AnyPicture {
    AgainstTruth(AgainstTruth),
    Calibration(Calibration),
    ClassCurves(ClassCurves),
    Confusion(Confusion),
    Curve(Curve),
    DecisionPath(DecisionPath),
    Field(Field),
    FlowLines(FlowLines),
    HalfCourse(Half),
    Residuals(Residuals),
    Course(Course),
}

impl AnyPicture {
    /// Large ones in parts, for a page, where parts stand side by side or one above the other.
    fn parts(self) -> Vec<Self> {
        match self {
            Self::Residuals(picture) => picture.parts().into_iter().map(Self::Residuals).collect(),
            Self::DecisionPath(picture) => picture.parts().into_iter().map(Self::DecisionPath).collect(),
            Self::Field(picture) => picture.parts().into_iter().map(Self::Field).collect(),
            Self::Course(course) => Half::of(course).into_iter().map(Self::HalfCourse).collect(),
            whole => vec![whole],
        }
    }
}

/// What is done with the picture that it is.
macro_rules! with_picture {
    ($any:expr, $picture:ident => $done:expr) => {
        match $any {
            AnyPicture::AgainstTruth($picture) => $done,
            AnyPicture::Calibration($picture) => $done,
            AnyPicture::ClassCurves($picture) => $done,
            AnyPicture::Confusion($picture) => $done,
            AnyPicture::Course($picture) => $done,
            AnyPicture::Curve($picture) => $done,
            AnyPicture::DecisionPath($picture) => $done,
            AnyPicture::Field($picture) => $done,
            AnyPicture::FlowLines($picture) => $done,
            AnyPicture::HalfCourse($picture) => $done,
            AnyPicture::Residuals($picture) => $done,
        }
    };
}

impl Picture for AnyPicture {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        with_picture!(self, picture => picture.draw(area))
    }

    fn size_in_page(&self) -> (u32, u32) {
        with_picture!(self, picture => picture.size_in_page())
    }
}

/// Mean and interval.
fn predicted(output: &Output, truth: f32) -> Predicted {
    let mean = output.mean();
    let (low, high) = output.interval(LEVEL).unwrap_or((mean, mean));
    Predicted { truth: truth.into(), mean: mean.into(), low: low.into(), high: high.into() }
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names_become_names_of_files() {
        assert_eq!(file_name("Heating load [kWh/m²]", 0), "heating-load--kwh-m²");
        assert_eq!(file_name("../x", 1), "x");
        assert_eq!(file_name("%", 3), "3");
    }
}
