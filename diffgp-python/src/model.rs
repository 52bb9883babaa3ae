//! A model file: what it predicts, where its flow goes, and its bytes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use diffgp_train::evaluate::{Evaluated, Row, RowError, Sampling, evaluate, states};
use diffgp_train::model_file::ModelFile;
use diffgp_train::threads::Threads;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::answers::Answers;
use crate::pool;
use crate::rows::Rows;
use crate::work::{self, Line};

/// Rows that are predicted between two looks whether anybody still wants them: the least and the most.
const CHUNKS: (usize, usize) = (64, 4096);
/// How long a part should take.
const PART: Duration = Duration::from_millis(100);
/// As of the command.
const MOST_PATHS: u32 = 100_000;

/// The bytes of a `.dgp` file, checked once.
#[pyclass(frozen, module = "diffgp._diffgp")]
pub(crate) struct Model {
    pub(crate) file: Arc<ModelFile>,
}

/// How rows are followed.
#[derive(Clone, Copy, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Following {
    /// Zero: along the drift.
    paths: u32,
    seed: u64,
    /// Whether row i has the noise of row i in a file, or every row that of row 0.
    numbered: bool,
}

impl Model {
    pub(crate) fn new(file: ModelFile) -> Self {
        Self { file: Arc::new(file) }
    }

    /// The values of rows that are as wide as the model's inputs.
    pub(crate) fn singles(&self, x: &Rows<'_>) -> PyResult<Vec<f32>> {
        let ([_, width], inputs) = (x.shape(), self.file.model().inputs());
        if width != inputs {
            return Err(PyValueError::new_err(format!(
                "X has {width} features, but the model expects {inputs} features"
            )));
        }
        x.to_singles()
    }

    /// Does `each` for part after part of the rows, on all workers.
    fn in_parts<T: Send + 'static>(
        &self,
        py: Python<'_>,
        x: &Rows<'_>,
        following: Following,
        workers: usize,
        each: impl Fn(&ModelFile, &[Row<'_>], Sampling, &Threads) -> Result<Vec<T>, RowError> + Send + 'static,
    ) -> PyResult<Vec<T>> {
        let (values, sampling, threads) = (self.singles(x)?, following.sampling()?, pool::threads(workers)?);
        let file = self.file.clone();
        let work = move |line: &Line<()>| {
            let width = file.model().inputs();
            let number = |row: usize| if following.numbered { row as u32 } else { 0 };
            let rows: Vec<&[f32]> = values.chunks_exact(width).collect();
            let mut done = Vec::with_capacity(rows.len());
            let mut size = CHUNKS.0;
            while done.len() < rows.len() && !line.is_stopped() {
                let (first, start) = (done.len(), Instant::now());
                let part: Vec<Row<'_>> = rows[first..rows.len().min(first + size)]
                    .iter()
                    .enumerate()
                    .map(|(row, x)| Row { number: number(first + row), x })
                    .collect();
                match each(&file, &part, sampling, &threads) {
                    Ok(answers) => done.extend(answers),
                    Err(error) => {
                        return Err(in_its_place(error, first, &part, |row| each(&file, row, sampling, &threads)));
                    }
                }
                if start.elapsed() < PART {
                    size = (2 * size).min(CHUNKS.1);
                } else {
                    size = (size / 2).max(CHUNKS.0);
                }
            }
            Ok(done)
        };
        work::run_silently(py, work)?.map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// The error with the number of its row, where the rows of a part all have the noise of row 0.
fn in_its_place<T>(
    error: RowError,
    first: usize,
    part: &[Row<'_>],
    each: impl Fn(&[Row<'_>]) -> Result<Vec<T>, RowError>,
) -> RowError {
    let refused = part.iter().position(|row| each(std::slice::from_ref(row)).is_err());
    refused.map_or(error, |row| RowError { number: (first + row) as u32, ..error })
}

impl Following {
    fn sampling(self) -> PyResult<Sampling> {
        match self.paths {
            0 => Ok(Sampling::Drift),
            1..=MOST_PATHS => Ok(Sampling::Paths { count: self.paths, seed: self.seed }),
            paths => {
                Err(PyValueError::new_err(format!("n_paths is {paths}; expected 0 (along the drift) to {MOST_PATHS}")))
            }
        }
    }
}

#[pymethods]
impl Model {
    #[new]
    fn of_bytes(bytes: &[u8]) -> PyResult<Self> {
        ModelFile::new(bytes).map(Self::new).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.file.bytes())
    }

    /// A pickle holds the bytes of the file and nothing else.
    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, [self.to_bytes(py)])
    }

    #[getter]
    fn inputs(&self) -> usize {
        self.file.model().inputs()
    }

    #[getter]
    fn outputs(&self) -> usize {
        self.file.model().outputs()
    }

    #[getter]
    fn classes(&self) -> usize {
        self.file.model().classes()
    }

    #[getter]
    fn steps(&self) -> usize {
        self.file.model().steps()
    }

    /// Names of inputs and targets; empty if the file holds none.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.file.model().blob().names().map(str::to_owned).collect()
    }

    #[getter]
    fn class_names(&self) -> Vec<String> {
        self.file.model().blob().classes().map(str::to_owned).collect()
    }

    fn predict(&self, py: Python<'_>, x: Rows<'_>, following: Following, workers: usize) -> PyResult<Answers> {
        let answers = self.in_parts(py, &x, following, workers, |file, rows, sampling, threads| {
            let answers = evaluate(&file.model(), rows, sampling, threads)?;
            Ok(answers.into_iter().map(|evaluated| evaluated.answer).collect())
        })?;
        Ok(Answers::new(answers, self.file.clone()))
    }

    /// Mean and deviation of g at the end of every path, in the targets' units: `[N, S, O, 2]`.
    fn path_ends<'py>(
        &self,
        py: Python<'py>,
        x: Rows<'_>,
        following: Following,
        workers: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let ends = self.in_parts(py, &x, following, workers, |file, rows, sampling, threads| {
            let model = file.model();
            let units: Vec<(f64, f64)> = (0..model.outputs())
                .map(|output| model.blob().target(output))
                .map(|target| (target.mean.into(), target.scale.into()))
                .collect();
            let in_units = |evaluated: Evaluated| -> Vec<f64> {
                let outputs = evaluated.latents.iter().flat_map(|outputs| outputs.iter().zip(&units));
                outputs
                    .flat_map(|(g, (mean, scale))| {
                        [mean + scale * f64::from(g.mean), scale * f64::from(g.variance).sqrt()]
                    })
                    .collect()
            };
            Ok(evaluate(&model, rows, sampling, threads)?.into_iter().map(in_units).collect())
        })?;
        Ok(ends.into_iter().flatten().collect::<Vec<f64>>().into_pyarray(py))
    }

    /// The states along the way, in the units of the inputs: `[N, S, K + 1, D]`.
    fn states<'py>(
        &self,
        py: Python<'py>,
        x: Rows<'_>,
        following: Following,
        workers: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let states = self.in_parts(py, &x, following, workers, |file, rows, sampling, threads| {
            states(&file.model(), rows, sampling, threads)
        })?;
        Ok(states.into_iter().flatten().map(f64::from).collect::<Vec<f64>>().into_pyarray(py))
    }
}
