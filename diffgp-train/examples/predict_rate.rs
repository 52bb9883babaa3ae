//! How fast a workstation predicts: rows per second of `predict` and `eval`, and a number that changes with any bit of them.
//!
//!     cargo run --release --example predict_rate -- MODEL.dgp ROWS PATHS [THREADS]
//!
//! With 0 paths along the drift. Where others use the machine, instructions say more than seconds:
//! `valgrind --tool=callgrind target/release/examples/predict_rate MODEL.dgp 20 4 1`.

use std::time::Instant;

use diffgp_train::evaluate::{Row, Sampling, evaluate};
use diffgp_train::model_file::ModelFile;
use diffgp_train::threads::Threads;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, rows, paths, threads @ ..] = arguments.as_slice() else {
        return Err("expected MODEL.dgp ROWS PATHS [THREADS]".into());
    };
    let (rows, paths) = (rows.parse()?, paths.parse()?);
    let threads = Threads::new(threads.first().map_or(Ok(0), |threads| threads.parse())?)?;
    let file = ModelFile::new(&std::fs::read(path)?)?;
    let model = file.model();
    let inputs: Vec<_> = (0..model.inputs()).filter_map(|input| model.blob().input(input)).collect();
    // Within a deviation of the mean.
    let scattered = |place: u32| (u64::from(place) * 104_729 % 10_007) as f32 / 5003.5 - 1.0;
    let x: Vec<f32> = (0..rows)
        .flat_map(|row: u32| (0_u32..).zip(&inputs).map(move |(place, input)| (row.wrapping_mul(79) + place, input)))
        .map(|(place, input)| input.mean + scattered(place) / input.scale)
        .collect();
    let table: Vec<Row<'_>> = (0..).zip(x.chunks_exact(inputs.len())).map(|(number, x)| Row { number, x }).collect();
    let sampling = if paths == 0 { Sampling::Drift } else { Sampling::Paths { count: paths, seed: 0 } };
    let start = Instant::now();
    let predicted = evaluate(&model, &table, sampling, &threads)?;
    let rate = f64::from(rows) / start.elapsed().as_secs_f64();
    let bits =
        predicted.iter().flat_map(|row| row.answer.outputs()).flat_map(|output| [output.mean(), output.variance()]);
    let sum = bits.fold(0_u64, |sum, value| sum.rotate_left(5) ^ u64::from(value.to_bits()));
    println!(
        "D = {}, M = {}, K = {}: {rate:.0} rows per second, bits {sum:x}",
        model.inputs(),
        model.features(),
        model.steps()
    );
    Ok(())
}
