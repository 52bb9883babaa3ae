//! A smaller model, as `diffgp compress` makes it.

use diffgp_infer::Model as Device;
use diffgp_train::compress::{CompressError, Goal, Point, compress, made_up_inputs};
use diffgp_train::device_cost::Core;
use diffgp_train::model_file::ModelFile;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::model::Model;
use crate::pool;
use crate::rows::Rows;
use crate::work::{self, Line};

/// What is asked for.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Wanted {
    max_bytes: Option<usize>,
    max_instructions: Option<u64>,
    tolerance: Option<f64>,
    integers: bool,
    mean_only: bool,
    core: String,
}

impl Wanted {
    fn goal(&self) -> PyResult<(Goal, Core)> {
        let limited = self.max_bytes.is_some() || self.max_instructions.is_some() || self.tolerance.is_some();
        if !limited && !self.integers {
            return Err(PyValueError::new_err(
                "no goal; expected some of max_bytes, max_instructions, tolerance and integers",
            ));
        }
        if self.tolerance.is_some_and(|tolerance| !(tolerance >= 0.0 && tolerance.is_finite())) {
            return Err(PyValueError::new_err(
                "tolerance: expected a number of nats per row, 0 or more, for example 0.01",
            ));
        }
        let core = Core::ALL.into_iter().find(|core| core.id() == self.core).ok_or_else(|| {
            let known = Core::ALL.map(Core::id).join(", ");
            PyValueError::new_err(format!("core is {:?}; expected one of {known}", self.core))
        })?;
        let goal = Goal {
            max_bytes: self.max_bytes,
            max_instructions: self.max_instructions,
            tolerance: self.tolerance,
            integers: self.integers,
            mean_only: self.mean_only,
        };
        Ok((goal, core))
    }
}

/// The smaller model, and what it costs. `x` holds the rows that losses are measured on; without them they are made up.
#[pyfunction]
#[pyo3(name = "compress")]
pub(crate) fn compressed<'py>(
    model: &Model,
    py: Python<'py>,
    x: Option<Rows<'py>>,
    wanted: Wanted,
    workers: usize,
    hear: Option<Bound<'py, PyAny>>,
) -> PyResult<(Model, Bound<'py, PyDict>)> {
    let (goal, core) = wanted.goal()?;
    let inputs = match &x {
        Some(x) => model.singles(x)?,
        None => made_up_inputs(&model.file.model()),
    };
    let (file, threads) = (model.file.clone(), pool::threads(workers)?);
    let instructions = move |model: &Device<'_>| core.work(model).instructions_per_sampled_path;
    let work = move |line: &Line<(usize, u64, f64)>| -> Result<_, String> {
        let mut tell = |point: &Point| line.tell((point.bytes, point.instructions, point.loss));
        let small = compress(file.bytes(), &inputs, &goal, &instructions, &mut tell, &threads).map_err(sentence)?;
        let file = ModelFile::new(&small.bytes).map_err(|error| error.to_string())?;
        Ok((file, small))
    };
    let tell = |(bytes, instructions, loss): (usize, u64, f64)| {
        let Some(hear) = &hear else { return Ok(()) };
        let news = PyDict::new(py);
        news.set_item("event", "choice")?;
        news.set_item("bytes", bytes)?;
        news.set_item("instructions", instructions)?;
        news.set_item("loss", loss)?;
        hear.call1((news,)).map(drop)
    };
    let (file, small) = work::run(py, work, tell)?.map_err(PyValueError::new_err)?;
    let cost = PyDict::new(py);
    cost.set_item("original_bytes", model.file.bytes().len())?;
    cost.set_item("bytes", file.bytes().len())?;
    cost.set_item("original_instructions", instructions(&model.file.model()))?;
    cost.set_item("instructions", instructions(&file.model()))?;
    cost.set_item("core", core.name())?;
    cost.set_item("loss", small.curve.last().map(|point| point.loss))?;
    cost.set_item("adapted", small.adapted)?;
    Ok((Model::new(file), cost))
}

fn sentence(error: CompressError) -> String {
    match error {
        CompressError::OutOfReach { .. } => format!("{error}; allow more, or try mean_only=True"),
        error => error.to_string(),
    }
}
