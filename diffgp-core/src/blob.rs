//! The model file (`.dgp`): written by the trainer, read in place by the runtime.
//!
//! `docs/blob-format.md` specifies it item by item; the names P1…, H1…, K1…, O1…, Y1… and T1… in these modules refer to
//! it.
//!
//! ```text
//! prelude   4 × u32       magic, version, total length, header length
//! header    postcard      scalars and byte strings; zero-padded to 4 bytes
//! records   u32, f32      one of fixed size for every kernel, output and real target
//! tensors   f32, i16, i8  in the order of the records, little-endian, each aligned to 4 bytes
//! checksum  u32           CRC-32 of everything before it
//! ```
//!
//! [`Blob::parse`] borrows from the bytes and checks everything once. Afterwards every kernel and output is found by its
//! index: nothing is searched, decoded or collected, so the memory does not grow with the model.

mod calibration;
mod checksum;
mod error;
mod fields;
mod fixed;
mod header;
pub mod layout;
pub mod limits;
mod names;
mod record;
mod tensor;
mod view;

pub use calibration::{
    CALIBRATED_DEVIATIONS, CALIBRATED_LEVELS, CLASS_SET_LEVEL, CalibrationRecord, CalibrationSource, half_width,
};
pub use checksum::checksum;
pub use error::ParseError;
pub use fields::Description;
pub use fixed::{FixedKernel, FixedOutput, FixedRow, FixedRows};
pub use header::{ARITHMETIC_FIXED, ARITHMETIC_SINGLE, Field, Header};
pub use header::{LIKELIHOOD_BERNOULLI, LIKELIHOOD_GAUSSIAN, LIKELIHOOD_SOFTMAX};
pub use names::{Names, names_are_valid};
pub use record::{KernelRecord, OutputRecord, TargetRecord};
pub use tensor::{ELEMENT_F32, ELEMENT_I8, ELEMENT_I16, Elements, Tensor};
pub use view::{Blob, Calibration, Input, KernelView, OutputView, stored_checksum};

/// P1: the first four bytes of every model.
pub const MAGIC: [u8; 4] = *b"DGPm";

/// P2: the version of the format.
///
/// It goes up when a blob of the old version would be misread or refused by a new reader, or a new one by an old
/// reader in any way other than by this number: a field, tensor or record added, removed, reordered or reinterpreted;
/// another checksum; another alignment. It does not go up for a new number of a kernel, element, likelihood, arithmetic,
/// scheme or calibration, which old readers refuse by that number.
pub const FORMAT_VERSION: u32 = 2;

/// P1 to P4.
pub const PRELUDE_BYTES: usize = 16;

/// The checksum behind the tensors.
pub const CHECKSUM_BYTES: usize = 4;

#[cfg(target_endian = "big")]
compile_error!("diffgp reads little-endian tensors in place; big-endian targets are not supported");
