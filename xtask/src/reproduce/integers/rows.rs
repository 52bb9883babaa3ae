//! Held-out rows of a file with a header, numbers and the target in the last column. The trainer reads any file; it is not
//! linked here, because every `cargo xtask` would build it first.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// A row as it is in the file.
pub(super) struct Row {
    pub(super) inputs: Vec<f32>,
    pub(super) target: String,
}

/// The rows on the first line of the list.
pub(super) fn held_out(data: &Path, list: &Path, inputs: usize) -> Result<Vec<Row>> {
    let text = fs::read_to_string(data).with_context(|| format!("cannot read {}", data.display()))?;
    let lines: Vec<&str> = text.lines().skip(1).collect();
    let list = fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
    let first = list.lines().next().context("no line of held-out rows")?;
    first
        .split_whitespace()
        .map(|index| {
            let line = lines.get(index.parse::<usize>()?).with_context(|| format!("no row {index}"))?;
            row(line, inputs)
        })
        .collect()
}

fn row(line: &str, inputs: usize) -> Result<Row> {
    let (numbers, target) = line.rsplit_once(',').with_context(|| format!("one column: {line}"))?;
    let row: Vec<f32> = numbers.split(',').map(str::parse).collect::<Result<_, _>>().context("not a number")?;
    ensure!(row.len() == inputs, "{} numbers for {inputs} inputs: {line}", row.len());
    Ok(Row { inputs: row, target: target.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn the_target_is_what_stands_last() {
        let row = row("1,2.5,-3,grey_soil", 3).unwrap();
        assert_eq!((row.inputs, row.target.as_str()), (vec![1.0, 2.5, -3.0], "grey_soil"));
        assert!(super::row("1,2,3", 3).is_err());
        assert!(super::row("1,x,3", 2).is_err());
    }
}
