//! Compiles the shim with the compiler that MPI brings, and links what that would link.
//!
//! `MPICC` names the compiler; `mpicc` if it is not set.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=src/shim.c");
    println!("cargo:rerun-if-env-changed=MPICC");
    let compiler = env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned());
    // OpenMPI and MPICH, and what is made of them, both know this.
    let shown = Command::new(&compiler).arg("-show").output();
    let line = match &shown {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => {
            println!(
                "cargo::error=`{compiler} -show` does not work: expected the C compiler of an MPI, as in the packages \
                 libopenmpi-dev or libmpich-dev, or its name in the environment variable MPICC"
            );
            return;
        }
    };
    cc::Build::new().compiler(&compiler).file("src/shim.c").warnings(true).compile("diffgp_mpi_shim");
    let mut linked = false;
    for word in line.split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={library}");
            linked = true;
        }
    }
    if !linked {
        println!("cargo:rustc-link-lib=dylib=mpi");
    }
}
