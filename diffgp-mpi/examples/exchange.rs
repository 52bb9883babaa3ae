//! What `cargo xtask mpi` starts as several ranks: every exchange once, with what must arrive, then what they take.
//!
//! With a number N, every time is the median of N. The first rank prints one JSON object: microseconds of a message there and back, halved; of a gathering of nine bytes,
//! which ends every iteration of a training; and of a sum of 60,000 numbers that goes from rank to rank and back to all.

use std::time::{Duration, Instant};

use diffgp_mpi::Mpi;

/// Bytes of a sum that travel together, as in the trainer.
const PIECE: usize = 32 << 10;
const SUM: usize = 60_000 * size_of::<f64>();

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mpi = Mpi::begin()?;
    assert!(Mpi::begin().is_err_and(|error| error.to_string().contains("started before")));
    let (rank, size) = (mpi.rank(), mpi.size());
    assert!(rank < size && !mpi.machine().is_empty() && mpi.library().contains("MPI"));
    everything_arrives(&mpi)?;
    let nobody = mpi.send(size, &[1]).unwrap_err().to_string();
    assert_eq!(nobody, format!("MPI cannot send: rank {size} of {size} does not exist"));

    let runs = std::env::args().nth(1).map_or(Ok(1), |runs| runs.parse())?;
    let messages = [8, 1000, PIECE, 1 << 20].map(|length| back_and_forth(&mpi, length, runs));
    let gather = timed(runs, || mpi.all_gather(&[0; 9]).map(drop))?;
    let sum = timed(runs, || sum(&mpi))?;
    if rank == 0 {
        let [eight, thousand, piece, million] = messages.map(|time| time.unwrap_or_default());
        println!(
            "{{\"ranks\":{size},\"message_8\":{eight:.2},\"message_1000\":{thousand:.2},\"message_32k\":{piece:.2},\
             \"message_1m\":{million:.1},\"gather_9\":{gather:.2},\"sum_60000\":{sum:.1}}}"
        );
    }
    // Late ranks are waited for; one that is not waited for is said to be.
    if rank == size - 1 {
        std::thread::sleep(Duration::from_millis(200));
    }
    if let Err(unended) = mpi.end(Some(Duration::from_secs(20))) {
        eprintln!("rank {rank} does not end: {unended:?}");
        unended.mpi.abort(1);
    }
    Ok(())
}

/// Bytes that tell whose they are and where they stand.
fn bytes(of: usize, length: usize) -> Vec<u8> {
    (0..length).map(|place| (place * 31 + of * 7) as u8).collect()
}

fn everything_arrives(mpi: &Mpi) -> Result<(), diffgp_mpi::MpiError> {
    let (rank, size) = (mpi.rank(), mpi.size());
    for length in [0, 1, 1000, 1 << 20] {
        for from in 0..size {
            let mut room = if rank == from { bytes(from, length) } else { vec![0; length] };
            mpi.broadcast(from, &mut room)?;
            assert!(room == bytes(from, length));
        }
        // Along the ranks, each of which adds one.
        let mut passed = bytes(0, length);
        if rank > 0 {
            mpi.receive(rank - 1, &mut passed)?;
            passed.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
        }
        if rank + 1 < size {
            mpi.send(rank + 1, &passed)?;
        }
        let expected = bytes(0, length).into_iter().map(|byte| byte.wrapping_add(rank as u8));
        assert!(passed.into_iter().eq(expected));
    }
    for unit in [0, 1, 1000] {
        // The first has nothing, or nobody has.
        let all = mpi.all_gather(&bytes(rank, unit * rank))?;
        assert!(all.into_iter().eq((0..size).map(|rank| bytes(rank, unit * rank))));
    }
    Ok(())
}

/// Microseconds of one way between the first two ranks; none if there is one.
fn back_and_forth(mpi: &Mpi, length: usize, runs: usize) -> Option<f64> {
    let mut message = vec![0; length];
    let turn = |message: &mut Vec<u8>| match mpi.rank() {
        0 => mpi.send(1, message).and_then(|()| mpi.receive(1, message)),
        1 => mpi.receive(0, message).and_then(|()| mpi.send(0, message)),
        _ => Ok(()),
    };
    let time = (mpi.size() > 1).then(|| timed(runs, || turn(&mut message)));
    time.and_then(Result::ok).map(|both| both / 2.0)
}

/// As the trainer adds up.
fn sum(mpi: &Mpi) -> Result<(), diffgp_mpi::MpiError> {
    let (rank, last, mut values) = (mpi.rank(), mpi.size() - 1, vec![0; SUM]);
    for piece in values.chunks_mut(PIECE) {
        if rank > 0 {
            mpi.receive(rank - 1, piece)?;
        }
        if rank < last {
            mpi.send(rank + 1, piece)?;
        }
    }
    mpi.broadcast(last, &mut values)
}

/// Microseconds, the median of many.
fn timed(runs: usize, mut work: impl FnMut() -> Result<(), diffgp_mpi::MpiError>) -> Result<f64, diffgp_mpi::MpiError> {
    let mut times = Vec::new();
    for _ in 0..runs.max(1) {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2].as_secs_f64() * 1e6)
}
