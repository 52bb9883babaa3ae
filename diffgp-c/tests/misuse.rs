//! What C can do wrong and a pointer can tell: a status each, and nothing is touched.

use std::ffi::c_void;

use diffgp_c::diffgp_status::*;

use crate::*;

/// A model that has not moved since it was parsed, its input and its workspace.
struct Bench {
    model: Box<diffgp_model>,
    x: Vec<f32>,
    words: Vec<u32>,
}

impl Bench {
    fn new(bytes: &'static [u8]) -> Self {
        let model = Box::new(parsed(bytes));
        let (x, words) = (middle(&model), workspace(&model));
        Self { model, x, words }
    }

    fn bytes(&self) -> usize {
        4 * self.words.len()
    }

    fn predict(&mut self, p: &mut diffgp_prediction) -> diffgp_status {
        let (bytes, words) = (self.bytes(), self.words.as_mut_ptr().cast());
        // SAFETY: all pointers lead to as much as is said.
        unsafe { diffgp_predict(&*self.model, self.x.as_ptr(), self.x.len(), words, bytes, p) }
    }

    fn begin(&mut self, run: *mut diffgp_run) -> diffgp_status {
        let (bytes, words) = (self.bytes(), self.words.as_mut_ptr().cast());
        // SAFETY: likewise.
        unsafe { diffgp_begin(run, &*self.model, self.x.as_ptr(), self.x.len(), 2, &SEEDED, words, bytes) }
    }
}

#[test]
fn bytes_that_are_no_model() {
    let mut model: diffgp_model = zeroed();
    let mut damaged = STEPS.to_vec();
    damaged[60] ^= 1;
    // Vectors of bytes need not be aligned.
    let mut words = vec![0_u32; damaged.len() / 4 + 1];
    let copy = words.as_mut_ptr().cast::<u8>();
    // SAFETY: the words have room for the bytes; all else leads to as much as is said, or is refused by its address.
    unsafe {
        ptr::copy_nonoverlapping(damaged.as_ptr(), copy, damaged.len());
        let copy: *const c_void = copy.cast();
        assert_eq!(diffgp_parse(&mut model, copy, damaged.len()), DIFFGP_ERROR_CHECKSUM);
        assert_eq!(diffgp_parse(&mut model, copy, 100), DIFFGP_ERROR_TRUNCATED);
        assert_eq!(diffgp_parse(&mut model, copy, 0), DIFFGP_ERROR_TRUNCATED);
        assert_eq!(diffgp_parse(&mut model, ptr::null(), 8), DIFFGP_ERROR_NULL);
        assert_eq!(diffgp_parse(&mut model, copy, usize::MAX), DIFFGP_ERROR_LENGTH);
        assert_eq!(diffgp_parse(&mut model, copy, isize::MAX as usize + 1), DIFFGP_ERROR_LENGTH);
        assert_eq!(diffgp_parse(ptr::null_mut(), STEPS.as_ptr().cast(), STEPS.len()), DIFFGP_ERROR_NULL);
        assert_eq!(diffgp_parse_within(&mut model, STEPS.as_ptr().cast(), STEPS.len(), 10), DIFFGP_ERROR_WORK);
        assert_eq!(diffgp_model_info(&model, &mut zeroed()), DIFFGP_ERROR_OBJECT, "after a refusal it is empty");
        assert_eq!(diffgp_parse_within(&mut model, STEPS.as_ptr().cast(), STEPS.len(), u64::MAX), DIFFGP_OK);
        assert_eq!(diffgp_parse_trusted(&mut model, STEPS.as_ptr().cast(), STEPS.len()), DIFFGP_OK);
        assert_eq!(diffgp_model_info(&model, ptr::null_mut()), DIFFGP_ERROR_NULL);
        let aside = words.as_mut_ptr().byte_add(1).cast::<u8>();
        ptr::copy_nonoverlapping(STEPS.as_ptr(), aside, STEPS.len());
        assert_eq!(diffgp_parse(&mut model, aside.cast(), STEPS.len()), DIFFGP_ERROR_ALIGNMENT);
    }
}

