use std::io::Write;

use super::*;
use crate::data::{Columns, Dataset, Missing, TargetKind};

fn read_as(content: &[u8], target: &str, header: Header, kind: TargetKind) -> Result<Dataset, DataError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    Dataset::read_file(file.path(), target, header, kind)
}

fn read(content: &str, target: &str) -> Result<Dataset, DataError> {
    read_as(content.as_bytes(), target, Header::Detect, TargetKind::Real)
}

fn read_ignoring(content: &str, target: &str, ignored: &[&str]) -> Result<Dataset, DataError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content.as_bytes()).unwrap();
    let ignored: Vec<String> = ignored.iter().map(|&name| name.to_owned()).collect();
    let columns = Columns { targets: target, ignored: &ignored, missing: Missing::Refuse };
    Dataset::read_file(file.path(), columns, Header::Detect, TargetKind::Real)
}

fn read_with(missing: Missing, content: &str, kind: TargetKind) -> Result<Dataset, DataError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content.as_bytes()).unwrap();
    Dataset::read_file(file.path(), Columns { missing, ..Columns::from("y") }, Header::Detect, kind)
}

fn message(content: &str, target: &str) -> String {
    let error = read(content, target).unwrap_err().to_string();
    error.split_once(": ").unwrap().1.to_owned()
}

#[test]
fn header_target_and_values() {
    let data = read("a,y,b\n1,2,3\n4,5,6\n", "y").unwrap();
    assert_eq!((data.rows(), data.inputs()), (2, 2));
    assert_eq!(data.input_row(1), [4.0, 6.0]);
    assert_eq!(data.targets(), [2.0, 5.0]);
    assert_eq!(data.names().unwrap(), ["a", "b"]);
    assert_eq!(data.target_names().unwrap(), ["y"]);
}

#[test]
fn without_header_by_index() {
    let data = read("1,2\n3,4", "0").unwrap();
    assert_eq!(data.targets(), [1.0, 3.0]);
    assert_eq!(data.names(), None);
}

#[test]
fn byte_order_mark_crlf_quotes_and_blank_lines() {
    let data = read("\u{feff}\"a\", y \r\n\r\n\"1.5\", 2 \r\n-3e-2,+4\r\n", "y").unwrap();
    assert_eq!(data.names().unwrap(), ["a"]);
    assert_eq!(data.input_row(0), [1.5]);
    assert_eq!(data.targets(), [2.0, 4.0]);
}

#[test]
fn a_header_can_be_declared() {
    let years = b"2019,2020\n1,2\n";
    assert_eq!(read_as(years, "2020", Header::Present, TargetKind::Real).unwrap().rows(), 1);
    assert_eq!(read_as(years, "1", Header::Absent, TargetKind::Real).unwrap().rows(), 2);
}

#[test]
fn unusable_cells_name_row_line_and_column() {
    assert_eq!(
        message("a,y\n1,2\n\n,3\n", "y"),
        "row 2 (line 4), column \"a\": \"\" is a missing value; fill it in or leave the row out"
    );
    assert!(message("a,y\r\n1,2\r\n\r\n1,x\r\n", "y").starts_with("row 2 (line 4)"));
    assert_eq!(message("1,2\n3,x1\n", "0"), "row 2 (line 2), column 1 (counted from 0): \"x1\" is not a number");
    assert!(message("a,y\n1,NA\n", "y").contains("missing value"));
    assert!(message("a,y\n1,nan\n", "y").contains("not finite"));
    assert!(message("a,y\n1,-inf\n", "y").contains("not finite"));
    assert!(message("a,y\n1,1e39\n", "y").contains("beyond the range"));
    assert!(message("a,y\n1,1e999\n", "y").contains("beyond the range"));
    assert!(message("a,y\n\"1,5\",2\n", "y").contains("decimal comma"));
    assert!(message("1,,2\n", "0").contains("missing value"));
    let not_utf8 = read_as(b"a,y\n1,\xff\n", "y", Header::Detect, TargetKind::Real);
    assert!(not_utf8.unwrap_err().to_string().contains("not a number"));
}

#[test]
fn long_cells_and_names_are_quoted_in_part() {
    let long = "é".repeat(1000);
    let start = format!("\"{}…\"", "é".repeat(40));
    assert_eq!(
        message(&format!("a,y\n1,{long}\n"), "y"),
        format!("row 1 (line 2), column \"y\": {start} is not a number")
    );
    assert!(message(&format!("{long},y\nx,1\n2,1\n"), "y").starts_with(&format!("row 1 (line 2), column {start}")));
}

