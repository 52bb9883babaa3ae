//! Tests run with every check of the compiler on.

use std::hint::black_box;

#[test]
#[should_panic(expected = "as it should")]
fn a_debug_assertion_panics() {
    debug_assert!(black_box(false), "as it should");
}

#[test]
#[should_panic(expected = "attempt to add with overflow")]
fn an_overflow_panics() {
    let largest = black_box(u8::MAX);
    black_box(largest + black_box(1));
}
