//! Zip archives, as `numpy.savez` writes them: members that are stored or deflated, with 64-bit lengths where it needs them.
//!
//! The crates for this bring every kind of compression and encryption; arrays need a directory and flate2. Nothing that an
//! archive says is believed: offsets and lengths are held against the file, and there are at most [`MAX_MEMBERS`].

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};
use flate2::read::DeflateDecoder;

/// Members at most.
const MAX_MEMBERS: usize = 1024;
/// Bytes of the directory at most.
const MAX_DIRECTORY: u64 = 1 << 20;
/// The last record of an archive, without its comment.
const END: usize = 22;
/// In place of lengths that stand in a 64-bit field.
const ELSEWHERE: u64 = u32::MAX as u64;

static CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC);

/// An open archive.
#[derive(Debug)]
pub(super) struct Archive {
    file: Arc<File>,
    length: u64,
    members: Vec<Member>,
}

/// A file in an archive.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: String,
    /// Unpacked.
    pub(super) size: u64,
    packed: u64,
    method: u16,
    flags: u16,
    crc: u32,
    /// Where its own header is.
    header: u64,
}

/// What is wrong with an archive, or with arrays.
pub(super) fn refused(problem: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem.into())
}

impl Archive {
    /// Reads the directory.
    pub(super) fn open(mut file: File) -> io::Result<Self> {
        let length = file.seek(SeekFrom::End(0))?;
        let (entries, size, start) = directory(&mut file, length)?;
        if size > MAX_DIRECTORY || start.checked_add(size).is_none_or(|end| end > length) {
            return Err(refused("the directory of the archive is damaged; it does not lie in the file"));
        }
        let mut bytes = vec![0; size as usize];
        read_at(&mut file, start, &mut bytes)?;
        let (mut rest, mut members) = (bytes.as_slice(), Vec::new());
        for _ in 0..entries {
            if members.len() == MAX_MEMBERS {
                return Err(refused(format!("holds more than {MAX_MEMBERS} arrays; expected fewer")));
            }
            let member;
            (member, rest) = entry(rest).ok_or_else(|| refused("the directory of the archive is damaged"))?;
            members.push(member);
        }
        Ok(Self { file: Arc::new(file), length, members })
    }

    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// The bytes of a member, as long as it says and with its checksum, or an error when they are read to their end.
    pub(super) fn read(&self, member: &Member) -> io::Result<Box<dyn Read + Send>> {
        let section = self.section(member)?;
        Ok(match member.is_stored() {
            true => Box::new(Checked::new(section, member)),
            false => Box::new(Checked::new(DeflateDecoder::new(section), member)),
        })
    }

    /// Where the bytes of a member are in the file, packed if they are packed.
    pub(super) fn section(&self, member: &Member) -> io::Result<Section> {
        let name = &member.name;
        match member.method {
            _ if member.flags & 1 != 0 => return Err(refused(format!("{name} is encrypted; expected plain arrays"))),
            0 if member.size == member.packed => {}
            8 => {}
            0 => return Err(refused(format!("the lengths of {name} are damaged"))),
            _ => return Err(refused(format!("{name} is packed in an unusual way; expected what numpy.savez writes"))),
        }
        let mut header = [0; 30];
        let damaged = || refused(format!("{name} does not lie in the file; was the archive cut short?"));
        if member.header.checked_add(30).is_none_or(|end| end > self.length) {
            return Err(damaged());
        }
        read_at(&mut &*self.file, member.header, &mut header)?;
        let lengths = u64::from(two(&header, 26).unwrap_or(0)) + u64::from(two(&header, 28).unwrap_or(0));
        let start = member.header + 30 + lengths;
        let end = start.checked_add(member.packed).filter(|&end| end <= self.length);
        if !header.starts_with(b"PK\x03\x04") {
            return Err(damaged());
        }
        Ok(Section { file: Arc::clone(&self.file), start, at: start, end: end.ok_or_else(damaged)? })
    }
}

impl Member {
    /// Whether its bytes are in the file as they are.
    pub(super) fn is_stored(&self) -> bool {
        self.method == 0
    }
}

