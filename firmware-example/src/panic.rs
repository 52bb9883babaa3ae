//! Two panic handlers; an image chooses one by macro.

/// For images in which no panic may be reachable: the handler calls a function that nobody defines, so the image
/// links only if the compiler has removed the handler, that is, every path to it.
#[macro_export]
macro_rules! forbid_panic {
    () => {
        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
            unsafe extern "C" {
                fn a_panic_path_is_left_in_this_image() -> !;
            }
            // SAFETY: never executed, since an image with this call does not link.
            unsafe { a_panic_path_is_left_in_this_image() }
        }
    };
}

/// For the other images: says that there was a panic and ends the emulation with code 101.
#[macro_export]
macro_rules! report_panic {
    () => {
        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
            $crate::console::text("panic\n");
            $crate::console::exit(101)
        }
    };
}
