//! Everything runs on the threads it is given: rayon's global pool, which has no say in their number, stays unused.
//!
//! A test binary of its own, because a process has only one global pool.

use std::sync::mpsc;
use std::time::Duration;

use diffgp_train::compress::{Goal, compress};
use diffgp_train::data::Dataset;
use diffgp_train::evaluate::{Known, Sampling, score};
use diffgp_train::model_file::ModelFile;
use diffgp_train::threads::Threads;
use diffgp_train::train::{Config, Task, train};

/// Training, an export, predictions, a score and a compression.
fn whole_way() {
    let x: Vec<f32> = (0..60).map(|i| i as f32 / 10.0).collect();
    let y = x.iter().map(|x| x.sin()).collect();
    let data = Dataset::new(x.clone(), y, 1).unwrap();
    let mut config = Config { threads: 1, ..Config::for_rows(data.rows(), Task::Regression) };
    config.flow.optional = false;
    (config.predictor.inducing, config.flow.inducing) = (8, 8);
    for climb in [&mut config.warm_start, &mut config.with_flow] {
        climb.iterations = 5;
    }
    let trained = train(&data, &config, &mut ()).unwrap();
    let file = ModelFile::new(&trained.export(&data).unwrap().bytes).unwrap();
    let threads = Threads::new(1).unwrap();
    file.predict(&x, Sampling::Drift, &threads).unwrap();
    let rows: Vec<Known<'_>> = (0..data.rows()).map(|row| Known::of(&data, row, row)).collect();
    score(&file.model(), &rows, Sampling::Paths { count: 2, seed: 0 }, &threads).unwrap();
    let goal = Goal { max_bytes: Some(file.bytes().len() * 3 / 4), ..Goal::default() };
    compress(file.bytes(), &x, &goal, &|_| 1, &mut |_| (), &threads).unwrap();
}

#[test]
fn the_global_pool_stays_unused() {
    // One worker, which never has time: whoever asks the global pool for anything waits for ever.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
    rayon::spawn(|| {
        loop {
            std::thread::park();
        }
    });
    let (sender, receiver) = mpsc::channel();
    let work = std::thread::spawn(move || {
        whole_way();
        sender.send(()).unwrap();
    });
    match receiver.recv_timeout(Duration::from_secs(60)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("something waits for the global pool"),
        // Finished, or panicked with a message of its own.
        _ => work.join().unwrap(),
    }
}
