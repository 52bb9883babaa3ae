//! How people are told things: lines on standard error, and figures as they are read.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use diffgp_train::discretisation::FLOW;

use crate::shown;

/// A line on standard error, as `eprintln!` but without its panic where nobody listens any more (`2>&1 | head`).
macro_rules! tell {
    ($($part:tt)*) => { $crate::console::line(format_args!($($part)*)) };
}
pub(crate) use tell;

/// Of several processes that work together only one speaks.
static SILENT: AtomicBool = AtomicBool::new(false);

/// What the silent would have said, while somebody listens.
static OVERHEARD: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// What a work gives, and what it would have told if this process were not silent.
pub(crate) fn overheard<R>(work: impl FnOnce() -> R) -> (R, Vec<String>) {
    let listen = |lines| std::mem::replace(&mut *OVERHEARD.lock().unwrap_or_else(PoisonError::into_inner), lines);
    listen(Some(Vec::new()));
    let result = work();
    (result, listen(None).unwrap_or_default())
}

/// Whether another process speaks.
pub(crate) fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// From now on nothing is told.
pub(crate) fn be_silent() {
    SILENT.store(true, Ordering::Relaxed);
}

/// From now on it is again.
#[cfg(feature = "mpi")]
pub(crate) fn speak() {
    SILENT.store(false, Ordering::Relaxed);
}

/// What `tell!` does: a reader that is gone is no failure of the work. One line stays one line, whatever names are in it.
pub(crate) fn line(line: fmt::Arguments<'_>) {
    if is_silent() {
        let mut overheard = OVERHEARD.lock().unwrap_or_else(PoisonError::into_inner);
        overheard.iter_mut().for_each(|lines| lines.push(line.to_string()));
        return;
    }
    let _ = writeln!(io::stderr(), "{}", shown::line(&line.to_string()));
}

/// A number of bytes.
pub(crate) fn bytes(count: usize) -> String {
    match count {
        0..=9_999 => format!("{count} bytes"),
        10_000..=9_999_999 => format!("{:.1} KiB", count as f64 / 1024.0),
        _ => format!("{:.1} MiB", count as f64 / (1024.0 * 1024.0)),
    }
}

/// A word as it can be typed in a shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_./,:=@%+-".contains(letter);
    match () {
        () if !word.is_empty() && word.chars().all(is_plain) => word.to_owned(),
        // As bash, zsh and newer shells write what acts on a terminal.
        () if word.chars().any(char::is_control) => {
            let escaped = word.replace('\\', r"\\").replace('\'', r"\'");
            let octal = |letter: char| if letter.is_control() { octal(letter) } else { letter.to_string() };
            format!("$'{}'", escaped.chars().map(octal).collect::<String>())
        }
        () => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn octal(letter: char) -> String {
    letter.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\{byte:03o}")).collect()
}

/// A length of time.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..=9 => format!("{:.1} s", time.as_secs_f64()),
        10..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A figure in the data's own units: so many decimals, or a power of ten if they would show little of it.
pub(crate) fn figure(value: f64, decimals: usize) -> String {
    figure_beside(value, value, decimals)
}

/// The same for a figure that is read together with another one: the larger of them decides.
pub(crate) fn figure_beside(value: f64, other: f64, decimals: usize) -> String {
    let size = value.abs().max(other.abs());
    match size == 0.0 || (1e-3..1e7).contains(&size) || !size.is_finite() {
        true => format!("{value:.decimals$}"),
        false => format!("{value:.3e}"),
    }
}

/// How far the steps of a flow are from its equation, and what the model therefore is.
pub(crate) fn steps_error(error: f64) -> String {
    let what = if error <= FLOW { "a flow" } else { "a chain of steps, not a flow" };
    format!("{what}: the steps end {:.1} % of the displacement from the solution of the equation", 100.0 * error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_figures_are_powers_of_ten() {
        for (value, expected) in [
            (0.0, "0.0000"),
            (0.093_12, "0.0931"),
            (-1.506_9, "-1.5069"),
            (0.001, "0.0010"),
            (5_130.25, "5130.2500"),
            (1.234_5e-6, "1.234e-6"),
            (-9.9e-4, "-9.900e-4"),
            (2.5e9, "2.500e9"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(figure(value, 4), expected);
        }
        assert_eq!(figure_beside(4e-5, 0.06, 4), "0.0000");
        assert_eq!(figure_beside(4e-8, 1.5e-6, 4), "4.000e-8");
    }
}
