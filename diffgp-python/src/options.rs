//! The options of the trainer as parameters of an estimator.

use diffgp_train::options::{Described, Kind, Options, Value};
use diffgp_train::train::ConfigError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

/// Options that scikit-learn has words for: theirs, and the trainer's. All others are called what the trainer calls them.
const WORDS: [(&str, &str); 5] = [
    ("batch_size", "batch"),
    ("max_iter", "iterations"),
    ("n_jobs", "threads"),
    ("random_state", "seed"),
    ("validation_fraction", "validation"),
];

/// What an option is called in Python.
fn parameter(option: &'static str) -> &'static str {
    WORDS.iter().find(|(_, trainers)| *trainers == option).map_or(option, |(ours, _)| ours)
}

/// Every parameter: its name, the words that it takes if it takes words, and what it does.
#[pyfunction]
pub(crate) fn options() -> Vec<(&'static str, Vec<&'static str>, String)> {
    let described = |option: &Described| {
        let words = if let Kind::Word(words) = option.kind { words.to_vec() } else { Vec::new() };
        let help: Vec<&str> = option.help.iter().map(|line| line.trim()).collect();
        (parameter(option.name), words, help.join(" "))
    };
    Options::ALL.iter().map(described).collect()
}

/// Options from the parameters of an estimator; `None` leaves one to the trainer.
pub(crate) fn from_parameters(parameters: &Bound<'_, PyDict>) -> PyResult<Options> {
    let mut values = Vec::new();
    for (name, value) in parameters.iter() {
        let name: String = name.extract()?;
        let known = Options::ALL.iter().find(|option| parameter(option.name) == name);
        let option = known.ok_or_else(|| PyValueError::new_err(format!("there is no parameter {name}")))?;
        if !value.is_none() {
            values.push((option.name.to_owned(), read(option, &value)?));
        }
    }
    Options::from_values(values).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// What was given for an option.
fn read(option: &Described, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    // A truth value is a whole number in Python, and never meant as one.
    let is_flag = value.is_instance_of::<PyBool>();
    let (read, expected) = match option.kind {
        Kind::Flag => (value.extract().ok().map(Value::Flag), "True or False".to_owned()),
        Kind::Number => (value.extract().ok().filter(|_| !is_flag).map(Value::Number), "a number".to_owned()),
        Kind::Count => {
            (value.extract().ok().filter(|_| !is_flag).map(Value::Count), "a whole number, not negative".to_owned())
        }
        Kind::Word(words) => {
            let known = value.extract().ok().filter(|word: &String| words.contains(&word.as_str()));
            (known.map(Value::Word), words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" or "))
        }
    };
    read.ok_or_else(|| {
        let given = value.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        PyValueError::new_err(format!("{} is {given}; expected {expected}", parameter(option.name)))
    })
}

/// The sentence of the command, with the word that is used here.
pub(crate) fn refused(error: &ConfigError) -> String {
    let known = Options::ALL.iter().find(|option| option.name == error.option);
    let name = known.map_or(error.option, |option| parameter(option.name));
    format!("{name} is {}; expected {}", error.value, error.expected)
}
