//! √m for integers by linear interpolation in a table, and a Newton step with the slope of the table for 1/(2√m): three products.

/// ⌊√(2²⁵ i)⌋ for i from 32, the last of them as large as it can be: a normalised m lies between two.
const TABLE: [u16; 97] = [
    32_768, 33_276, 33_776, 34_269, 34_755, 35_235, 35_708, 36_174, 36_635, 37_090, 37_540, 37_984, 38_423, 38_858,
    39_287, 39_712, 40_132, 40_548, 40_960, 41_367, 41_771, 42_170, 42_566, 42_959, 43_347, 43_733, 44_115, 44_493,
    44_869, 45_241, 45_611, 45_977, 46_340, 46_701, 47_059, 47_414, 47_767, 48_117, 48_464, 48_809, 49_152, 49_492,
    49_829, 50_165, 50_498, 50_830, 51_159, 51_485, 51_810, 52_133, 52_454, 52_773, 53_090, 53_405, 53_718, 54_029,
    54_339, 54_647, 54_953, 55_258, 55_560, 55_861, 56_161, 56_459, 56_755, 57_050, 57_344, 57_635, 57_926, 58_215,
    58_502, 58_788, 59_073, 59_356, 59_638, 59_919, 60_198, 60_476, 60_753, 61_029, 61_303, 61_576, 61_848, 62_118,
    62_388, 62_656, 62_923, 63_190, 63_454, 63_718, 63_981, 64_243, 64_503, 64_763, 65_021, 65_279, 65_535,
];

/// Bound of the relative error of [`root`].
pub const ROOT_ERROR: f64 = 3.6e-7;

/// √m in Q13 for 2³⁰ ≤ m < 2³². Relative error below [`ROOT_ERROR`]; of smaller m there is no root, but a number.
#[inline(never)]
pub fn root(m: u32) -> u32 {
    let place = ((m >> 25) as usize).wrapping_sub(32);
    let (Some(&here), Some(&next)) = (TABLE.get(place), TABLE.get(place.wrapping_add(1))) else { return 0 };
    let (here, slope) = (u32::from(here), u32::from(next).wrapping_sub(here.into()));
    // Not above √m, so that what is left is not negative.
    let whole = here + ((slope * ((m << 7) >> 16)) >> 16);
    let left = m.wrapping_sub(whole.wrapping_mul(whole));
    // left/(2√m) = left · slope/2²⁵
    (whole << 13) + (left.wrapping_mul(slope) >> 12)
}

#[cfg(test)]
mod tests {
    use super::{ROOT_ERROR, root};

    #[test]
    #[cfg_attr(miri, ignore = "a sweep over plain arithmetic: long, and without memory to look at")]
    fn roots_are_within_the_stated_error() {
        let edges = (32..=128_u64).flat_map(|i| (-300..300_i64).map(move |j| ((i << 25) as i64 + j) as u64));
        let all = (1_u64 << 30..1 << 32).step_by(151).chain(edges).filter(|m| (1 << 30..1 << 32).contains(m));
        let mut worst = 0.0_f64;
        for m in all {
            let exact = libm::sqrt(m as f64) * 8192.0;
            let found = f64::from(root(m as u32));
            worst = worst.max((found / exact - 1.0).abs());
        }
        assert!(worst < ROOT_ERROR && worst > 0.8 * ROOT_ERROR, "{worst:e}");
    }

    #[test]
    fn of_other_numbers_there_is_no_root_and_no_harm() {
        for m in [0, 1, (1 << 30) - 1] {
            let _ = root(m);
        }
    }
}
