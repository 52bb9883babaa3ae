//! Models: parsed once, and asked about.

use core::ffi::{c_char, c_void};
use core::mem::MaybeUninit;

use diffgp_infer::{Likelihood, Model, ParseError};

use crate::memory::{object, put, slice};
use crate::status::answer;
use crate::status::diffgp_status::{self, *};

/// Size of a diffgp_model.
pub const DIFFGP_MODEL_BYTES: usize = 264;

/// A parsed model. It borrows the bytes it was parsed from: both stay where they are, unchanged, as long as it is used.
///
/// Any number of threads may use one model at a time, each with a workspace of its own.
#[repr(C)]
pub struct diffgp_model {
    /// Not for programs.
    pub opaque: [MaybeUninit<u64>; 33],
}

/// What is in a [`diffgp_model`].
#[repr(C)]
struct Inside {
    /// [`PARSED`] if there is a model behind it.
    tag: u32,
    model: MaybeUninit<Model<'static>>,
}

const PARSED: u32 = u32::from_le_bytes(*b"dgpM");

const _: () = assert!(size_of::<diffgp_model>() == DIFFGP_MODEL_BYTES);
const _: () = assert!(size_of::<Inside>() <= DIFFGP_MODEL_BYTES && align_of::<Inside>() <= align_of::<diffgp_model>());

/// What a model answers.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum diffgp_kind {
    /// Real targets, one for every output.
    DIFFGP_KIND_REAL = 0,
    /// Two classes, from one output.
    DIFFGP_KIND_TWO_CLASSES = 1,
    /// Three classes or more, with an output each.
    DIFFGP_KIND_CLASSES = 2,
}

/// Sizes and kind of a model.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct diffgp_info {
    /// D: values that an input has.
    pub inputs: u32,
    /// M: inducing points of its larger Gaussian process.
    pub features: u32,
    /// O: real targets, or latent functions of classes.
    pub outputs: u32,
    /// Classes; 0 for real targets.
    pub classes: u32,
    /// K: steps of the flow; 0 without one.
    pub steps: u32,
    /// What it answers.
    pub kind: diffgp_kind,
    /// Bytes of the workspace that it needs.
    pub workspace_bytes: usize,
}

/// The model in an object.
pub(crate) unsafe fn model<'a>(pointer: *const diffgp_model) -> Result<&'a Model<'static>, diffgp_status> {
    let inside: *const Inside = object(pointer.cast_mut())?.cast();
    // SAFETY: the object is there (the caller's promise) and not smaller than `Inside` (asserted above).
    if unsafe { (&raw const (*inside).tag).read() } != PARSED {
        return Err(DIFFGP_ERROR_OBJECT);
    }
    // SAFETY: `fill` writes the tag only behind a model, and nothing has changed since (the caller's promise).
    Ok(unsafe { (*inside).model.assume_init_ref() })
}

/// Parses bytes into an object, which is empty if they are refused.
unsafe fn fill(
    to: *mut diffgp_model,
    bytes: *const c_void,
    length: usize,
    parse: impl FnOnce(&'static [u8]) -> Result<Model<'static>, ParseError>,
) -> Result<(), diffgp_status> {
    let inside: *mut Inside = object(to)?.cast();
    // SAFETY: there is room for the object (the caller's promise), which is not smaller than `Inside`.
    unsafe { (&raw mut (*inside).tag).write(0) };
    // SAFETY: the bytes are there, and stay as long as the model is used (the caller's promise).
    let bytes = unsafe { slice(bytes.cast::<u8>(), length)? };
    let parsed = parse(bytes);
    // Looked at where it is: it is long, and every move of it is a copy.
    let model = parsed.as_ref().map_err(|error| diffgp_status::from(*error))?;
    // SAFETY: as above.
    unsafe {
        (&raw mut (*inside).model).write(MaybeUninit::new(*model));
        (&raw mut (*inside).tag).write(PARSED);
    }
    Ok(())
}

/// Loads a model in place and checks everything once: lengths, limits, numbers, checksum.
///
/// bytes is where the model file lies, in flash or in RAM, at a multiple of 4. length may be larger than the model (a region
/// of flash). After a refusal the model is empty: functions that are given it return DIFFGP_ERROR_OBJECT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_parse(model: *mut diffgp_model, bytes: *const c_void, length: usize) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    answer(unsafe { fill(model, bytes, length, Model::parse) })
}

/// Like diffgp_parse without the two passes over the tensors (checksum, numbers): for devices that wake up often and have
/// parsed these bytes before. Damaged bytes still cause neither a crash nor a NaN in a prediction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_parse_trusted(
    model: *mut diffgp_model,
    bytes: *const c_void,
    length: usize,
) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    answer(unsafe { fill(model, bytes, length, Model::parse_trusted) })
}