#[test]
fn values_that_f32_cannot_tell_apart_are_refused() {
    let advice = "its values differ by less than 32-bit floats can tell apart; subtract a constant from the column, or rescale it";
    assert_eq!(message("t,y\n1700000000,1\n1700000001,2\n", "y"), format!("column \"t\": {advice}"));
    assert_eq!(message("1,2400000000\n2,2400000009\n", "1"), format!("column 1 (counted from 0): {advice}"));
    assert!(message("t,y\n1e-60,1\n2e-60,2\n", "y").contains("rescale"));
    let constant = read("t,u,y\n0.3,1700000000,1\n0.30000000000000004,1700000000,2\n", "y").unwrap();
    assert_eq!(constant.input_row(0), constant.input_row(1));
    assert!(read_ignoring("t,a,y\n1700000000,1,1\n1700000001,2,2\n", "y", &["t"]).is_ok());
}

#[test]
fn cells_do_not_go_on_in_the_next_line() {
    let refused = |content: &str, place: &str| {
        let error = message(content, "y");
        assert!(error.starts_with(place), "{error}");
        assert!(error.contains("close the quote") && error.len() < 200, "{error}");
    };
    let rest = "1,2,3\n".repeat(1000);
    refused(&format!("a,y,note\n\n1,2,\"5 inch pipe\n{rest}"), "line 3, column 2 (counted from 0)");
    refused(&format!("a,y,\"note\n1,2,3\n{rest}"), "line 1, column 2");
    refused(&format!("\"a,y\n{rest}"), "line 1, column 0");
    refused("a,y\n\"1\r\",2\n", "line 2, column 0");
    refused("a,y\n1,2\n1,\"\n2\"\n", "line 3, column 1");
    assert_eq!(read("a,y\n\"1\",\"2\"\n", "y").unwrap().rows(), 1);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once_even_if_a_cell_is_bad() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.csv");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::write(pipe, "a,y\n1,2\n1,x\n").unwrap()
    });
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(Dataset::read_file(&pipe, "y", Header::Detect, TargetKind::Real).err()));
    let outcome = receiver.recv_timeout(std::time::Duration::from_secs(20)).expect("an answer, not a second look");
    writer.join().unwrap();
    assert!(outcome.unwrap().to_string().contains("row 2 (line 3), column \"y\": \"x\" is not a number"));
}

#[test]
fn ragged_rows_are_counted() {
    assert_eq!(message("a,y\n1,2\n1.5,2,3\n", "y"), "row 2 (line 3) has 3 cells; expected 2 as in the first line");
    assert!(message("a,y\n1\n", "y").contains("has 1 cells"));
    assert!(message("a,y\n1,5,2,75\n", "y").contains("decimals are written with commas"));
}

#[test]
fn foreign_separators_are_refused_with_advice() {
    assert!(message("1 2 3\n", "0").contains("spaces"));
    assert!(message("a|y\n1|2\n", "y").contains("bars (|)"));
}

#[test]
fn tables_of_other_habits_are_the_same_table() {
    let plain = read("a,b,y\n1.5,2,3\n4,5.25,6\n", "y").unwrap();
    for other in [
        "a;b;y\n1.5;2;3\n4;5.25;6\n",
        "a;b;y\n1,5;2;3\n4;5,25;6\n",
        "a\tb\ty\r\n1,5\t2\t3\r\n4\t5,25\t6\r\n",
        "# logger 7\na,b,y\n1.5,2,3\n# a pause\n4,5.25,6\n",
        "# logger 7\n# a, b, y\n1.5,2,3\n4,5.25,6\n",
    ] {
        assert_eq!(read(other, "y").unwrap(), plain, "{other:?}");
    }
    let switched = read("on,y\nTrue,1\nfalse,2\nYES,3\nno,4\n", "y").unwrap();
    assert_eq!((0..4).map(|row| switched.input_row(row)[0]).collect::<Vec<_>>(), [1.0, 0.0, 1.0, 0.0]);
    let western = read_as(b"T \xb0C,y\n1,2\n3,4\n", "y", Header::Detect, TargetKind::Real).unwrap();
    assert_eq!(western.names().unwrap(), ["T °C"]);
}

