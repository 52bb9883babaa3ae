//! Parquet files, where reading them was not compiled in.

use std::fs::File;
use std::path::Path;

use super::DataError;
use super::tabular::Opened;

pub(super) fn open(path: &Path, _: File) -> Result<Opened, DataError> {
    Err(DataError::Foreign {
        path: path.to_owned(),
        what: "a Parquet file",
        advice: "this program was built without the feature parquet: build it with that, or save the table as CSV or .npy",
    })
}
