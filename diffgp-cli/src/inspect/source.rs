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
const OWN: [&str; 2] = ["model", "workspace"];

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

/// Rust to paste, with the right constants.
pub(super) fn snippet(name: &str, summary: &Summary) -> String {
    let file = shown::rust_string(name);
    let (inputs, features) = (summary.inputs, summary.features);
    let values = identifiers(summary.input.iter().map(|input| input.name.as_deref().unwrap_or_default()), &taken());
    let (types, of_words) = categories::rust(&summary.categories, &values, &taken());
    let (result, sampled) = match summary.classes.as_ref().map(Vec::len) {
        Some(2) => ("p.probability()", "probability, averaged over the paths"),
        Some(_) => ("p.class()", "probabilities, averaged over the paths"),
        None => ("(p.mean(), p.interval(0.95))", "the spread of the paths is part of its variance"),
    };
    let outputs = if summary.model_outputs > 1 { format!(", {}", summary.model_outputs) } else { String::new() };
    let others = match summary.classes {
        None if summary.model_outputs > 1 => {
            "let result_1 = p.output(1).map(|o| (o.mean(), o.interval(0.95)));  // and so on\n".to_owned()
        }
        _ => String::new(),
    };
    format!(
        "to paste:\n\n\
         use diffgp_infer::{{DefaultRng, Model, Workspace, include_model, keyed_rng}};\n\n\
         static MODEL: &[u8] = include_model!({file});\n\n{types}\
         let model = Model::parse(MODEL)?;                          // borrows from flash\n\
         let mut workspace = Workspace::<{inputs}, {features}{outputs}>::new();  // {} bytes\n\
         {of_words}\
         let x = [{}];\n\
         let p = model.predict(&x, &mut workspace)?;                // along the drift\n\
         let result = {result};\n{others}\
         let mut rng: DefaultRng = keyed_rng(0, 0, 0);              // or a hardware generator\n\
         let p = model.predict_sampled(&x, 32, &mut rng, &mut workspace)?;  // {sampled}\n",
        summary.workspace_bytes,
        values.join(", ")
    )
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
