//! Models compiled into the program.

/// Bytes at an address divisible by four.
#[doc(hidden)]
#[repr(C, align(4))]
#[derive(Debug)]
pub struct Aligned<T: ?Sized>(pub T);

/// A model file as an aligned `&'static [u8]`, without unsafe code: `include_bytes!` alone promises no alignment.
///
/// The path is relative to the file in which the macro is used, as for `include_bytes!`.
///
/// ```
/// static MODEL: &[u8] = diffgp_infer::include_model!("../models/power.dgp");
/// let model = diffgp_infer::Model::parse(MODEL)?;
/// # assert_eq!(model.inputs(), 4);
/// # Ok::<(), diffgp_infer::ParseError>(())
/// ```
#[macro_export]
macro_rules! include_model {
    ($path:expr $(,)?) => {{
        static MODEL: &$crate::Aligned<[u8]> = &$crate::Aligned(*include_bytes!($path));
        &MODEL.0
    }};
}
