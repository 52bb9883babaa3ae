//! Predictions piece by piece.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use diffgp_infer::{Error, Prediction, Progress, Run};

use crate::memory::{Piece, object, piece, slice};
use crate::model::{self, diffgp_model};
use crate::noise::{Source, diffgp_noise};
use crate::prediction::{Place, diffgp_prediction};
use crate::status::answer;
use crate::status::diffgp_status::{self, *};
use crate::workspace::Use;

/// Size of a diffgp_run.
pub const DIFFGP_RUN_BYTES: usize = 240;

/// A prediction that is made piece by piece. It lives where it was begun: a copy is refused.
#[repr(C)]
pub struct diffgp_run {
    /// Not for programs.
    pub opaque: [MaybeUninit<u64>; 30],
}

/// What is in a [`diffgp_run`].
#[repr(C)]
struct Inside {
    /// Its own address and [`BEGUN`], if there is a run behind it: the run borrows its noise, and must not move.
    tag: usize,
    place: MaybeUninit<Use>,
    noise: MaybeUninit<Source>,
    run: MaybeUninit<Either>,
}

const BEGUN: usize = u32::from_le_bytes(*b"dgpR") as usize;

const _: () = assert!(size_of::<diffgp_run>() == DIFFGP_RUN_BYTES);
const _: () = assert!(size_of::<Inside>() <= DIFFGP_RUN_BYTES && align_of::<Inside>() <= align_of::<diffgp_run>());

enum Either {
    Drift(Run<'static, 'static>),
    Sampled(Run<'static, 'static, Source>),
}

impl Either {
    fn advance(&mut self) -> Result<Progress, Error> {
        match self {
            Self::Drift(run) => run.advance(),
            Self::Sampled(run) => run.advance(),
        }
    }

    fn finish(self) -> Result<Prediction<'static>, Error> {
        match self {
            Self::Drift(run) => run.finish(),
            Self::Sampled(run) => run.finish(),
        }
    }
}

/// Where a run lives.
#[derive(Clone, Copy)]
struct Home(*mut Inside);

impl Home {
    fn new(pointer: *mut diffgp_run) -> Result<Self, diffgp_status> {
        Ok(Self(object(pointer)?.cast()))
    }

    fn tag(self) -> usize {
        self.0.addr() ^ BEGUN
    }

    fn piece(self) -> Piece {
        piece(self.0.cast::<diffgp_run>(), 1)
    }

    /// Empties the object.
    unsafe fn clear(self) {
        // SAFETY: the object is there (the caller's promise) and not smaller than `Inside`.
        unsafe { (&raw mut (*self.0).tag).write(0) };
    }

    unsafe fn fill(self, place: Use, run: Either) {
        // SAFETY: as in `clear`.
        unsafe {
            (&raw mut (*self.0).place).write(MaybeUninit::new(place));
            (&raw mut (*self.0).run).write(MaybeUninit::new(run));
            (&raw mut (*self.0).tag).write(self.tag());
        }
    }

    /// Where the run is and in which use of its workspace, if that still holds it.
    unsafe fn run(self) -> Result<(*mut Either, Use), diffgp_status> {
        // SAFETY: the object is there (the caller's promise).
        if unsafe { (&raw const (*self.0).tag).read() } != self.tag() {
            return Err(DIFFGP_ERROR_OBJECT);
        }
        // SAFETY: `fill` writes the tag only behind all the rest, and no copy has the tag of its address.
        let place = unsafe { (&raw const (*self.0).place).read().assume_init() };
        // SAFETY: the caller's promise.
        unsafe { place.check()? };
        // SAFETY: as above; only a place is computed.
        Ok((unsafe { (&raw mut (*self.0).run).cast() }, place))
    }
}

/// Begins what diffgp_predict_sampled does in one go, to be done piece by piece; without noise (null), what diffgp_predict
/// does: then there is one path.
///
/// x is needed no longer afterwards. The workspace belongs to the run until diffgp_finish; if something else uses it before
/// that, the run is refused with DIFFGP_ERROR_STALE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_begin(
    run: *mut diffgp_run,
    model: *const diffgp_model,
    x: *const f32,
    inputs: usize,
    paths: u32,
    noise: *const diffgp_noise,
    workspace: *mut c_void,
    workspace_bytes: usize,
) -> diffgp_status {
    answer(Home::new(run).and_then(|home| {
        // SAFETY: the caller's promises. The noise is at a place that nothing but the run uses from now on, and that does not
        // move as long as the tag is right.
        unsafe {
            home.clear();
            let (model, x, others) =
                (model::model(model)?, slice(x, inputs)?, [piece(x, inputs), piece(model, 1), home.piece()]);
            let run = if noise.is_null() {
                let (use_, memory) = Use::begin(workspace, workspace_bytes, model, others)?;
                (use_, Either::Drift(model.begin_drift(x, memory)?))
            } else {
                let own: *mut Source = (&raw mut (*home.0).noise).cast();
                own.write(Source::new(&*object(noise.cast_mut())?));
                let (use_, memory) = Use::begin(workspace, workspace_bytes, model, others)?;
                (use_, Either::Sampled(model.begin(x, paths, &mut *own, memory)?))
            };
            home.fill(run.0, run.1);
        }
        Ok(())
    }))
}

/// The next piece of work: one output of one Gaussian process, the largest piece there is. DIFFGP_PENDING if some is left,
/// DIFFGP_OK if diffgp_finish has only to collect the prediction. After DIFFGP_ERROR_NOT_FINITE every call says so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_advance(run: *mut diffgp_run) -> diffgp_status {
    // SAFETY: the caller's promise.
    let progress = Home::new(run).and_then(|home| unsafe { home.run() }).and_then(|(run, _)| {
        // SAFETY: there is a run, and nobody else uses it (the caller's promise).
        Ok(unsafe { &mut *run }.advance()?)
    });
    match progress {
        Ok(Progress::Ready) => DIFFGP_OK,
        Ok(Progress::Pending) => DIFFGP_PENDING,
        Err(status) => status,
    }
}

/// The rest of the work, and the prediction, with the bits of diffgp_predict_sampled. The run is over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_finish(run: *mut diffgp_run, prediction: *mut diffgp_prediction) -> diffgp_status {
    answer(Home::new(run).and_then(|home| {
        // SAFETY: the caller's promises; the run is read once, since its home is empty from then on.
        unsafe {
            let place = Place::new(prediction)?;
            let (run, use_) = home.run()?;
            home.clear();
            place.fill(use_, &run.read().finish()?);
        }
        Ok(())
    }))
}
