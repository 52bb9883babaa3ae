//! Sizes, names and texts.

use std::ffi::CStr;
use std::slice;

use diffgp_infer::Model;

use crate::*;

#[test]
fn a_workspace_has_the_size_that_the_macro_says() {
    let header = include_str!("../include/diffgp.h");
    let (_, rest) = header.split_once("#define DIFFGP_WORKSPACE_WORDS(D, M, O) (1u + ").unwrap();
    let (formula, _) = rest.split_once(")\n").unwrap();
    assert_eq!(formula, "5u * (D) + (M) + 7u * (O)");
    for (d, m, o) in [(1, 1, 1), (8, 100, 1), (64, 1024, 32), (3, 40, 6)] {
        assert_eq!(diffgp_workspace_bytes(d, m, o), 4 * (1 + 5 * d + m + 7 * o), "{d}, {m}, {o}");
    }
    assert_eq!(diffgp_workspace_bytes(65, 1, 1), 0);
    assert_eq!(diffgp_workspace_bytes(1, usize::MAX, 1), 0);
    for bytes in [STEPS, RING, IRIS, ENERGY] {
        let (info, rust) = (info(&parsed(bytes)), Model::parse(bytes).unwrap());
        let [d, m, o] = [info.inputs, info.features, info.outputs].map(|size| size as usize);
        assert_eq!([d, m, o], [rust.inputs(), rust.features(), rust.outputs()]);
        assert_eq!(info.workspace_bytes, diffgp_workspace_bytes(d, m, o));
        assert_eq!((info.classes as usize, info.steps as usize), (rust.classes(), rust.steps()));
    }
}

#[test]
fn names_id_and_work_are_those_of_the_model() {
    for bytes in [STEPS, IRIS, ENERGY] {
        let (model, rust) = (parsed(bytes), Model::parse(bytes).unwrap());
        let (info, mut names) = (info(&model), rust.blob().names());
        type Ask = unsafe extern "C" fn(*const diffgp_model, usize, *mut *const i8, *mut usize) -> diffgp_status;
        let ask = |ask: Ask, count: usize, expected: &mut dyn Iterator<Item = &'static str>| {
            for index in 0..count {
                let (mut name, mut length) = (ptr::null(), 0);
                // SAFETY: all pointers are those of references, and a name is as long as is said.
                let name = unsafe {
                    assert_eq!(ask(&model, index, &mut name, &mut length), diffgp_status::DIFFGP_OK);
                    slice::from_raw_parts(name.cast::<u8>(), length)
                };
                assert_eq!(name, expected.next().unwrap_or_default().as_bytes());
            }
            // SAFETY: likewise.
            let beyond = unsafe { ask(&model, count, &mut ptr::null(), &mut 0) };
            assert_eq!(beyond, diffgp_status::DIFFGP_ERROR_INDEX);
        };
        ask(diffgp_input_name, info.inputs as usize, &mut names);
        ask(diffgp_target_name, rust.blob().header().targets(), &mut names);
        ask(diffgp_class_name, info.classes as usize, &mut rust.blob().classes());

        let (mut id, mut length, mut drift, mut path) = (ptr::null(), 0, 0, 0);
        // SAFETY: likewise.
        unsafe {
            assert_eq!(diffgp_model_id(&model, &mut id, &mut length), diffgp_status::DIFFGP_OK);
            assert_eq!(slice::from_raw_parts(id, length), rust.blob().header().model_id);
            assert_eq!(diffgp_work(&model, &mut drift, &mut path), diffgp_status::DIFFGP_OK);
        }
        assert_eq!([drift, path], [rust.work().operations(), rust.work_per_path().operations()]);
    }
}

#[test]
fn every_status_of_the_header_has_a_text_of_its_own() {
    let header = include_str!("../include/diffgp.h");
    let text = |status| {
        // SAFETY: a text ends with a zero and lives for ever.
        unsafe { CStr::from_ptr(diffgp_status_text(status)) }.to_str().unwrap()
    };
    let (_, list) = header.split_once("enum diffgp_status").unwrap();
    let (list, _) = list.split_once("};").unwrap();
    let numbers = list.lines().filter_map(|line| line.trim().strip_prefix("DIFFGP_")?.split_once(" = "));
    let mut texts: Vec<_> = numbers.map(|(_, number)| text(number.trim_end_matches(',').parse().unwrap())).collect();
    assert!(texts.len() > 20 && !texts.contains(&text(-1000)), "{texts:?}");
    let count = texts.len();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), count);
}

#[test]
fn the_version_is_that_of_the_header() {
    assert_eq!(diffgp_version(), DIFFGP_VERSION);
}
