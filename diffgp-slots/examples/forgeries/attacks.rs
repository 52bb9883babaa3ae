//! Models that a device with a model of counter 7 must not take, each kind of attack as often as the others.

use diffgp_core::blob::checksum;
use diffgp_slots::{BLOCK_BYTES, Block};
use ed25519_compact::{KeyPair, Seed};

/// What is done to a model.
pub(crate) const KINDS: [&str; 9] = [
    "one bit changed",
    "changed, checksum repaired",
    "any signature",
    "signature of another model",
    "old, counter raised",
    "signed with another key",
    "truncated",
    "older",
    "replayed",
];

/// The key of the device, and that of somebody else.
pub(crate) fn keys() -> [KeyPair; 2] {
    [1, 2].map(|seed| KeyPair::from_seed(Seed::new([seed; 32])))
}

/// A signed file: the model, B1 to B4, and the signature of it all.
pub(crate) fn sign(model: &[u8], counter: u32, key: &KeyPair) -> Vec<u8> {
    let mut bytes = [model, &Block::unsigned(counter, &key.pk)].concat();
    let signature = key.sk.sign(&bytes, None);
    bytes.extend_from_slice(signature.as_slice());
    bytes
}

/// All of an attacker's means: he knows every file that was ever signed, and not the key.
pub(crate) struct Attacker {
    /// The file that the device would take: counter 8.
    pub(crate) genuine: Vec<u8>,
    /// Signed in the same way, another model with counter 9.
    other: Vec<u8>,
    /// Counters 0 to 7; the last one is in use.
    older: Vec<Vec<u8>>,
    /// The genuine file with another key's signature.
    stolen: Vec<u8>,
    model_bytes: usize,
}

impl Attacker {
    /// Of three different models: one in use, one to come, one for another device.
    pub(crate) fn new([in_use, next, other]: [&[u8]; 3]) -> Self {
        let [ours, theirs] = keys();
        let unsigned = [next, &Block::unsigned(8, &ours.pk)].concat();
        let stolen = [&unsigned[..], theirs.sk.sign(&unsigned, None).as_slice()].concat();
        Self {
            genuine: sign(next, 8, &ours),
            other: sign(other, 9, &ours),
            older: (0..8).map(|counter| sign(in_use, counter, &ours)).collect(),
            stolen,
            model_bytes: next.len(),
        }
    }

    /// The file of the model in use.
    pub(crate) fn in_use(&self) -> &[u8] {
        &self.older[7]
    }

    /// An attack, and its place in [`KINDS`]; the same number is the same attack.
    pub(crate) fn attack(&self, attempt: u64) -> (usize, Vec<u8>) {
        let kind = (attempt % KINDS.len() as u64) as usize;
        let mut dice = Dice(attempt);
        let mut bytes = self.genuine.clone();
        let length = bytes.len();
        match kind {
            0 => bytes[dice.below(length)] ^= 1 << dice.below(8),
            1 => {
                // Not the prelude, whose lengths would only say that this is no model.
                let model = self.model_bytes;
                bytes[16 + dice.below(model - 20)] ^= 1 << dice.below(8);
                let sum = checksum(&bytes[..model - 4]);
                bytes[model - 4..model].copy_from_slice(&sum.to_le_bytes());
            }
            2 => bytes[length - 64..].fill_with(|| dice.below(256) as u8),
            3 => bytes[length - BLOCK_BYTES..].copy_from_slice(&self.other[self.other.len() - BLOCK_BYTES..]),
            4 => {
                bytes.clone_from(&self.older[dice.below(8)]);
                let counter = bytes.len() - BLOCK_BYTES + 8;
                bytes[counter..counter + 4].copy_from_slice(&(8 + dice.below(1 << 30) as u32).to_le_bytes());
            }
            5 => {
                bytes.clone_from(&self.stolen);
                // Half of them with a bit of that signature changed too.
                bytes[length - 64 + dice.below(64)] ^= (dice.below(2) << dice.below(8)) as u8;
            }
            6 => bytes.truncate(dice.below(length)),
            7 => bytes.clone_from(&self.older[dice.below(7)]),
            _ => bytes.clone_from(&self.older[7]),
        }
        assert!(bytes != self.genuine && bytes != self.other, "an attack that is none");
        (kind, bytes)
    }
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}
