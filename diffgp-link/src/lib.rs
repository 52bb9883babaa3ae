//! Messages between a device that predicts and a computer that asks.
//!
//! ```text
//! frame   0x00  COBS( version ++ kind ++ message ++ CRC-32 )  0x00
//! kind    1 Request   2 Response   3 UpdateRequest   4 UpdateResponse   0 nothing but the version
//! message in postcard
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
//!
//! # Features
//!
//! `device` brings the answering end: `Device` takes bytes from the line and gives frames to send back, for
//! predictions and updates, and `predict` answers one request for a prediction. Computers that ask do without. `async`
//! brings the same over flash whose driver is asynchronous.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "async")]
#[allow(clippy::duplicate_mod, reason = "one source for flash that waits and flash that does not")]
pub mod asynchronous;
#[cfg(feature = "device")]
#[allow(clippy::duplicate_mod, reason = "as above")]
mod blocking;
mod cobs;
mod frame;
mod message;
#[cfg(feature = "device")]
mod predict;
mod update;

#[cfg(feature = "device")]
pub use blocking::Device;
/// CRC-32, by which a file that arrives in pieces is known again.
pub use diffgp_core::blob::checksum;
/// By which both ends know that they mean the same model, see [`Response::model`].
pub use diffgp_core::blob::stored_checksum as model_checksum;
pub use frame::{FRAME_BYTES, Frame, Message, PROTOCOL, Receiver, Whole, encode, encode_version};
pub use message::{Answer, MAX_INPUTS, MAX_OUTPUTS, Output, Refusal, Request, Response};
#[cfg(feature = "device")]
pub use predict::predict;
pub use update::{Fault, Info, PIECE_BYTES, Step, UpdateRefusal, UpdateRequest, UpdateResponse};
