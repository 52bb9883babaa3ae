//! Several processes that train together, here threads with messages between them: the same bits as one.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use diffgp_train::calibration::CalibrationMode;
use diffgp_train::checkpoint::Checkpoint;
use diffgp_train::data::Dataset;
use diffgp_train::elbo::{predict_latent, trace};
use diffgp_train::exchange::{Exchange, ExchangeError, share};
use diffgp_train::threads::Threads;
use diffgp_train::train::{Config, Observer, Progress, Task, TrainError, resume_on, train, train_on};

use crate::goldens::named_arrays;
use crate::models::{Spec, problem};
use crate::training::{assert_same_bits, line_data, small_config, step_data};

/// Longer than any of these tests takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Messages from rank to rank, in the order in which they were sent.
#[derive(Debug)]
struct Post {
    size: usize,
    boxes: Mutex<Vec<VecDeque<Vec<u8>>>>,
    arrived: Condvar,
}

#[derive(Debug)]
struct Rank {
    rank: usize,
    post: Arc<Post>,
}

impl Exchange for Rank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.post.size
    }

    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), ExchangeError> {
        let mut boxes = self.post.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        boxes[self.rank * self.post.size + to].push_back(bytes.to_vec());
        self.post.arrived.notify_all();
        Ok(())
    }

    fn receive(&self, from: usize, bytes: &mut [u8]) -> Result<(), ExchangeError> {
        let place = from * self.post.size + self.rank;
        let boxes = self.post.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.post.arrived.wait_timeout_while(boxes, PATIENCE, |boxes| boxes[place].is_empty());
        let (mut boxes, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let message = boxes[place].pop_front().ok_or_else(|| ExchangeError(format!("nothing from rank {from}")))?;
        assert_eq!(message.len(), bytes.len(), "from {from} to {}", self.rank);
        bytes.copy_from_slice(&message);
        Ok(())
    }

    fn broadcast(&self, from: usize, bytes: &mut [u8]) -> Result<(), ExchangeError> {
        if self.rank != from {
            return self.receive(from, bytes);
        }
        (0..self.post.size).filter(|&to| to != from).try_for_each(|to| self.send(to, bytes))
    }

    fn all_gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, ExchangeError> {
        let gathered = |from: usize| {
            let mut length = (own.len() as u64).to_le_bytes();
            self.broadcast(from, &mut length)?;
            let mut bytes = if from == self.rank { own.to_vec() } else { vec![0; u64::from_le_bytes(length) as usize] };
            self.broadcast(from, &mut bytes)?;
            Ok(bytes)
        };
        (0..self.post.size).map(gathered).collect()
    }
}

/// What every one of `size` ranks makes of its threads.
fn on_ranks<R: Send>(size: usize, work: impl Fn(usize, &Threads) -> R + Sync) -> Vec<R> {
    on_ranks_with(size, |rank| Arc::new(rank), work)
}

