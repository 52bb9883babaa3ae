//! Where the randomness of a prediction comes from.

use core::ffi::c_void;

use diffgp_infer::{DefaultRng, FromFn, Noise, keyed_rng};
use rand_core::Rng;

/// Where the randomness of a sampled prediction comes from. All zeros is a good beginning: seed 0, row 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct diffgp_noise {
    /// With the row and the number of a path, the numbers that the path gets: the same on every device and on the workstation
    /// (diffgp predict --paths S --seed SEED).
    pub seed: u64,
    /// Count it up from prediction to prediction for independent ones; the workstation's is the number of the row in its table.
    pub row: u32,
    /// A generator of uniform 32-bit words that is used instead, of hardware for example; null for the built-in one.
    pub next: Option<unsafe extern "C" fn(context: *mut c_void) -> u32>,
    /// What the generator is called with.
    pub context: *mut c_void,
}

/// The same for the runtime.
pub(crate) struct Source {
    noise: diffgp_noise,
    /// The built-in generator, once a path has begun.
    keyed: Option<DefaultRng>,
}

impl Source {
    pub(crate) fn new(noise: &diffgp_noise) -> Self {
        Self { noise: *noise, keyed: None }
    }

    /// A uniform word, of which both kinds of numbers are made.
    fn word(&mut self) -> u32 {
        match (&mut self.keyed, self.noise.next) {
            (Some(keyed), _) => keyed.next_u32(),
            // SAFETY: the caller has given a function that may be called with this context, as often as is needed.
            (None, Some(next)) => unsafe { next(self.noise.context) },
            (None, None) => 0,
        }
    }
}

impl Noise for Source {
    fn begin_path(&mut self, path: u32) {
        if self.noise.next.is_none() {
            self.keyed = Some(keyed_rng(self.noise.seed, self.noise.row, path));
        }
    }

    fn normal(&mut self) -> f32 {
        FromFn(|| self.word()).normal()
    }

    fn fixed_normal(&mut self) -> i32 {
        // Without the feature there is no model that asks.
        if cfg!(feature = "fixed") { FromFn(|| self.word()).fixed_normal() } else { 0 }
    }
}
