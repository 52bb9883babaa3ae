//! What made a model, beside the data and the options: the program, its recipe, and the processor.

use serde::{Deserialize, Serialize};

/// The way of training, as a number: raised whenever the same data and options give another model file than before, so that
/// checkpoints and results of before are not taken for those of now. `tests/recipe.rs` notices when that was forgotten.
pub const RECIPE: u64 = 6;

/// Where a model, or a result, comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The version of diffgp.
    pub version: String,
    /// Its [`RECIPE`].
    pub recipe: u64,
    /// The processor's name, or `unknown`.
    pub processor: String,
    /// The architecture and its vector instructions, as in `x86_64 V3`: with others, sums are rounded otherwise and the
    /// model's bytes differ.
    pub instruction_set: String,
}

impl Provenance {
    /// This program on this machine.
    pub fn here() -> Self {
        // Linux alone says it in a file.
        let described = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            recipe: RECIPE,
            processor: model_name(&described).unwrap_or("unknown").to_owned(),
            instruction_set: instruction_set(),
        }
    }
}

/// What the arithmetic uses here.
fn instruction_set() -> String {
    let vectors = format!("{:?}", pulp::Arch::new());
    // The variants hold tokens, which say nothing more.
    format!("{} {}", std::env::consts::ARCH, vectors.split('(').next().unwrap_or_default())
}

/// The name of the first processor in the text of `/proc/cpuinfo`.
fn model_name(described: &str) -> Option<&str> {
    let values = described.lines().filter_map(|line| line.split_once(':'));
    values.into_iter().find(|(key, _)| key.trim() == "model name").map(|(_, name)| name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_have_the_name_that_linux_gives_them() {
        let described =
            "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC: 9B14\nstepping\t: 1\n\nmodel name\t: other\n";
        assert_eq!(model_name(described), Some("AMD EPYC: 9B14"));
        assert_eq!(model_name("processor : 0\nFeatures : fp asimd\n"), None);
        assert_eq!(model_name(""), None);
    }

    #[test]
    fn the_instruction_set_is_two_words() {
        let words: Vec<String> = Provenance::here().instruction_set.split(' ').map(str::to_owned).collect();
        assert_eq!((words.len(), words[0].as_str()), (2, std::env::consts::ARCH), "{words:?}");
        assert!(words[1].chars().all(|letter| letter.is_ascii_alphanumeric()), "{words:?}");
    }
}
