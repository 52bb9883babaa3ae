//! `docs/blob-format.md` says what the code does: its tables of fields against the code's own list.

use diffgp_core::blob::{
    CalibrationRecord, Description, FORMAT_VERSION, Field, KernelRecord, OutputRecord, TargetRecord,
};

/// The rows of all tables: the text of every cell.
fn rows() -> Vec<Vec<String>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/blob-format.md");
    let text = std::fs::read_to_string(path).unwrap();
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    text.lines().filter(|line| line.starts_with("| ")).map(cells).collect()
}

/// A letter and a number, as in H1.
fn is_number_of(cell: &str, letter: char) -> bool {
    cell.strip_prefix(letter).is_some_and(|rest| rest.parse::<u32>().is_ok())
}

#[test]
fn the_tables_list_the_fields_of_the_code() {
    let header: Vec<Description> = Field::ALL.iter().map(|field| field.description()).collect();
    let tables = [
        ('H', &header[..]),
        ('K', KernelRecord::FIELDS),
        ('O', OutputRecord::FIELDS),
        ('Y', TargetRecord::FIELDS),
        ('C', CalibrationRecord::FIELDS),
    ];
    for (letter, fields) in tables {
        let documented: Vec<_> = rows().into_iter().filter(|row| is_number_of(&row[0], letter)).collect();
        assert_eq!(documented.len(), fields.len(), "{letter}");
        for (row, field) in documented.iter().zip(fields) {
            let [number, name, stored, meaning, limits] = &row[..] else { panic!("{row:?}") };
            assert_eq!((number.as_str(), name.as_str()), (field.number, field.name));
            assert_eq!((stored.as_str(), limits.as_str()), (field.stored, field.limits), "{number}");
            assert!(!meaning.is_empty(), "{number}");
        }
    }
}

#[test]
fn the_document_is_of_this_version() {
    let row = rows().into_iter().find(|row| row[0] == "P2").unwrap();
    assert_eq!(row[2], format!("format version: {FORMAT_VERSION}"));
}
