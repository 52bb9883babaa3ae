//! `diffgp verify`: whether a signature belongs to a model and a key.

use std::path::PathBuf;

use diffgp_slots::{BLOCK_BYTES, Block, is_signed_by};
use serde::Serialize;

use super::failure::mistake;
use super::{keys, model_file, output, sign};

/// Verify the signature of a model, as a device does.
///
/// Exit code 0 says that every byte of the model and its counter are what the owner of the key signed.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp verify model.dgp --key pump.pub"
)]
pub(crate) struct Args {
    /// Model file.
    #[arg(value_name = "MODEL.dgp")]
    model: PathBuf,
    /// Public key, written by `diffgp keygen`.
    #[arg(long, value_name = "NAME.pub")]
    key: PathBuf,
    /// The signature block [default: MODEL.dgp.sig].
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// Print one JSON object: counter.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    counter: u32,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let file = model_file::read(&args.model)?;
    let key = keys::read_public(&args.key)?;
    let path = args.signature.unwrap_or_else(|| sign::beside(&args.model));
    let block = read_block(&path)?;
    let counter = Block::read(&block).map(|block| block.counter).unwrap_or_default();
    let (model, signature, of) = (args.model.display(), path.display(), args.key.display());
    if !is_signed_by(&key, &[file.bytes(), &block].concat()) {
        return Err(mistake(format!(
            "{signature}: this is not the signature of {model} by {of}: the model was changed, or somebody else signed it; \
             expected the signature that `diffgp sign` made of this very file"
        )));
    }
    if args.json {
        return output::print_json(&Report { counter });
    }
    output::print(&format!("{model} was signed by the owner of {of}, as number {counter}\n"))
}

/// A signature block, whoever made it.
pub(crate) fn read_block(path: &std::path::Path) -> anyhow::Result<Vec<u8>> {
    let refused =
        |reason: &str| mistake(format!("{}: {reason}; expected a file written by `diffgp sign`", path.display()));
    let file = std::fs::File::open(path).map_err(|error| refused(&error.to_string()))?;
    let mut bytes = Vec::new();
    // One byte more than there may be: the file may be endless.
    let read = std::io::Read::read_to_end(&mut std::io::Read::take(file, BLOCK_BYTES as u64 + 1), &mut bytes);
    read.map_err(|error| refused(&error.to_string()))?;
    if Block::read(&bytes).is_some() { Ok(bytes) } else { Err(refused("this is no signature block")) }
}
