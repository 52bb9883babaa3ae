//! `--header yes|no`: what the first line of a data file is, for files that leave it open.

use clap::ValueEnum;
use diffgp_train::data::Header;

/// The option of everything that reads data.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct HeaderOption {
    /// Whether the first line of the data holds names [default: it does if none of its cells is a number].
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    header: Option<Answer>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Answer {
    Yes,
    No,
}

impl HeaderOption {
    /// What was asked for.
    pub(crate) fn header(self) -> Header {
        match self.header {
            Some(Answer::Yes) => Header::Present,
            Some(Answer::No) => Header::Absent,
            None => Header::Detect,
        }
    }

    /// The answer as it was typed, if there was one.
    pub(crate) fn answer(self) -> Option<&'static str> {
        self.header.map(|answer| match answer {
            Answer::Yes => "yes",
            Answer::No => "no",
        })
    }
}
