//! Inputs that stand for words: which they are, and Rust that feeds a device with them.

use std::fmt::Write;

use diffgp_train::data::{Category, Field, fields};
use serde::Serialize;

use super::summary::InputSummary;
use crate::identifiers::{identifier, identifiers};
use crate::shown;

/// A text column of the data that the model was trained on.
#[derive(Clone, Debug, Serialize)]
pub(super) struct CategorySummary {
    /// The column.
    name: String,
    /// What it may hold.
    words: Vec<String>,
    /// The inputs that stand for it: the place of the first, and how many.
    first_input: usize,
    inputs: usize,
}

/// Those of a model, by the names of its inputs.
pub(super) fn of(inputs: &[InputSummary]) -> Vec<CategorySummary> {
    let names: Option<Vec<String>> = inputs.iter().map(|input| input.name.clone()).collect();
    let mut first_input = 0;
    let mut found = Vec::new();
    for field in fields(&names.unwrap_or_default()) {
        let width = field.width();
        if let Field::Category(Category { name, words }) = field {
            // Somebody else may have given such names to columns of other numbers.
            let are_flags = |input: &InputSummary| input.low >= 0.0 && input.high <= 1.0;
            if inputs[first_input..first_input + width].iter().all(are_flags) {
                found.push(CategorySummary { name, words, first_input, inputs: width });
            }
        }
        first_input += width;
    }
    found
}

/// Rust for all of them.
pub(super) struct Words {
    /// The types of the words.
    pub(super) types: String,
    /// What a function takes, a value or a word for every column, in their order.
    pub(super) arguments: Vec<String>,
    /// The inputs of a model made of words.
    pub(super) of_words: String,
}

/// `values` are the variables of all inputs, and `taken` what no variable can be called.
pub(super) fn rust(categories: &[CategorySummary], values: &[String], taken: &[&str]) -> Words {
    let taken: Vec<&str> = taken.iter().copied().chain(values.iter().map(String::as_str)).collect();
    let variables = identifiers(categories.iter().map(|category| category.name.as_str()), &taken);
    let types = different(categories.iter().map(|category| camel(&category.name)).collect(), "Category");
    let (mut definitions, mut of_words) = (String::new(), String::new());
    let mut arguments: Vec<Option<String>> = values.iter().map(|value| Some(format!("{value}: f32"))).collect();
    for ((category, variable), name) in categories.iter().zip(variables).zip(types) {
        definitions += &category.definition(&name);
        let own = category.first_input..category.first_input + category.inputs;
        let _ = writeln!(of_words, "    let [{}] = {variable}.inputs();", values[own.clone()].join(", "));
        arguments[own.clone()].fill(None);
        arguments[own.start] = Some(format!("{variable}: {name}"));
    }
    Words { types: definitions, arguments: arguments.into_iter().flatten().collect(), of_words }
}

impl CategorySummary {
    fn definition(&self, name: &str) -> String {
        let variants = different(self.words.iter().map(|word| camel(word)).collect(), "Word");
        let listed: String = variants
            .iter()
            .zip(&self.words)
            .map(|(variant, word)| format!("    /// {}\n    {variant},\n", shown::comment(word)))
            .collect();
        let arm = |(place, variant): (usize, &String)| {
            let values: Vec<&str> = (0..self.inputs)
                .map(|input| if place == if self.inputs == 1 { 1 } else { input } { "1.0" } else { "0.0" })
                .collect();
            format!("            Self::{variant} => [{}],\n", values.join(", "))
        };
        let arms: String = variants.iter().enumerate().map(arm).collect();
        format!(
            "/// {}, as the model was trained on it.\n\
             #[derive(Clone, Copy, Debug, PartialEq, Eq)]\n\
             enum {name} {{\n{listed}}}\n\n\
             impl {name} {{\n    \
             const fn inputs(self) -> [f32; {}] {{\n        \
             match self {{\n{arms}        }}\n    }}\n}}\n\n",
            shown::comment(&self.name),
            self.inputs
        )
    }
}

/// `wall clock` as `WallClock`; nothing if it does not begin with a letter.
fn camel(name: &str) -> String {
    let words = identifier(name);
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
    };
    words.split('_').map(capital).collect()
}

/// Numbered where one is empty, is a word of Rust's, or occurs twice.
fn different(names: Vec<String>, instead: &str) -> Vec<String> {
    let will_do =
        |name: &String| !name.is_empty() && name != "Self" && names.iter().filter(|other| *other == name).count() == 1;
    let clashes = names.iter().any(|name| name.starts_with(instead));
    match clashes || !names.iter().all(will_do) {
        true if clashes => (0..names.len()).map(|index| format!("{instead}{index}")).collect(),
        true => names
            .iter()
            .enumerate()
            .map(|(index, name)| if will_do(name) { name.clone() } else { format!("{instead}{index}") })
            .collect(),
        false => names,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_different_variants() {
        let variants = |words: &[&str]| different(words.iter().map(|word| camel(word)).collect(), "Word").join(",");
        assert_eq!(variants(&["red", "wall clock", "x_7"]), "Red,WallClock,X7");
        assert_eq!(variants(&["<=50K", ">50K", "self", "B"]), "Word0,Word1,Word2,B");
        assert_eq!(variants(&["a b", "a_b", "c"]), "Word0,Word1,C");
        assert_eq!(variants(&["word1", "7", "a"]), "Word0,Word1,Word2");
    }
}
