//! Answers a request for a prediction.

use diffgp_infer::{Error, Keyed, Memory, Model, Prediction};

use crate::message::{Answer, MAX_OUTPUTS, Output, Refusal, Request};

/// The answer of this model. Requests whose paths take more than `most` operations together are refused, so that no frame
/// keeps a device busy for good. `ticks` runs what it is given and says how long that took.
pub fn predict<W: Memory>(
    model: &Model<'_>,
    request: &Request,
    workspace: &mut W,
    most: u64,
    ticks: impl FnOnce(&mut dyn FnMut()) -> u32,
) -> Result<Answer, Refusal> {
    let of_path = model.work_per_path().operations();
    if of_path.saturating_mul(request.paths.into()) > most {
        let most_paths = u32::try_from(most / of_path.max(1)).unwrap_or(u32::MAX);
        return Err(Refusal::TooMuchWork { most_paths });
    }
    let mut outcome = Err(Refusal::Other);
    let ticks = ticks(&mut || {
        outcome = run(model, request, workspace).map(|prediction| answer(&prediction)).map_err(refusal);
    });
    outcome.map(|answer| Answer { ticks, ..answer })
}

fn run<'w>(model: &'w Model<'_>, request: &Request, workspace: &'w mut impl Memory) -> Result<Prediction<'w>, Error> {
    if request.paths == 0 {
        model.predict(&request.x, workspace)
    } else {
        model.predict_sampled(&request.x, request.paths, &mut Keyed::new(request.seed, request.row), workspace)
    }
}

fn answer(prediction: &Prediction<'_>) -> Answer {
    let output = |o: diffgp_infer::Output| Output {
        mean: o.mean(),
        variance: o.variance(),
        latent_variance: o.latent_variance(),
    };
    // At most as many as there is room for.
    Answer {
        outputs: prediction.outputs().take(MAX_OUTPUTS).map(output).collect(),
        probabilities: prediction.probabilities().take(MAX_OUTPUTS).collect(),
        out_of_range: prediction.out_of_range().bits(),
        ticks: 0,
    }
}

fn refusal(error: Error) -> Refusal {
    match error {
        Error::Capacity { .. } => Refusal::Capacity,
        Error::InputLength { expected, .. } => Refusal::InputLength { expected: expected as u32 },
        Error::InputNotFinite { .. } | Error::NotFinite => Refusal::NotFinite,
        _ => Refusal::Other,
    }
}
