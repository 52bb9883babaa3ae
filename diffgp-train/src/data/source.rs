//! The text of a file as UTF-8, however it was written: gzip, UTF-16 and Windows-1252 are recognised by its first bytes.
//!
//! The two encodings are a few lines here; a library of encodings brings those of the whole web.

use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::error::DataError;

/// Bytes that are looked at before the first row is read.
pub(super) const LOOKED_AT: usize = 1 << 16;

/// What Windows-1252 has in place of the control characters 0x80 to 0x9f; the rest of its bytes are those code points.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// How the characters of a text are written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Encoding {
    Utf8,
    Utf16 { big_endian: bool },
    Windows1252,
}

/// The text of a file.
pub(super) struct Source {
    pub(super) beginning: Vec<u8>,
    rest: Reader,
    /// What the file was found to be, if it is not plain UTF-8.
    pub(super) found: Vec<&'static str>,
}

impl Source {
    /// Of a file's first bytes, [`LOOKED_AT`] if there are so many, and what follows them.
    pub(super) fn of(path: &Path, mut bytes: Vec<u8>, mut rest: Reader) -> Result<Self, DataError> {
        let failed = |source| DataError::Io { path: path.to_owned(), source };
        let mut found = Vec::new();
        if bytes.starts_with(&[0x1f, 0x8b]) {
            found.push("gzip");
            let unpacked = MultiGzDecoder::new(Cursor::new(bytes).chain(rest));
            (bytes, rest) = beginning(Box::new(unpacked)).map_err(failed)?;
        }
        if let Some((what, advice)) = foreign(&bytes) {
            return Err(DataError::Foreign { path: path.to_owned(), what, advice });
        }
        let encoding = encoding(&bytes);
        found.extend(match encoding {
            Encoding::Utf8 => None,
            Encoding::Utf16 { .. } => Some("UTF-16"),
            Encoding::Windows1252 => Some("Windows-1252"),
        });
        let all = Cursor::new(bytes).chain(rest);
        let decoded: Reader = match encoding {
            Encoding::Utf8 => Box::new(all),
            _ => Box::new(Decoder { bytes: BufReader::new(all), encoding, text: Vec::new(), taken: 0 }),
        };
        let (beginning, rest) = self::beginning(decoded).map_err(failed)?;
        Ok(Self { beginning, rest, found })
    }

    /// All of it.
    pub(super) fn into_text(self) -> Reader {
        Box::new(Cursor::new(self.beginning).chain(self.rest))
    }
}

/// Bytes of a file.
pub(super) type Reader = Box<dyn Read + Send>;

/// The first bytes, and what follows them.
fn beginning(mut reader: Reader) -> io::Result<(Vec<u8>, Reader)> {
    let mut bytes = Vec::new();
    reader.by_ref().take(LOOKED_AT as u64).read_to_end(&mut bytes)?;
    Ok((bytes, reader))
}

/// What is no text, and what to do with it.
fn foreign(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let holds = |name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
    let workbook = "save the sheet as CSV";
    match bytes {
        [b'P', b'K', 3, 4, ..] if holds(b"xl/") || holds(b"[Content_Types].xml") => {
            Some(("an Excel workbook", workbook))
        }
        [b'P', b'K', 3, 4, ..] if holds(b"opendocument.spreadsheet") => Some(("an OpenDocument workbook", workbook)),
        [b'P', b'K', 3, 4, ..] => Some(("a zip archive", "unpack it first")),
        [0xd0, 0xcf, 0x11, 0xe0, ..] => Some(("an old Excel workbook", workbook)),
        [b'P', b'K', 5, 6, ..] => Some(("an archive without a member", "expected a table")),
        [b'P', b'A', b'R', b'E', ..] => Some(("an encrypted Parquet file", "decrypt it first")),
        // As they are, these are read; here they are packed once more.
        [b'P', b'A', b'R', b'1', ..] => Some(("a Parquet file packed with gzip", "unpack it first")),
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Some(("a NumPy array packed with gzip", "unpack it first")),
        [b'S', b'Q', b'L', b'i', b't', b'e', ..] => Some(("an SQLite database", "export the table as CSV")),
        _ => None,
    }
}

fn encoding(bytes: &[u8]) -> Encoding {
    // Without a mark, UTF-16 of Western text has a zero in every character.
    let zeros = |odd: usize| bytes.iter().skip(odd).step_by(2).filter(|&&byte| byte == 0).count();
    let many = bytes.len() / 4 + 1;
    match bytes {
        [0xff, 0xfe, ..] => Encoding::Utf16 { big_endian: false },
        [0xfe, 0xff, ..] => Encoding::Utf16 { big_endian: true },
        _ if zeros(1) >= many && zeros(0) == 0 => Encoding::Utf16 { big_endian: false },
        _ if zeros(0) >= many && zeros(1) == 0 => Encoding::Utf16 { big_endian: true },
        _ => match std::str::from_utf8(bytes) {
            // A character may be cut at the end of what was looked at.
            Err(error) if error.error_len().is_some() || bytes.len() < LOOKED_AT => Encoding::Windows1252,
            _ => Encoding::Utf8,
        },
    }
}

