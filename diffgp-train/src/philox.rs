//! Philox4x32-10: 128 random bits as a pure function of a 128-bit counter and a 64-bit key.
//!
//! Every random number of the trainer is addressed, not drawn: (seed, purpose, where it is used). So nothing depends
//! on the order of work, the number of threads, or on where a run was interrupted.
//! Reference: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
const ROUNDS: usize = 10;

/// What random bits are for: streams of different purposes never meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// Brownian increments of training iterations.
    Training = 0,
    /// Brownian increments of validation.
    Validation = 1,
    /// Brownian increments of the final fit of q(u_g).
    Refit = 2,
    /// Order of the rows in an epoch.
    Epoch = 3,
    /// Which rows are validation rows.
    Split = 4,
    /// Rows looked at for inducing points, and the choice among them.
    Inducing = 5,
    /// Nodes of a cubature over the outputs of a classifier.
    Cubature = 6,
    /// Brownian increments of the residuals that error bars are calibrated by.
    Calibration = 7,
}

/// The four words of `counter` under `key`.
pub fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..ROUNDS {
        let [a, b] = [0, 1].map(|i| u64::from(MULTIPLIERS[i]) * u64::from(counter[2 * i]));
        counter = [(b >> 32) as u32 ^ counter[1] ^ key[0], b as u32, (a >> 32) as u32 ^ counter[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

/// The key of a seed.
pub fn key(seed: u64) -> [u32; 2] {
    [seed as u32, (seed >> 32) as u32]
}

/// Word 3 of the counter: the purpose, and 24 bits of the caller's.
pub fn tag(purpose: Purpose, low: u32) -> u32 {
    debug_assert!(low < 1 << 24);
    (purpose as u32) << 24 | low
}

/// Uniform on [0, 1) with 53 bits, from two words.
pub fn uniform(high: u32, low: u32) -> f64 {
    let bits = (u64::from(high) << 32 | u64::from(low)) >> 11;
    bits as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_of_the_reference_implementation() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        assert_eq!(philox(pi, [0xa409_3822, 0x299f_31d0]), [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }

    #[test]
    fn uniform_stays_below_one() {
        assert_eq!(uniform(0, 0), 0.0);
        assert!(uniform(u32::MAX, u32::MAX) < 1.0);
    }
}