/// The same over exchanges that are made of ranks.
fn on_ranks_with<R: Send>(
    size: usize,
    exchange: impl Fn(Rank) -> Arc<dyn Exchange>,
    work: impl Fn(usize, &Threads) -> R + Sync,
) -> Vec<R> {
    let post = Arc::new(Post { size, boxes: Mutex::new(vec![VecDeque::new(); size * size]), arrived: Condvar::new() });
    let ranks = (0..size).map(|rank| {
        // Different numbers of threads.
        Threads::of_rank(1 + rank % 2, exchange(Rank { rank, post: post.clone() })).unwrap()
    });
    let ranks: Vec<Threads> = ranks.collect();
    let work = &work;
    std::thread::scope(|scope| {
        let started: Vec<_> =
            ranks.iter().enumerate().map(|(rank, threads)| scope.spawn(move || work(rank, threads))).collect();
        started.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

#[test]
fn shares_are_neighbours_and_everything() {
    for (count, size) in [(0, 3), (2, 7), (16, 3), (64, 64), (157, 5)] {
        let all: Vec<usize> = (0..size).flat_map(|rank| share(count, rank, size)).collect();
        assert_eq!(all, (0..count).collect::<Vec<_>>());
        let lengths: Vec<usize> = (0..size).map(|rank| share(count, rank, size).len()).collect();
        assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1, "{lengths:?}");
    }
}

#[test]
fn bound_gradient_and_paths_do_not_depend_on_the_number_of_ranks() {
    for (times, per_dimension, softmax) in [(0, false, false), (0, true, true), (2, false, false)] {
        let outputs = if softmax { 4 } else { 1 };
        let shape = Spec { inputs: 3, inducing: 20, rows: 330, ..Spec::SMALL };
        let scheme = if times == 0 { Scheme::Midpoint } else { Scheme::EulerMaruyama };
        let problem = problem(Spec { times, per_dimension, softmax, outputs, scheme, ..shape }, 17);
        let round = |values: &[f64]| -> Vec<f32> { values.iter().map(|&value| value as f32).collect() };
        let (x, eps) = (round(&problem.x), round(&problem.eps));
        let bits = |threads: &Threads| -> Vec<u64> {
            let result = problem.evaluate::<f32>(threads);
            let gradient = named_arrays(&result.gradient);
            let latent = predict_latent(&problem.params, &x, problem.paths, Some(&eps), threads).unwrap();
            let followed = trace(&problem.params, &x, problem.paths, Some(&eps), threads).unwrap();
            assert!(latent == followed.latent);
            let arrays =
                [&latent.mean, &latent.variance, &followed.path, &followed.drift, &followed.diffusion_variance];
            let arrays = arrays.into_iter().flatten().map(|v| f64::from(*v).to_bits());
            let gradient = gradient.iter().flat_map(|(_, values)| values).chain([&result.elbo]).map(|v| v.to_bits());
            gradient.chain(arrays).collect()
        };
        let alone = bits(&Threads::new(2).unwrap());
        // 660 paths are eleven chunks: some of sixteen ranks have nothing to do.
        for size in [2, 3, 7, 16] {
            for (rank, found) in on_ranks(size, |_, threads| bits(threads)).into_iter().enumerate() {
                assert!(found == alone, "rank {rank} of {size}");
            }
        }
    }
}

/// Everything that a run can do: candidates, searches, flows that are chosen, shares left out to calibrate, batches.
fn runs() -> [(Dataset, Config); 3] {
    let mut busy = small_config(300, Task::Regression);
    (busy.batch, busy.paths, busy.averaging) = (150, 2, Some(0.9));
    busy.candidate_kernels = vec![KernelKind::Matern32];
    busy.candidate.iterations = 10;
    let mut searching = small_config(400, Task::Regression);
    (searching.predictor.most_inducing, searching.predictor.search_rows) = (40, 200);
    (searching.flow.optional, searching.validation.folds) = (true, 1);
    (searching.calibration.mode, searching.calibration.folds) = (CalibrationMode::Auto, 2);
    let classes = small_config(200, Task::Classification);
    [
        (step_data(300, Task::Regression), busy),
        (line_data(400), searching),
        (step_data(200, Task::Classification), classes),
    ]
}

#[test]
fn a_model_does_not_depend_on_the_number_of_ranks() {
    for (data, config) in &runs() {
        let alone = train(data, config, &mut ()).unwrap();
        for size in [2, 5] {
            let all = on_ranks(size, |_, threads| train_on(threads, data, config, &mut ()).unwrap());
            for (rank, trained) in all.iter().enumerate() {
                assert_same_bits(&alone, trained, &format!("rank {rank} of {size}"));
            }
        }
    }
}

/// Wants to stop after so many iterations, and keeps checkpoints unless its disk is full.
#[derive(Default)]
struct Keeper {
    iterations: usize,
    stop_after: Option<usize>,
    disk_is_full: bool,
    checkpoint: Option<Checkpoint>,
}

impl Observer for Keeper {
    fn iteration(&mut self, _: &Progress) {
        self.iterations += 1;
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> io::Result<()> {
        self.checkpoint = Some(checkpoint.clone());
        if self.disk_is_full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn should_stop(&mut self) -> bool {
        self.stop_after.is_some_and(|count| self.iterations >= count)
    }
}

#[test]
fn what_one_rank_stops_others_finish_whatever_their_number() {
    let [(data, config), ..] = runs();
    let undisturbed = train(&data, &config, &mut ()).unwrap();
    // The last one wants to stop.
    let stopped = on_ranks(3, |rank, threads| {
        let mut keeper = Keeper { stop_after: (rank == 2).then_some(33), ..Keeper::default() };
        let error = train_on(threads, &data, &config, &mut keeper).unwrap_err();
        assert!(matches!(error, TrainError::Stopped { .. }), "{error}");
        assert_eq!(keeper.iterations, 33);
        keeper.checkpoint.unwrap()
    });
    assert!(stopped.iter().all(|checkpoint| *checkpoint == stopped[0]));
    let go_on = |threads: &Threads| resume_on(threads, &data, &config, stopped[0].clone(), &mut ()).unwrap();
    assert_same_bits(&undisturbed, &go_on(&Threads::new(1).unwrap()), "one rank goes on");
    for trained in on_ranks(5, |_, threads| go_on(threads)) {
        assert_same_bits(&undisturbed, &trained, "five ranks go on");
    }
}

#[test]
fn a_checkpoint_that_one_rank_cannot_keep_ends_all() {
    let [(data, config), ..] = runs();
    let errors = on_ranks(3, |rank, threads| {
        let mut keeper = Keeper { disk_is_full: rank == 0, ..Keeper::default() };
        train_on(threads, &data, &config, &mut keeper).unwrap_err().to_string()
    });
    assert_eq!(errors[0], io::Error::from(io::ErrorKind::StorageFull).to_string());
    assert!(errors[1..].iter().all(|error| error == "rank 0 could not keep the checkpoint"), "{errors:?}");
}

#[test]
fn ranks_with_other_rows_or_settings_are_refused() {
    let [(data, config), ..] = runs();
    let (others, reseeded) = (step_data(301, Task::Regression), Config { seed: 9, ..config.clone() });
    for (rank_one, named) in [((&others, &config), "training data"), ((&data, &reseeded), "configuration")] {
        let errors = on_ranks(2, |rank, threads| {
            let (data, config) = if rank == 0 { (&data, &config) } else { rank_one };
            train_on(threads, data, config, &mut ()).unwrap_err().to_string()
        });
        let expected = format!("rank 1 would not train the model of rank 0: {named} ");
        assert!(errors.iter().all(|error| error.starts_with(&expected)), "{errors:?}");
    }
}

/// Adds where nobody else does: a processor that computes otherwise.
#[derive(Debug)]
struct Wrong(Rank);

impl Exchange for Wrong {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), ExchangeError> {
        self.0.send(to, bytes)
    }

    fn receive(&self, from: usize, bytes: &mut [u8]) -> Result<(), ExchangeError> {
        self.0.receive(from, bytes)
    }

    fn broadcast(&self, from: usize, bytes: &mut [u8]) -> Result<(), ExchangeError> {
        self.0.broadcast(from, bytes)?;
        // Of sums alone, the first of which is the expected log-likelihood: its lowest bit.
        if bytes.len() > 1000 {
            bytes[0] ^= 1;
        }
        Ok(())
    }

    fn all_gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, ExchangeError> {
        self.0.all_gather(own)
    }
}

#[test]
fn a_rank_that_computes_otherwise_is_found() {
    let [(data, config), ..] = runs();
    let errors = on_ranks_with(
        3,
        |rank| if rank.rank == 1 { Arc::new(Wrong(rank)) as Arc<dyn Exchange> } else { Arc::new(rank) },
        |_, threads| {
            let mut keeper = Keeper::default();
            let error = train_on(threads, &data, &config, &mut keeper).unwrap_err().to_string();
            // What cannot be trusted is not kept.
            assert!(keeper.checkpoint.is_none());
            error
        },
    );
    assert!(errors.iter().all(|error| error.starts_with("rank 1 has another bound than rank 0")), "{errors:?}");
}
