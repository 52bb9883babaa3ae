//! Bytes as a model: parse them, and predict with whatever parses.

use diffgp_core::blob::{Blob, limits};
use diffgp_infer::{Error, Keyed, Model, Prediction, Workspace};

/// Large enough for every model.
type Memory = Workspace<64, 1024, 32>;

/// How far some bytes got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Refused by both parsers.
    Nothing,
    /// Taken by `parse_trusted` alone.
    Trusted {
        /// Whether a prediction came out, rather than overflows.
        predicted: bool,
    },
    /// Taken by `parse`.
    Parsed {
        /// Whether a prediction came out, rather than overflows.
        predicted: bool,
    },
}

/// Parses the bytes, which must start at a multiple of four, and predicts. Panics if a promise of the runtime is broken.
/// Paths of more than `longest` multiply-adds are not run to their end, for the sake of a fuzzer's rate.
pub fn check(bytes: &[u8], longest: usize) -> Reached {
    match (Model::parse(bytes), Model::parse_trusted(bytes)) {
        (Ok(model), trusted) => {
            assert!(trusted.is_ok(), "parse takes what parse_trusted refuses");
            Reached::Parsed { predicted: predictions(&model, longest) > 0 }
        }
        (Err(_), Ok(model)) => Reached::Trusted { predicted: predictions(&model, longest) > 0 },
        (Err(_), Err(_)) => Reached::Nothing,
    }
}

/// Predictions that came out, of those tried.
fn predictions(model: &Model<'_>, longest: usize) -> u32 {
    let names = model.blob().names().count();
    assert!(names == 0 || names == model.inputs() + model.blob().header().targets(), "{names} names");
    let mut workspace = Memory::new();
    let mut made = 0;
    for x in inputs(model.blob()) {
        let x = &x[..model.inputs()];
        walk(model, x, &mut workspace);
        if work(model.blob()) > longest {
            continue;
        }
        made += u32::from(check_outcome(model.predict(x, &mut workspace)));
        let sampled = model.predict_sampled(x, 2, &mut Keyed::new(1, 0), &mut workspace);
        made += u32::from(check_outcome(sampled));
    }
    made
}

/// The middle of the ranges seen in training, zero, and the largest numbers there are.
fn inputs(blob: &Blob<'_>) -> [[f32; 64]; 3] {
    let mut middle = [0.0; 64];
    for (index, x) in middle.iter_mut().enumerate() {
        let value = blob.input(index).map_or(0.0, |input| 0.5 * input.low + 0.5 * input.high);
        // A file that was not looked at may hold ranges that are no numbers.
        *x = if value.is_finite() { value } else { 1.0 };
    }
    let mut largest = [f32::MAX; 64];
    largest.iter_mut().step_by(2).for_each(|x| *x = -*x);
    [middle, [0.0; 64], largest]
}

/// A few pieces and single steps; every part of the run's interface is called.
fn walk(model: &Model<'_>, x: &[f32], workspace: &mut Memory) {
    let mut noise = Keyed::new(2, 0);
    let Ok(mut run) = model.begin(x, 2, &mut noise, workspace) else { return };
    assert!(run.steps() <= limits::MAX_STEPS);
    let (mut drift, mut diffusion) = ([0.0_f32; 64], [0.0_f32; 64]);
    match run.field(&mut drift, &mut diffusion) {
        Ok(()) => assert!(drift.iter().chain(&diffusion).all(|value| value.is_finite()), "a field that is not finite"),
        Err(error) => assert_eq!(error, Error::NotFinite),
    }
    let _ = run.advance();
    for _ in 0..3 {
        let (taken, _) = (run.steps_taken(), run.position().count());
        match run.step() {
            Ok(true) => assert!(run.state().iter().all(|x| x.is_finite()), "a state that is not finite"),
            Ok(false) => assert_eq!(taken, run.steps()),
            Err(error) => {
                assert_eq!(error, Error::NotFinite);
                assert_eq!(run.advance(), Err(Error::NotFinite), "an overflow that is forgotten");
                assert!(run.prediction().is_err(), "a prediction behind an overflow");
                return;
            }
        }
    }
    let left = if run.steps() == 0 { 1 } else { 2 };
    match run.prediction() {
        Ok(_) => assert!(run.is_ready() && run.paths_taken() == left, "a prediction before its end"),
        // All paths are finite, and what they say in the target's units is not.
        Err(Error::NotFinite) => assert!(run.is_ready(), "an overflow before the end"),
        Err(error) => assert_eq!(error, Error::Unfinished { paths: left }),
    }
}

/// A prediction is finite and makes sense, or it is withheld because it is not finite. Tells which.
fn check_outcome(outcome: Result<Prediction<'_>, Error>) -> bool {
    let p = match outcome {
        Ok(prediction) => prediction,
        Err(error) => {
            assert_eq!(error, Error::NotFinite, "an error that parsing should have excluded");
            return false;
        }
    };
    for output in p.outputs() {
        let (mean, variance, latent) = (output.mean(), output.variance(), output.latent_variance());
        assert!(mean.is_finite() && variance.is_finite() && variance >= latent && latent >= 0.0, "{p:?}");
        match output.interval(0.95) {
            None => assert!(p.class().is_some(), "{p:?}"),
            Some((low, high)) => {
                assert!(low.is_finite() && high.is_finite() && low <= mean && mean <= high, "{p:?}");
            }
        }
    }
    let total: f32 = p.probabilities().sum();
    match p.class() {
        Some(class) => {
            assert!(p.probabilities().all(|probability| (0.0..=1.0 + 1e-6).contains(&probability)), "{p:?}");
            assert!((total - 1.0).abs() < 1e-5 && class < p.probabilities().len(), "{p:?}");
        }
        None => assert!(p.probabilities().len() == 0, "{p:?}"),
    }
    true
}

/// Multiply-adds of one path, at most: every step reads each of its tensors once.
fn work(blob: &Blob<'_>) -> usize {
    let header = blob.header();
    let (steps, inputs, features) = (usize::from(header.steps), usize::from(header.inputs), header.features());
    steps * inputs * features * (inputs + features)
}
