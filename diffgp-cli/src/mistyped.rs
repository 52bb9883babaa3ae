//! Flags as they are called elsewhere: what looks most alike is not what was meant.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// What other programs call it, and what it is here.
const ELSEWHERE: [(&str, &str); 14] = [
    ("--cv", "--folds"),
    ("--drop", "--ignore"),
    ("--epochs", "--iterations"),
    ("--exclude", "--ignore"),
    ("--holdout", "--test-share"),
    ("--jobs", "--threads"),
    ("--label", "--target"),
    ("--max-iter", "--iterations"),
    ("--n-jobs", "--threads"),
    ("--overwrite", "--force"),
    ("--random-state", "--seed"),
    ("--samples", "--paths"),
    ("--test-size", "--test-share"),
    ("--timeout", "--time-limit"),
];

/// Names the flag that was meant, if the subcommand that was typed has it.
pub(crate) fn correct(error: &mut clap::Error, command: &clap::Command, subcommand: &str) {
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return };
    let meant = ELSEWHERE.iter().find(|(elsewhere, _)| elsewhere == typed).map(|(_, here)| *here);
    let known = |here: &str| {
        let mut arguments = command.find_subcommand(subcommand).into_iter().flat_map(clap::Command::get_arguments);
        arguments.any(|argument| argument.get_long() == here.strip_prefix("--"))
    };
    if let Some(here) = meant.filter(|here| known(here)) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(here.to_owned()));
        error.remove(ContextKind::Suggested);
        error.remove(ContextKind::Usage);
    }
}