/// Like diffgp_parse, and refuses a model of which one sampled path takes more operations than this (see diffgp_work): for
/// programs that take models from elsewhere and have a deadline.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_parse_within(
    model: *mut diffgp_model,
    bytes: *const c_void,
    length: usize,
    operations: u64,
) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    answer(unsafe { fill(model, bytes, length, |bytes| Model::parse_within(bytes, operations)) })
}

/// Sizes and kind of a model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_model_info(model: *const diffgp_model, info: *mut diffgp_info) -> diffgp_status {
    // SAFETY: the caller's promise.
    answer(unsafe { self::model(model) }.and_then(|model| {
        let found = diffgp_info {
            // The format's limits are far below those of a word.
            inputs: model.inputs() as u32,
            features: model.features() as u32,
            outputs: model.outputs() as u32,
            classes: model.classes() as u32,
            steps: model.steps() as u32,
            kind: match model.likelihood() {
                Likelihood::Gaussian => diffgp_kind::DIFFGP_KIND_REAL,
                Likelihood::Bernoulli => diffgp_kind::DIFFGP_KIND_TWO_CLASSES,
                _ => diffgp_kind::DIFFGP_KIND_CLASSES,
            },
            workspace_bytes: crate::workspace::bytes(model.workspace_words()),
        };
        // SAFETY: the caller's promise.
        unsafe { put(info, found) }
    }))
}

/// What identifies a model: up to 32 bytes, by default a fingerprint of its numbers. They lie in the model's bytes and are no
/// string of C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_model_id(
    model: *const diffgp_model,
    id: *mut *const u8,
    length: *mut usize,
) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    answer(unsafe { tell(model, |model| Some(model.blob().header().model_id), id, length) })
}

/// The name of an input, counted from 0; empty if names were stripped from the model. It lies in the model's bytes, is UTF-8,
/// and does not end with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_input_name(
    model: *const diffgp_model,
    index: usize,
    name: *mut *const c_char,
    length: *mut usize,
) -> diffgp_status {
    let find = |model: &Model<'static>| {
        (index < model.inputs()).then(|| model.blob().names().nth(index).unwrap_or_default().as_bytes())
    };
    // SAFETY: the caller's promises are these.
    answer(unsafe { tell(model, find, name.cast(), length) })
}

/// The name of a target, counted from 0: of a real one, or of the column that holds the class. As diffgp_input_name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_target_name(
    model: *const diffgp_model,
    index: usize,
    name: *mut *const c_char,
    length: *mut usize,
) -> diffgp_status {
    let find = |model: &Model<'static>| {
        let (blob, place) = (model.blob(), model.inputs().checked_add(index)?);
        (index < blob.header().targets()).then(|| blob.names().nth(place).unwrap_or_default().as_bytes())
    };
    // SAFETY: the caller's promises are these.
    answer(unsafe { tell(model, find, name.cast(), length) })
}

/// The name of a class, counted from 0. As diffgp_input_name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_class_name(
    model: *const diffgp_model,
    index: usize,
    name: *mut *const c_char,
    length: *mut usize,
) -> diffgp_status {
    let find = |model: &Model<'static>| {
        (index < model.classes()).then(|| model.blob().classes().nth(index).unwrap_or_default().as_bytes())
    };
    // SAFETY: the caller's promises are these.
    answer(unsafe { tell(model, find, name.cast(), length) })
}

/// Writes where bytes of a model are and how many; `None` is an index that there is not.
unsafe fn tell(
    model: *const diffgp_model,
    find: impl FnOnce(&Model<'static>) -> Option<&'static [u8]>,
    to: *mut *const u8,
    length: *mut usize,
) -> Result<(), diffgp_status> {
    // SAFETY: the caller's promise.
    let found = find(unsafe { self::model(model)? }).ok_or(DIFFGP_ERROR_INDEX)?;
    object(length)?;
    // SAFETY: the caller's promise.
    unsafe {
        put(to, found.as_ptr())?;
        put(length, found.len())
    }
}

/// The range of an input, counted from 0, that was seen in training.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_input_range(
    model: *const diffgp_model,
    index: usize,
    low: *mut f32,
    high: *mut f32,
) -> diffgp_status {
    // SAFETY: the caller's promise.
    answer(unsafe { self::model(model) }.and_then(|model| {
        let input = model.blob().input(index).ok_or(DIFFGP_ERROR_INDEX)?;
        object(high)?;
        // SAFETY: the caller's promise.
        unsafe {
            put(low, input.low)?;
            put(high, input.high)
        }
    }))
}
