//! The program of a project: its source, and what it prints.

use std::fmt::Write;

use diffgp_infer::{Error, Keyed, Model, Prediction, Workspace};
use diffgp_train::compress::Certificate;
use diffgp_train::model_file::ModelFile;

use super::board::{Board, Start};
use super::project::filled;
use crate::inspect::source;
use crate::predict::cell;
use crate::{model_names, shown};

const MAIN: &str = include_str!("templates/main.rs.in");
/// Sampled paths: few, for cores without floating-point hardware.
const PATHS: u32 = 8;
/// Arrays of more letters take several lines.
const SHORT: usize = 60;
/// Of the interval that is printed, as of `predict`.
const LEVEL: f32 = 0.9;

/// A program that predicts one row.
pub(super) struct Program {
    start: Start,
    inputs: Vec<Input>,
    /// What the answers are called: targets or classes.
    answers: Vec<String>,
    is_classifier: bool,
    has_flow: bool,
    workspace: String,
    workspace_bytes: usize,
    features: Vec<&'static str>,
    expected: String,
}

/// An input, with the value that it has in the row.
struct Input {
    /// As the model has it, if it has one.
    name: Option<String>,
    /// As a variable.
    variable: String,
    value: f32,
    low: f32,
    high: f32,
}

impl Program {
    pub(super) fn new(file: &ModelFile, board: &Board) -> Result<Self, Error> {
        let model = file.model();
        let names = model_names::kept(&model).map(|(inputs, _)| inputs);
        let name = |index: usize| names.as_ref().and_then(|names| names.get(index));
        let variables = source::input_names((0..model.inputs()).map(|index| name(index).map_or("", String::as_str)));
        let inputs = variables.into_iter().enumerate().filter_map(|(index, variable)| {
            let input = model.blob().input(index)?;
            Some(Input { name: name(index).cloned(), variable, value: input.mean, low: input.low, high: input.high })
        });
        let is_classifier = model.is_classifier();
        let answers = if is_classifier { model_names::classes(&model) } else { model_names::targets(&model) };
        let mut program = Self {
            start: board.start,
            inputs: inputs.collect(),
            answers: answers.iter().map(|name| shown::line(name)).collect(),
            is_classifier,
            has_flow: model.steps() > 0,
            workspace: source::workspace(model.inputs(), model.features(), model.outputs()),
            workspace_bytes: 4 * model.workspace_words(),
            features: features(&model, file),
            expected: String::new(),
        };
        program.expected = program.run(&model)?;
        Ok(program)
    }

    /// What it prints, made by the same code as on the device.
    pub(super) fn expected(&self) -> &str {
        &self.expected
    }

    /// Features of the runtime that the model needs.
    pub(super) fn features(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.features.iter().copied()
    }

    /// What gives the same answers on the workstation.
    pub(super) fn commands(&self) -> Vec<String> {
        let header = if self.has_header() { "yes" } else { "no" };
        let predict = format!("diffgp predict model.dgp row.csv --header {header}");
        let sampled = self.has_flow.then(|| format!("{predict} --paths {PATHS} --seed 0"));
        [format!("{predict} --deterministic")].into_iter().chain(sampled).collect()
    }

    /// The row, for `diffgp predict`.
    pub(super) fn row(&self) -> String {
        let names: Vec<String> = self.inputs.iter().filter_map(|input| input.name.as_deref()).map(cell).collect();
        let header = if self.has_header() { names.join(",") + "\n" } else { String::new() };
        let values: Vec<String> = self.inputs.iter().map(|input| format!("{:?}", input.value)).collect();
        format!("{header}{}\n", values.join(","))
    }

    /// Names that a file can hold as they are.
    fn has_header(&self) -> bool {
        self.inputs.iter().all(|input| input.name.as_deref().is_some_and(|name| shown::line(name) == name))
    }

    /// `src/main.rs`.
    pub(super) fn source(&self) -> String {
        let mut inputs = String::new();
        for input in &self.inputs {
            let name = input.name.as_deref().filter(|name| *name != input.variable);
            let name = name.map_or_else(String::new, |name| format!("{}, ", shown::comment(name)));
            let _ = writeln!(
                inputs,
                "    let {} = {:?}; // {name}{:?} to {:?}",
                input.variable, input.value, input.low, input.high
            );
        }
        let names: Vec<&str> = self.inputs.iter().map(|input| input.variable.as_str()).collect();
        let answers: Vec<String> = self.answers.iter().map(|name| shown::rust_string(name)).collect();
        let sampled = format!(
            "\n    // Over sampled paths: slower, and their spread is in the error bar.\n    \
             let p = model.predict_sampled(&x, {PATHS}, &mut Keyed::new(0, 0), &mut workspace)?;\n    \
             show(\"paths\", &p);\n"
        );
        let (list, show) = match self.is_classifier {
            true => (
                "CLASSES",
                "    for (name, probability) in CLASSES.iter().zip(p.probabilities()) {\n        \
                 println!(\"{how}: {name}: probability {probability:?}\");\n    }\n",
            ),
            false => (
                "TARGETS",
                "    for (name, output) in TARGETS.iter().zip(p.outputs()) {\n        \
                 let (mean, deviation) = (output.mean(), output.std_dev());\n        \
                 println!(\"{how}: {name}: mean {mean:?}, deviation {deviation:?}\");\n        \
                 if let Some((low, high)) = output.interval(0.9) {\n            \
                 println!(\"{how}: {name}: 90 % interval {low:?} to {high:?}\");\n        }\n    }\n",
            ),
        };
        let keyed = if self.has_flow { "Keyed, " } else { "" };
        let around = Around::of(self.start);
        filled(
            MAIN,
            &[
                (
                    "uses",
                    &format!(
                        "{}use diffgp_infer::{{Error, {keyed}Model, Prediction, Workspace, include_model}};\n{}",
                        around.uses_before, around.uses
                    ),
                ),
                (
                    "statics",
                    &format!(
                        "/// What the answers are called.\nconst {list}: [&str; {}] = {};\n{}",
                        answers.len(),
                        array(&answers, 0),
                        around.statics
                    ),
                ),
                ("entry", around.entry),
                ("setup", around.setup),
                ("failed", around.failed),
                ("ended", around.ended),
                ("workspace", &self.workspace),
                ("workspace_bytes", &self.workspace_bytes.to_string()),
                ("inputs", &inputs),
                ("names", &array(&names, 1)),
                ("sampled", if self.has_flow { &sampled } else { "" }),
                ("show", show),
                ("panic", around.panic),
            ],
        )
    }

