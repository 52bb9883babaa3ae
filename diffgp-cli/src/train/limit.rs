//! `--time-limit`: a length of time as people write it, and when it is over.

use std::time::{Duration, Instant};

/// Units and their seconds.
const UNITS: [(char, f64); 3] = [('h', 3600.0), ('m', 60.0), ('s', 1.0)];
/// Longer than anybody waits: ten years.
const LONGEST: f64 = 10.0 * 366.0 * 24.0 * 3600.0;

/// A limit, as it was typed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TimeLimit {
    pub(super) typed: String,
    time: Duration,
}

impl TimeLimit {
    /// Whether so much time has gone by since `start`.
    pub(super) fn is_over(&self, start: Instant) -> bool {
        start.elapsed() >= self.time
    }
}

/// `90s`, `10m`, `1.5h`, `1h30m`.
pub(super) fn parse(typed: &str) -> Result<TimeLimit, String> {
    let seconds = seconds(typed).filter(|seconds| (0.0..=LONGEST).contains(seconds) && *seconds > 0.0);
    let time = seconds.map(Duration::from_secs_f64);
    time.map(|time| TimeLimit { typed: typed.to_owned(), time })
        .ok_or_else(|| "expected a time with its unit, as in 90s, 10m or 1h30m".to_owned())
}

fn seconds(typed: &str) -> Option<f64> {
    let (mut sum, mut rest, mut larger) = (0.0, typed, f64::INFINITY);
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))?;
        let unit = UNITS.iter().find(|(unit, _)| rest[end..].starts_with(*unit)).map(|&(_, seconds)| seconds)?;
        // Each unit once, the larger first.
        if unit >= larger {
            return None;
        }
        sum += rest[..end].parse::<f64>().ok()? * unit;
        (rest, larger) = (&rest[end + 1..], unit);
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (typed, seconds) in
            [("90s", 90.0), ("10m", 600.0), ("1.5h", 5400.0), ("1h30m", 5400.0), ("2h0m1.5s", 7201.5)]
        {
            assert_eq!(parse(typed).unwrap().time, Duration::from_secs_f64(seconds), "{typed}");
        }
        for typed in
            ["", "10", "m", "-1m", "0s", "10min", "5m1h", "1m1m", "1e9h", "999999999999h", "NaNs", "1..2s", "10 m"]
        {
            assert!(parse(typed).unwrap_err().contains("10m"), "{typed}");
        }
    }
}
