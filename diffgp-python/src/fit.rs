//! Training: from arrays to a model, as `diffgp train` does it from a file.

use std::mem::{self, Discriminant};
use std::time::{Duration, Instant};

use diffgp_cli::about;
use diffgp_train::data::{DataError, Dataset};
use diffgp_train::model_file::ModelFile;
use diffgp_train::options::Options;
use diffgp_train::train::{Gain, Observer, Plan, Progress, Task, TrainError, Trained, Validated, Warning, train};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::model::Model;
use crate::options;
use crate::rows::Rows;
use crate::work::{self, Line};

/// Between two reports of progress: Python has better things to do.
const PACE: Duration = Duration::from_millis(50);
/// Warnings of one kind that are told; a long run may have hundreds.
const SHOWN: usize = 3;

/// Trains on numbers: `y` is `[N, O]`.
#[pyfunction]
pub(crate) fn fit_numbers<'py>(
    py: Python<'py>,
    x: Rows<'py>,
    y: PyReadonlyArray2<'py, f64>,
    names: Option<(Vec<String>, Vec<String>)>,
    parameters: &Bound<'py, PyDict>,
    hear: &Bound<'py, PyAny>,
) -> PyResult<(Model, Bound<'py, PyDict>)> {
    let options = Options { task: Some(Task::Regression), ..options::from_parameters(parameters)? };
    let [_, inputs] = x.shape();
    let outputs = y.shape()[1];
    let (x, y) = (x.to_doubles()?, y.as_slice().map_err(|error| PyValueError::new_err(error.to_string()))?);
    let data = match names {
        Some((names, targets)) => Dataset::from_named_rows(&x, y, &names, &targets),
        None => Dataset::from_rows_with_outputs(&x, y, inputs, outputs),
    };
    fit(py, data, options, hear)
}

/// Trains on classes: `codes` holds for every row which of the `labels` it has.
#[pyfunction]
pub(crate) fn fit_classes<'py>(
    py: Python<'py>,
    x: Rows<'py>,
    codes: PyReadonlyArray1<'py, i64>,
    labels: Vec<String>,
    names: Option<(Vec<String>, String)>,
    parameters: &Bound<'py, PyDict>,
    hear: &Bound<'py, PyAny>,
) -> PyResult<(Model, Bound<'py, PyDict>)> {
    let options = Options { task: Some(Task::Classification), ..options::from_parameters(parameters)? };
    let [_, inputs] = x.shape();
    let label = |code: &i64| usize::try_from(*code).ok().and_then(|code| labels.get(code)).map(String::as_str);
    let of_rows: Option<Vec<&str>> = codes.as_array().iter().map(label).collect();
    let of_rows = of_rows.ok_or_else(|| PyValueError::new_err("a code is none of the labels"))?;
    let x = x.to_doubles()?;
    let data = match names {
        Some((names, target)) => Dataset::from_named_labels(&x, &of_rows, &names, &target),
        None => Dataset::from_labels(&x, &of_rows, inputs),
    };
    let data = data.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let places = places(&codes.as_array().to_vec(), &labels, &data)?;
    let (model, about) = fit(py, Ok(data), options, hear)?;
    about.set_item("places", places)?;
    Ok((model, about))
}

/// Which class of the model every label is: the model has an order of its own.
fn places(codes: &[i64], labels: &[String], data: &Dataset) -> PyResult<Vec<usize>> {
    let mut places = vec![None; labels.len()];
    let mut label_of: Vec<Option<usize>> = vec![None; labels.len()];
    for (&code, &class) in codes.iter().zip(data.targets()) {
        let (label, class) = (code as usize, class as usize);
        let known = *label_of[class].get_or_insert(label);
        if known != label {
            let [one, other] = [known.min(label), known.max(label)].map(|label| &labels[label]);
            return Err(PyValueError::new_err(format!(
                "the labels {one:?} and {other:?} are one class; rename one of them"
            )));
        }
        places[label] = Some(class);
    }
    let missing = || PyValueError::new_err("a label is of no row");
    places.into_iter().map(|place| place.ok_or_else(missing)).collect()
}

