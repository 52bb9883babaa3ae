//! Bytes as a model: parse them, and predict with whatever parses.

use diffgp_core::blob::{Blob, limits};
use diffgp_infer::{Error, Keyed, Model, Prediction, Workspace};

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
    assert!(names == 0 || names == model.inputs() + 1, "{names} names");
    let mut workspace = Workspace::<64, 1024>::new();
    let mut made = 0;
    for x in inputs(model.blob()) {
        let x = &x[..model.inputs()];
        walk(model, x, &mut workspace);
        if work(model.blob()) > longest {
            continue;
        }
        let drift = model.predict(x, &mut workspace);
        let sampled = model.predict_sampled(x, 2, &mut Keyed::new(1, 0), &mut workspace);
        made += [drift, sampled].into_iter().filter(|outcome| check_outcome(*outcome)).count() as u32;
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

/// A few single steps; every part of the flow's interface is called.
fn walk(model: &Model<'_>, x: &[f32], workspace: &mut Workspace<64, 1024>) {
    let Ok(mut flow) = model.start(x, workspace) else { return };
    assert!(flow.steps() <= limits::MAX_STEPS);
    let mut noise = Keyed::new(2, 0);
    let (mut drift, mut diffusion) = ([0.0; 64], [0.0; 64]);
    match flow.field(&mut drift, &mut diffusion) {
        Ok(()) => assert!(drift.iter().chain(&diffusion).all(|value| value.is_finite()), "a field that is not finite"),
        Err(error) => assert_eq!(error, Error::NotFinite),
    }
    for step in 0..3 {
        let _ = flow.position().count();
        let moved = if step % 2 == 0 { flow.step_drift() } else { flow.step(&mut noise) };
        match moved {
            Ok(true) => assert!(flow.state().iter().all(|x| x.is_finite()), "a state that is not finite"),
            Ok(false) => assert_eq!(flow.remaining(), 0),
            Err(error) => {
                assert_eq!(error, Error::NotFinite);
                assert!(flow.prediction().is_err(), "a prediction behind an overflow");
                return;
            }
        }
    }
    match flow.prediction() {
        Err(Error::Unfinished { remaining }) => assert_eq!(remaining, flow.remaining()),
        outcome => drop(check_outcome(outcome)),
    }
}

/// A prediction is finite and makes sense, or it is withheld because it is not finite. Tells which.
fn check_outcome(outcome: Result<Prediction, Error>) -> bool {
    let p = match outcome {
        Ok(prediction) => prediction,
        Err(error) => {
            assert_eq!(error, Error::NotFinite, "an error that parsing should have excluded");
            return false;
        }
    };
    assert!(p.mean().is_finite(), "{p:?}");
    assert!(p.variance().is_finite() && p.variance() >= p.latent_variance() && p.latent_variance() >= 0.0, "{p:?}");
    match (p.probability(), p.interval(0.95)) {
        (Some(probability), None) => assert!((0.0..=1.0).contains(&probability), "{p:?}"),
        (None, Some((low, high))) => {
            assert!(low.is_finite() && high.is_finite() && low <= p.mean() && p.mean() <= high, "{p:?}");
        }
        both => panic!("{p:?}: {both:?}"),
    }
    true
}

/// Multiply-adds of one path, at most: every step reads each of its tensors once.
fn work(blob: &Blob<'_>) -> usize {
    let header = blob.header();
    let (steps, inputs, features) = (usize::from(header.steps), usize::from(header.inputs), header.features());
    steps * inputs * features * (inputs + features)
}
