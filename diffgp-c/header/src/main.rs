//! Prints the header. `cargo xtask header` writes it to `include/diffgp.h`, and `cargo xtask test` compares the two.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder is in diffgp-c");
    let config = cbindgen::Config::from_file(package.join("cbindgen.toml")).expect("cbindgen.toml can be read");
    match cbindgen::Builder::new().with_config(config).with_src(package.join("src/lib.rs")).generate() {
        Ok(bindings) => {
            bindings.write(std::io::stdout().lock());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
