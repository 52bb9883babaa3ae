//! `diffgp sign`: a signature block beside a model file.

use std::path::{Path, PathBuf};

use diffgp_slots::Block;
use serde::Serialize;

use super::keep::ForceArg;
use super::{keys, model_file, output};

/// Sign a model for devices that take only signed ones.
///
/// Writes MODEL.dgp.sig beside the model, which stays as it is; `diffgp update` sends both. The signature covers every
/// byte of the model and its counter. A device takes only models whose counter is larger than that of the one in use, so
/// that nobody can bring an old one back.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp sign model.dgp --key pump.key --counter 7
  diffgp sign model.dgp --key pump.key --counter $(date +%s)"
)]
pub(crate) struct Args {
    /// Model file.
    #[arg(value_name = "MODEL.dgp")]
    model: PathBuf,
    /// Secret key, written by `diffgp keygen`.
    #[arg(long, value_name = "NAME.key")]
    key: PathBuf,
    /// Larger than that of every model that was sent before, 0 to 4294967295.
    #[arg(long, value_name = "N")]
    counter: u32,
    /// Where to write the signature block [default: MODEL.dgp.sig, which is replaced].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    /// Print one JSON object: signature (file name), counter and public_key (in hexadecimal).
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    #[serde(serialize_with = "output::lossy_path")]
    signature: PathBuf,
    counter: u32,
    public_key: String,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let out = args.out.clone().unwrap_or_else(|| beside(&args.model));
    output::check_writable("--out", &out, &[Some(&args.model), Some(&args.key)])?;
    // Beside the model, the name itself says what it is.
    if let Some(out) = &args.out {
        args.force.check("--out", out)?;
    }
    let file = model_file::read(&args.model)?;
    let pair = keys::read_secret(&args.key)?;
    let block = Block::unsigned(args.counter, &pair.pk);
    let signature = pair.sk.sign([file.bytes(), &block].concat(), None);
    output::write(&out, &[&block[..], signature.as_slice()].concat())?;
    let report = Report { signature: out, counter: args.counter, public_key: keys::hex(pair.pk.as_slice()) };
    if args.json {
        return output::print_json(&report);
    }
    let (model, signature) = (args.model.display(), report.signature.display());
    output::print(&format!("{signature}: {model} is signed as number {}\n", args.counter))
}

/// The signature block of a model.
pub(crate) fn beside(model: &Path) -> PathBuf {
    let mut name = model.as_os_str().to_owned();
    name.push(".sig");
    name.into()
}
