//! `diffgp completions`: what a shell needs to complete commands and flags.

use clap_complete::Shell;

use super::output;

/// Print completions for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  diffgp completions bash > ~/.local/share/bash-completion/completions/diffgp
  diffgp completions fish > ~/.config/fish/completions/diffgp.fish")]
pub(crate) struct Args {
    /// Which shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args, command: &mut clap::Command) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "diffgp", &mut script);
    output::print(&String::from_utf8(script)?)
}
