//! `--config FILE.toml`: every flag of a subcommand, written `flag = value` in a file.
//!
//! The file's options are put before those of the command line, and of two equal options the later one counts. So the
//! file needs no list of options of its own, and `--help` describes both.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use toml::Value;

use super::failure::mistake;

/// The option itself; [`expand`] has read the file before.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FileOption {
    /// TOML file with options, written flag = value; the command line counts more.
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
}

impl FileOption {
    /// The file, if there is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.config.as_deref()
    }
}

/// The arguments with those of the `--config` file, if there is one, put in front of them.
pub(crate) fn expand<Cli: CommandFactory>(mut arguments: Vec<OsString>) -> anyhow::Result<Vec<OsString>> {
    let paths = config_paths(&arguments);
    let path = match paths.as_slice() {
        [] => return Ok(arguments),
        [path] => path,
        [first, second, ..] => {
            let (first, second) = (first.display(), second.display());
            return Err(mistake(format!("--config is there twice ({first} and {second}); expected one file")));
        }
    };
    let name = arguments.get(1).and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let command = Cli::command();
    // Without a known subcommand clap has something to say about it.
    let Some(subcommand) = command.find_subcommand(&name) else { return Ok(arguments) };
    let known: Vec<Known<'_>> = subcommand
        .get_arguments()
        .filter_map(|argument| Some((argument.get_long()?, argument.get_action().takes_values())))
        .filter(|&(name, _)| name != "config")
        .collect();
    let options = read(path, &name, &known)?;
    arguments.splice(2..2, options.into_iter().map(OsString::from));
    Ok(arguments)
}

/// The values of all `--config` options.
fn config_paths(arguments: &[OsString]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "--config" {
            paths.extend(arguments.next().map(PathBuf::from));
        } else if let Some(path) = argument.to_str().and_then(|argument| argument.strip_prefix("--config=")) {
            paths.push(PathBuf::from(OsStr::new(path)));
        }
    }
    paths
}

/// An option, and whether it takes a value.
type Known<'a> = (&'a str, bool);

fn read(path: &Path, subcommand: &str, known: &[Known<'_>]) -> anyhow::Result<Vec<String>> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| mistake(format!("{shown}: {error}")))?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().map_or("", |span| &text[..span.start.min(text.len())]);
        let line = before.matches('\n').count() + 1;
        mistake(format!("{shown}: line {line}: {}; expected lines of the form flag = value", error.message()))
    })?;
    let mut options = Vec::new();
    for (key, value) in &table {
        let Some(&(_, takes_value)) = known.iter().find(|(name, _)| name == key) else {
            let known = known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            return Err(mistake(format!("{shown}: {subcommand} has no option {key:?}; expected one of {known}")));
        };
        match value {
            Value::Boolean(answer) if takes_value => {
                return Err(mistake(format!("{shown}: {key} is {answer}; expected the value of --{key}")));
            }
            Value::Boolean(false) => {}
            Value::Boolean(true) => options.push(format!("--{key}")),
            other => options.push(format!("--{key}={}", text_of(path, key, other)?)),
        }
    }
    Ok(options)
}

/// As one would type it; lists are separated by commas.
fn text_of(path: &Path, key: &str, value: &Value) -> anyhow::Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Array(values) => {
            let parts: anyhow::Result<Vec<String>> = values.iter().map(|value| text_of(path, key, value)).collect();
            Ok(parts?.join(","))
        }
        _ => Err(mistake(format!(
            "{}: {key} is a {}; expected a string, a number, true or false",
            path.display(),
            value.type_str()
        ))),
    }
}
