//! Models of published format versions keep loading and predicting the same bits.
//!
//! `tests/blobs/` and `diffgp-infer/models/` hold trained models (`NAME.dgp`) and what the runtime made of them when they
//! were stored (`NAME.bits`). `cargo run -p diffgp-tests --example store_models` trained and wrote them.

use std::path::PathBuf;

use diffgp_core::noise::keyed_rng;
use diffgp_infer::{Keyed, Model, Prediction, Workspace};
use diffgp_train::aligned::AlignedBytes;
use rand_core::Rng;

/// Inputs that every stored model was asked for.
const ROWS: u32 = 20;
/// Paths of a sampled prediction.
const PATHS: u32 = 3;

/// Where the stored models lie.
pub(crate) fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("blobs")
}

/// Where the small ones lie, in the package of the runtime, whose own tests need them.
pub(crate) fn small_directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../diffgp-infer/models")
}

/// The file of a stored model.
pub(crate) fn path(name: &str) -> PathBuf {
    let directory = if directory().join(name).with_extension("dgp").exists() { directory() } else { small_directory() };
    directory.join(name).with_extension("dgp")
}

/// A raw input, uniform over the ranges seen in training.
pub(crate) fn input(model: &Model<'_>, row: u32) -> Vec<f32> {
    let mut rng = keyed_rng(0x5eed, row, 0);
    let uniform = |word: u32| (word >> 8) as f32 / 16_777_216.0;
    (0..)
        .map_while(|index| model.blob().input(index))
        .map(|range| range.low + (range.high - range.low) * uniform(rng.next_u32()))
        .collect()
}

/// One line of bit patterns per row: drift, then sampled; mean, variance and probability each.
pub(crate) fn bits(blob: &[u8]) -> String {
    let bytes = AlignedBytes::new(blob);
    let model = Model::parse(bytes.as_slice()).expect("a stored model parses");
    let mut workspace = Workspace::<64, 1024, 32>::new();
    let show = |p: Prediction<'_>| {
        let probability = p.probability().unwrap_or(0.0);
        let mut line =
            format!("{:08x} {:08x} {:08x}", p.mean().to_bits(), p.variance().to_bits(), probability.to_bits());
        // What only some models have: further outputs, and more than two classes.
        let others = p.outputs().skip(1).flat_map(|output| [output.mean(), output.variance()]);
        let classes = p.probabilities().filter(|_| p.probability().is_none());
        others.chain(classes).for_each(|number| line += &format!(" {:08x}", number.to_bits()));
        line
    };
    let mut line = |row: u32| {
        let x = input(&model, row);
        let drift = show(model.predict(&x, &mut workspace).expect("a prediction inside the ranges is finite"));
        let sampled = model
            .predict_sampled(&x, PATHS, &mut Keyed::new(1, row), &mut workspace)
            .expect("a prediction inside the ranges is finite");
        format!("{} {}\n", drift, show(sampled))
    };
    (0..ROWS).map(&mut line).collect()
}

#[test]
fn stored_models_predict_the_bits_they_were_stored_with() {
    let mut names = Vec::new();
    let list = |directory: PathBuf| std::fs::read_dir(directory).expect("tests/blobs exists");
    for entry in list(directory()).chain(list(small_directory())) {
        let path = entry.expect("a readable entry").path();
        if path.extension().is_some_and(|extension| extension == "dgp") {
            let expected = std::fs::read_to_string(path.with_extension("bits")).expect("every model has its bits");
            assert_eq!(bits(&std::fs::read(&path).expect("a readable model")), expected, "{}", path.display());
            names.push(path);
        }
    }
    assert!(names.len() >= 8, "stored models are missing: {names:?}");
}
