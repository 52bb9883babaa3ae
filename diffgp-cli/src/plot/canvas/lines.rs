//! Lines that end where the chart ends: the library bends what goes on outside.

use plotters::prelude::*;

use super::{Chart, Drawn};

/// A line through points, cut at the chart's edges.
pub(crate) fn line<DB: DrawingBackend>(
    chart: &mut Chart<'_, DB>,
    points: &[(f64, f64)],
    style: impl Into<ShapeStyle>,
) -> Drawn<(), DB> {
    let style = style.into();
    let ends = [chart.x_range(), chart.y_range()].map(|range| (range.start, range.end));
    for piece in cut(points, ends) {
        chart.draw_series(LineSeries::new(piece, style))?;
    }
    Ok(())
}

/// Points of a chart that are inside.
pub(crate) fn is_inside<DB: DrawingBackend>(chart: &Chart<'_, DB>, point: (f64, f64)) -> bool {
    let within = |range: std::ops::Range<f64>, value: f64| (range.start..=range.end).contains(&value);
    within(chart.x_range(), point.0) && within(chart.y_range(), point.1)
}

/// The pieces of a line within a box, given by its ends along both axes.
fn cut(points: &[(f64, f64)], ends: [(f64, f64); 2]) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    for pair in points.windows(2) {
        let Some((from, to)) = cut_segment(pair[0], pair[1], ends) else { continue };
        match pieces.last_mut() {
            Some(piece) if piece.last() == Some(&from) => piece.push(to),
            _ => pieces.push(vec![from, to]),
        }
    }
    pieces
}

/// The part of p + t (q − p), 0 ≤ t ≤ 1, within the box, if there is one: every edge leaves an interval of t.
fn cut_segment(p: (f64, f64), q: (f64, f64), ends: [(f64, f64); 2]) -> Option<((f64, f64), (f64, f64))> {
    let (p, by) = ([p.0, p.1], [q.0 - p.0, q.1 - p.1]);
    if !p.iter().chain(&by).all(|value| value.is_finite()) {
        return None;
    }
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for axis in 0..2 {
        let (low, high) = ends[axis];
        if by[axis] == 0.0 {
            if !(low..=high).contains(&p[axis]) {
                return None;
            }
            continue;
        }
        let (a, b) = ((low - p[axis]) / by[axis], (high - p[axis]) / by[axis]);
        (first, last) = (first.max(a.min(b)), last.min(a.max(b)));
    }
    let at = |t: f64| {
        let place = |axis: usize| match t {
            0.0 => p[axis],
            1.0 => [q.0, q.1][axis],
            _ => (p[axis] + t * by[axis]).clamp(ends[axis].0, ends[axis].1),
        };
        (place(0), place(1))
    };
    (first <= last).then(|| (at(first), at(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_the_edges() {
        let ends = [(0.0, 10.0), (0.0, 1.0)];
        let inside = [(1.0, 0.2), (2.0, 0.9), (3.0, 0.2)];
        assert_eq!(cut(&inside, ends), [inside]);
        // Out at the top half-way between the first two, and in again.
        assert_eq!(
            cut(&[(1.0, 0.5), (2.0, 1.5), (3.0, 0.5)], ends),
            [[(1.0, 0.5), (1.5, 1.0)], [(2.5, 1.0), (3.0, 0.5)]]
        );
        // Through from below to above.
        assert_eq!(cut(&[(4.0, -1.0), (4.0, 2.0)], ends), [[(4.0, 0.0), (4.0, 1.0)]]);
        assert!(cut(&[(1.0, 2.0), (9.0, 3.0)], ends).is_empty());
        assert!(cut(&[(11.0, 0.5), (12.0, 0.5)], ends).is_empty());
        assert!(cut(&[(1.0, f64::NAN), (2.0, 0.5)], ends).is_empty());
    }
}
