//! Checkpoints: a run between two iterations, in one file that is either complete or not there.
//!
//! Layout, little-endian: magic `DGPC`, version u32, length of the payload u64, payload (postcard), CRC-32 of all before
//! it. Written beside, synchronised, renamed. Going on from a checkpoint gives, to the byte, what an undisturbed run
//! gives. That needs the same data, configuration and version, so those of the run are inside, and others are refused. It
//! also needs the same instruction set; with another the run goes on, and the observer hears of it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crc::{CRC_32_ISO_HDLC, Crc};
use serde::{Deserialize, Serialize};

use crate::data::Dataset;
use crate::own_file;
use crate::provenance::Provenance;
use crate::train::{Config, Run, plan_for};

const MAGIC: &[u8; 4] = b"DGPC";
/// Raised whenever [`Checkpoint`] or anything in it changes.
const VERSION: u32 = 10;
const HEADER: usize = 16;
const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// A run from which training can go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    provenance: Provenance,
    config: u64,
    data: u64,
    pub(crate) run: Run,
}

/// A checkpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not a checkpoint, not a whole one, or not of this version.
    #[error("{}: not a checkpoint to go on from ({problem}); start the run anew", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Written by another version of the program.
    #[error("the checkpoint was written by diffgp {found}, this is {expected}: go on with that version or start anew")]
    OtherVersion {
        /// The version that wrote it.
        found: String,
        /// This version.
        expected: String,
    },
    /// Made from other rows.
    #[error("the checkpoint was made with other training data; go on with the same rows or start anew")]
    OtherData,
    /// Made with other settings.
    #[error("the checkpoint was made with other settings; go on with the same configuration or start anew")]
    OtherConfig,
    /// Changed by a hand that repaired the checksum, or by a fault before it was written.
    #[error("the checkpoint holds what no run leaves ({problem}); start the run anew")]
    Impossible {
        /// Which part cannot be.
        problem: &'static str,
    },
}

impl Checkpoint {
    pub(crate) fn new((data, rows): (u64, usize), config: &Config, run: Run) -> Self {
        Self { provenance: Provenance::here(), config: config.fingerprint(rows), data, run }
    }

