//! What the command says of a model: figures, C, pictures and pages.

use diffgp_cli::about;
use diffgp_train::evaluate::{Known, Row};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::model::Model;
use crate::rows::Rows;
use crate::{pool, work};

/// Rows with their targets, or with the index of their class: `[N, O]`.
type Labelled<'py> = (Rows<'py>, PyReadonlyArray2<'py, f32>, String);

/// The same, to be taken elsewhere.
#[derive(Default)]
struct Taken {
    x: Vec<f32>,
    y: Vec<f32>,
    inputs: usize,
    targets: usize,
    described: String,
}

impl Taken {
    fn known(&self) -> Vec<Known<'_>> {
        let rows = self.x.chunks_exact(self.inputs.max(1)).zip(self.y.chunks_exact(self.targets.max(1)));
        rows.zip(0..).map(|((x, targets), number)| Known { row: Row { number, x }, targets }).collect()
    }
}

impl Model {
    fn take(&self, labelled: Option<&Labelled<'_>>) -> PyResult<Taken> {
        let Some((x, y, described)) = labelled else { return Ok(Taken::default()) };
        let model = self.file.model();
        let targets = if model.is_classifier() { 1 } else { model.outputs() };
        let (x, inputs) = (self.singles(x)?, model.inputs());
        let y = y.as_slice().map_err(|error| PyValueError::new_err(error.to_string()))?.to_vec();
        if x.len() / inputs * targets != y.len() {
            let (rows, values) = (x.len() / inputs, y.len());
            return Err(PyValueError::new_err(format!("{rows} rows and {values} targets; expected {targets} per row")));
        }
        Ok(Taken { x, y, inputs, targets, described: described.clone() })
    }
}

#[pyfunction]
pub(crate) fn inspect_json(model: &Model) -> PyResult<String> {
    about::inspect_json(&model.file).map_err(|error| PyValueError::new_err(error.to_string()))
}

#[pyfunction]
pub(crate) fn inspect_text(model: &Model, name: &str) -> String {
    about::inspect_text(&model.file, name)
}

#[pyfunction]
pub(crate) fn error_bars(model: &Model) -> String {
    about::error_bars(&model.file)
}

#[pyfunction]
pub(crate) fn to_c(model: &Model, name: &str) -> Vec<(String, String)> {
    about::c_files(&model.file, name)
}

#[pyfunction]
pub(crate) fn flow_picture(model: &Model, py: Python<'_>) -> PyResult<Option<String>> {
    let (file, threads) = (model.file.clone(), pool::threads(0)?);
    work::run_silently(py, move |_| about::flow_picture(&file, &threads))?.map_err(PyValueError::new_err)
}

#[pyfunction]
pub(crate) fn report(model: &Model, py: Python<'_>, name: String, labelled: Option<Labelled<'_>>) -> PyResult<String> {
    let (file, taken, threads) = (model.file.clone(), model.take(labelled.as_ref())?, pool::threads(0)?);
    let work = move |_: &work::Line<()>| about::report(&file, &name, &taken.known(), &taken.described, &threads);
    work::run_silently(py, work)?.map_err(PyValueError::new_err)
}

#[pyfunction]
pub(crate) fn explore(model: &Model, py: Python<'_>, name: String, labelled: Option<Labelled<'_>>) -> PyResult<String> {
    let (file, taken) = (model.file.clone(), model.take(labelled.as_ref())?);
    let work = move |_: &work::Line<()>| about::explore(&file, &name, &taken.known(), &taken.described);
    work::run_silently(py, work)?.map_err(PyValueError::new_err)
}