fn fit<'py>(
    py: Python<'py>,
    data: Result<Dataset, DataError>,
    options: Options,
    hear: &Bound<'py, PyAny>,
) -> PyResult<(Model, Bound<'py, PyDict>)> {
    let data = data.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let config = options.config(data.rows()).map_err(|error| PyValueError::new_err(options::refused(&error)))?;
    let work = move |line: &Line<News>| -> Result<(ModelFile, Trained, u64), String> {
        let mut watch = Watch { line, warnings: Vec::new(), heard: None, iterations: 0 };
        let trained = train(&data, &config, &mut watch).map_err(|error| match error {
            TrainError::Config(error) => options::refused(&error),
            error => error.to_string(),
        })?;
        let iterations = watch.iterations;
        let exported = trained.export(&data).map_err(|error| error.to_string())?;
        if let Some(warning) = about::export_warning(&exported.errors) {
            line.tell(News::Warning(warning));
        }
        let file = ModelFile::new(&exported.bytes).map_err(|error| error.to_string())?;
        Ok((file, trained, iterations))
    };
    let told = work::run(py, work, |news| hear.call1((news.to_dict(py)?,)).map(drop))?;
    let (file, trained, iterations) = told.map_err(PyValueError::new_err)?;
    let about = PyDict::new(py);
    about.set_item("iterations", iterations)?;
    about.set_item("iteration", trained.iteration)?;
    about.set_item("validation_log_likelihood", trained.validation_log_likelihood)?;
    about.set_item("flow_time", trained.params.flow_time())?;
    about.set_item("discretisation_error", trained.discretisation.map(|of| of.error))?;
    for (name, gain) in
        [("flow_gain", trained.flow_gain), ("kernel_gain", trained.kernel_gain), ("noise_gain", trained.noise_gain)]
    {
        about.set_item(name, gain.map(|gain: Gain| (gain.mean, gain.standard_error)))?;
    }
    Ok((Model::new(file), about))
}

/// What is told of a run.
enum News {
    Plan(Vec<&'static str>),
    Progress(Progress),
    Validated(Validated),
    Warning(String),
}

impl News {
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let news = PyDict::new(py);
        match self {
            Self::Plan(stages) => {
                news.set_item("event", "plan")?;
                news.set_item("stages", stages)?;
            }
            Self::Progress(progress) => {
                news.set_item("event", "iteration")?;
                news.set_item("stage", progress.stage.index)?;
                news.set_item("name", progress.stage.name.id())?;
                news.set_item("iteration", progress.iteration)?;
                news.set_item("iterations", progress.iterations)?;
                news.set_item("elbo", progress.elbo)?;
            }
            Self::Validated(validated) => {
                news.set_item("event", "validation")?;
                news.set_item("stage", validated.stage.index)?;
                news.set_item("name", validated.stage.name.id())?;
                news.set_item("iteration", validated.iteration)?;
                news.set_item("log_likelihood", validated.score.log_likelihood)?;
                news.set_item("best", validated.best)?;
            }
            Self::Warning(text) => {
                news.set_item("event", "warning")?;
                news.set_item("text", text)?;
            }
        }
        Ok(news)
    }
}

struct Watch<'a> {
    line: &'a Line<News>,
    /// How many warnings of each kind there were.
    warnings: Vec<(Discriminant<Warning>, usize)>,
    /// The stage that was told of last, and when.
    heard: Option<(usize, Instant)>,
    iterations: u64,
}

impl Observer for Watch<'_> {
    fn plan(&mut self, plan: &Plan) {
        self.line.tell(News::Plan(plan.stages.iter().map(|stage| stage.name.id()).collect()));
    }

    fn iteration(&mut self, progress: &Progress) {
        self.iterations += 1;
        let now = Instant::now();
        let is_soon = |(stage, at): (usize, Instant)| stage == progress.stage.index && now - at < PACE;
        if !self.heard.is_some_and(is_soon) {
            self.heard = Some((progress.stage.index, now));
            self.line.tell(News::Progress(*progress));
        }
    }

    fn validation(&mut self, validated: &Validated) {
        self.line.tell(News::Validated(*validated));
    }

    fn warning(&mut self, warning: &Warning) {
        let kind = mem::discriminant(warning);
        let place = self.warnings.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
            self.warnings.push((kind, 0));
            self.warnings.len() - 1
        });
        let count = &mut self.warnings[place].1;
        *count += 1;
        if *count <= SHOWN {
            self.line.tell(News::Warning(warning.to_string()));
        }
    }

    fn should_stop(&mut self) -> bool {
        self.line.is_stopped()
    }
}
