//! Arrays of rows from NumPy.

use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Rows in one piece, row by row; the package sees to that.
#[derive(FromPyObject)]
pub(crate) enum Rows<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
}

impl Rows<'_> {
    /// How many rows there are, and how many values each has.
    pub(crate) fn shape(&self) -> [usize; 2] {
        let shape = match self {
            Self::Double(array) => array.shape(),
            Self::Single(array) => array.shape(),
        };
        [shape[0], shape[1]]
    }

    /// A copy as the device reads it. What is beyond its range becomes infinite, which is refused with its row.
    pub(crate) fn to_singles(&self) -> PyResult<Vec<f32>> {
        Ok(match self {
            Self::Double(array) => slice(array)?.iter().map(|&value| value as f32).collect(),
            Self::Single(array) => slice(array)?.to_vec(),
        })
    }

    /// A copy in double precision.
    pub(crate) fn to_doubles(&self) -> PyResult<Vec<f64>> {
        Ok(match self {
            Self::Double(array) => slice(array)?.to_vec(),
            Self::Single(array) => slice(array)?.iter().map(|&value| value.into()).collect(),
        })
    }
}

fn slice<'a, T: numpy::Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| PyValueError::new_err("expected rows in one piece (numpy.ascontiguousarray)"))
}