/// Another encoding as UTF-8.
struct Decoder<R> {
    bytes: BufReader<R>,
    encoding: Encoding,
    /// Decoded, and how much of it was taken.
    text: Vec<u8>,
    taken: usize,
}

impl<R: Read> Decoder<R> {
    /// Decodes some more; nothing at the end of the file.
    fn fill(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.bytes.by_ref().take(LOOKED_AT as u64).read_to_end(&mut bytes)?;
        let text: String = match self.encoding {
            Encoding::Utf16 { big_endian } => {
                let mut units = units(&bytes, big_endian);
                // The other half of a character.
                if units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
                    let mut pair = Vec::new();
                    self.bytes.by_ref().take(2).read_to_end(&mut pair)?;
                    units.extend(self::units(&pair, big_endian));
                }
                char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
            }
            _ => bytes.iter().map(|&byte| windows(byte)).collect(),
        };
        (self.text, self.taken) = (text.into_bytes(), 0);
        Ok(())
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.text.len() {
            self.fill()?;
        }
        let rest = self.text.get(self.taken..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.taken += count;
        Ok(count)
    }
}

fn units(bytes: &[u8], big_endian: bool) -> Vec<u16> {
    let unit = |pair: &[u8]| match *pair {
        [a, b] if big_endian => u16::from_be_bytes([a, b]),
        [a, b] => u16::from_le_bytes([a, b]),
        // An odd byte at the end of the file.
        _ => 0xfffd,
    };
    bytes.chunks(2).map(unit).collect()
}

fn windows(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::super::contents::{self, Contents};
    use super::*;

    fn read(bytes: &[u8]) -> (String, Vec<&'static str>) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let Contents::Text(source) = contents::open(file.path()).unwrap() else { panic!("no text") };
        let found = source.found.clone();
        let mut text = String::new();
        source.into_text().read_to_string(&mut text).unwrap();
        (text, found)
    }

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn encodings_are_recognised_and_read_to_the_end() {
        // Longer than what is looked at, with a character of two units across every possible border.
        let long: String = (0..40_000).map(|i| format!("{i},é€😀\n")).collect();
        assert_eq!(read(long.as_bytes()), (long.clone(), vec![]));
        let marked = format!("\u{feff}{long}");
        assert_eq!(read(&utf16(&marked, u16::to_le_bytes)), (marked.clone(), vec!["UTF-16"]));
        assert_eq!(read(&utf16(&marked, u16::to_be_bytes)), (marked, vec!["UTF-16"]));
        assert_eq!(read(&utf16("x,y\n1,2\n", u16::to_le_bytes)), ("x,y\n1,2\n".to_owned(), vec!["UTF-16"]));
        assert_eq!(read(b"T \xb0C,\x80,y\n1,2,3\n"), ("T °C,€,y\n1,2,3\n".to_owned(), vec!["Windows-1252"]));
        // What is no character of UTF-8 may be the last byte.
        assert_eq!(read(b"x,y\n1,\xe9"), ("x,y\n1,é".to_owned(), vec!["Windows-1252"]));
        assert_eq!(read(b""), (String::new(), vec![]));
    }

    #[test]
    fn gzip_is_unpacked_and_a_damaged_one_is_an_error() {
        use flate2::{Compression, write::GzEncoder};
        use std::io::Write;
        let pack = |text: &[u8]| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        let packed = pack(&utf16("\u{feff}x,y\n1,2\n", u16::to_le_bytes));
        assert_eq!(read(&packed), ("\u{feff}x,y\n1,2\n".to_owned(), vec!["gzip", "UTF-16"]));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &packed[..packed.len() - 6]).unwrap();
        assert!(matches!(contents::open(file.path()), Err(DataError::Io { .. })));
    }

    #[test]
    fn other_files_are_named() {
        let refused = |bytes: &[u8]| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), bytes).unwrap();
            contents::open(file.path()).err().unwrap().to_string()
        };
        assert!(refused(b"PK\x03\x04....xl/workbook.xml").contains("an Excel workbook; save the sheet as CSV"));
        assert!(refused(b"PK\x03\x04....data.csv").contains("a zip archive"));
        assert!(refused(b"PAREabc").contains("an encrypted Parquet file"));
        assert!(refused(b"PK\x05\x06").contains("an archive without a member"));
    }
}
