//! A folder to run `diffgp` in, so that a test is a few lines.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A fresh folder.
pub(crate) struct Folder {
    directory: tempfile::TempDir,
}

/// What a run of the command left.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Flags that make training short; the result is poor and that is fine. What a test has trained before is replaced.
pub(crate) const QUICK: &str =
    "--force --flow-time 5 --inducing 8 --warm-iterations 12 --iterations 12 --steps 3 --training-steps 3";

/// The same where nothing is replaced.
pub(crate) const SHORT: &str =
    "--flow-time 5 --inducing 8 --warm-iterations 12 --iterations 12 --steps 3 --training-steps 3";

impl Folder {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    /// With `data.csv`: 60 rows of a step in `a` with a slope in `b`, target `y`.
    pub(crate) fn with_data() -> Self {
        let folder = Self::new();
        folder.write("data.csv", csv(60, |a, b| f64::from(a > 0.0) + 0.1 * b));
        folder
    }

    /// With `data.csv` and `model.dgp` trained on it.
    pub(crate) fn with_model() -> Self {
        let folder = Self::with_data();
        folder.run(&format!("train data.csv --target y {QUICK}")).succeeds();
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn read_text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Runs `diffgp` here with arguments separated by blanks.
    pub(crate) fn run(&self, arguments: &str) -> Outcome {
        self.command(arguments).output().unwrap().into()
    }

    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_diffgp"));
        command.args(arguments.split_whitespace()).current_dir(self.directory.path());
        command
    }

    /// Names of the files here, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        names(self.directory.path())
    }
}

/// A CSV file with columns a, b and y(a, b), scattered over a square.
pub(crate) fn csv(rows: usize, y: impl Fn(f64, f64) -> f64) -> String {
    let scattered = |i: usize, k: usize| ((i * 7919 + k * 104_729) % 10_007) as f64 / 10_007.0;
    let rows = (0..rows).map(|i| (4.0 * scattered(i, 1) - 2.0, 2.0 * scattered(i * 31, 2) - 1.0));
    rows.fold("a,b,y\n".to_owned(), |text, (a, b)| format!("{text}{a},{b},{}\n", y(a, b)))
}

pub(crate) fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Outcome {
    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// Exit code 2, nothing on standard output, and one sentence with all of these words.
    #[track_caller]
    pub(crate) fn refused_with(self, words: &[&str]) {
        assert_eq!((self.code, self.stdout.as_str()), (2, ""), "{self:?}");
        for word in words {
            assert!(self.stderr.contains(word), "no {word:?} in {:?}", self.stderr);
        }
        let last = self.stderr.trim_end().lines().last().unwrap_or_default();
        assert!(last.starts_with("error: "), "{:?}", self.stderr);
    }

    /// Standard output as the one JSON object that it must be.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