/// How many entries the directory has, its length and where it is.
fn directory(file: &mut File, length: u64) -> io::Result<(u64, u64, u64)> {
    let mut tail = vec![0; length.min((END + usize::from(u16::MAX)) as u64) as usize];
    let tail_start = length - tail.len() as u64;
    read_at(file, tail_start, &mut tail)?;
    let is_end = |&at: &usize| {
        tail[at..].starts_with(b"PK\x05\x06")
            && two(&tail, at + 20).is_some_and(|comment| at + END + usize::from(comment) == tail.len())
    };
    let end = (0..tail.len().saturating_sub(END - 1)).rev().find(is_end);
    let at = end.ok_or_else(|| refused("the archive has no directory; was it cut short?"))?;
    let of = |field: Option<u64>| field.ok_or_else(|| refused("the directory of the archive is damaged"));
    let entries = of(two(&tail, at + 10).map(u64::from))?;
    let (size, start) = (of(four(&tail, at + 12).map(u64::from))?, of(four(&tail, at + 16).map(u64::from))?);
    let locator = at.checked_sub(20).filter(|&at| tail[at..].starts_with(b"PK\x06\x07"));
    let Some(locator) = locator else { return Ok((entries, size, start)) };
    let large = of(eight(&tail, locator + 8).filter(|&at| at.checked_add(56).is_some_and(|end| end <= length)))?;
    let mut record = [0; 56];
    read_at(file, large, &mut record)?;
    if !record.starts_with(b"PK\x06\x06") {
        return Err(refused("the directory of the archive is damaged"));
    }
    Ok((of(eight(&record, 32))?, of(eight(&record, 40))?, of(eight(&record, 48))?))
}

/// The first entry of the directory, and the rest.
fn entry(bytes: &[u8]) -> Option<(Member, &[u8])> {
    let fixed = bytes.get(..46).filter(|bytes| bytes.starts_with(b"PK\x01\x02"))?;
    let length = |at| two(fixed, at).map(usize::from);
    let (name, rest) = bytes[46..].split_at_checked(length(28)?)?;
    let (mut extra, rest) = rest.split_at_checked(length(30)?)?;
    let (_, rest) = rest.split_at_checked(length(32)?)?;
    let [mut packed, mut size, mut header] = [20, 24, 42].map(|at| four(fixed, at).map_or(0, u64::from));
    while let (Some(kind), Some(length)) = (two(extra, 0), two(extra, 2)) {
        let (field, after) = extra.get(4..)?.split_at_checked(usize::from(length))?;
        if kind == 1 {
            let mut large = field.chunks_exact(8).map(|bytes| eight(bytes, 0));
            for value in [&mut size, &mut packed, &mut header] {
                if *value == ELSEWHERE {
                    *value = large.next()??;
                }
            }
        }
        extra = after;
    }
    let name = String::from_utf8_lossy(name).into_owned();
    let (method, flags, crc) = (two(fixed, 10)?, two(fixed, 8)?, four(fixed, 16)?);
    Some((Member { name, size, packed, method, flags, crc, header }, rest))
}

fn read_at<F: Read + Seek>(file: &mut F, at: u64, bytes: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

fn two(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn four(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn eight(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// A part of a file that others read, too.
#[derive(Debug)]
pub(super) struct Section {
    file: Arc<File>,
    start: u64,
    at: u64,
    end: u64,
}

impl Section {
    /// All of a file.
    pub(super) fn of(file: File, length: u64) -> Self {
        Self { file: Arc::new(file), start: 0, at: 0, end: length }
    }

    /// Goes to so many bytes from its start.
    pub(super) fn go_to(&mut self, offset: u64) {
        self.at = self.start.saturating_add(offset).min(self.end);
    }
}

impl Read for Section {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(buffer.len());
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(self.at))?;
        let read = file.read(&mut buffer[..most])?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Unpacked bytes of a member; whether they are those that were packed is known at their end.
struct Checked<R> {
    bytes: R,
    digest: Option<Digest<'static, u32, Table<16>>>,
    left: u64,
    crc: u32,
    name: String,
}

impl<R: Read> Checked<R> {
    fn new(bytes: R, member: &Member) -> Self {
        Self { bytes, digest: Some(CRC.digest()), left: member.size, crc: member.crc, name: member.name.clone() }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            let same = self.digest.take().is_none_or(|digest| digest.finalize() == self.crc);
            return match self.left == 0 && same {
                true => Ok(0),
                false => Err(refused(format!("{} is damaged: its checksum is another one", self.name))),
            };
        }
        if let Some(digest) = &mut self.digest {
            digest.update(&buffer[..read]);
        }
        let left = self.left.checked_sub(read as u64);
        self.left = left.ok_or_else(|| refused(format!("{} is damaged: it is longer than it says", self.name)))?;
        Ok(read)
    }
}
