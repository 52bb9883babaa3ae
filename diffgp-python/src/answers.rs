//! What a model says of rows, as columns.

use std::sync::Arc;

use diffgp_infer::Output;
use diffgp_train::evaluate::Answer;
use diffgp_train::model_file::ModelFile;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The answers for some rows. Numbers are those of the device, in single precision, as doubles.
#[pyclass(frozen, module = "diffgp._diffgp")]
pub(crate) struct Answers {
    answers: Vec<Answer>,
    /// For pickles and for what it is called.
    file: Arc<ModelFile>,
}

type Column<'py, T> = Bound<'py, PyArray1<T>>;

impl Answers {
    pub(crate) fn new(answers: Vec<Answer>, file: Arc<ModelFile>) -> Self {
        Self { answers, file }
    }

    /// A figure of every output of every row: `[N, O]`.
    fn of_outputs<'py>(&self, py: Python<'py>, of: impl Fn(&Output) -> f32) -> Column<'py, f64> {
        let outputs = self.answers.iter().flat_map(Answer::outputs);
        let mut column = Vec::with_capacity(self.answers.len() * self.outputs());
        column.extend(outputs.map(|output| f64::from(of(output))));
        column.into_pyarray(py)
    }
}

#[pymethods]
impl Answers {
    fn __len__(&self) -> usize {
        self.answers.len()
    }

    #[getter]
    fn outputs(&self) -> usize {
        self.file.model().outputs()
    }

    fn mean<'py>(&self, py: Python<'py>) -> Column<'py, f64> {
        self.of_outputs(py, Output::mean)
    }

    fn variance<'py>(&self, py: Python<'py>) -> Column<'py, f64> {
        self.of_outputs(py, Output::variance)
    }

    fn std<'py>(&self, py: Python<'py>) -> Column<'py, f64> {
        self.of_outputs(py, Output::std_dev)
    }

    fn latent_variance<'py>(&self, py: Python<'py>) -> Column<'py, f64> {
        self.of_outputs(py, Output::latent_variance)
    }

    /// Lower and upper ends of the interval that holds a new observation with probability `level`.
    fn interval<'py>(&self, py: Python<'py>, level: f64) -> PyResult<(Column<'py, f64>, Column<'py, f64>)> {
        if self.file.model().is_classifier() {
            return Err(PyValueError::new_err("a classification has probabilities and no intervals"));
        }
        // As the device has it: what single precision takes for 0 or 1 is refused too.
        if !(0.0 < level as f32 && (level as f32) < 1.0) {
            return Err(PyValueError::new_err(format!("level is {level:?}; expected a probability between 0 and 1")));
        }
        let end = |of: fn((f32, f32)) -> f32| {
            self.of_outputs(py, |output| output.interval(level as f32).map_or(f32::NAN, of))
        };
        Ok((end(|(low, _)| low), end(|(_, high)| high)))
    }

    /// Of every class in its order: `[N, C]`.
    fn probabilities<'py>(&self, py: Python<'py>) -> Column<'py, f64> {
        let probabilities = self.answers.iter().flat_map(Answer::probabilities);
        probabilities.map(|&probability| f64::from(probability)).collect::<Vec<f64>>().into_pyarray(py)
    }

    /// The index of the most probable class.
    fn class_index<'py>(&self, py: Python<'py>) -> Column<'py, i64> {
        self.answers.iter().filter_map(Answer::class).map(|class| class as i64).collect::<Vec<i64>>().into_pyarray(py)
    }

    /// Whether every input lies in the range seen in training.
    fn in_range<'py>(&self, py: Python<'py>) -> Column<'py, bool> {
        self.answers.iter().map(Answer::in_range).collect::<Vec<bool>>().into_pyarray(py)
    }
}