    /// Runs what `source` compiles to.
    fn run(&self, model: &Model<'_>) -> Result<String, Error> {
        let x: Vec<f32> = self.inputs.iter().map(|input| input.value).collect();
        let mut memory = vec![0; model.workspace_words()];
        let mut workspace = Workspace::in_slice(&mut memory);
        let mut text = self.shown("drift", &model.predict(&x, &mut workspace)?);
        if self.has_flow {
            let noise = &mut Keyed::new(0, 0);
            text += &self.shown("paths", &model.predict_sampled(&x, PATHS, noise, &mut workspace)?);
        }
        Ok(text)
    }

    fn shown(&self, how: &str, p: &Prediction<'_>) -> String {
        let mut text = String::new();
        if self.is_classifier {
            for (name, probability) in self.answers.iter().zip(p.probabilities()) {
                let _ = writeln!(text, "{how}: {name}: probability {probability:?}");
            }
        }
        for (name, output) in self.answers.iter().zip(p.outputs()).filter(|_| !self.is_classifier) {
            let _ = writeln!(text, "{how}: {name}: mean {:?}, deviation {:?}", output.mean(), output.std_dev());
            if let Some((low, high)) = output.interval(LEVEL) {
                let _ = writeln!(text, "{how}: {name}: 90 % interval {low:?} to {high:?}");
            }
        }
        if !p.in_range() {
            let _ = writeln!(text, "{how}: outside of what was seen in training");
        }
        text
    }
}

fn features(model: &Model<'_>, file: &ModelFile) -> Vec<&'static str> {
    let (arithmetic, is_compressed) =
        if model.is_fixed() { ("fixed", false) } else { ("single", Certificate::read(file.bytes()).is_some()) };
    let kinds = [
        ("calibration", model.blob().calibration().is_some()),
        ("classes", model.is_classifier()),
        ("integers", is_compressed),
    ];
    [arithmetic].into_iter().chain(kinds.into_iter().filter(|kind| kind.1).map(|(name, _)| name)).collect()
}

/// An array as rustfmt writes it, in so deep a block: in one line if it is short.
fn array(elements: &[impl AsRef<str>], depth: usize) -> String {
    let elements: Vec<&str> = elements.iter().map(AsRef::as_ref).collect();
    let line = format!("[{}]", elements.join(", "));
    if line.len() <= SHORT {
        return line;
    }
    let indent = "    ".repeat(depth);
    let lines: String = elements.iter().map(|element| format!("{indent}    {element},\n")).collect();
    format!("[\n{lines}{indent}]")
}

/// What differs from start-up code to start-up code.
struct Around {
    /// Beside that of the runtime, in the order of the alphabet.
    uses_before: &'static str,
    uses: &'static str,
    statics: &'static str,
    entry: &'static str,
    setup: &'static str,
    failed: &'static str,
    ended: &'static str,
    panic: &'static str,
}

impl Around {
    fn of(start: Start) -> Self {
        let semihosting = Self {
            uses_before: "use core::panic::PanicInfo;\n\n",
            uses: "use semihosting::{println, process};",
            statics: "",
            entry: "#[cortex_m_rt::entry]",
            setup: "",
            failed: "        process::exit(1)\n",
            ended: "    process::exit(0)\n",
            panic: "\n\n#[panic_handler]\nfn panic(info: &PanicInfo<'_>) -> ! {\n    println!(\"{info}\");\n    process::exit(101)\n}",
        };
        match start {
            Start::CortexM => semihosting,
            Start::RiscV => Self { entry: "#[riscv_rt::entry]", ..semihosting },
            Start::Rp2040 => Self {
                statics: "\n/// The second boot stage, for the flash chip of the Raspberry Pi Pico.\n\
                          #[unsafe(link_section = \".boot2\")]\n#[used]\n\
                          static BOOT2: [u8; 256] = rp2040_boot2::BOOT_LOADER_W25Q080;\n",
                ..semihosting
            },
            Start::Esp32c3 => Self {
                uses_before: "",
                uses: "use esp_backtrace as _;\nuse esp_println::println;",
                statics: "\n// What the boot loader reads.\nesp_bootloader_esp_idf::esp_app_desc!();\n",
                entry: "#[esp_hal::main]",
                setup: "    esp_hal::init(esp_hal::Config::default());\n",
                failed: "",
                ended: "    loop {\n        core::hint::spin_loop();\n    }\n",
                panic: "",
            },
        }
    }
}
