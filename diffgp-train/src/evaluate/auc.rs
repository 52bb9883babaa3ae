//! The area under the receiver operating curve.

/// P(score of a positive > score of a negative) + ½ P(equal), from ranks; `None` unless both occur. Sorts its rows.
pub fn area_under_curve(rows: &mut [(f64, bool)]) -> Option<f64> {
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let positives = rows.iter().filter(|row| row.1).count();
    let negatives = rows.len() - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    let (mut below, mut wins) = (0, 0.0);
    for equal in rows.chunk_by(|a, b| a.0 == b.0) {
        let positive = equal.iter().filter(|row| row.1).count();
        let negative = equal.len() - positive;
        wins += positive as f64 * (below as f64 + 0.5 * negative as f64);
        below += negative;
    }
    Some(wins / (positives as f64 * negatives as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_share_of_pairs_in_the_right_order() {
        let mut rows: Vec<(f64, bool)> = (0..60).map(|i| (f64::from(i * 37 % 11), i % 3 == 0)).collect();
        let mut won = 0.0;
        let of =
            |positive: bool| rows.iter().filter(move |row| row.1 == positive).map(|row| row.0).collect::<Vec<f64>>();
        let (positives, negatives) = (of(true), of(false));
        for positive in &positives {
            for negative in &negatives {
                won += f64::from(positive > negative) + 0.5 * f64::from(positive == negative);
            }
        }
        let expected = won / (positives.len() * negatives.len()) as f64;
        assert!((area_under_curve(&mut rows).unwrap() - expected).abs() < 1e-15);
        assert_eq!(area_under_curve(&mut [(0.1, true), (0.2, true)]), None);
        assert_eq!(area_under_curve(&mut []), None);
    }
}
