//! The page: its parts in one file.
//!
//! Its modules are hand-written JavaScript in `page/`. In one file they cannot import each other, so each becomes a
//! function whose result is what it exports; what they do is not changed.

use std::fmt::Write;

use diffgp_train::evaluate::Known;
use diffgp_train::model_file::ModelFile;

use super::facts::Facts;

/// The runtime as WebAssembly, built from `diffgp-page`. It is checked in, since a machine that builds this command may
/// lack the target; `cargo xtask test` builds it again and compares the bytes.
pub(super) const RUNTIME: &[u8] = include_bytes!("../../page/runtime.wasm");
const PAGE: &str = include_str!("../../page/page.html");
const STYLE: &str = include_str!("../../page/page.css");

/// The modules and their names, each after those that it imports.
macro_rules! modules {
    ($($name:literal)+) => { [$(($name, include_str!(concat!("../../page/", $name)))),+] };
}

const MODULES: [(&str, &str); 18] = modules! {
    "bytes.js" "numbers.js" "dom.js" "schedule.js" "colours.js" "runtime.js" "state.js" "chart.js" "shown.js" "inputs.js"
    "answer.js" "curve.js" "map.js" "flow.js" "decision.js" "rows.js" "importance.js" "cost.js"
};
const MAIN: (&str, &str) = ("main.js", include_str!("../../page/main.js"));

/// Rows in a page at most, and bytes that they take at most.
const MOST_ROWS: usize = 300;
const MOST_ROW_BYTES: usize = 36 << 10;

/// What a page is about.
pub(crate) struct Page<'a> {
    pub(crate) file: &'a ModelFile,
    pub(crate) name: &'a str,
    pub(crate) rows: Option<Rows<'a>>,
}

/// Rows of which some are shown.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) known: &'a [Known<'a>],
    /// Which rows they are, as a sentence.
    pub(crate) described: &'a str,
}

impl<'a> Rows<'a> {
    /// As many as a page can hold, evenly spread.
    pub(super) fn some(&self) -> impl Iterator<Item = &'a Known<'a>> {
        let row_bytes = self.known.first().map_or(1, |known| 4 * (known.row.x.len() + known.targets.len()));
        let most = MOST_ROWS.min(MOST_ROW_BYTES / row_bytes).max(1);
        self.known.iter().step_by(self.known.len().div_ceil(most).max(1))
    }
}

impl Page<'_> {
    /// The page as it is written.
    pub(crate) fn html(&self) -> anyhow::Result<String> {
        // In a script nothing but `<` could end it or begin a comment.
        let facts = serde_json::to_string(&Facts::new(self))?.replace('<', "\\u003c");
        let mut html = String::with_capacity(facts.len() + (128 << 10));
        let mut rest = PAGE;
        for (mark, part) in [("{{style}}", STYLE), ("{{facts}}", &facts), ("{{script}}", &script()?)] {
            let (before, after) = rest.split_once(mark).expect("the page has a place for each part");
            html.extend([before, part]);
            rest = after;
        }
        html.push_str(rest);
        Ok(html)
    }
}

/// All modules in one script.
fn script() -> anyhow::Result<String> {
    let mut script = String::from("const modules = {};\n");
    for (name, source) in MODULES.into_iter().chain([MAIN]) {
        let (body, exports) = as_function(source);
        write!(script, "modules[\"./{name}\"] = (() => {{\n{body}return {{ {} }};\n}})();\n", exports.join(", "))?;
    }
    Ok(script)
}

/// The body of a function that does what the module does, and the names that it exports.
fn as_function(source: &str) -> (String, Vec<&str>) {
    let (mut body, mut exports) = (String::new(), Vec::new());
    for line in source.lines() {
        if let Some((names, from)) = line.strip_prefix("import ").and_then(|import| import.split_once(" from ")) {
            let _ = writeln!(body, "const {names} = modules[{}];", from.trim_end_matches(';'));
        } else if let Some(declaration) = line.strip_prefix("export ") {
            let mut words = declaration.split([' ', '(']).filter(|word| !word.is_empty());
            exports.extend(words.nth(1));
            let _ = writeln!(body, "{declaration}");
        } else {
            let _ = writeln!(body, "{line}");
        }
    }
    (body, exports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_becomes_a_function() {
        let source =
            "// A comment.\nimport { a, b } from \"./other.js\";\n\nexport const C = a;\nexport function d(e) {\n}\n";
        let (body, exports) = as_function(source);
        assert_eq!(exports, ["C", "d"]);
        assert_eq!(
            body,
            "// A comment.\nconst { a, b } = modules[\"./other.js\"];\n\nconst C = a;\nfunction d(e) {\n}\n"
        );
    }

    #[test]
    fn modules_import_what_stands_before_them_and_say_so_in_one_form() {
        let mut before: Vec<(String, Vec<&str>)> = Vec::new();
        for (name, source) in MODULES.into_iter().chain([MAIN]) {
            for line in source.lines().filter(|line| line.starts_with("import") || line.contains("import(")) {
                let (names, from) = line
                    .strip_prefix("import { ")
                    .and_then(|rest| rest.strip_suffix("\";")?.split_once(" } from \"./"))
                    .unwrap_or_else(|| panic!("{name}: {line}"));
                let (_, exports) = before
                    .iter()
                    .find(|(module, _)| module == from)
                    .unwrap_or_else(|| panic!("{name}: {from} does not stand before it"));
                assert!(names.split(", ").all(|import| exports.contains(&import)), "{name}: {line}");
            }
            let exported = |line: &&str| line.starts_with("export");
            let plain = ["export function ", "export const ", "export class "];
            let other = source.lines().filter(exported).find(|line| !plain.iter().any(|form| line.starts_with(form)));
            assert_eq!(other, None, "{name}");
            assert!(!source.contains("</script") && !source.contains("<!--"), "{name} would end the script");
            before.push((name.to_owned(), as_function(source).1));
        }
    }

    #[test]
    fn every_module_of_the_folder_is_in_the_page() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut there: Vec<String> = files.filter(|name| name.ends_with(".js")).collect();
        let mut known: Vec<&str> = MODULES.into_iter().chain([MAIN]).map(|(name, _)| name).collect();
        there.sort_unstable();
        known.sort_unstable();
        assert_eq!(there, known);
    }
}
