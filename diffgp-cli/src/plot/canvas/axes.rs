//! The axes of a chart.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::heading::{Key, fitted, heading, text_width};
use super::marks::Marks;
use super::{Chart, Drawn, FONT};

/// An axis: what it shows and from where to where.
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) range: Range<f64>,
}

impl Axis {
    pub(crate) fn new(label: impl Into<String>, range: Range<f64>) -> Self {
        Self { label: label.into(), range }
    }

    /// From the smallest to the largest value, with a little room.
    pub(crate) fn around(label: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            return Self::new(label, 0.0..1.0);
        }
        let room = if high > low { 0.04 * (high - low) } else { 0.5 };
        Self::new(label, low - room..high + room)
    }

    /// Around the values between two shares of all, with as much room again on the side where the others are near: a few
    /// far ones are left out, and do not flatten the rest.
    pub(crate) fn around_most(label: impl Into<String>, values: impl IntoIterator<Item = f64>, share: f64) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (Some(&first), Some(&last)) = (sorted.first(), sorted.last()) else { return Self::new(label, 0.0..1.0) };
        let at = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
        let (low, high) = (at((1.0 - share) / 2.0), at((1.0 + share) / 2.0));
        let spread = high - low;
        Self::around(label, [first.max(low - spread), last.min(high + spread)])
    }
}

/// Title, keys, axes and a light mesh.
pub(crate) fn axes<'a, DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    title: &str,
    keys: &[Key],
    x: Axis,
    y: Axis,
) -> Drawn<Chart<'a, DB>, DB> {
    let measures = if area.dim_in_pixel().0 >= WIDE { &LARGE } else { &MEDIUM };
    build_axes(area, title, keys, x, y, measures)
}

/// The same for one of many panels in a picture.
pub(crate) fn small_axes<'a, DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    title: &str,
    x: Axis,
    y: Axis,
) -> Drawn<Chart<'a, DB>, DB> {
    build_axes(area, title, &[], x, y, &SMALL)
}

/// Sizes of a chart's parts, in pixels.
struct Measures {
    title: u32,
    description: u32,
    mark: u32,
    margin: u32,
    /// Marks on an axis at most, and pixels that one takes upwards.
    marks: usize,
    mark_height: usize,
}

const WIDE: u32 = 700;
const LARGE: Measures = Measures { title: 20, description: 16, mark: 14, margin: 14, marks: 11, mark_height: 40 };
const MEDIUM: Measures = Measures { title: 17, description: 15, mark: 14, margin: 10, marks: 7, mark_height: 36 };
const SMALL: Measures = Measures { title: 15, description: 13, mark: 13, margin: 6, marks: 4, mark_height: 24 };

fn build_axes<'a, DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    title: &str,
    keys: &[Key],
    x: Axis,
    y: Axis,
    measures: &Measures,
) -> Drawn<Chart<'a, DB>, DB> {
    let area = heading(area, title, keys, (measures.title, measures.description))?;
    let (width, height) = area.dim_in_pixel();
    let y_most = (height as usize / measures.mark_height).clamp(2, measures.marks);
    let y_marks = Marks::of(&y.range, y_most);
    let style = (FONT, measures.mark).into_font().into();
    // As many marks as have room beside each other.
    let widest = |texts: Vec<String>| {
        texts.iter().map(|text| text_width(&area, text, &style)).try_fold(0, |most, one| Ok(one?.max(most)))
    };
    let beside = widest(y_marks.texts(&y.range, y_most))?;
    let mut x_most = measures.marks;
    while x_most > 2 {
        let texts = Marks::of(&x.range, x_most).texts(&x.range, x_most);
        let count = texts.len() as i32;
        if count * (widest(texts)? + 14) <= width as i32 - beside - 40 {
            break;
        }
        x_most -= 1;
    }
    let x_marks = Marks::of(&x.range, x_most);
    let description = (FONT, measures.description).into_font().into();
    let room = |text: &str| if text.is_empty() { 0 } else { measures.description + 8 };
    let left = beside as u32 + room(&y.label) + 10;
    let below = measures.mark + room(&x.label) + 10;
    let margin = measures.margin;
    let x_label = fitted(&area, &x.label, &description, width.saturating_sub(left + 2 * margin) as i32)?;
    let y_label = fitted(&area, &y.label, &description, height.saturating_sub(below + 2 * margin) as i32)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(margin)
        // The last number of the axis below stands half beyond its end.
        .margin_right(margin + 14)
        .x_label_area_size(below)
        .y_label_area_size(left)
        .build_cartesian_2d(x.range, y.range)?;
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(x_label)
        .y_desc(y_label)
        .x_labels(x_most)
        .y_labels(y_most)
        .x_label_formatter(&|value| x_marks.text(*value))
        .y_label_formatter(&|value| y_marks.text(*value))
        .axis_desc_style((FONT, measures.description))
        .label_style((FONT, measures.mark))
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(228, 228, 228))
        .draw()?;
    Ok(chart)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_far_values_are_left_out_and_near_ones_are_not() {
        let many = || (0..100).map(|value| f64::from(value) / 100.0);
        let axis = Axis::around_most("", many().chain([-5000.0]), 0.96);
        assert!(axis.range.start > -1.1 && axis.range.end < 1.1, "{:?}", axis.range);
        let near = Axis::around_most("", many(), 0.96);
        assert!(near.range.start < 0.0 && near.range.end > 0.99, "{:?}", near.range);
        assert_eq!(Axis::around_most("", [f64::NAN], 0.9).range, 0.0..1.0);
        assert!(Axis::around_most("", [2.0], 0.9).range.contains(&2.0));
    }
}
