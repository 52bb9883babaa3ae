use std::io::Write;

use super::super::{Columns, Dataset, Header, Missing, Rows, TargetKind};

/// A file with a header of version 1 and what follows it.
fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let padded = format!("{header}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((padded.len() as u16).to_le_bytes());
    file.extend(padded.as_bytes());
    file.extend(data);
    file
}

fn described(descr: &str, fortran: &str, shape: &str) -> String {
    format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}")
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn read(bytes: &[u8], target: &str) -> Result<Dataset, String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let read = Dataset::read_file(file.path(), target, Header::Detect, TargetKind::Detect);
    read.map_err(|error| error.to_string().split_once(": ").unwrap().1.to_owned())
}

/// A zip archive of stored members, by hand.
fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let crc = |bytes: &[u8]| crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(bytes);
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let at = file.len() as u32;
        let sizes = [crc(bytes), bytes.len() as u32, bytes.len() as u32].map(u32::to_le_bytes).concat();
        let name_length = (name.len() as u16).to_le_bytes();
        file.extend(
            [b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0", &sizes[..], &name_length, &[0; 2], name.as_bytes(), bytes].concat(),
        );
        let entry = [b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0", &sizes[..], &name_length, &[0; 12], &at.to_le_bytes()];
        directory.extend([&entry.concat(), name.as_bytes()].concat());
    }
    let (count, start) = ((members.len() as u16).to_le_bytes(), (file.len() as u32).to_le_bytes());
    let size = (directory.len() as u32).to_le_bytes();
    file.extend([&directory[..], b"PK\x05\x06\0\0\0\0", &count, &count, &size, &start, &[0; 2]].concat());
    file
}

/// From the last name in an archive's directory, without its first letter, to the end.
const END_AND_SUFFIX: usize = 22 + 4;
const TABLE: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

