//! What C gets has the bits of the runtime in Rust.

use diffgp_infer::{FromFn, Keyed, Model, Prediction, Workspace, keyed_rng};
use std::ffi::c_void;

use crate::*;

type Memory = Workspace<64, 1024, 32>;

/// Everything that can be asked of a prediction, as bits.
fn of_rust(p: &Prediction<'_>) -> Vec<u32> {
    let mut bits = vec![p.out_of_range().bits() as u32, p.class().map_or(u32::MAX, |class| class as u32)];
    for output in p.outputs() {
        bits.extend([output.mean(), output.variance(), output.std_dev(), output.latent_variance()].map(f32::to_bits));
        let (low, high) = output.interval(0.9).unwrap_or_default();
        bits.extend([low.to_bits(), high.to_bits()]);
    }
    bits.extend(p.probabilities().map(f32::to_bits));
    bits
}

fn of_c(p: &diffgp_prediction, info: &diffgp_info) -> Vec<u32> {
    let mut class = usize::MAX;
    // SAFETY: all pointers are those of references, here and below.
    let classed = unsafe { diffgp_get_class(p, &mut class) };
    assert_eq!(classed == diffgp_status::DIFFGP_OK, info.classes > 0);
    let mut bits = vec![p.out_of_range as u32, class as u32];
    for index in 0..info.outputs as usize {
        let mut o: diffgp_output = zeroed();
        assert_eq!(unsafe { diffgp_get_output(p, index, &mut o) }, diffgp_status::DIFFGP_OK);
        if index == 0 {
            assert_eq!(o.mean.to_bits(), p.output.mean.to_bits());
        }
        bits.extend([o.mean, o.variance, o.std_dev, o.latent_variance].map(f32::to_bits));
        let (mut low, mut high) = (0.0, 0.0);
        let asked = unsafe { diffgp_get_interval(p, index, 0.9, &mut low, &mut high) };
        assert_eq!(asked == diffgp_status::DIFFGP_OK, info.kind == diffgp_kind::DIFFGP_KIND_REAL);
        bits.extend([low.to_bits(), high.to_bits()]);
    }
    let mut probabilities = vec![0.0; info.classes as usize];
    if info.classes > 0 {
        let asked = unsafe { diffgp_get_probabilities(p, probabilities.as_mut_ptr(), probabilities.len()) };
        assert_eq!(asked, diffgp_status::DIFFGP_OK);
    }
    bits.extend(probabilities.iter().map(|p| p.to_bits()));
    bits
}

extern "C" fn from_a_generator(context: *mut c_void) -> u32 {
    // SAFETY: the context is the generator below.
    let rng = unsafe { &mut *context.cast::<diffgp_infer::DefaultRng>() };
    use rand_core::Rng;
    rng.next_u32()
}

fn check(bytes: &'static [u8]) {
    let (model, rust) = (parsed(bytes), Model::parse(bytes).unwrap());
    let (info, x, mut memory) = (info(&model), middle(&model), Memory::new());
    let mut ws = workspace(&model);
    let (ws, bytes) = (ws.as_mut_ptr().cast::<c_void>(), 4 * ws.len());
    let mut p: diffgp_prediction = zeroed();

    // SAFETY: all pointers lead to as much as is said, and nothing moves.
    let status = unsafe { diffgp_predict(&model, x.as_ptr(), x.len(), ws, bytes, &mut p) };
    assert_eq!(status, diffgp_status::DIFFGP_OK);
    assert_eq!(of_c(&p, &info), of_rust(&rust.predict(&x, &mut memory).unwrap()), "along the drift");

    // SAFETY: likewise.
    let status = unsafe { diffgp_predict_sampled(&model, x.as_ptr(), x.len(), 3, &SEEDED, ws, bytes, &mut p) };
    assert_eq!(status, diffgp_status::DIFFGP_OK);
    let sampled = of_rust(&rust.predict_sampled(&x, 3, &mut Keyed::new(7, 3), &mut memory).unwrap());
    assert_eq!(of_c(&p, &info), sampled, "sampled");

    let mut rng = keyed_rng(1, 2, 3);
    let theirs = diffgp_noise { next: Some(from_a_generator), context: (&raw mut rng).cast(), ..SEEDED };
    // SAFETY: likewise.
    let status = unsafe { diffgp_predict_sampled(&model, x.as_ptr(), x.len(), 2, &theirs, ws, bytes, &mut p) };
    assert_eq!(status, diffgp_status::DIFFGP_OK);
    let mut rng = keyed_rng(1, 2, 3);
    let mut own = FromFn(|| rand_core::Rng::next_u32(&mut rng));
    let expected = of_rust(&rust.predict_sampled(&x, 2, &mut own, &mut memory).unwrap());
    assert_eq!(of_c(&p, &info), expected, "with the caller's generator");

    let seeded: *const diffgp_noise = &SEEDED;
    for (noise, paths, expected) in
        [(seeded, 3, sampled), (NO_NOISE, 1, of_rust(&rust.predict(&x, &mut memory).unwrap()))]
    {
        let mut run: diffgp_run = zeroed();
        // One pointer, as C has it.
        let run = &raw mut run;
        // SAFETY: likewise.
        unsafe {
            let began = diffgp_begin(run, &model, x.as_ptr(), x.len(), paths, noise, ws, bytes);
            assert_eq!(began, diffgp_status::DIFFGP_OK);
            let mut pieces = 1;
            while diffgp_advance(run) == diffgp_status::DIFFGP_PENDING {
                pieces += 1;
            }
            assert!(pieces >= info.outputs, "{pieces}");
            assert_eq!(diffgp_finish(run, &mut p), diffgp_status::DIFFGP_OK);
        }
        assert_eq!(of_c(&p, &info), expected, "piece by piece");
        // A copy of a prediction is one.
        let copy = p;
        assert_eq!(of_c(&copy, &info), of_c(&p, &info));
    }
}

#[test]
fn of_a_regression_with_a_flow() {
    check(STEPS);
}

#[test]
fn of_two_classes() {
    check(RING);
}

#[test]
fn of_three_classes() {
    check(IRIS);
}

#[test]
fn of_two_targets() {
    check(ENERGY);
}

#[test]
#[cfg_attr(miri, ignore = "takes more than ten minutes there")]
fn of_integers() {
    check(INTEGERS);
}
