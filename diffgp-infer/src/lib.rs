//! Predicts with differential Gaussian processes on microcontrollers.
#![no_std]
#![forbid(unsafe_code)]
