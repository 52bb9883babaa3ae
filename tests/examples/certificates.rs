//! How much of their certificates the stored compressed models use, at a million random states each and where ascent
//! from the worst of them leads.
//!
//!     cargo run --release -p diffgp-tests --example certificates

#[path = "../certified.rs"]
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
mod certified;
#[path = "../random_models.rs"]
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
mod random_models;

use certified::{Device, Plain, worst_state};
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::compress::Certificate;

const RANDOM: usize = 1_000_000;
const STEPS: i32 = 20_000;

fn main() {
    println!("| compressed model | of | bytes | random states | after ascent |\n|---|---|---|---|---|");
    for (small, original) in [
        ("v2-kin8nm-32k", "v2-kin8nm"),
        ("v2-power-close", "v2-power"),
        ("../../diffgp-infer/models/v2-steps-small", "../../diffgp-infer/models/v2-steps"),
    ] {
        let read = |name: &str| {
            let path = format!("{}/blobs/{name}.dgp", env!("CARGO_MANIFEST_DIR"));
            AlignedBytes::new(&std::fs::read(path).expect("a stored model"))
        };
        let (before, after) = (read(original), read(small));
        let certificate = Certificate::read(after.as_slice()).expect("it was compressed");
        let (found, ascended) =
            worst_state(&certificate, &mut Device::new(&after), &Plain::new(&before), RANDOM, STEPS);
        println!("| {small} | {original} | {} | {found:.3} | {ascended:.3} |", after.as_slice().len());
        assert!(ascended <= 1.0, "{small}: a certificate does not hold");
    }
}
