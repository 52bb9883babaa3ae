//! What a test asks of the firmware: inputs, the number of paths and a seed, in little-endian words.
//!
//! ```text
//! inputs   rows   paths   seed (low, high)   rows × inputs singles
//! ```

use crate::region;

/// Inputs that an image can take.
pub const MAX_INPUTS: usize = 32;

/// A job in memory.
#[derive(Clone, Copy)]
pub struct Job {
    /// D.
    pub inputs: usize,
    /// Rows of inputs.
    pub rows: u32,
    /// Sampled paths per prediction.
    pub paths: u32,
    /// Seed of the noise.
    pub seed: u64,
    values: &'static [[u8; 4]],
}

impl Job {
    /// The job beside this firmware; `None` if there is none.
    pub fn find() -> Option<Self> {
        let (words, _) = region::job().as_chunks::<4>();
        let (&[inputs, rows, paths, low, high], values) = words.split_first_chunk::<5>()?;
        let number = u32::from_le_bytes;
        let inputs = number(inputs) as usize;
        let seed = u64::from(number(low)) | u64::from(number(high)) << 32;
        let job = Self { inputs, rows: number(rows), paths: number(paths), seed, values };
        (1..=MAX_INPUTS).contains(&inputs).then_some(job)
    }

    /// One row of inputs, copied to `x`; `None` behind the last.
    pub fn row<'x>(&self, row: u32, x: &'x mut [f32; MAX_INPUTS]) -> Option<&'x [f32]> {
        let values = self.values.chunks_exact(self.inputs.max(1)).nth(row as usize)?;
        for (x, value) in x.iter_mut().zip(values) {
            *x = f32::from_le_bytes(*value);
        }
        x.get(..self.inputs)
    }
}