#[test]
fn missing_cells_are_dropped_or_filled_as_asked() {
    let table = "a,b,y\n1,NA,3\n,5,6\n7,8,9\n10,11,?\n";
    let real = |missing| read_with(missing, table, TargetKind::Real);
    assert!(real(Missing::Refuse).is_err());
    assert_eq!(real(Missing::Drop).unwrap(), read("a,b,y\n7,8,9\n", "y").unwrap());
    // A target is not made up.
    let refused = real(Missing::Mean).unwrap_err().to_string();
    assert!(refused.contains("row 4 (line 5), column \"y\""), "{refused}");
    let whole = table.replace('?', "12");
    let filled = read_with(Missing::Mean, &whole, TargetKind::Real).unwrap();
    assert_eq!(filled, read("a,b,y\n1,8,3\n6,5,6\n7,8,9\n10,11,12\n", "y").unwrap());
    let words = "a,y\n1,up\n2,\n,down\n4,down\n";
    let classes = read_with(Missing::Drop, words, TargetKind::Detect).unwrap();
    assert_eq!((classes.rows(), classes.targets()), (2, &[1.0, 0.0][..]));
    assert!(read_with(Missing::Mean, words, TargetKind::Detect).is_err());
    // Comments count as lines of the file.
    assert!(message("# made today\na,y\n# a pause\n1,x\n", "y").starts_with("row 1 (line 4)"));
    let nothing = read_with(Missing::Mean, "a,b,y\n,1,2\n,2,3\n", TargetKind::Real).unwrap_err().to_string();
    assert!(nothing.contains("column \"a\" has no value in any row"), "{nothing}");
}

#[test]
fn what_a_file_was_found_to_be_is_told() {
    let found = |content: &[u8]| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        Rows::open(file.path(), Header::Detect, "y").unwrap().found().join(", ")
    };
    assert_eq!(found(b"a,y\n1,2\n"), "");
    assert_eq!(found(b"a;y\n1,5;2\n"), "semicolons between columns, decimal commas");
    assert_eq!(found(b"\xb0;y\n1;2\n"), "Windows-1252, semicolons between columns");
}

#[test]
fn all_columns_without_numbers_are_listed_at_once() {
    let rows: String = (0..30).map(|row| format!("2024-03-{:02},{row},site {row},,1\n", row + 1)).collect();
    assert_eq!(
        message(&format!("when,a,where,b,y\n{rows}"), "y"),
        "row 1 (line 2), column \"when\": \"2024-03-01\" is a date or a time; write it as a number (hours since the start, the \
         hour of the day), or leave the column out; in all this concerns \"when\" (30 dates or times), \"where\" (14 \
         words too many), \"b\" (30 missing)"
    );
    assert_eq!(
        message("1,2\n,2\n3,4\n\n5,?\n", "1"),
        "row 2 (line 2), column 0 (counted from 0): \"\" is a missing value; fill it in or leave the row out; in all this \
         concerns column 0 (1 missing), column 1 (1 missing)"
    );
    assert!(message("a,y\n\"1,234,567\",2\n", "y").contains("has thousands separators"));
}

#[test]
fn columns_numbered_by_a_data_frame_are_not_taken_for_data() {
    let doubt = "line 1 counts 0, 1, ... and may be numbers of columns or data";
    assert_eq!(message("0,1,2\n0.5,1.5,2.5\n", "2"), doubt);
    assert_eq!(message(",0,1\n0,1.5,2.5\n", "2"), doubt);
    for data in ["0,1,2\n1,2,3\n4,5,7\n", "0,1\n", "0.0,1.0\n2,3\n", "1,2\n3,4\n", "0,2\n3,4\n"] {
        assert_eq!(read(data, "0").unwrap().rows(), data.lines().count(), "{data:?}");
    }
    let frame = b"0,1,2\n0.5,1.5,2.5\n";
    assert_eq!(read_as(frame, "2", Header::Present, TargetKind::Real).unwrap().rows(), 1);
    assert_eq!(read_as(frame, "2", Header::Absent, TargetKind::Real).unwrap().rows(), 2);
    assert!(read_ignoring("0,1,2\n7,3,4\n", "2", &["0"]).unwrap_err().to_string().contains("line 1 counts 0, 1, ..."));
    assert!(
        read_ignoring(",0,1,2\n0,3,4,5\n", "2", &["0"]).unwrap_err().to_string().contains("line 1 counts 0, 1, ...")
    );
}

#[test]
fn ignored_columns_do_not_decide_what_the_first_line_is() {
    let log = read_ignoring("2020-01-01,1,2\n2020-01-02,3,4\n", "2", &["0"]).unwrap();
    assert_eq!((log.rows(), log.names(), log.targets()), (2, None, &[2.0, 4.0][..]));
    let log = read_ignoring("2,5,hot; dry\n3,6,\n", "1", &["2"]).unwrap();
    assert_eq!((log.rows(), log.inputs()), (2, 1));
    let years = read_ignoring("2020,a,y\n0,1,2\n", "y", &["2020"]).unwrap();
    assert_eq!((years.rows(), years.target_names().unwrap()), (1, &["y".to_owned()][..]));
    assert!(message("2020-01-01,1,2\n", "2").contains("\"2020-01-01\" is a date or a time"));
}