    /// Writes the file so that it is never there in part: beside, synchronised, renamed.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".partial");
        let beside = path.with_file_name(name);
        let written = own_file::create(&beside).and_then(|mut file| {
            file.write_all(&self.to_bytes())?;
            file.sync_all()?;
            fs::rename(&beside, path)
        });
        if written.is_err() {
            // On a full disk, what is left of it is in the way of everything else.
            let _ = fs::remove_file(&beside);
            return written;
        }
        // The rename itself must survive a power cut; not every system lets a directory be opened.
        if let Some(Ok(directory)) = path
            .parent()
            .map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
            .map(fs::File::open)
        {
            directory.sync_all()?;
        }
        Ok(())
    }

    /// Reads a file that `write` has written: a regular file of that very name.
    pub fn read(path: &Path) -> Result<Self, CheckpointError> {
        let bytes = own_file::read(path).map_err(|source| CheckpointError::Io { path: path.to_owned(), source })?;
        Self::from_bytes(&bytes).map_err(|problem| CheckpointError::Damaged { path: path.to_owned(), problem })
    }

    /// Refuses a checkpoint of another version, other data or other settings.
    pub fn check(&self, data: &Dataset, config: &Config) -> Result<(), CheckpointError> {
        let (found, expected) = (self.provenance.version.clone(), Provenance::here().version);
        if found != expected {
            return Err(CheckpointError::OtherVersion { found, expected });
        }
        if self.data != data.fingerprint() {
            return Err(CheckpointError::OtherData);
        }
        if self.config != config.fingerprint(data.rows()) {
            return Err(CheckpointError::OtherConfig);
        }
        // Settings decide the plan.
        match self.run.plan == plan_for(data, config) {
            true => Ok(()),
            false => Err(CheckpointError::Impossible { problem: "its plan" }),
        }
    }

    /// What wrote it, and where.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// The stage of the plan that the run was in, and the iteration to be done next, both from 0.
    pub fn place(&self) -> (usize, u64) {
        (self.run.stage(), self.run.climb.as_ref().map_or(0, |climb| climb.iteration))
    }

    /// What the checksum protects.
    pub(crate) fn payload(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a checkpoint is plain data")
    }

    pub(crate) fn of_payload(payload: &[u8]) -> Result<Self, &'static str> {
        postcard::from_bytes(payload).map_err(|_| "unreadable content")
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let payload = self.payload();
        let mut bytes = Vec::with_capacity(HEADER + payload.len() + 4);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&payload);
        let checksum = CRC.checksum(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// The checkpoint that a file's bytes are, or what is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, &'static str> {
        let (content, checksum) = bytes.split_last_chunk::<4>().ok_or("too short")?;
        let (header, payload) = content.split_first_chunk::<HEADER>().ok_or("too short")?;
        if header[..4] != MAGIC[..] {
            return Err("wrong magic number");
        }
        if header[4..8] != VERSION.to_le_bytes() {
            return Err("another version of diffgp wrote it");
        }
        if header[8..] != (payload.len() as u64).to_le_bytes() {
            return Err("wrong length");
        }
        if CRC.checksum(content) != u32::from_le_bytes(*checksum) {
            return Err("wrong checksum");
        }
        Self::of_payload(payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::plan;
    use crate::train::{Observer, Task, Warning, resume, train};

    fn example() -> (Dataset, Config, Checkpoint) {
        let data = Dataset::new(vec![1.0, 2.0], vec![0.0, 1.0], 1).unwrap();
        let config = Config::for_rows(2, Task::Regression);
        let checkpoint = Checkpoint::new((data.fingerprint(), data.rows()), &config, Run::new(plan(2, &config)));
        (data, config, checkpoint)
    }

    #[test]
    fn written_and_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.ckpt");
        let (data, config, checkpoint) = example();
        checkpoint.write(&path).unwrap();
        checkpoint.write(&path).unwrap();
        let back = Checkpoint::read(&path).unwrap();
        assert_eq!(back, checkpoint);
        back.check(&data, &config).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn what_stands_in_its_place_is_replaced_and_not_written_through() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.ckpt");
        let data = directory.path().join("data.csv");
        fs::write(&data, "precious").unwrap();
        let (.., checkpoint) = example();
        for name in ["run.ckpt", "run.ckpt.partial"] {
            std::os::unix::fs::symlink("data.csv", directory.path().join(name)).unwrap();
            checkpoint.write(&path).unwrap();
            assert_eq!(Checkpoint::read(&path).unwrap(), checkpoint);
            assert_eq!(fs::read_to_string(&data).unwrap(), "precious", "{name}");
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn damage_is_noticed_wherever_it_is() {
        let (.., checkpoint) = example();
        let bytes = checkpoint.to_bytes();
        for at in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(Checkpoint::from_bytes(&damaged).is_err(), "byte {at}");
        }
        for length in [0, 3, 19, bytes.len() - 1] {
            assert!(Checkpoint::from_bytes(&bytes[..length]).is_err());
        }
        let missing = Checkpoint::read(Path::new("/nonexistent.ckpt"));
        assert!(matches!(missing, Err(CheckpointError::Io { .. })));
    }

    #[test]
    fn another_version_is_refused() {
        let (.., checkpoint) = example();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.ckpt");
        let mut bytes = checkpoint.to_bytes();
        bytes.truncate(bytes.len() - 4);
        bytes[4..8].copy_from_slice(&2_u32.to_le_bytes());
        let checksum = CRC.checksum(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        fs::write(&path, bytes).unwrap();
        let refused = Checkpoint::read(&path).unwrap_err().to_string();
        assert!(refused.ends_with("(another version of diffgp wrote it); start the run anew"), "{refused}");
    }

    #[test]
    fn other_data_or_settings_are_refused() {
        let (data, config, checkpoint) = example();
        let other = Dataset::new(vec![1.0, 2.5], vec![0.0, 1.0], 1).unwrap();
        assert!(matches!(checkpoint.check(&other, &config), Err(CheckpointError::OtherData)));
        let reseeded = Config { seed: 9, ..config.clone() };
        assert!(matches!(checkpoint.check(&data, &reseeded), Err(CheckpointError::OtherConfig)));
        let threaded = Config { threads: 9, ..config };
        checkpoint.check(&data, &threaded).unwrap();
    }

    /// Stops at once, keeps the checkpoint that leaves, and what it was warned of.
    #[derive(Default)]
    struct Stopper {
        stops: bool,
        checkpoint: Option<Checkpoint>,
        warnings: Vec<Warning>,
    }

    impl Observer for Stopper {
        fn should_stop(&mut self) -> bool {
            self.stops
        }

        fn checkpoint(&mut self, checkpoint: &Checkpoint) -> io::Result<()> {
            self.checkpoint = Some(checkpoint.clone());
            Ok(())
        }

        fn warning(&mut self, warning: &Warning) {
            self.warnings.push(warning.clone());
        }
    }

    #[test]
    fn another_instruction_set_is_told_and_another_version_refused() {
        let data =
            Dataset::new((0..50).map(|i| i as f32).collect(), (0..50).map(|i| (i % 7) as f32).collect(), 1).unwrap();
        let mut config = Config::for_rows(50, Task::Regression);
        (config.predictor.inducing, config.predictor.most_inducing) = (5, 5);
        (config.flow.time, config.no_flow.iterations) = (0.0, 3);
        let mut stopper = Stopper { stops: true, ..Stopper::default() };
        train(&data, &config, &mut stopper).unwrap_err();
        let checkpoint = stopper.checkpoint.unwrap();
        let go_on = |checkpoint: &Checkpoint| {
            let mut observer = Stopper::default();
            resume(&data, &config, checkpoint.clone(), &mut observer).map(|trained| (trained, observer.warnings))
        };
        let (undisturbed, warnings) = go_on(&checkpoint).unwrap();
        assert!(!warnings.iter().any(|warning| matches!(warning, Warning::OtherInstructionSet { .. })), "{warnings:?}");

        let mut elsewhere = checkpoint.clone();
        elsewhere.provenance.processor = "another".to_owned();
        assert_eq!(go_on(&elsewhere).unwrap(), (undisturbed, warnings));
        elsewhere.provenance.instruction_set = "pdp11 Scalar".to_owned();
        let (_, warnings) = go_on(&elsewhere).unwrap();
        let here = &checkpoint.provenance.instruction_set;
        let expected = Warning::OtherInstructionSet { found: "pdp11 Scalar".to_owned(), here: here.clone() };
        assert_eq!(warnings.iter().filter(|&warning| *warning == expected).count(), 1, "{warnings:?}");
        let text = expected.to_string();
        assert!(text.contains("pdp11 Scalar") && text.contains(here) && text.contains("byte for byte"), "{text}");

        let mut older = checkpoint;
        older.provenance.version = "0.0.9".to_owned();
        let refused = older.check(&data, &config).unwrap_err().to_string();
        assert!(refused.contains("diffgp 0.0.9"), "{refused}");
    }
}
