//! The files of a project.

use std::path::Path;

use diffgp_train::model_file::ModelFile;

use super::board::{Board, Start};
use super::program::Program;
use crate::shown;

const MANIFEST: &str = include_str!("templates/Cargo.toml.in");
const README: &str = include_str!("templates/README.md.in");

/// A program for a board, and what is around it.
pub(super) struct Project<'a> {
    board: &'static Board,
    file: &'a ModelFile,
    name: &'a str,
    crate_path: &'a Path,
    program: Program,
}

impl<'a> Project<'a> {
    pub(super) fn new(
        board: &'static Board,
        file: &'a ModelFile,
        name: &'a str,
        crate_path: &'a Path,
    ) -> anyhow::Result<Self> {
        Ok(Self { board, file, name, crate_path, program: Program::new(file, board)? })
    }

    /// Their names and contents.
    pub(super) fn files(&self) -> Vec<(&'static str, Vec<u8>)> {
        let text = |name, text: String| (name, text.into_bytes());
        let mut files = vec![
            text("Cargo.toml", self.manifest()),
            text(".cargo/config.toml", self.configuration()),
            text(".gitignore", "/target\n".to_owned()),
            text("build.rs", self.build()),
            text("src/main.rs", self.program.source()),
            text("row.csv", self.program.row()),
            text("README.md", self.readme()),
            ("model.dgp", self.file.bytes().to_vec()),
        ];
        files.extend(self.board.memory.map(|memory| text("memory.x", format!("/* {}. */\n{memory}", self.board.what))));
        files
    }

    /// What is worth to be said.
    pub(super) fn note(&self) -> Option<&'static str> {
        let slow = !self.board.has_fpu && !self.file.model().is_fixed();
        slow.then_some(
            "this core has no floating-point hardware, and the model is in f32: one of `diffgp compress --integers` takes some \
             25 times fewer instructions",
        )
    }

    fn manifest(&self) -> String {
        let dependencies = match self.board.start {
            Start::CortexM => "cortex-m-rt = \"0.7.5\"\n",
            Start::Rp2040 => "cortex-m-rt = \"0.7.5\"\nrp2040-boot2 = \"0.3\"\n",
            Start::RiscV => "riscv-rt = \"0.18\"\n",
            Start::Esp32c3 => {
                "esp-backtrace = { version = \"0.18\", features = [\"esp32c3\", \"panic-handler\", \"println\"] }\n\
                 esp-bootloader-esp-idf = { version = \"0.4\", features = [\"esp32c3\"] }\n\
                 esp-hal = { version = \"1.0\", features = [\"esp32c3\", \"unstable\"] }\n\
                 esp-println = { version = \"0.16\", features = [\"esp32c3\"] }\n"
            }
        };
        // The words of the program go to the emulator, or to a debugger.
        let semihosting = match self.board.start {
            Start::Esp32c3 => "",
            _ => "semihosting = { version = \"0.1.25\", default-features = false, features = [\"stdio\"] }\n",
        };
        let features = self.program.features().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        filled(
            MANIFEST,
            &[
                ("name", self.name),
                ("features", &features),
                ("crate_path", &toml::Value::from(self.crate_path.to_string_lossy().into_owned()).to_string()),
                ("dependencies", &format!("{dependencies}{semihosting}")),
            ],
        )
    }

    fn configuration(&self) -> String {
        let runner: Vec<String> = self.board.runner.iter().map(|word| format!("{word:?}")).collect();
        format!(
            "[build]\ntarget = {:?}\n\n[target.{}]\n# What `cargo run` starts with the program.\nrunner = [{}]\n",
            self.board.target,
            self.board.target,
            runner.join(", ")
        )
    }

    fn build(&self) -> String {
        let arguments: &[&str] = match self.board.start {
            Start::CortexM | Start::Rp2040 => &["-Tlink.x"],
            Start::RiscV => &["-Tmemory.x", "-Tlink.x"],
            Start::Esp32c3 => &["-Tlinkall.x"],
        };
        let mut lines = String::new();
        if self.board.memory.is_some() {
            lines += "    println!(\"cargo::rustc-link-search={}\", env!(\"CARGO_MANIFEST_DIR\"));\n    \
                      println!(\"cargo::rerun-if-changed=memory.x\");\n";
        }
        for argument in arguments {
            lines += &format!("    println!(\"cargo::rustc-link-arg-bins={argument}\");\n");
        }
        format!("//! Tells the linker where things go.\n\nfn main() {{\n{lines}}}\n")
    }

    fn readme(&self) -> String {
        let run = match self.board.start {
            Start::Rp2040 => {
                "This was not run on the chip where it was made. `cargo run` flashes it through a debug probe with `probe-rs run`\n\
                 (`cargo install probe-rs-tools`), which shows what the program prints. Printing goes through semihosting, which\n\
                 stops the core where no debugger listens: take it out of what is to run alone. The second boot stage is that of\n\
                 the Raspberry Pi Pico's flash chip, and `memory.x` has its 2 MiB."
            }
            Start::Esp32c3 => {
                "This was not run on the chip where it was made. `cargo run` flashes it over USB with `espflash`\n\
                 (`cargo install espflash`) and shows what the program prints."
            }
            _ => {
                "`cargo run` starts it under QEMU, which must be installed; it needs no hardware. For a chip, change `memory.x` and\n\
                 the runner in `.cargo/config.toml`, and take out what prints: semihosting stops the core where no debugger\n\
                 listens."
            }
        };
        let memory = "| `memory.x`, `build.rs` | where flash and RAM are, for the linker |\n";
        let note = self.note().map_or_else(String::new, |note| format!("\nTo make it faster: {note}.\n"));
        filled(
            README,
            &[
                ("name", self.name),
                ("what", self.board.what),
                ("target", self.board.target),
                ("run", run),
                ("expected", self.program.expected().trim_end().replace('\n', "\n    ").as_str()),
                ("predict", self.program.commands().join("\n    ").as_str()),
                ("memory_row", if self.board.memory.is_some() { memory } else { "" }),
                ("crate_path", &shown::line(&self.crate_path.display().to_string())),
                ("note", note.trim_end()),
            ],
        )
    }
}

/// A template with its `{places}` filled, in one pass: what is put in is not looked at.
pub(super) fn filled(template: &str, places: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(2 * template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text += before;
        let place = places.iter().find_map(|(name, value)| Some((value, after.strip_prefix(name)?.strip_prefix('}')?)));
        match place {
            Some((value, after)) => {
                text += value;
                rest = after;
            }
            None => {
                text.push('{');
                rest = after;
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn places_are_filled_once() {
        let places = [("a", "{b}"), ("b", "2")];
        assert_eq!(filled("{a} { b } {{b}} {c} {", &places), "{b} { b } {2} {c} {");
    }
}