#[test]
fn a_single_name_may_hold_blanks_or_look_like_a_missing_value() {
    let names = |content: &str| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content.as_bytes()).unwrap();
        Rows::open(file.path(), Header::Detect, "").map(|rows| rows.names().map(<[String]>::to_vec))
    };
    assert_eq!(names("flow rate\n1\n2\n").unwrap().unwrap(), ["flow rate"]);
    assert_eq!(names("flow rate\n").unwrap().unwrap(), ["flow rate"]);
    assert_eq!(names("Na\n1\n2\n").unwrap().unwrap(), ["Na"]);
    assert_eq!(names("NA\n1\n2\n").unwrap(), None);
    assert!(names("flow rate\n1 2\n").unwrap_err().to_string().contains("spaces"));
    assert!(names("1 2\n").unwrap_err().to_string().contains("spaces"));
}

#[test]
fn headers_are_checked() {
    assert!(message("a,a\n1,2\n", "a").contains("columns 0 and 1 (counted from 0) are both named \"a\""));
    assert!(message(",a,y\n0,1,2\n", "y").contains("column 0 (counted from 0) has no name"));
    assert!(message("1,abc,3\n", "0").contains("mixes names and numbers (column 1 is \"abc\")"));
}

#[test]
fn columns_can_be_left_out_whatever_they_hold() {
    let read = |ignored: &[&str]| read_ignoring(",a,y,note,b\n0,1,2,hot,5\n1,3,4,,6\n", "y", ignored);
    let data = read(&["0", "note"]).unwrap();
    assert_eq!(
        (data.names().unwrap().join(" "), data.target_names().unwrap()),
        ("a b".to_owned(), &["y".to_owned()][..])
    );
    assert_eq!((data.input_row(1), data.targets()), (&[3.0, 6.0][..], &[2.0, 4.0][..]));
    let refused = |ignored: &[&str], words: &str| {
        let error = read(ignored).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(&["note"], "column 0 (counted from 0) has no name");
    refused(&["0", "1", "y"], "target \"y\" is also among");
    refused(&["0", "1", "note", "4"], "no column is left");
    refused(&["0", "c"], "no column \"c\"");
}

#[test]
fn nothing_to_read_is_an_error() {
    assert!(message("", "y").contains("empty"));
    assert!(message("a,y\n", "y").contains("no data rows"));
    assert!(message("y\n1\n", "y").contains("no column is left"));
    let missing = Dataset::read_file(Path::new("/nonexistent.csv"), "y", Header::Detect, TargetKind::Real);
    assert!(matches!(missing, Err(DataError::Io { .. })));
}

#[test]
fn an_unknown_target_lists_what_there_is() {
    assert_eq!(message("a,y\n1,2\n", "z"), "no column \"z\"; expected one of a, y or an index from 0 to 1");
    assert!(message("1,2\n", "2").contains("an index from 0 to 1 (the file has no header)"));
}

#[test]
fn several_targets_are_separated_by_commas() {
    let table = "a,y,z,\"y,z\"\n1,2,3,4\n5,6,7,8\n";
    let targets = |wanted: &str| read(table, wanted).map(|data| (data.target_names().unwrap().join("|"), data));
    let (names, data) = targets("z, a").unwrap();
    assert_eq!(
        (names.as_str(), data.targets(), data.input_row(0)),
        ("z|a", &[3.0, 1.0, 7.0, 5.0][..], &[2.0, 4.0][..])
    );
    assert_eq!((data.outputs(), data.names().unwrap().join("|").as_str()), (2, "y|y,z"));
    assert_eq!(targets("y,z").unwrap().0, "y,z");
    assert_eq!(targets("a,y,z").unwrap().0, "a|y,z");
    assert_eq!(targets("z,y").unwrap().0, "z|y");
    assert_eq!(targets("0,3").unwrap().0, "a|y,z");
    assert_eq!(message(table, "z,a,z"), "the target \"z\" is named twice");
    assert!(message(table, "a,b").starts_with("no column \"b\"; expected one of a, y, z"));
    assert!(message(table, "a,").starts_with("no column \"\""));
    assert!(message("a,y\n1,2\n", "a,y").contains("no column is left"));
    assert_eq!(read("1,2,3\n4,5,6\n", "2,0").unwrap().targets(), [3.0, 1.0, 6.0, 4.0]);
}

fn classes(content: &str, kind: TargetKind) -> Result<Dataset, DataError> {
    read_as(content.as_bytes(), "y", Header::Detect, kind)
}

fn refused(content: &str, kind: TargetKind) -> String {
    classes(content, kind).unwrap_err().to_string().split_once(": ").unwrap().1.to_owned()
}

#[test]
fn classes_are_whole_numbers_or_words() {
    let named = |content: &str| {
        let data = classes(content, TargetKind::Classes).unwrap();
        (data.targets().to_vec(), data.classes().unwrap().join(" "))
    };
    assert_eq!(named("a,y\n1,0\n2,1.0\n"), (vec![0.0, 1.0], "0 1".to_owned()));
    assert_eq!(named("a,y\n1,7\n2,-3\n3,12\n"), (vec![1.0, 0.0, 2.0], "-3 7 12".to_owned()));
    assert_eq!(named("y,a\nwarm,1\n\" hot\",2\nwarm ,3\n"), (vec![1.0, 0.0, 1.0], "hot warm".to_owned()));
    let refused = |content: &str| refused(content, TargetKind::Classes);
    assert_eq!(
        refused("a,y\n1,0\n2,0.5\n"),
        "row 2 (line 3), column \"y\": \"0.5\" is not a class; expected a word or a whole number"
    );
    assert!(refused("a,y\n1,0\n2,\n").contains("row 2 (line 3), column \"y\": \"\" is a missing value"));
    assert!(refused("a,y\n1,u\nx,v\n").contains("column \"a\": \"x\" is not a number"));
    assert_eq!(
        refused("a,y\n1,up\n2,up\n"),
        "column \"y\": all rows are of the class \"up\"; expected at least two classes"
    );
    let many: String = (0..40).map(|row| format!("{row},{row}\n")).collect();
    assert!(refused(&format!("a,y\n{many}")).contains("row 33 (line 34), column \"y\": \"32\" is one class too many"));
    assert_eq!(refused("a,y\n"), "no data rows");
    // Behind what is looked at to find the encoding.
    let far = [format!("a,y\n{}", "1,b\n".repeat(20_000)).as_bytes(), b"1,\xff\n"].concat();
    let not_utf8 = read_as(&far, "y", Header::Detect, TargetKind::Classes).unwrap_err().to_string();
    assert!(not_utf8.contains("is not UTF-8 text"), "{not_utf8}");
    let two = read_as(b"a,y,z\n1,0,1\n", "y,z", Header::Detect, TargetKind::Classes).unwrap_err().to_string();
    assert!(two.contains("2 target columns; a classification has one"), "{two}");
}

#[test]
fn a_column_that_begins_with_a_word_holds_classes() {
    let found = |content: &str| classes(content, TargetKind::Detect).unwrap().classes().map(|names| names.join(" "));
    assert_eq!(found("a,y\n1,none\n2,outer\n"), Some("none outer".to_owned()));
    assert_eq!(found("a,y\n1,0\n2,1\n"), None);
    let refused = |content: &str| refused(content, TargetKind::Detect);
    assert!(refused("a,y\n1,2\n2,none\n").contains("missing value"));
    assert!(refused("a,y\n1,2\n2,up\n").contains("\"up\" is not a number"));
    assert!(refused("a,y\n1,x1\n2,3.5\n").contains("\"3.5\" is not a class"));
    assert!(refused("a,y\n1,x1\n2,3\n").contains("\"3\" is a number, but the rows before hold words"));
    assert!(refused("a,y\n1,\n2,up\n").contains("missing value"));
    let several = read_as(b"a,y,z\n1,u,v\n2,v,u\n", "y,z", Header::Detect, TargetKind::Detect);
    assert!(several.unwrap_err().to_string().contains("\"u\" is not a number"));
}

#[test]
fn a_first_line_of_numbers_and_a_class_is_data() {
    let open = |content: &str, target: &str| read_as(content.as_bytes(), target, Header::Detect, TargetKind::Detect);
    let flowers = open("5.1,3.5,setosa\n7.0,3.2,versicolor\n", "2").unwrap();
    assert_eq!((flowers.rows(), flowers.classes().unwrap().join(" ").as_str()), (2, "setosa versicolor"));
    assert!(open("1,2,y\n3,4,5\n", "2").unwrap_err().to_string().contains("mixes names and numbers"));
    assert!(open("x,2,up\n3,4,down\n", "2").unwrap_err().to_string().contains("mixes names and numbers"));
    assert_eq!(open("a,y\n1,up\n2,down\n", "y").unwrap().rows(), 2);
    assert_eq!(open("a,y\n1,up\n2,down\n", "1").unwrap().rows(), 2);
}
