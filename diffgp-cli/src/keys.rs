//! Key files: one line of text each, `diffgp-secret-key` or `diffgp-public-key` and 32 bytes in hexadecimal.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use ed25519_compact::{KeyPair, Seed};

use super::console::tell;
use super::failure::mistake;

const SECRET: &str = "diffgp-secret-key";
const PUBLIC: &str = "diffgp-public-key";

/// Writes a new pair of keys; neither file may be there.
pub(crate) fn create(secret: &Path, public: &Path, pair: &KeyPair) -> anyhow::Result<()> {
    if let Some(there) = [secret, public].into_iter().find(|path| path.symlink_metadata().is_ok()) {
        return Err(mistake(format!(
            "{}: there is such a file, and keys are never overwritten; expected another name",
            there.display()
        )));
    }
    write_new(secret, 0o600, &line(SECRET, pair.sk.seed().as_slice()))?;
    write_new(public, 0o644, &line(PUBLIC, pair.pk.as_slice()))
}

/// The pair of a file with a secret key. Says so if others than its owner can read it.
pub(crate) fn read_secret(path: &Path) -> anyhow::Result<KeyPair> {
    let bytes = read(path, SECRET, "written by `diffgp keygen`, with the ending .key")?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let others = fs::metadata(path).is_ok_and(|known| known.permissions().mode() & 0o077 != 0);
        if others {
            tell!("warning: {0}: others can read this secret key; `chmod 600 {0}` keeps it secret", path.display());
        }
    }
    Ok(KeyPair::from_seed(Seed::new(bytes)))
}

/// A public key.
pub(crate) fn read_public(path: &Path) -> anyhow::Result<[u8; 32]> {
    read(path, PUBLIC, "written by `diffgp keygen`, with the ending .pub")
}

/// In hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn line(kind: &str, bytes: &[u8]) -> String {
    format!("{kind} {}\n", hex(bytes))
}

fn read(path: &Path, kind: &str, expected: &str) -> anyhow::Result<[u8; 32]> {
    let shown = path.display();
    let refused = |reason: &str| mistake(format!("{shown}: {reason}; expected a {kind} {expected}"));
    // Longer than any key: what is longer is none, and may be endless.
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| refused(&error.to_string()))?;
    let read = std::io::Read::read_to_string(&mut std::io::Read::take(file, 200), &mut text);
    read.map_err(|_| refused("this is no text"))?;
    let mut words = text.split_ascii_whitespace();
    let (found, digits) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if found != kind {
        let other = [SECRET, PUBLIC].into_iter().find(|known| *known == found);
        return Err(refused(&other.map_or("this is no key".to_owned(), |other| format!("this is a {other}"))));
    }
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = |&[high, low]: &[u8; 2]| Some((16 * digit(high)? + digit(low)?) as u8);
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    let bytes = bytes.filter(|_| rest.is_empty() && words.next().is_none()).and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| refused("the key does not have 64 hexadecimal digits"))
}

/// Nobody else can have put the file there, or see it before it has its mode.
fn write_new(path: &Path, mode: u32, text: &str) -> anyhow::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()).and(file.sync_all()));
    written.map_err(|error| {
        let why = match error.kind() {
            ErrorKind::AlreadyExists => "there is such a file, and keys are never overwritten".to_owned(),
            _ => error.to_string(),
        };
        mistake(format!(
            "{}: {why}; expected the name of a new file in a folder that can be written to",
            path.display()
        ))
    })
}
