//! A model that comes with the image: the file named by `DIFFGP_MODEL` when the firmware is built.
//!
//! It goes into the section `.model`, hence to the address at which a model flashed on its own would lie, and
//! [`region::model`](crate::region::model) finds either. Flashing another model over it replaces it.

/// Tensors are read in place, as words.
#[repr(C, align(4))]
struct Aligned<const N: usize>([u8; N]);

const BYTES: &[u8] = include_bytes!(env!("DIFFGP_MODEL"));

#[used]
#[unsafe(link_section = ".model")]
static MODEL: Aligned<{ BYTES.len() }> = Aligned(*include_bytes!(env!("DIFFGP_MODEL")));
