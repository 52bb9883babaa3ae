//! Models whose numbers are allowed one by one and make no sense together, behind a right checksum: answered or refused, and
//! never with a number that is none.

use diffgp_core::blob::checksum;

use crate::runner::Folder;

/// At the edges of what f32 holds and the format allows.
const NASTY: [f32; 4] = [1e12, -1e18, 1e-12, 1e-30];

/// The model with one number replaced, and the checksum of that.
fn forged(model: &[u8], at: usize, number: f32) -> Vec<u8> {
    let mut bytes = model[..model.len() - 4].to_vec();
    bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
    bytes.extend(checksum(&bytes).to_le_bytes());
    bytes
}

/// Exit code 0 or 2, as `docs` and `--help` promise for models that can be used and for those that cannot, and figures that are
/// numbers.
#[track_caller]
fn answers_or_refuses(folder: &Folder, arguments: &str, what: &str, answered: &mut [usize; 2]) {
    let outcome = folder.run(arguments);
    assert!([0, 2].contains(&outcome.code), "{arguments}, {what}: {}: {}", outcome.code, outcome.stderr);
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    let mut words = said.split(|letter: char| !letter.is_alphanumeric());
    assert!(
        !words.any(|word| ["NaN", "nan", "inf", "null", "panicked"].contains(&word)),
        "{arguments}, {what}: {said}"
    );
    answered[usize::from(outcome.code == 2)] += 1;
}

#[test]
fn models_with_extreme_numbers_are_scored_with_numbers_or_refused() {
    let folder = Folder::with_model();
    let model = folder.read("model.dgp");
    let header = u32::from_le_bytes(model[12..16].try_into().unwrap()) as usize;
    let places: Vec<usize> = (16 + header..model.len() - 4).step_by(4).collect();
    let mut answered = [0; 2];
    for (round, at) in places.iter().step_by(places.len() / 24).enumerate() {
        let number = NASTY[round % NASTY.len()];
        let what = format!("{number} at {at}");
        folder.write("forged.dgp", forged(&model, *at, number));
        answers_or_refuses(&folder, "eval forged.dgp data.csv --paths 4 --json", &what, &mut answered);
        answers_or_refuses(&folder, "eval forged.dgp data.csv --deterministic", &what, &mut answered);
        if round % 6 == 0 {
            let compress = "compress forged.dgp --data data.csv --tolerance 0.1 --out small.dgp";
            answers_or_refuses(&folder, compress, &what, &mut answered);
            answers_or_refuses(&folder, "compress forged.dgp --tolerance 0.1 --out small.dgp", &what, &mut answered);
            answers_or_refuses(&folder, "plot forged.dgp data.csv --paths 4", &what, &mut answered);
        }
    }
    let [done, refused] = answered;
    assert!(done > 20 && refused > 5, "{done} answered, {refused} refused");
}

#[test]
fn targets_at_the_ends_of_what_f32_holds_have_figures_that_are_numbers() {
    let folder = Folder::with_model();
    folder.write("far.csv", "a,b,y\n0.1,0.2,3.4e38\n0.3,0.3,-3.4e38\n0.4,0.1,1e-45\n");
    let mut answered = [0; 2];
    for arguments in [
        "eval model.dgp far.csv --json",
        "eval model.dgp far.csv --deterministic",
        "eval model.dgp far.csv --uncalibrated",
    ] {
        answers_or_refuses(&folder, arguments, "far targets", &mut answered);
    }
    answers_or_refuses(
        &folder,
        "compress model.dgp --data far.csv --tolerance 0.1 --out s.dgp",
        "far targets",
        &mut answered,
    );
}