#[test]
fn pointers_and_lengths_of_a_prediction() {
    let mut bench = Bench::new(STEPS);
    let (model, x, n) = (&raw const *bench.model, bench.x.as_ptr(), bench.x.len());
    let (ws, bytes): (*mut c_void, _) = (bench.words.as_mut_ptr().cast(), bench.bytes());
    let mut p: diffgp_prediction = zeroed();
    let p = &raw mut p;
    let empty: diffgp_model = zeroed();
    // SAFETY: what is not refused by its address leads to as much as is said.
    unsafe {
        assert_eq!(diffgp_predict(ptr::null(), x, n, ws, bytes, p), DIFFGP_ERROR_NULL);
        assert_eq!(diffgp_predict(&empty, x, n, ws, bytes, p), DIFFGP_ERROR_OBJECT);
        assert_eq!(diffgp_predict(model.byte_add(1), x, n, ws, bytes, p), DIFFGP_ERROR_ALIGNMENT);
        assert_eq!(diffgp_predict(model, ptr::null(), n, ws, bytes, p), DIFFGP_ERROR_NULL);
        assert_eq!(diffgp_predict(model, x.byte_add(2), n - 1, ws, bytes, p), DIFFGP_ERROR_ALIGNMENT);
        assert_eq!(diffgp_predict(model, x, n - 1, ws, bytes, p), DIFFGP_ERROR_INPUT_LENGTH);
        assert_eq!(diffgp_predict(model, x, 0, ws, bytes, p), DIFFGP_ERROR_INPUT_LENGTH);
        assert_eq!(diffgp_predict(model, x, usize::MAX / 2, ws, bytes, p), DIFFGP_ERROR_LENGTH);
        assert_eq!(diffgp_predict(model, x, n, ptr::null_mut(), bytes, p), DIFFGP_ERROR_NULL);
        assert_eq!(diffgp_predict(model, x, n, ws.byte_add(2), bytes - 4, p), DIFFGP_ERROR_ALIGNMENT);
        for short in [0, 3, 4, bytes - 1] {
            assert_eq!(diffgp_predict(model, x, n, ws, short, p), DIFFGP_ERROR_CAPACITY);
        }
        assert_eq!(diffgp_predict(model, x, n, ws, bytes, ptr::null_mut()), DIFFGP_ERROR_NULL);
        assert_eq!(diffgp_predict_sampled(model, x, n, 1, NO_NOISE, ws, bytes, p), DIFFGP_ERROR_NULL);
        assert_eq!(diffgp_predict_sampled(model, x, n, 0, &SEEDED, ws, bytes, p), DIFFGP_ERROR_NO_PATHS);
        let wrong = [f32::NAN, f32::INFINITY];
        assert_eq!(diffgp_predict(model, wrong.as_ptr(), n.min(2), ws, bytes, p), DIFFGP_ERROR_INPUT_NOT_FINITE);
        assert_eq!(diffgp_get_class(p, &mut 0), DIFFGP_ERROR_OBJECT, "after a refusal it is empty");
        assert_eq!(diffgp_predict(model, x, n, ws, bytes, p), DIFFGP_OK);
    }
}

#[test]
fn memory_that_overlaps() {
    let mut bench = Bench::new(STEPS);
    let (model, n, x) = (&raw const *bench.model, bench.x.len(), bench.x.clone());
    // A pool in which everything lies.
    let mut pool = vec![0_u64; 400];
    let ws = pool.as_mut_ptr();
    let bytes = bench.bytes();
    // SAFETY: the pool has room for each of them alone, and overlaps are refused before anything is borrowed.
    unsafe {
        let at_end = ws.byte_add(bytes - 4).cast::<f32>();
        assert_eq!(diffgp_predict(model, at_end, n, ws.cast(), bytes, &mut zeroed()), DIFFGP_ERROR_OVERLAP);
        let inside = ws.byte_add(8).cast::<diffgp_prediction>();
        assert_eq!(diffgp_predict(model, x.as_ptr(), n, ws.cast(), bytes, inside), DIFFGP_ERROR_OVERLAP);
        let copy = ws.byte_add(16).cast::<diffgp_model>();
        ptr::copy_nonoverlapping(model, copy, 1);
        assert_eq!(diffgp_predict(copy, x.as_ptr(), n, ws.cast(), bytes, &mut zeroed()), DIFFGP_ERROR_OVERLAP);
        let run = ws.cast::<diffgp_run>();
        let began = diffgp_begin(run, model, x.as_ptr(), n, 1, &SEEDED, ws.cast(), bytes);
        assert_eq!(began, DIFFGP_ERROR_OVERLAP);
        // Side by side is fine.
        let beside = ws.byte_add(bytes.next_multiple_of(8));
        *beside.cast::<[f32; 2]>() = [x[0], x[n - 1]];
        let status = diffgp_predict(model, beside.cast(), n, ws.cast(), bytes, &mut zeroed());
        assert_eq!(status, DIFFGP_OK);
    }
    let mut p = zeroed();
    assert_eq!(bench.predict(&mut p), DIFFGP_OK);
}