#[test]
fn both_orders_are_the_same_rows() {
    let by_row = read(&npy(&described("'<f8'", "False", "(3, 2)"), &doubles(&TABLE)), "1").unwrap();
    let columns = doubles(&[1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    let by_column = read(&npy(&described("'<f8'", "True", "(3, 2)"), &columns), "1").unwrap();
    assert_eq!((by_row.targets(), by_row.names()), (&[2.0, 4.0, 6.0][..], None));
    assert_eq!(by_row, by_column);
    let table = archive(&[("table.npy", &npy(&described("'<f8'", "True", "(3, 2)"), &columns))]);
    assert_eq!(read(&table, "1").unwrap(), by_row);
}

#[test]
fn blocks_of_columns_meet_without_a_gap() {
    // More rows than fit into the buffer at once.
    let rows = 200_000;
    let columns: Vec<u8> = (0..3 * rows).flat_map(|i| (i as f64).to_le_bytes()).collect();
    let data = read(&npy(&described("'<f8'", "True", &format!("({rows}, 3)")), &columns), "2").unwrap();
    assert_eq!(data.rows(), rows);
    let whole = |row: usize| {
        data.input_row(row) == [row as f32, (rows + row) as f32] && data.target_row(row) == [(2 * rows + row) as f32]
    };
    assert_eq!((0..rows).find(|&row| !whole(row)), None);
}

#[test]
fn records_have_names_and_gaps() {
    let descr = "[('a', '|u1'), ('', '|V3'), (('a title', 'b'), '>f4'), ('inner', '<f8', (2,)), ('y', '|S2')]";
    let row = |a: u8, b: f32, y: &[u8; 2]| [&[a, 9, 9, 9][..], &b.to_be_bytes(), &[7; 16], y].concat();
    let file = npy(&described(descr, "False", "(2,)"), &[row(1, 0.5, b"up"), row(2, 1.5, b"no")].concat());
    let mut temporary = tempfile::NamedTempFile::new().unwrap();
    temporary.write_all(&file).unwrap();
    let ignored = ["inner".to_owned()];
    let columns = Columns { targets: "y", ignored: &ignored, missing: Missing::Refuse };
    let data = Dataset::read_file(temporary.path(), columns, Header::Detect, TargetKind::Detect).unwrap();
    assert_eq!((data.names().unwrap().join(" "), data.input_row(1)), ("a b".to_owned(), &[2.0, 1.5][..]));
    assert_eq!(data.classes().unwrap().join(" "), "no up");
    let used = read(&file, "y").unwrap_err();
    assert!(used.starts_with("row 1, column \"inner\": \"an array in a cell\" is not read"), "{used}");
}

#[test]
fn which_arrays_make_the_columns() {
    let x = npy(&described("'<f8'", "False", "(3, 2)"), &doubles(&TABLE));
    let y = npy(&described("'<i2'", "False", "(3,)"), &[7, 0, 8, 0, 9, 0]);
    let of = |members: &[(&str, &[u8])], target| read(&archive(members), target);
    let both = of(&[("y.npy", &y), ("X.npy", &x), ("notes.txt", b"hello")], "y").unwrap();
    assert_eq!((both.targets(), both.input_row(2), both.names()), (&[7.0, 8.0, 9.0][..], &[5.0, 6.0][..], None));
    let outputs = of(&[("x.npy", &y), ("y.npy", &x)], "y").unwrap();
    assert_eq!((outputs.outputs(), outputs.target_row(2), outputs.input_row(2)), (2, &[5.0, 6.0][..], &[9.0][..]));
    let named = of(&[("speed.npy", &y), ("load.npy", &y)], "load").unwrap();
    assert_eq!(named.names().unwrap(), ["speed"]);
    let refused = of(&[("a.npy", &x), ("b.npy", &y)], "0").unwrap_err();
    assert_eq!(
        refused,
        "holds the arrays a (3, 2) of <f8, b (3,) of <i2; expected one array alone, X and y, or arrays with one axis and the \
         same length, each a column"
    );
    let mut renamed = archive(&[("a.npy", &y)]);
    let name = renamed.len() - END_AND_SUFFIX;
    renamed[name] = b'_';
    assert_eq!(read(&renamed, "0").unwrap_err(), "holds no arrays; expected what numpy.savez writes");
    let short = npy(&described("'<i2'", "False", "(2,)"), &[7, 0, 8, 0]);
    assert_eq!(
        of(&[("X.npy", &x), ("y.npy", &short)], "y").unwrap_err(),
        "X has 3 rows and y has 2; expected the same number"
    );
}

#[test]
fn headers_that_lie_or_make_no_table_are_refused() {
    let refused = |descr: &str, shape: &str, words: &str| {
        let error = read(&npy(&described(descr, "False", shape), &doubles(&TABLE)), "0").unwrap_err();
        assert!(error.contains(words), "{descr} {shape}: {error}");
    };
    refused("'<f8'", "(4, 2)", "(4, 2) of <f8 takes 64 bytes, but 48 follow its header; was it cut short?");
    refused("'<f8'", "(2, 2)", "takes 32 bytes, but 48 follow its header; expected one array alone");
    refused("'<f8'", "(4000000000, 16000)", "takes 512000000000000 bytes");
    refused("'<f8'", "(4294967296, 2)", "has 4294967296 rows; expected at most 4294967295");
    refused("'<f8'", "(18446744073709551615, 18446744073709551615)", "rows; expected at most");
    refused("'<f8'", "(2, 18446744073709551615)", "has 18446744073709551615 columns");
    refused("'<f8'", "(6, 0)", "has 0 columns");
    refused("'<f8'", "(1, 2, 3)", "has the shape (1, 2, 3); expected two axes");
    refused("'<f8'", "()", "is a single value");
    refused("'<f8'", "(-1, 2)", "header is damaged");
    refused("'|O'", "(3, 2)", "holds Python objects");
    refused("[('a', '<f8'), ('b', '|O')]", "(3,)", "holds Python objects");
    refused("'<c16'", "(3, 1)", "each number is a complex number (<c16); expected floats");
    refused("'<M8[ns]'", "(3, 2)", "each number is datetime64");
    refused("'<z8'", "(3, 2)", "unknown type \"<z8\"");
    refused("'|S0'", "(9, 9)", "a row has 0 bytes");
    refused("'|S2000000'", "(1, 1)", "a row has 2000000 bytes; expected 1 to");
    refused("[('a', '<f8', (9999999999, 9999999999))]", "(3,)", "damaged");
    refused("[]", "(3,)", "has no columns");
    refused(&"[".repeat(60_000), "(3,)", "header is damaged");
    let long = [b"\x93NUMPY\x02\x00".as_slice(), &u32::MAX.to_le_bytes(), b"{"].concat();
    assert!(read(&long, "0").unwrap_err().contains("header has 4294967295 bytes"));
    assert!(read(b"\x93NUMPY\x09\x00\0\0", "0").unwrap_err().contains("version 9"));
}

#[test]
fn every_truncation_is_an_error_and_no_damage_a_crash() {
    let x = npy(&described("'<f8'", "True", "(3, 2)"), &doubles(&TABLE));
    let y = npy(&described("'<f4'", "False", "(3,)"), &[0; 12]);
    for (file, target) in [(x.clone(), "1"), (archive(&[("X.npy", &x), ("y.npy", &y)]), "y")] {
        assert!(read(&file, target).is_ok());
        for length in 0..file.len() {
            assert!(read(&file[..length], target).is_err(), "{length} of {} bytes", file.len());
        }
        for at in 0..file.len() {
            for change in [1, 0x80, 0xff] {
                let mut damaged = file.clone();
                damaged[at] ^= change;
                // A number may be another one now.
                if let Ok(data) = read(&damaged, target) {
                    assert!(data.rows() <= 3);
                }
            }
        }
    }
    // In an archive the numbers have a checksum.
    let mut damaged = archive(&[("X.npy", &y), ("y.npy", &y)]);
    let place = damaged.windows(4).position(|window| window == b"PK\x01\x02").unwrap() - 1;
    damaged[place] ^= 1;
    assert_eq!(read(&damaged, "y").unwrap_err(), "y.npy is damaged: its checksum is another one");
}

#[cfg(unix)]
#[test]
fn an_array_comes_through_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.npy");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let whole = npy(&described("'<f8'", "False", "(3, 2)"), &doubles(&TABLE));
    for (bytes, outcome) in [(whole.clone(), "Ok"), (whole[..whole.len() - 9].to_vec(), "ends within row 3 of 3")] {
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::write(pipe, bytes).unwrap()
        });
        let read = Rows::open(&pipe, Header::Detect, "1")
            .and_then(|mut rows| Dataset::read_rows(&mut rows, Columns::from("1"), TargetKind::Real));
        writer.join().unwrap();
        let read = read.map_or_else(|error| error.to_string(), |data| format!("Ok {}", data.rows()));
        assert!(read.contains(outcome), "{read}");
    }
}
