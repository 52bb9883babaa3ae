//! The model file (`.dgp`): written by the trainer, read in place by the runtime.
//!
//! `docs/blob-format.md` specifies it item by item; the names P1…, H1…, K1…, O1… and T1… in these modules refer to it.
//!
//! ```text
//! prelude   4 × u32    magic, version, total length, header length
//! header    postcard   scalars and byte strings, among them the descriptors; zero-padded to 4 bytes
//! tensors   f32, i16, i8  in the order of the descriptors, little-endian, each aligned to 4 bytes
//! checksum  u32        CRC-32 of everything before it
//! ```
//!
//! [`Blob::parse`] borrows from the bytes and checks everything once. What it hands out afterwards is walked with
//! [`Cursor`], one descriptor at a time: nothing is collected, so the memory does not grow with the model.

mod checksum;
mod cursor;
mod descriptor;
mod error;
mod fields;
mod header;
pub mod layout;
pub mod limits;
mod names;
mod tensor;
mod view;

pub use checksum::checksum;
pub use cursor::{Cursor, KernelView, OutputView};
pub use descriptor::{ELEMENT_F32, ELEMENT_I8, ELEMENT_I16, KernelDescriptor, OutputDescriptor, TensorDescriptor};
pub use error::{Field, ParseError};
pub use header::{Header, LIKELIHOOD_BERNOULLI, LIKELIHOOD_GAUSSIAN};
pub use names::{Names, names_are_valid};
pub use tensor::{Elements, Tensor};
pub use view::{Blob, Input, certificate, stored_checksum};

/// P1: the first four bytes of every model.
pub const MAGIC: [u8; 4] = *b"DGPm";

/// P2: the version of the format.
///
/// It goes up when a blob of the old version would be misread or refused by a new reader, or a new one by an old
/// reader in any way other than by this number: a field, tensor or descriptor added, removed, reordered or
/// reinterpreted; another checksum; another alignment. It does not go up for a new kernel or element number, which
/// old readers refuse by that number; nor did it for H22, in whose place the first readers expect zeros and say so.
pub const FORMAT_VERSION: u32 = 1;

/// P1 to P4.
pub const PRELUDE_BYTES: usize = 16;

/// The checksum behind the tensors.
pub const CHECKSUM_BYTES: usize = 4;

#[cfg(target_endian = "big")]
compile_error!("diffgp reads little-endian tensors in place; big-endian targets are not supported");
