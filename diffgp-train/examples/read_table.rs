//! What it takes to read a table: seconds, seconds of the processor, and the most memory at any time.
//!
//!     cargo run --release --features parquet --example read_table -- make ROWS INPUTS FOLDER
//!     cargo run --release --features parquet --example read_table -- read FILE
//!
//! The first writes the same f32 numbers as table.csv, table.npy, columns.npy (one column after the other) and, with the
//! feature, table.parquet (100 row groups, without compression); the last column is the target. The second reads one of them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use diffgp_train::data::{Dataset, Header, Rows, TargetKind};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["make", rows, inputs, folder] => make(rows.parse()?, inputs.parse::<usize>()? + 1, Path::new(folder)),
        ["read", file] => read(Path::new(file)),
        _ => Err("expected make ROWS INPUTS FOLDER, or read FILE".into()),
    }
}

/// Numbers with seven digits, scattered.
fn cell(row: usize, column: usize) -> f32 {
    let mixed = (row as u64 * 64 + column as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 40) as f32 / (1 << 23) as f32 - 1.0) * 3.0
}

fn make(rows: usize, columns: usize, folder: &Path) -> Result<(), Failure> {
    let create = |name: &str| File::create(folder.join(name)).map(|file| BufWriter::with_capacity(1 << 20, file));
    let mut csv = create("table.csv")?;
    let names: Vec<String> = (0..columns).map(|column| format!("x{column}")).collect();
    writeln!(csv, "{}", names.join(","))?;
    for row in 0..rows {
        let cells: Vec<String> = (0..columns).map(|column| cell(row, column).to_string()).collect();
        writeln!(csv, "{}", cells.join(","))?;
    }
    csv.flush()?;
    let header = |fortran: &str| {
        let text = format!("{{'descr': '<f4', 'fortran_order': {fortran}, 'shape': ({rows}, {columns}), }}\n");
        [b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat()
    };
    let mut by_row = create("table.npy")?;
    by_row.write_all(&header("False"))?;
    for row in 0..rows {
        (0..columns).try_for_each(|column| by_row.write_all(&cell(row, column).to_le_bytes()))?;
    }
    by_row.flush()?;
    let mut by_column = create("columns.npy")?;
    by_column.write_all(&header("True"))?;
    for column in 0..columns {
        (0..rows).try_for_each(|row| by_column.write_all(&cell(row, column).to_le_bytes()))?;
    }
    by_column.flush()?;
    #[cfg(feature = "parquet")]
    make_parquet(rows, &names, File::create(folder.join("table.parquet"))?)?;
    Ok(())
}

#[cfg(feature = "parquet")]
fn make_parquet(rows: usize, names: &[String], file: File) -> Result<(), Failure> {
    use parquet::basic::{Repetition, Type as Physical};
    use parquet::data_type::FloatType;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;
    use std::sync::Arc;

    let column = |name: &String| {
        let column = Type::primitive_type_builder(name, Physical::FLOAT).with_repetition(Repetition::REQUIRED);
        column.build().map(Arc::new)
    };
    let columns = names.iter().map(column).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("schema").with_fields(columns).build()?;
    let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
    for group in 0..100 {
        let mut row_group = writer.next_row_group()?;
        let mut column = 0;
        while let Some(mut writer) = row_group.next_column()? {
            let values: Vec<f32> =
                (group * rows / 100..(group + 1) * rows / 100).map(|row| cell(row, column)).collect();
            writer.typed::<FloatType>().write_batch(&values, None, None)?;
            writer.close()?;
            column += 1;
        }
        row_group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn read(file: &Path) -> Result<(), Failure> {
    let start = Instant::now();
    let target = (Rows::open(file, Header::Detect, "")?.columns() - 1).to_string();
    let data = Dataset::read_file(file, target.as_str(), Header::Detect, TargetKind::Real)?;
    let seconds = start.elapsed().as_secs_f64();
    let held = (data.rows() * (data.inputs() + data.outputs()) * size_of::<f32>()) as f64 / 1e6;
    println!(
        "{}: {} rows of {} inputs in {seconds:.1} s, {:.1} s of the processor; {held:.0} MB as f32, peak memory {:.0} MB; fingerprint of the numbers {:x}",
        file.display(),
        data.rows(),
        data.inputs(),
        processor_seconds()?,
        peak_memory()?,
        (0..data.rows())
            .flat_map(|row| data.input_row(row))
            .fold(0_u64, |sum, x| sum.rotate_left(1) ^ u64::from(x.to_bits())),
    );
    Ok(())
}

/// Seconds that this process had a processor, whatever others did.
fn processor_seconds() -> Result<f64, Failure> {
    let status = std::fs::read_to_string("/proc/self/schedstat")?;
    let nanoseconds = status.split(' ').next().ok_or("expected nanoseconds in /proc/self/schedstat")?;
    Ok(nanoseconds.parse::<f64>()? / 1e9)
}

/// The largest resident size of this process so far, in MB.
fn peak_memory() -> Result<f64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("expected VmHWM in /proc/self/status")?;
    let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1024.0 / 1e6)
}
