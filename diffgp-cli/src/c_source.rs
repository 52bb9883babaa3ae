//! A model as C: an aligned array, its header, and a program that uses it.

use std::fmt::Write;

use diffgp_infer::{Likelihood, Model};

use crate::{identifiers, shown};

const BYTES_PER_LINE: usize = 16;

/// Words of C and C++ that a name cannot be, and those of the program.
const TAKEN: [&str; 58] = [
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "explicit",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "operator",
    "private",
    "protected",
    "public",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "main",
    "model",
    "workspace",
];

/// A model and the name that its array and its macros begin with.
pub(crate) struct CSource<'a> {
    /// Of the model file, as it stands in comments.
    file: String,
    stem: String,
    bytes: &'a [u8],
    model: Model<'a>,
}

impl<'a> CSource<'a> {
    pub(crate) fn new(file: &str, bytes: &'a [u8], model: Model<'a>) -> Self {
        let stem = identifiers::identifier(file.strip_suffix(".dgp").unwrap_or(file));
        let stem = if stem.is_empty() || TAKEN.contains(&stem.as_str()) { "model".to_owned() } else { stem };
        Self { file: shown::comment(file), stem, bytes, model }
    }

    /// What the files are called, without their endings.
    pub(crate) fn stem(&self) -> &str {
        &self.stem
    }

    /// The array: `NAME.c`.
    pub(crate) fn array(&self) -> String {
        let (stem, upper) = (&self.stem, self.stem.to_uppercase());
        let mut text = format!(
            "/* {}, {} bytes. Made by `diffgp`. */\n#include \"{stem}.h\"\n\n\
             /* Read in place, as words: aligned to 4 bytes. */\n\
             #if defined(__GNUC__) || defined(__clang__)\n__attribute__((aligned(4)))\n\
             #elif defined(_MSC_VER)\n__declspec(align(4))\n\
             #elif defined(__ICCARM__)\n#pragma data_alignment = 4\n\
             #endif\n\
             const uint8_t {stem}_data[{upper}_DATA_BYTES] = {{\n",
            self.file,
            self.bytes.len()
        );
        for line in self.bytes.chunks(BYTES_PER_LINE) {
            text.push_str("   ");
            for byte in line {
                let _ = write!(text, " 0x{byte:02x},");
            }
            text.push('\n');
        }
        text + "};\n"
    }

    /// Sizes as macros, and the array's declaration: `NAME.h`.
    pub(crate) fn header(&self) -> String {
        let (stem, upper, model) = (&self.stem, self.stem.to_uppercase(), &self.model);
        let (d, m, o) = (model.inputs(), model.features(), model.outputs());
        let mut text = format!(
            "/* {}. Made by `diffgp`. */\n#ifndef {upper}_DGP_H\n#define {upper}_DGP_H\n\n\
             #include \"diffgp.h\"\n\n\
             #define {upper}_DATA_BYTES {}\n\
             /* Values of an input, inducing points, outputs, classes. */\n\
             #define {upper}_INPUTS {d}\n#define {upper}_FEATURES {m}\n#define {upper}_OUTPUTS {o}\n\
             #define {upper}_CLASSES {}\n\
             #define {upper}_WORKSPACE_WORDS DIFFGP_WORKSPACE_WORDS({d}, {m}, {o})\n\n\
             /* The inputs in their order. */\n",
            self.file,
            self.bytes.len(),
            model.classes()
        );
        for (index, name) in self.input_names().iter().enumerate() {
            let _ = writeln!(text, "#define {upper}_INPUT_{} {index}", name.to_uppercase());
        }
        let _ = write!(
            text,
            "\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\
             extern const uint8_t {stem}_data[{upper}_DATA_BYTES];\n\
             #ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
        );
        text
    }

    /// A program that predicts in the middle of the ranges seen in training: `main.c`.
    pub(crate) fn program(&self) -> String {
        let (stem, upper, model) = (&self.stem, self.stem.to_uppercase(), &self.model);
        let mut values = String::new();
        for (index, name) in self.input_names().iter().enumerate() {
            let (low, high) = model.blob().input(index).map_or((0.0, 0.0), |input| (input.low, input.high));
            let middle = 0.5 * (f64::from(low) + f64::from(high));
            let _ = writeln!(values, "    float {name} = {middle:?}f; /* {low:?} to {high:?} */");
        }
        let names = self.input_names().join(", ");
        let answer = match model.likelihood() {
            Likelihood::Gaussian => {
                "    float low, high;\n    \
                 for (size_t i = 0; i < @_OUTPUTS; ++i) {\n        \
                 diffgp_output output;\n        \
                 if (diffgp_get_output(&p, i, &output) == DIFFGP_OK\n            \
                 && diffgp_get_interval(&p, i, 0.9f, &low, &high) == DIFFGP_OK)\n            \
                 printf(\"%.9g +- %.9g, 90 %%: %.9g to %.9g\\n\", output.mean, output.std_dev, low, high);\n    }\n"
            }
            _ => {
                "    float probabilities[@_CLASSES];\n    size_t best;\n    \
                 if (diffgp_get_class(&p, &best) == DIFFGP_OK\n        \
                 && diffgp_get_probabilities(&p, probabilities, @_CLASSES) == DIFFGP_OK)\n        \
                 printf(\"class %u, probability %.9g\\n\", (unsigned)best, probabilities[best]);\n"
            }
        };
        format!(
            "/* Predicts with {file}: link it with {stem}.c and libdiffgp.a. Made by `diffgp export --c`. */\n\
             #include \"{stem}.h\"\n\n#include <stdio.h>\n\n\
             static diffgp_model model;\n\
             static uint32_t workspace[{upper}_WORKSPACE_WORDS];\n\n\
             int main(void)\n{{\n\
             {values}\
             \x20   float x[{upper}_INPUTS] = {{{names}}};\n\
             \x20   diffgp_noise noise = {{0}};\n\
             \x20   diffgp_prediction p;\n\n\
             \x20   diffgp_status status = diffgp_parse(&model, {stem}_data, sizeof {stem}_data);\n\
             \x20   if (status == DIFFGP_OK)\n\
             \x20       status = diffgp_predict_sampled(&model, x, {upper}_INPUTS, 32, &noise, workspace, sizeof workspace, &p);\n\
             \x20   if (status != DIFFGP_OK) {{\n\
             \x20       printf(\"%s\\n\", diffgp_status_text(status));\n\
             \x20       return 1;\n\
             \x20   }}\n\
             {}\
             \x20   if (p.out_of_range != 0)\n\
             \x20       printf(\"outside of what was seen in training\\n\");\n\
             \x20   return 0;\n}}\n",
            answer.replace('@', &upper),
            file = self.file,
        )
    }

    /// The inputs' names as variables of C.
    fn input_names(&self) -> Vec<String> {
        let mut names = self.model.blob().names();
        let names = (0..self.model.inputs()).map(|_| names.next().unwrap_or_default());
        let own = ["x", "p", "noise", "status", "low", "high", "best", "probabilities", "output", "i"];
        let taken: Vec<&str> = TAKEN.iter().chain(&own).copied().collect();
        identifiers::identifiers(names, &taken)
    }
}