#[test]
fn a_prediction_is_over_when_its_workspace_is_used_again() {
    let mut bench = Bench::new(STEPS);
    let (mut first, mut second): (diffgp_prediction, diffgp_prediction) = (zeroed(), zeroed());
    let mut output = zeroed();
    assert_eq!(bench.predict(&mut first), DIFFGP_OK);
    let mean = first.output.mean;
    // SAFETY: all pointers are those of references.
    unsafe {
        assert_eq!(diffgp_get_output(&first, 0, &mut output), DIFFGP_OK);
        assert_eq!(bench.predict(&mut second), DIFFGP_OK);
        assert_eq!(diffgp_get_output(&first, 0, &mut output), DIFFGP_ERROR_STALE);
        assert_eq!(diffgp_get_output(&second, 0, &mut output), DIFFGP_OK);
        assert_eq!(first.output.mean, mean, "its numbers stay");
    }
}

#[test]
fn questions_that_do_not_suit() {
    let (mut real, mut classes) = (Bench::new(STEPS), Bench::new(IRIS));
    let (mut p, mut q): (diffgp_prediction, diffgp_prediction) = (zeroed(), zeroed());
    assert_eq!([real.predict(&mut p), classes.predict(&mut q)], [DIFFGP_OK; 2]);
    let (mut low, mut high, mut room) = (0.0, 0.0, [0.0; 3]);
    // SAFETY: what is not refused by its address leads to as much as is said.
    unsafe {
        assert_eq!(diffgp_get_class(&p, &mut 0), DIFFGP_ERROR_KIND);
        assert_eq!(diffgp_get_probabilities(&p, room.as_mut_ptr(), 3), DIFFGP_ERROR_KIND);
        assert_eq!(diffgp_get_interval(&q, 0, 0.9, &mut low, &mut high), DIFFGP_ERROR_KIND);
        for level in [0.0, 1.0, -1.0, f32::NAN] {
            assert_eq!(diffgp_get_interval(&p, 0, level, &mut low, &mut high), DIFFGP_ERROR_KIND);
        }
        assert_eq!(diffgp_get_interval(&p, 1, 0.9, &mut low, &mut high), DIFFGP_ERROR_INDEX);
        assert_eq!(diffgp_get_interval(&p, 0, 0.9, &mut low, ptr::null_mut()), DIFFGP_ERROR_NULL);
        assert_eq!(low, 0.0, "nothing is written in part");
        assert_eq!(diffgp_get_output(&p, usize::MAX, &mut zeroed()), DIFFGP_ERROR_INDEX);
        assert_eq!(diffgp_get_output(&p, 0, ptr::null_mut()), DIFFGP_ERROR_NULL);
        assert_eq!(diffgp_get_probabilities(&q, room.as_mut_ptr(), 2), DIFFGP_ERROR_CAPACITY);
        assert_eq!(diffgp_get_probabilities(&q, ptr::null_mut(), 3), DIFFGP_ERROR_NULL);
        assert_eq!(diffgp_get_class(ptr::null(), &mut 0), DIFFGP_ERROR_NULL);
        assert_eq!(diffgp_get_class(&zeroed(), &mut 0), DIFFGP_ERROR_OBJECT);
        assert_eq!(diffgp_get_class(&q, ptr::null_mut()), DIFFGP_ERROR_NULL);
    }
}

#[test]
fn runs_that_were_not_begun_moved_or_lost_their_workspace() {
    let mut bench = Bench::new(STEPS);
    let (mut run, mut p): (diffgp_run, diffgp_prediction) = (zeroed(), zeroed());
    // One pointer, as C has it: a run points into itself, and a reference would say that nobody else does.
    let run = &raw mut run;
    // SAFETY: all pointers are those of references.
    unsafe {
        assert_eq!(diffgp_advance(run), DIFFGP_ERROR_OBJECT);
        assert_eq!(diffgp_finish(run, &mut p), DIFFGP_ERROR_OBJECT);
        assert_eq!(diffgp_advance(ptr::null_mut()), DIFFGP_ERROR_NULL);
        assert_eq!(bench.begin(run), DIFFGP_OK);
        assert_eq!(diffgp_advance(run), DIFFGP_PENDING);
        let mut copy: diffgp_run = zeroed();
        ptr::copy_nonoverlapping(run.cast_const(), &mut copy, 1);
        assert_eq!(diffgp_advance(&mut copy), DIFFGP_ERROR_OBJECT);
        assert_eq!(bench.predict(&mut p), DIFFGP_OK);
        assert_eq!(diffgp_advance(run), DIFFGP_ERROR_STALE);
        assert_eq!(diffgp_finish(run, &mut p), DIFFGP_ERROR_STALE);
        assert_eq!(bench.begin(run), DIFFGP_OK);
        assert_eq!(diffgp_finish(run, &mut p), DIFFGP_OK);
        assert_eq!(diffgp_advance(run), DIFFGP_ERROR_OBJECT, "it is over");
        assert_eq!(diffgp_get_output(&p, 0, &mut zeroed()), DIFFGP_OK);
    }
}
