//! Reads section sizes and symbol names of a 32-bit little-endian ELF file: all that the figures need.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;

const SECTION_SYMBOLS: u32 = 2;
const SECTION_WITHOUT_BYTES: u32 = 8;
const FLAG_ALLOCATED: u32 = 2;

/// A section that occupies memory on the device.
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) size: u32,
    /// Its bytes are in the file, hence in flash (`.data` starts there and is copied to RAM).
    pub(crate) in_flash: bool,
}

/// What an image is made of.
pub(crate) struct Elf {
    pub(crate) sections: Vec<Section>,
    pub(crate) symbols: Vec<String>,
}

impl Elf {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        parse(&bytes).with_context(|| format!("{} is no ELF file that we understand", path.display()))
    }

    /// Bytes of flash: code, constants and initial values, without the model.
    pub(crate) fn flash_bytes(&self) -> u32 {
        self.sections.iter().filter(|s| s.in_flash && s.name != ".model").map(|s| s.size).sum()
    }

    /// Bytes of RAM that are taken before the first call.
    pub(crate) fn static_ram_bytes(&self) -> u32 {
        self.sections.iter().filter(|s| [".data", ".bss", ".uninit"].contains(&s.name.as_str())).map(|s| s.size).sum()
    }
}

fn parse(bytes: &[u8]) -> Result<Elf> {
    ensure!(bytes.starts_with(b"\x7fELF\x01\x01"), "not 32-bit little-endian ELF");
    let headers = section_headers(bytes)?;
    let names = headers.get(usize::from(half(bytes, 0x32)?)).context("no section names")?;
    let mut elf = Elf { sections: Vec::new(), symbols: Vec::new() };
    for header in &headers {
        if header.flags & FLAG_ALLOCATED != 0 {
            elf.sections.push(Section {
                name: text(bytes, names.offset + header.name)?,
                size: header.size,
                in_flash: header.kind != SECTION_WITHOUT_BYTES,
            });
        }
        if header.kind == SECTION_SYMBOLS {
            let strings = headers.get(header.link as usize).context("no symbol names")?;
            // A symbol has 16 bytes and starts with the offset of its name.
            for symbol in (header.offset..header.offset + header.size).step_by(16) {
                elf.symbols.push(text(bytes, strings.offset + word(bytes, symbol)?)?);
            }
        }
    }
    Ok(elf)
}

struct Header {
    name: u32,
    kind: u32,
    flags: u32,
    offset: u32,
    size: u32,
    link: u32,
}

fn section_headers(bytes: &[u8]) -> Result<Vec<Header>> {
    let (table, entry, count) = (word(bytes, 0x20)?, half(bytes, 0x2e)?, half(bytes, 0x30)?);
    (0..u32::from(count))
        .map(|i| {
            let at = table + i * u32::from(entry);
            let field = |index: u32| word(bytes, at + 4 * index);
            Ok(Header {
                name: field(0)?,
                kind: field(1)?,
                flags: field(2)?,
                offset: field(4)?,
                size: field(5)?,
                link: field(6)?,
            })
        })
        .collect()
}

fn word(bytes: &[u8], at: u32) -> Result<u32> {
    let at = at as usize;
    let field = bytes.get(at..at + 4).context("a table points behind the end of the file")?;
    Ok(u32::from_le_bytes(field.try_into()?))
}

fn half(bytes: &[u8], at: usize) -> Result<u16> {
    let field = bytes.get(at..at + 2).context("the file header is cut off")?;
    Ok(u16::from_le_bytes(field.try_into()?))
}

fn text(bytes: &[u8], at: u32) -> Result<String> {
    let tail = bytes.get(at as usize..).context("a name lies behind the end of the file")?;
    Ok(String::from_utf8_lossy(tail.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned())
}
