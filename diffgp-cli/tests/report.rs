//! The page that `train` leaves: its figures are those of the other commands, and its pictures are there.

use serde_json::Value;

use crate::runner::{Folder, QUICK, SHORT};

/// Cells of the table that begins with this head, row by row, without markup.
fn table(page: &str, first_head: &str) -> Vec<Vec<String>> {
    let tables = page.split("<table").skip(1).filter_map(|rest| rest.split("</table>").next());
    let is_it = |table: &&str| table.contains(&format!("<th scope=\"col\">{first_head}</th>"));
    let body = tables.into_iter().find(is_it).unwrap().split("<tbody>").nth(1).unwrap();
    let text = |cell: &str| {
        let pieces = cell.split('<').enumerate().map(|(index, piece)| match index {
            0 => piece,
            _ => piece.split_once('>').map_or("", |(_, text)| text),
        });
        pieces.collect::<String>()
    };
    let cells = |row: &str| row.replace("<th scope=\"row\">", "<td>").split("<td>").skip(1).map(text).collect();
    body.split("<tr>").skip(1).map(cells).collect()
}

fn means(folder: &Folder, arguments: &str) -> Vec<f64> {
    let json = folder.run(&format!("predict {arguments} --json")).json();
    json["mean"].as_array().unwrap().iter().map(|mean| mean.as_f64().unwrap()).collect()
}

/// Columns a, b and y of the data.
fn columns(folder: &Folder) -> Vec<[f64; 3]> {
    let row = |line: &str| {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        [cells[0], cells[1], cells[2]]
    };
    folder.read_text("data.csv").lines().skip(1).map(row).collect()
}

#[test]
fn coverages_are_those_of_eval_with_the_error_of_a_binomial_share() {
    let folder = Folder::with_model();
    let page = folder.read_text("model.run/report.html");
    let eval = folder.run("eval model.dgp data.csv --json").json();
    let rows = table(&page, "promised");
    assert_eq!(rows.len(), 5);
    for (row, level) in rows.iter().zip([50, 80, 90, 95, 99]) {
        let found = 100.0 * eval[format!("coverage_{level}")].as_f64().unwrap();
        let promised = f64::from(level) / 100.0;
        let error = 100.0 * (promised * (1.0 - promised) / 60.0).sqrt();
        assert_eq!(*row, [format!("{level} %"), format!("{found:.1} % ± {error:.1} %")]);
    }
}

#[test]
fn the_worst_rows_are_those_with_the_largest_errors() {
    let folder = Folder::with_model();
    let rows = table(&folder.read_text("model.run/report.html"), "row");
    let said = means(&folder, "model.dgp data.csv --paths 100");
    let mut errors: Vec<(usize, f64)> =
        columns(&folder).iter().zip(said).map(|(row, mean)| (row[2] - mean).abs()).enumerate().collect();
    errors.sort_by(|a, b| b.1.total_cmp(&a.1));
    let expected: Vec<String> = errors.iter().take(8).map(|(row, _)| row.to_string()).collect();
    assert_eq!(rows.iter().map(|row| row[0].clone()).collect::<Vec<_>>(), expected);
}

#[test]
fn importance_is_the_change_of_the_answer_when_an_input_comes_from_another_row() {
    let folder = Folder::with_model();
    let rows = table(&folder.read_text("model.run/report.html"), "sensitivity");
    let deviation = folder.run("inspect model.dgp --json").json()["targets"][0]["scale"].as_f64().unwrap();
    let before = means(&folder, "model.dgp data.csv --deterministic");
    let data = columns(&folder);
    let mut expected = Vec::new();
    for (input, name) in ["a", "b"].into_iter().enumerate() {
        let mut text = "a,b\n".to_owned();
        for (index, row) in data.iter().enumerate() {
            let mut x = [row[0], row[1]];
            x[input] = data[(index + data.len() / 2) % data.len()][input];
            text += &format!("{},{}\n", x[0], x[1]);
        }
        folder.write("shuffled.csv", text);
        let after = means(&folder, "model.dgp shuffled.csv --deterministic");
        let squares: f64 = before.iter().zip(&after).map(|(before, after)| (after - before).powi(2)).sum();
        expected.push((name, (squares / before.len() as f64).sqrt() / deviation));
    }
    expected.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (row, (name, moved)) in rows.iter().zip(expected) {
        assert_eq!(row[0], name);
        let said: f64 = row[1].parse().unwrap();
        // Three decimals are shown.
        assert!((said - moved).abs() < 6e-4, "{name}: {said} {moved}");
    }
}

#[test]
fn pictures_show_errors_over_inputs_what_was_compared_and_both_calibrations() {
    let folder = Folder::with_model();
    let inspected = folder.run("inspect model.dgp --json").json();
    assert_ne!(inspected["calibration"], Value::Null);
    let page = folder.read_text("model.run/report.html");
    for text in ["truth − answer", "Validation rows", "with a flow", "before calibration", "after calibration"] {
        assert!(page.contains(text), "{text}");
    }
    folder.run(&format!("train data.csv --target y {QUICK} --calibration none")).succeeds();
    let page = folder.read_text("model.run/report.html");
    assert!(page.contains("Calibration:") && !page.contains("before calibration"));
    // A choice is told with its standard error, next to the curves of both.
    folder.run(&format!("train data.csv --target y --force {}", &SHORT["--flow-time 5".len()..])).succeeds();
    let page = folder.read_text("model.run/report.html");
    assert!(page.contains("without a flow") && page.contains("nats per row, on"), "{page}");
}
