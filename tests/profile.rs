//! Tests run with every check of the compiler on.

use std::hint::black_box;

#[test]
fn debug_assertions_are_on() {
    assert!(cfg!(debug_assertions), "run the tests in the profile `test`, not in `release`");
}

#[test]
#[should_panic(expected = "attempt to add with overflow")]
fn an_overflow_panics() {
    let largest = black_box(u8::MAX);
    black_box(largest + black_box(1));
}
