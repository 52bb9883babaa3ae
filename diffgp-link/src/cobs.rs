//! Consistent overhead byte stuffing: bytes without zeros, at one byte more for every 254.
//!
//! The input is cut at its zeros; each piece is sent as its length plus one, then its bytes. A piece of 254 bytes has
//! the code 255, which stands for no zero behind it.

use heapless::Vec;

/// The decoded bytes, at the beginning of `bytes`; `None` if these are not COBS.
pub(crate) fn decode_in_place(bytes: &mut [u8]) -> Option<&[u8]> {
    let (mut read, mut written) = (0, 0);
    while let Some(&code) = bytes.get(read) {
        let piece = read + 1..read + usize::from(code);
        if code == 0 || piece.end > bytes.len() {
            return None;
        }
        for from in piece.clone() {
            *bytes.get_mut(written)? = *bytes.get(from)?;
            written += 1;
        }
        read = piece.end;
        // A zero behind every piece but the last and the longest ones.
        if code != u8::MAX && read < bytes.len() {
            *bytes.get_mut(written)? = 0;
            written += 1;
        }
    }
    bytes.get(..written)
}

/// Appends the encoded bytes; `None` if they do not fit.
pub(crate) fn encode<const N: usize>(bytes: &[u8], output: &mut Vec<u8, N>) -> Option<()> {
    let mut rest = Some(bytes);
    while let Some(bytes) = rest {
        let length = bytes.iter().take(254).position(|&byte| byte == 0).unwrap_or(bytes.len().min(254));
        let (piece, behind) = bytes.split_at_checked(length)?;
        output.push(u8::try_from(length + 1).ok()?).ok()?;
        output.extend_from_slice(piece).ok()?;
        rest = match behind.split_first() {
            None => None,
            Some(_) if length == 254 => Some(behind),
            Some((_, behind)) => Some(behind),
        };
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(bytes: &[u8]) {
        let mut coded = Vec::<u8, 1100>::new();
        encode(bytes, &mut coded).unwrap();
        assert!(!coded.contains(&0), "{bytes:?} -> {coded:?}");
        assert_eq!(decode_in_place(&mut coded), Some(bytes));
    }

    #[test]
    fn every_length_and_every_place_of_a_zero_comes_back() {
        // Miri takes an hour for all of them.
        for length in (0..600).step_by(if cfg!(miri) { 253 } else { 1 }) {
            let mut bytes = [7; 600];
            round_trip(&bytes[..length]);
            for zero in [0, 1, 252, 253, 254, 255, 507, 508, 509, 599] {
                bytes[zero] = 0;
                round_trip(&bytes[..length]);
            }
            round_trip(&[0; 600][..length]);
        }
    }

    #[test]
    fn the_codes_are_those_of_the_paper() {
        for (bytes, expected) in [
            (&[][..], &[1][..]),
            (&[0][..], &[1, 1][..]),
            (&[0, 0][..], &[1, 1, 1][..]),
            (&[0x11, 0x22, 0, 0x33][..], &[3, 0x11, 0x22, 2, 0x33][..]),
            (&[0x11, 0, 0, 0][..], &[2, 0x11, 1, 1, 1][..]),
        ] {
            let mut coded = Vec::<u8, 8>::new();
            encode(bytes, &mut coded).unwrap();
            assert_eq!(coded, expected);
        }
    }

    #[test]
    fn a_piece_that_points_behind_the_end_is_refused() {
        assert_eq!(decode_in_place(&mut [3, 1]), None);
        assert_eq!(decode_in_place(&mut [0]), None);
        assert_eq!(decode_in_place(&mut [255, 1, 2]), None);
    }
}
