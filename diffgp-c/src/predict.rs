//! Predictions in one go.

use core::ffi::c_void;

use diffgp_infer::Noise;

use crate::memory::{object, piece, slice};
use crate::model::{self, diffgp_model};
use crate::noise::{Source, diffgp_noise};
use crate::prediction::{Place, diffgp_prediction};
use crate::status::{answer, diffgp_status};
use crate::workspace::Use;

/// Predicts along the drift, or from paths with noise.
#[inline(never)]
unsafe fn predict(
    model: *const diffgp_model,
    (x, inputs): (*const f32, usize),
    paths: Option<&(u32, *const diffgp_noise)>,
    (workspace, bytes): (*mut c_void, usize),
    prediction: *mut diffgp_prediction,
) -> diffgp_status {
    // SAFETY: the caller's promises, for all of it.
    let predict = || unsafe {
        let place = Place::new(prediction)?;
        let (inside, values) = (model::model(model)?, slice(x, inputs)?);
        let mut source;
        let noise = match paths {
            Some(&(paths, noise)) => {
                source = Source::new(&*object(noise.cast_mut())?);
                Some((paths, &mut source as &mut dyn Noise))
            }
            None => None,
        };
        let others = [piece(x, inputs), piece(model, 1), place.piece()];
        let (use_, memory) = Use::begin(workspace, bytes, inside, others)?;
        // Looked at where it is: every move of it is a copy.
        match &inside.predict_either(values, noise, memory) {
            Ok(made) => place.fill(use_, made),
            Err(error) => return Err((*error).into()),
        }
        Ok(())
    };
    answer(predict())
}

/// Predicts along the drift alone: one path without noise. Cheap, and close to the sampled mean, but the error bar leaves out
/// the spread of the paths.
///
/// x has the values of the inputs in their order, in the units of the data. The workspace is any memory of
/// DIFFGP_WORKSPACE_BYTES, aligned to 4 bytes; what was in it does not matter. After a refusal the prediction is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_predict(
    model: *const diffgp_model,
    x: *const f32,
    inputs: usize,
    workspace: *mut c_void,
    workspace_bytes: usize,
    prediction: *mut diffgp_prediction,
) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    unsafe { predict(model, (x, inputs), None, (workspace, workspace_bytes), prediction) }
}

/// Predicts from sampled paths, in memory that does not grow with their number. A model without a flow has only one path,
/// which is computed once. Otherwise as diffgp_predict.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_predict_sampled(
    model: *const diffgp_model,
    x: *const f32,
    inputs: usize,
    paths: u32,
    noise: *const diffgp_noise,
    workspace: *mut c_void,
    workspace_bytes: usize,
    prediction: *mut diffgp_prediction,
) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    unsafe { predict(model, (x, inputs), Some(&(paths, noise)), (workspace, workspace_bytes), prediction) }
}
