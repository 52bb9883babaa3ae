//! `diffgp keygen`: the keys that models are signed with.

use std::path::PathBuf;

use ed25519_compact::KeyPair;
use serde::Serialize;

use super::{keys, output};

/// Make the two keys that models are signed with and verified by.
///
/// NAME.key is the secret one, for `diffgp sign` alone: whoever has it can send models to your devices. Only its owner
/// can read the file; keep it off the devices and off the network. NAME.pub is the public one, for the firmware and
/// `diffgp verify`. Keys are never overwritten. One pair for each product: a model is not tied to a product otherwise.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp keygen pump
      writes pump.key and pump.pub, and prints the public key for the firmware"
)]
pub(crate) struct Args {
    /// Beginning of both file names.
    #[arg(value_name = "NAME")]
    name: PathBuf,
    /// Print one JSON object: secret, public (file names) and public_key (in hexadecimal).
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    #[serde(serialize_with = "output::lossy_path")]
    secret: PathBuf,
    #[serde(serialize_with = "output::lossy_path")]
    public: PathBuf,
    public_key: String,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let with = |ending: &str| {
        let mut name = args.name.clone().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    };
    let pair = KeyPair::generate();
    let report = Report { secret: with(".key"), public: with(".pub"), public_key: keys::hex(pair.pk.as_slice()) };
    keys::create(&report.secret, &report.public, &pair)?;
    if args.json {
        return output::print_json(&report);
    }
    let bytes: Vec<String> = pair.pk.iter().map(|byte| format!("0x{byte:02x}")).collect();
    let lines: Vec<String> = bytes.chunks(16).map(|line| format!("    {},\n", line.join(", "))).collect();
    output::print(&format!(
        "{}: the secret key; sign with it, and keep it to yourself\n{}: the public key, in the firmware:\n\n\
         const KEYS: [[u8; 32]; 1] = [[\n{}]];\n",
        report.secret.display(),
        report.public.display(),
        lines.concat()
    ))
}
