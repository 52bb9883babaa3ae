//! A number of bytes as people write it.

/// Units, in bytes.
const UNITS: [(&str, usize); 6] =
    [("KiB", 1 << 10), ("kB", 1 << 10), ("K", 1 << 10), ("k", 1 << 10), ("MiB", 1 << 20), ("M", 1 << 20)];

/// `32768`, `32K`, `1M`; a K is 1024 bytes, as of memories.
pub(crate) fn parse(typed: &str) -> Result<usize, String> {
    let unit = UNITS.iter().find_map(|(unit, bytes)| Some((typed.strip_suffix(unit)?, *bytes)));
    let (digits, bytes) = unit.unwrap_or((typed, 1));
    let count = digits.parse::<usize>().ok().filter(|_| !digits.starts_with('+'));
    count
        .and_then(|count| count.checked_mul(bytes))
        .ok_or_else(|| "expected a number of bytes, as in 32768, 32K or 1M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_k_has_1024_bytes() {
        for (typed, bytes) in [("900", 900), ("64K", 65_536), ("64k", 65_536), ("64KiB", 65_536), ("2M", 2 << 20)] {
            assert_eq!(parse(typed), Ok(bytes), "{typed}");
        }
        for typed in ["", "K", "-1", "+1", "1.5K", "64 K", "64G", "18446744073709551615K"] {
            assert!(parse(typed).is_err_and(|error| error.contains("32K")), "{typed}");
        }
    }
}
