//! Messages between a device that predicts and a computer that asks.
//!
//! ```text
//! frame   0x00  COBS( message ++ CRC-32 )  0x00
//! message postcard of a Request or a Response
//! ```
//!
//! A zero byte occurs only between frames, so a receiver is back in step after the next one, whatever came before.
//! Both ends send a zero *before* a frame too: noise on an idle line then spoils no frame. A frame that is damaged or
//! too long is dropped and counted; who waits for its answer in vain asks again.
//!
//! ```
//! use diffgp_link::{Receiver, Request, encode};
//!
//! let request = Request { id: 1, paths: 0, seed: 0, row: 0, x: [20.5, 3.0].into_iter().collect() };
//! let frame = encode(&request).unwrap();
//! let mut receiver = Receiver::new();
//! for byte in b"noise".iter().chain(&frame) {
//!     if let Some(received) = receiver.push::<Request>(*byte) {
//!         assert_eq!(received, request);
//!     }
//! }
//! assert_eq!(receiver.dropped(), 1);
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod cobs;
mod frame;
mod message;

/// By which both ends know that they mean the same model, see [`Response::model`].
pub use diffgp_core::blob::stored_checksum as model_checksum;
pub use frame::{FRAME_BYTES, Frame, Receiver, encode};
pub use message::{Answer, MAX_INPUTS, MAX_OUTPUTS, Output, Refusal, Request, Response};
