//! `cargo xtask header`: makes the C header of the sources of diffgp-c.
//!
//! Its last line holds a checksum of those sources and one of the text before it. A test compares them, so that a header that is
//! stale, or was edited by hand, is noticed without cbindgen, which takes a minute to build.

use crate::command;
use anyhow::{Context, Result};
use diffgp_core::blob::checksum;
use std::fs;
use std::path::{Path, PathBuf};

const TOOL: &str = "diffgp-c/header";
/// Where the header is, and where `diffgp export --c` finds it.
const HEADERS: [&str; 2] = ["diffgp-c/include/diffgp.h", "diffgp-cli/src/export/diffgp.h"];

pub(crate) fn run() -> Result<()> {
    let mut tool = command::cargo(TOOL, ["run", "--locked", "--quiet"]);
    eprintln!("making the header; the first time, this builds cbindgen");
    let text = command::capture(tool.env("CARGO_PROFILE_DEV_DEBUG", "0"))?;
    let header = text.clone() + &last_line(&text)?;
    for path in HEADERS {
        fs::write(command::root().join(path), &header).with_context(|| format!("cannot write {path}"))?;
        println!("{path}");
    }
    Ok(())
}

/// The checksums of the sources and of the header's text.
fn last_line(text: &str) -> Result<String> {
    let package = command::root().join("diffgp-c");
    let mut files = sources(&package.join("src"))?;
    files.push(package.join("cbindgen.toml"));
    files.sort();
    let mut all = Vec::new();
    for file in files {
        all.extend(fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?);
    }
    Ok(format!("/* sources {:08x}, header {:08x} */\n", checksum(&all), checksum(text.as_bytes())))
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() { files.extend(sources(&path)?) } else { files.push(path) }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::{HEADERS, command, last_line};
    use std::fs;

    #[test]
    fn the_headers_are_those_of_the_sources() {
        for path in HEADERS {
            let header = fs::read_to_string(command::root().join(path)).expect("the header is checked in");
            let at = header.trim_end().rfind('\n').expect("it has lines") + 1;
            let (text, last) = header.split_at(at);
            assert_eq!(last, last_line(text).unwrap(), "{path}: `cargo xtask header` makes it anew");
        }
    }
}
