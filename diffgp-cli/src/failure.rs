//! Which errors are the user's to put right, and how a failed command ends.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use diffgp_train::checkpoint::CheckpointError;
use diffgp_train::data::{CellProblem, DataError};
use diffgp_train::evaluate::RowError;
use diffgp_train::train::TrainError;

use super::console::{self, tell};

/// Columns in a line to paste, at most.
const PASTED: usize = 200;

/// A mistake in the arguments or the input: one sentence that names what is wrong and says what would be right.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Mistake(pub(crate) String);

/// An error that is the user's to put right.
pub(crate) fn mistake(message: impl Into<String>) -> anyhow::Error {
    Mistake(message.into()).into()
}

/// A failed training; where the data is the reason, a mistake in that file.
pub(crate) fn training_failed(data: &Path, error: TrainError) -> anyhow::Error {
    match error {
        TrainError::TooFewRows { .. }
        | TrainError::OneGroup
        | TrainError::TooManyInputs { .. }
        | TrainError::TooManyTargets { .. }
        | TrainError::SeveralClassTargets { .. }
        | TrainError::TooManyClasses { .. }
        | TrainError::NotAClass { .. }
        | TrainError::Range { .. } => mistake(format!("{}: {error}", data.display())),
        _ => error.into(),
    }
}

/// Says what went wrong and chooses the exit code: 2 for a mistake, 1 for the rest.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if is_closed_pipe(error) {
        // The reader (`head`, a pager) has seen enough.
        return ExitCode::SUCCESS;
    }
    tell!("error: {}{}", message(error), advice(error));
    if is_mistake(error) { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// Ends the command where the arguments are wrong, or were a question. What was typed may be the name of a file that acts on
/// the terminal.
pub(crate) fn exit(error: &clap::Error) -> ! {
    if error.use_stderr() {
        let text = error.render().to_string();
        text.lines().for_each(|line| tell!("{line}"));
        std::process::exit(2);
    }
    error.exit()
}

/// The error and its causes, without those that it quotes already.
pub(crate) fn message(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |message, cause| match message.as_str() {
        "" => cause,
        quoted if quoted.contains(&cause) => message,
        _ => format!("{message}: {cause}"),
    })
}

/// The flag that helps against an error in the data, if there is one.
pub(crate) fn advice(error: &anyhow::Error) -> String {
    match error.chain().find_map(|cause| cause.downcast_ref()) {
        Some(DataError::MixedHeader { .. } | DataError::NumberedHeader { .. }) => {
            "; say which with --header yes or --header no".to_owned()
        }
        Some(DataError::NoFirstLine { .. }) => "; leave out --header".to_owned(),
        Some(DataError::UnnamedColumn { column, .. }) => format!("; --ignore {column} leaves it out"),
        Some(DataError::TargetIgnored { .. }) => "; expected other columns in --ignore".to_owned(),
        Some(DataError::ManyInputs { leave_out, .. }) if (1..=PASTED).contains(&leave_out.len()) => {
            let names = console::quoted(&leave_out.join(","));
            format!("; --ignore {names} keeps those that do, and so does --select of train")
        }
        Some(DataError::ManyInputs { leave_out, .. }) if !leave_out.is_empty() => {
            "; --ignore leaves others out, and --select of train keeps those that do".to_owned()
        }
        Some(DataError::ManyInputs { .. }) => " with --ignore".to_owned(),
        Some(DataError::Columns { leave_out, columns, .. }) if !leave_out.is_empty() => {
            let missing =
                if columns.contains(" missing)") { "; --missing drop or mean handles missing cells" } else { "" };
            format!("; --ignore {} leaves them out{missing}", console::quoted(&leave_out.join(",")))
        }
        Some(DataError::Cell { problem: CellProblem::Missing, .. }) => {
            "; --missing drop leaves out such rows, --missing mean fills inputs".to_owned()
        }
        Some(DataError::Cell { problem: CellProblem::TooManyCategories, .. } | DataError::OneWord { .. }) => {
            "; --ignore leaves it out".to_owned()
        }
        Some(DataError::LongName { .. }) => "; --strip-names leaves them out".to_owned(),
        Some(DataError::Cell { problem: CellProblem::NumberAmongWords, .. }) => {
            "; --task classification takes both for classes".to_owned()
        }
        _ => String::new(),
    }
}

/// Whether it is the user's to put right.
pub(crate) fn is_mistake(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<Mistake>() || cause.is::<DataError>() || cause.is::<CheckpointError>() || cause.is::<RowError>()
            // The runtime refuses rows, and models that overflow on them.
            || cause.is::<diffgp_infer::Error>()
    })
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.chain().filter_map(|cause| cause.downcast_ref()).any(closed)
}
