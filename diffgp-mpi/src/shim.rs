//! `shim.c`, with its promises kept.
//!
//! All of these but `begin` are called through an [`Mpi`](super::Mpi), one at a time: MPI has been started, and has not ended.

use std::ffi::{CStr, c_char, c_double, c_int, c_void};

mod c {
    use super::{c_char, c_double, c_int, c_void};

    unsafe extern "C" {
        pub(super) fn diffgp_mpi_begin(rank: *mut c_int, size: *mut c_int, serialized: *mut c_int) -> c_int;
        pub(super) fn diffgp_mpi_send(bytes: *const c_void, count: c_int, to: c_int) -> c_int;
        pub(super) fn diffgp_mpi_receive(bytes: *mut c_void, count: c_int, from: c_int) -> c_int;
        pub(super) fn diffgp_mpi_broadcast(bytes: *mut c_void, count: c_int, from: c_int) -> c_int;
        pub(super) fn diffgp_mpi_all_gather(own: *const c_void, count: c_int, all: *mut c_void) -> c_int;
        pub(super) fn diffgp_mpi_all_gather_some(
            own: *const c_void,
            count: c_int,
            all: *mut c_void,
            counts: *const c_int,
            places: *const c_int,
        ) -> c_int;
        pub(super) fn diffgp_mpi_end(seconds: c_double, ended: *mut c_int) -> c_int;
        pub(super) fn diffgp_mpi_finalize() -> c_int;
        pub(super) fn diffgp_mpi_abort(code: c_int);
        pub(super) fn diffgp_mpi_success() -> c_int;
        pub(super) fn diffgp_mpi_machine(text: *mut c_char, room: c_int);
        pub(super) fn diffgp_mpi_message(error: c_int, text: *mut c_char, room: c_int);
        pub(super) fn diffgp_mpi_library(text: *mut c_char, room: c_int);
    }
}

/// Room for the longest text of any MPI.
const ROOM: usize = 8193;

/// Rank, size, and whether any thread may call, one at a time.
pub(super) fn begin() -> Result<(usize, usize, bool), String> {
    let (mut rank, mut size, mut serialized) = (0, 0, 0);
    // SAFETY: three places to write an int to; that MPI was not started before is seen to by the only caller.
    checked(unsafe { c::diffgp_mpi_begin(&mut rank, &mut size, &mut serialized) })?;
    // MPI counts from 0.
    Ok((rank as usize, size as usize, serialized != 0))
}

pub(super) fn send(bytes: &[u8], to: c_int) -> Result<(), String> {
    let count = count(bytes.len())?;
    // SAFETY: the function reads `count` bytes and returns when MPI needs them no more.
    checked(unsafe { c::diffgp_mpi_send(bytes.as_ptr().cast(), count, to) })
}

pub(super) fn receive(bytes: &mut [u8], from: c_int) -> Result<(), String> {
    let count = count(bytes.len())?;
    // SAFETY: the function writes `count` bytes at most, a longer message being an error, and returns when all are there.
    checked(unsafe { c::diffgp_mpi_receive(bytes.as_mut_ptr().cast(), count, from) })
}

pub(super) fn broadcast(bytes: &mut [u8], from: c_int) -> Result<(), String> {
    let count = count(bytes.len())?;
    // SAFETY: the function reads or writes `count` bytes and returns when MPI needs them no more.
    checked(unsafe { c::diffgp_mpi_broadcast(bytes.as_mut_ptr().cast(), count, from) })
}

/// As many bytes of every one of `ranks`, one after the other.
pub(super) fn all_gather(own: &[u8], ranks: usize) -> Result<Vec<u8>, String> {
    let count = count(own.len())?;
    let mut all = vec![0; own.len() * ranks];
    // SAFETY: the function reads `count` bytes of `own` and writes as many for every rank, for which there is room.
    checked(unsafe { c::diffgp_mpi_all_gather(own.as_ptr().cast(), count, all.as_mut_ptr().cast()) })?;
    Ok(all)
}

/// `lengths[r]` bytes of rank r, which are as long as a count of MPI can be, all together.
pub(super) fn all_gather_some(own: &[u8], lengths: &[usize]) -> Result<Vec<Vec<u8>>, String> {
    let own_count = count(own.len())?;
    let counts = lengths.iter().map(|&length| count(length)).collect::<Result<Vec<_>, _>>()?;
    let mut total = 0;
    let mut place = |&length: &usize| {
        let place = count(total);
        total += length;
        place
    };
    let places = lengths.iter().map(&mut place).collect::<Result<Vec<_>, _>>()?;
    let mut all = vec![0; total];
    // Where all ranks have nothing, none of them calls.
    if total == 0 {
        return Ok(vec![Vec::new(); lengths.len()]);
    }
    // SAFETY: the function reads `own_count` bytes of `own`, and writes for every rank its count at its place: these follow
    // each other and end with `all`. MPI refuses a rank that sends more than its count.
    checked(unsafe {
        c::diffgp_mpi_all_gather_some(
            own.as_ptr().cast(),
            own_count,
            all.as_mut_ptr().cast(),
            counts.as_ptr(),
            places.as_ptr(),
        )
    })?;
    let mut rest = all.as_slice();
    let part = |&length: &usize| {
        let (part, behind) = rest.split_at(length);
        rest = behind;
        part.to_vec()
    };
    Ok(lengths.iter().map(part).collect())
}

/// Whether all ranks came here within these seconds; for ever if negative.
pub(super) fn end(seconds: f64) -> Result<bool, String> {
    let mut ended = 0;
    // SAFETY: a place to write an int to.
    checked(unsafe { c::diffgp_mpi_end(seconds, &mut ended) })?;
    Ok(ended != 0)
}

pub(super) fn finalize() -> Result<(), String> {
    // SAFETY: no message is on its way, and the caller has given up its `Mpi`: nothing is called after this but `abort`.
    checked(unsafe { c::diffgp_mpi_finalize() })
}

pub(super) fn abort(code: c_int) -> ! {
    // SAFETY: needs nothing, and ends the process.
    unsafe { c::diffgp_mpi_abort(code) };
    std::process::abort()
}

pub(super) fn machine() -> String {
    // SAFETY: the function writes at most `room` bytes to `text`, the last of them zero.
    written(|text, room| unsafe { c::diffgp_mpi_machine(text, room) })
}

pub(super) fn library() -> String {
    // SAFETY: as above.
    written(|text, room| unsafe { c::diffgp_mpi_library(text, room) })
}

fn checked(error: c_int) -> Result<(), String> {
    // SAFETY: returns a constant.
    if error == unsafe { c::diffgp_mpi_success() } {
        return Ok(());
    }
    // SAFETY: as in `machine`; a start that fails ends the process, so MPI has been started wherever there is an error.
    Err(written(|text, room| unsafe { c::diffgp_mpi_message(error, text, room) }))
}

/// A text that a function writes into the room that it is given.
fn written(write: impl FnOnce(*mut c_char, c_int)) -> String {
    let mut text = vec![0_u8; ROOM];
    write(text.as_mut_ptr().cast(), ROOM as c_int);
    let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
    text.to_string_lossy().trim().to_owned()
}

fn count(length: usize) -> Result<c_int, String> {
    c_int::try_from(length).map_err(|_| format!("{length} bytes are more than a message can have"))
}
