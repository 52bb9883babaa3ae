//! A model as source code, and code that uses it.

use std::fmt::Write;

use super::categories;
use super::summary::Summary;
use crate::identifiers::identifiers;
use crate::shown;

const BYTES_PER_LINE: usize = 16;

/// Rust's own words, in use and reserved.
const KEYWORDS: [&str; 51] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// What the printed code calls its own.
const OWN: [&str; 3] = ["model", "workspace", "show"];

/// An aligned Rust static that needs nothing but `core`.
pub(super) fn rust_static(name: &str, bytes: &[u8]) -> String {
    format!(
        "// {}, {length} bytes. Made by `diffgp inspect --rust-static`.\n\n\
         #[repr(C, align(4))]\n\
         struct Aligned([u8; {length}]);\n\n\
         static ALIGNED: Aligned = Aligned([\n{}]);\n\n\
         /// The model, for `diffgp_infer::Model::parse`.\n\
         pub static MODEL: &[u8] = &ALIGNED.0;\n",
        shown::comment(name),
        lines(bytes),
        length = bytes.len()
    )
}

fn lines(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 6);
    for line in bytes.chunks(BYTES_PER_LINE) {
        text.push_str("   ");
        for byte in line {
            let _ = write!(text, " 0x{byte:02x},");
        }
        text.push('\n');
    }
    text
}

/// Rust to paste, with the right constants: items that compile in any file, of a `no_std` program too.
pub(super) fn snippet(name: &str, summary: &Summary) -> String {
    let file = shown::rust_string(name);
    let inputs = input_names(summary.input.iter().map(|input| input.name.as_deref().unwrap_or_default()));
    let words = categories::rust(&summary.categories, &inputs, &taken());
    let (types, arguments, of_words) = (words.types, words.arguments.join(", "), words.of_words);
    let values = inputs.join(", ");
    let (answer, value) = answer(summary.classes.as_ref().map(Vec::len), summary.model_outputs);
    let workspace = workspace(summary.inputs, summary.features, summary.model_outputs);
    let begin = |name: &str| {
        format!(
            "fn {name}({arguments}) -> Result<{answer}, Error> {{\n    \
             let model = Model::parse(MODEL)?;  // checks everything; once, at start-up, is enough\n    \
             let mut workspace = {workspace}::new();  // {} bytes\n    \
             {of_words}    let x = [{values}];\n",
            summary.workspace_bytes
        )
    };
    let drift = format!("{}    let p = model.predict(&x, &mut workspace)?;\n    Ok({value})\n}}\n", begin("predict"));
    let described = described(summary.classes.as_ref().map(Vec::len), summary.model_outputs);
    // Without a flow there is nothing to sample.
    let (imports, how, sampled) = match summary.steps {
        0 => ("Error, Model, Workspace, include_model", "", String::new()),
        _ => (
            "DefaultRng, Error, Model, Workspace, include_model, keyed_rng",
            ", along the drift",
            format!(
                "\n/// The same over 32 sampled paths: slower, and their spread is in the answer.\n\
                 {}    let mut rng: DefaultRng = keyed_rng(0, 0, 0);  // or a hardware generator\n    \
                 let p = model.predict_sampled(&x, 32, &mut rng, &mut workspace)?;\n    Ok({value})\n}}\n",
                begin("predict_sampled")
            ),
        ),
    };
    format!(
        "to paste:\n\n\
         use diffgp_infer::{{{imports}}};\n\n\
         static MODEL: &[u8] = include_model!({file});\n\n{types}\
         /// {described}{how}.\n{drift}{sampled}"
    )
}

/// The type of what a program is told, and the expression that makes it of the prediction `p`.
fn answer(classes: Option<usize>, outputs: usize) -> (String, String) {
    match (classes, outputs) {
        (Some(2), _) => ("Option<f32>".to_owned(), "p.probability()".to_owned()),
        (Some(_), _) => ("Option<usize>".to_owned(), "p.class()".to_owned()),
        (None, 1) => ("(f32, Option<(f32, f32)>)".to_owned(), "(p.mean(), p.interval(0.95))".to_owned()),
        (None, outputs) => (
            format!("[Option<(f32, f32)>; {outputs}]"),
            "core::array::from_fn(|i| p.output(i).map(|o| (o.mean(), o.std_dev())))".to_owned(),
        ),
    }
}

/// The same in words.
fn described(classes: Option<usize>, outputs: usize) -> &'static str {
    match (classes, outputs) {
        (Some(2), _) => "The probability of the second class",
        (Some(_), _) => "The most probable class, counted from 0",
        (None, 1) => "Mean and 95 % interval",
        (None, _) => "Mean and standard deviation of every target",
    }
}

/// The type of the memory that a model needs.
pub(crate) fn workspace(inputs: usize, features: usize, outputs: usize) -> String {
    let outputs = if outputs > 1 { format!(", {outputs}") } else { String::new() };
    format!("Workspace::<{inputs}, {features}{outputs}>")
}

/// The names of a model's inputs as variables of Rust.
pub(crate) fn input_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    identifiers(names, &taken())
}

/// What no variable can be called.
fn taken() -> Vec<&'static str> {
    KEYWORDS.iter().chain(&OWN).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::taken;
    use crate::identifiers::identifiers;

    #[test]
    fn column_names_become_different_variables() {
        for (names, expected) in [
            ("age,Fly ash (kg),x7,x", "age,fly_ash__kg_,x7,x"),
            ("T+,T-,b", "x0,x1,b"),
            ("type,model,workspace,Self,gen", "x0,x1,x2,x3,x4"),
            ("7th,,\u{e4},a", "x0,x1,x2,a"),
            ("x1,2nd,x0", "x0,x1,x2"),
        ] {
            assert_eq!(identifiers(names.split(','), &taken()).join(","), expected, "{names}");
        }
    }
}
