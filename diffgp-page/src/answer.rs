//! What is said of a row, as words.

use diffgp_infer::{Error, Keyed, Memory, Model, Noise, Prediction, Run};

use crate::state::Parts;

/// Levels of the intervals of an answer: those that `diffgp eval` counts.
pub(crate) const LEVELS: [f32; 5] = [0.5, 0.8, 0.9, 0.95, 0.99];

/// Along how many paths, and which.
#[derive(Clone, Copy)]
pub(crate) struct Sampling {
    /// 0 is along the drift.
    pub(crate) paths: u32,
    pub(crate) seed: u64,
    pub(crate) row: u32,
}

/// Inputs out of range (two words, input 0 in the lowest bit of the first); of every output its mean, deviation, variance
/// and the ends of its intervals, not a number for classes; then every probability.
pub(crate) fn predict(parts: Parts<'_>, sampling: Sampling) -> Option<()> {
    let Parts { model, x, mut workspace, answer } = parts;
    let Sampling { paths, seed, row } = sampling;
    let prediction = match paths {
        0 => model.predict(x, &mut workspace),
        paths => model.predict_sampled(x, paths, &mut Keyed::new(seed, row), &mut workspace),
    };
    write(&prediction.ok()?, answer)
}

fn write(p: &Prediction<'_>, answer: &mut Vec<u32>) -> Option<()> {
    let count = 2 + (3 + 2 * LEVELS.len()) * p.outputs().len() + p.probabilities().len();
    answer.try_reserve_exact(count).ok()?;
    let outside = p.out_of_range().bits();
    answer.extend([outside as u32, (outside >> 32) as u32]);
    for output in p.outputs() {
        answer.extend([output.mean(), output.std_dev(), output.variance()].map(f32::to_bits));
        for level in LEVELS {
            let (low, high) = output.interval(level).unwrap_or((f32::NAN, f32::NAN));
            answer.extend([low, high].map(f32::to_bits));
        }
    }
    answer.extend(p.probabilities().map(f32::to_bits));
    Some(())
}

/// The states of one path in raw units, K + 1 times D: along the drift, or the path of this number.
pub(crate) fn path(parts: Parts<'_>, sampling: Sampling, path: u32) -> Option<()> {
    let Parts { model, x, mut workspace, answer } = parts;
    answer.try_reserve_exact((model.steps() + 1) * model.inputs()).ok()?;
    if sampling.paths == 0 {
        return states(model.begin_drift(x, &mut workspace), answer);
    }
    let mut noise = OnePath { keyed: Keyed::new(sampling.seed, sampling.row), path };
    states(model.begin(x, 1, &mut noise, &mut workspace), answer)
}

fn states<N: Noise>(run: Result<Run<'_, '_, N>, Error>, answer: &mut Vec<u32>) -> Option<()> {
    let mut run = run.ok()?;
    loop {
        answer.extend(run.position().map(f32::to_bits));
        if !run.step().ok()? {
            return Some(());
        }
    }
}

/// The noise of one path of a prediction over several.
struct OnePath {
    keyed: Keyed,
    path: u32,
}

impl Noise for OnePath {
    fn begin_path(&mut self, _: u32) {
        self.keyed.begin_path(self.path);
    }

    fn normal(&mut self) -> f32 {
        self.keyed.normal()
    }
}

/// Drift at the beginning of the flow, in raw units per unit of flow time: D values.
pub(crate) fn drift(parts: Parts<'_>) -> Option<()> {
    let Parts { model, x, mut workspace, answer } = parts;
    let mut field: Vec<f32> = crate::state::room(2 * model.inputs())?;
    let (drift, diffusion) = field.split_at_mut_checked(model.inputs())?;
    drift_of(&model, x, &mut workspace, drift, diffusion).ok()?;
    answer.try_reserve_exact(drift.len()).ok()?;
    let inputs = (0..).map_while(|index| model.blob().input(index));
    answer.extend(drift.iter().zip(inputs).map(|(drift, input)| (drift / input.scale).to_bits()));
    Some(())
}

fn drift_of(
    model: &Model<'_>,
    x: &[f32],
    workspace: &mut impl Memory,
    drift: &mut [f32],
    diffusion: &mut [f32],
) -> Result<(), Error> {
    model.begin_drift(x, workspace)?.field(drift, diffusion)
}
