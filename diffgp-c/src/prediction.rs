//! Predictions: what most programs want as plain numbers, the rest behind questions.

use core::mem::MaybeUninit;

use diffgp_infer::{Output, Prediction};

use crate::memory::{Piece, object, piece, put, room};
use crate::status::answer;
use crate::status::diffgp_status::{self, *};
use crate::workspace::Use;

/// Size of a diffgp_prediction.
pub const DIFFGP_PREDICTION_BYTES: usize = 104;

/// One output of a prediction with its error bar: in the units of the target; of classes, the latent function.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct diffgp_output {
    /// The mean.
    pub mean: f32,
    /// The variance of a new observation.
    pub variance: f32,
    /// Its square root.
    pub std_dev: f32,
    /// The variance of the underlying function, without noise.
    pub latent_variance: f32,
}

impl From<Output> for diffgp_output {
    fn from(output: Output) -> Self {
        Self {
            mean: output.mean(),
            variance: output.variance(),
            std_dev: output.std_dev(),
            latent_variance: output.latent_variance(),
        }
    }
}

/// A prediction. Its first output, for most models the only one, stands in it; questions about others, intervals and classes
/// go to the workspace, hence only until that is used again. It may be copied.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct diffgp_prediction {
    /// The first output.
    pub output: diffgp_output,
    /// Bit i is set if input i lies outside the range seen in training: there the model extrapolates. 0 is good.
    pub out_of_range: u64,
    /// Not for programs.
    pub opaque: [MaybeUninit<u64>; 10],
}

/// What is in [`diffgp_prediction::opaque`].
#[repr(C)]
struct Inside {
    /// [`MADE`] if there is a prediction behind it.
    tag: u32,
    place: MaybeUninit<Use>,
    prediction: MaybeUninit<Prediction<'static>>,
}

const MADE: u32 = u32::from_le_bytes(*b"dgpP");

const _: () = assert!(size_of::<diffgp_prediction>() == DIFFGP_PREDICTION_BYTES);
const _: () = assert!(size_of::<Inside>() <= size_of::<[u64; 10]>() && align_of::<Inside>() <= align_of::<u64>());

/// Where a prediction goes.
#[derive(Clone, Copy)]
pub(crate) struct Place(*mut diffgp_prediction);

impl Place {
    /// Empties an object: until it is filled, questions about it are refused.
    pub(crate) unsafe fn new(pointer: *mut diffgp_prediction) -> Result<Self, diffgp_status> {
        let place = Self(object(pointer)?);
        // SAFETY: there is room for the object (the caller's promise), and `Inside` fits into its opaque part.
        unsafe { (&raw mut (*place.inside()).tag).write(0) };
        Ok(place)
    }

    pub(crate) fn piece(self) -> Piece {
        piece(self.0, 1)
    }

    fn inside(self) -> *mut Inside {
        // Only a place is computed: a field of an object that is there.
        // SAFETY: the pointer is that of an object (the caller's promise).
        unsafe { (&raw mut (*self.0).opaque).cast() }
    }

    #[inline(always)]
    pub(crate) unsafe fn fill(self, place: Use, prediction: &Prediction<'static>) {
        let inside = self.inside();
        // SAFETY: as in `new`.
        unsafe {
            if let Some(first) = prediction.output(0) {
                (&raw mut (*self.0).output).write(first.into());
            }
            (&raw mut (*self.0).out_of_range).write(prediction.out_of_range().bits());
            (&raw mut (*inside).place).write(MaybeUninit::new(place));
            (&raw mut (*inside).prediction).write(MaybeUninit::new(*prediction));
            (&raw mut (*inside).tag).write(MADE);
        }
    }
}

/// The prediction in an object, if its workspace still holds it.
unsafe fn prediction<'a>(pointer: *const diffgp_prediction) -> Result<&'a Prediction<'static>, diffgp_status> {
    let inside = Place(object(pointer.cast_mut())?).inside();
    // SAFETY: the object is there (the caller's promise).
    if unsafe { (&raw const (*inside).tag).read() } != MADE {
        return Err(DIFFGP_ERROR_OBJECT);
    }
    // SAFETY: `fill` writes the tag only with all the rest.
    unsafe { (&raw const (*inside).place).read().assume_init().check()? };
    // SAFETY: likewise; and the workspace was not used since, so that what the prediction borrows is as it was.
    Ok(unsafe { (*inside).prediction.assume_init_ref() })
}

/// An output of a prediction, counted from 0: a real target, or the latent function of a class.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_get_output(
    prediction: *const diffgp_prediction,
    index: usize,
    output: *mut diffgp_output,
) -> diffgp_status {
    // SAFETY: the caller's promise.
    answer(unsafe { self::prediction(prediction) }.and_then(|prediction| {
        let found = prediction.output(index).ok_or(DIFFGP_ERROR_INDEX)?;
        // SAFETY: the caller's promise.
        unsafe { put(output, found.into()) }
    }))
}

/// The central interval that holds a new observation of a real target with this probability (0.9, say): mean minus and plus z
/// standard deviations. index counts the outputs from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_get_interval(
    prediction: *const diffgp_prediction,
    index: usize,
    level: f32,
    low: *mut f32,
    high: *mut f32,
) -> diffgp_status {
    // SAFETY: the caller's promise.
    answer(unsafe { self::prediction(prediction) }.and_then(|prediction| {
        let output = prediction.output(index).ok_or(DIFFGP_ERROR_INDEX)?;
        let (from, to) = output.interval(level).ok_or(DIFFGP_ERROR_KIND)?;
        object(high)?;
        // SAFETY: the caller's promise.
        unsafe {
            put(low, from)?;
            put(high, to)
        }
    }))
}

/// The most probable class, counted from 0, the first of equals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_get_class(prediction: *const diffgp_prediction, number: *mut usize) -> diffgp_status {
    // SAFETY: the caller's promise.
    answer(unsafe { self::prediction(prediction) }.and_then(|prediction| {
        let found = prediction.class().ok_or(DIFFGP_ERROR_KIND)?;
        // SAFETY: the caller's promise.
        unsafe { put(number, found) }
    }))
}

/// The probability of every class in order. count is the room there is, at least as many as there are classes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_get_probabilities(
    prediction: *const diffgp_prediction,
    probabilities: *mut f32,
    count: usize,
) -> diffgp_status {
    // SAFETY: the caller's promise.
    answer(unsafe { self::prediction(prediction) }.and_then(|prediction| {
        let found = prediction.probabilities();
        if found.len() == 0 {
            return Err(DIFFGP_ERROR_KIND);
        }
        // SAFETY: the caller's promise.
        let places = unsafe { room(probabilities, count)? };
        if places.len() < found.len() {
            return Err(DIFFGP_ERROR_CAPACITY);
        }
        for (place, probability) in places.iter_mut().zip(found) {
            place.write(probability);
        }
        Ok(())
    }))
}
