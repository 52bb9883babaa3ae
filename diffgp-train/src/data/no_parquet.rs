//! Parquet files, where reading them was not compiled in.

use std::fs::File;
use std::path::Path;

use super::DataError;
use super::tabular::Opened;

pub(super) fn open(path: &Path, _: File) -> Result<Opened, DataError> {
    Err(DataError::Foreign {
        path: path.to_owned(),
        what: "a Parquet file, which this program was built without",
        advice: "build it with the feature parquet (cargo install with its features option), or save the table as CSV or .npy",
    })
}
