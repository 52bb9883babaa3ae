//! A model as source code, and code that uses it.

use std::fmt::Write;

use super::summary::Summary;

const BYTES_PER_LINE: usize = 16;

/// Rust's words that a column may well be called.
const KEYWORDS: [&str; 22] = [
    "as", "box", "break", "const", "do", "else", "enum", "final", "fn", "for", "if", "in", "let", "loop", "match",
    "move", "ref", "return", "static", "type", "use", "while",
];

/// An aligned C array.
pub(super) fn c_array(name: &str, bytes: &[u8]) -> String {
    format!(
        "/* {name}, {length} bytes. Made by `diffgp inspect --c-array`. */\n\
         #include <stdint.h>\n\n\
         __attribute__((aligned(4))) const uint8_t diffgp_model[{length}] = {{\n{}}};\n\
         const uint32_t diffgp_model_bytes = {length};\n",
        lines(bytes),
        length = bytes.len()
    )
}

/// An aligned Rust static that needs nothing but `core`.
pub(super) fn rust_static(name: &str, bytes: &[u8]) -> String {
    format!(
        "// {name}, {length} bytes. Made by `diffgp inspect --rust-static`.\n\n\
         #[repr(C, align(4))]\n\
         struct Aligned([u8; {length}]);\n\n\
         static ALIGNED: Aligned = Aligned([\n{}]);\n\n\
         /// The model, for `diffgp_infer::Model::parse`.\n\
         pub static MODEL: &[u8] = &ALIGNED.0;\n",
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
    let (inputs, features) = (summary.inputs, summary.features);
    let values: Vec<String> = summary
        .input
        .iter()
        .enumerate()
        .map(|(index, input)| input.name.as_deref().map_or_else(|| format!("x{index}"), |name| identifier(name, index)))
        .collect();
    let (result, sampled) = if summary.task == "classification" {
        ("p.probability()", "probability, averaged over the paths")
    } else {
        ("(p.mean(), p.interval(0.95))", "the spread of the paths is part of its variance")
    };
    format!(
        "to paste:\n\n\
         use diffgp_infer::{{DefaultRng, Model, Workspace, include_model, keyed_rng}};\n\n\
         static MODEL: &[u8] = include_model!(\"{name}\");\n\n\
         let model = Model::parse(MODEL)?;                          // borrows from flash\n\
         let mut workspace = Workspace::<{inputs}, {features}>::new();  // {} bytes\n\
         let x = [{}];\n\
         let p = model.predict(&x, &mut workspace)?;                // along the drift\n\
         let result = {result};\n\
         let mut rng: DefaultRng = keyed_rng(0, 0, 0);              // or a hardware generator\n\
         let p = model.predict_sampled(&x, 32, &mut rng, &mut workspace)?;  // {sampled}\n",
        summary.workspace_bytes,
        values.join(", ")
    )
}

/// A column's name as a Rust variable.
fn identifier(name: &str, index: usize) -> String {
    let lower: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    match lower.chars().next() {
        // A trailing underscore keeps names such as "type" from being taken for Rust's own words.
        Some(first) if first.is_ascii_alphabetic() && KEYWORDS.contains(&lower.as_str()) => lower + "_",
        Some(first) if first.is_ascii_alphabetic() => lower,
        _ => format!("x{index}"),
    }
}

#[cfg(test)]
mod tests {
    use super::identifier;

    #[test]
    fn column_names_become_variables() {
        for (name, expected) in [("age", "age"), ("Fly ash (kg)", "fly_ash__kg_"), ("type", "type_"), ("7th", "x3")] {
            assert_eq!(identifier(name, 3), expected);
        }
    }
}
