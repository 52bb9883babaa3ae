//! What all pictures share: size, font, colours, axes, and the two files each becomes.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use crate::output;

/// A free font in the program itself: pictures look the same everywhere and need no system library.
const FONT_FILE: &[u8] = include_bytes!("../../fonts/DejaVuSans.ttf");
pub(crate) const FONT: &str = "DejaVu Sans";

const SIZE: (u32, u32) = (960, 640);

/// Colours that people with any colour vision can tell apart (Okabe and Ito).
pub(crate) const BLUE: RGBColor = RGBColor(0, 114, 178);
pub(crate) const ORANGE: RGBColor = RGBColor(230, 159, 0);
pub(crate) const VERMILLION: RGBColor = RGBColor(213, 94, 0);
pub(crate) const GREY: RGBColor = RGBColor(110, 110, 110);

/// One of many colours: those of Okabe and Ito as far as they go, else hues.
pub(crate) fn of_many(index: usize, count: usize) -> RGBColor {
    const GREEN: RGBColor = RGBColor(0, 158, 115);
    const PURPLE: RGBColor = RGBColor(204, 121, 167);
    const SKY: RGBColor = RGBColor(86, 180, 233);
    let few = [BLUE, ORANGE, GREEN, PURPLE, VERMILLION, SKY, BLACK];
    if count <= few.len() && index < count {
        return few[index];
    }
    let (r, g, b) = HSLColor(index as f64 / count as f64, 0.75, 0.42).to_backend_color().rgb;
    RGBColor(r, g, b)
}

/// A chart with two linear axes.
pub(crate) type Chart<'a, DB> = ChartContext<'a, DB, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
/// What drawing gives.
pub(crate) type Drawn<T, DB> = Result<T, DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// Something that can be drawn on any canvas.
pub(crate) trait Picture {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB>;
}

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
}

/// Title, axes and a light mesh.
pub(crate) fn axes<'a, DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    title: &str,
    x: Axis,
    y: Axis,
) -> Drawn<Chart<'a, DB>, DB> {
    build_axes(area, title, x, y, &LARGE)
}

/// The same for one of many panels in a picture.
pub(crate) fn small_axes<'a, DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    title: &str,
    x: Axis,
    y: Axis,
) -> Drawn<Chart<'a, DB>, DB> {
    build_axes(area, title, x, y, &SMALL)
}

/// Sizes of a chart's parts, in pixels.
struct Measures {
    title: u32,
    description: u32,
    below: u32,
    left: u32,
    /// Marks on an axis at most.
    marks: usize,
}

const LARGE: Measures = Measures { title: 20, description: 16, below: 52, left: 78, marks: 11 };
const SMALL: Measures = Measures { title: 15, description: 13, below: 36, left: 52, marks: 5 };

fn build_axes<'a, DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    title: &str,
    x: Axis,
    y: Axis,
    measures: &Measures,
) -> Drawn<Chart<'a, DB>, DB> {
    let marks = [&x, &y].map(|axis| Powers::of(&axis.range, measures.marks));
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, measures.title))
        .margin(14)
        .margin_right(24)
        .x_label_area_size(measures.below)
        .y_label_area_size(measures.left)
        .build_cartesian_2d(x.range, y.range)?;
    let [x_marks, y_marks] =
        marks.map(|powers| move |value: &f64| powers.map_or_else(String::new, |powers| powers.text(*value)));
    let mut mesh = chart.configure_mesh();
    if marks[0].is_some() {
        mesh.x_label_formatter(&x_marks);
    }
    if marks[1].is_some() {
        mesh.y_label_formatter(&y_marks);
    }
    mesh.x_desc(x.label)
        .y_desc(y.label)
        .x_labels(measures.marks)
        .y_labels(measures.marks)
        .axis_desc_style((FONT, measures.description))
        .label_style((FONT, 13))
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(228, 228, 228))
        .draw()?;
    Ok(chart)
}

/// Marks as powers of ten, on axes whose numbers would be too long otherwise, or read as zero.
#[derive(Clone, Copy, Debug)]
struct Powers {
    decimals: usize,
    /// Between two marks, about.
    step: f64,
}

impl Powers {
    fn of(range: &Range<f64>, marks: usize) -> Option<Self> {
        let largest = range.start.abs().max(range.end.abs());
        let step = (range.end - range.start).abs() / marks.saturating_sub(1).max(1) as f64;
        let digits = largest.log10().floor() - step.log10().floor();
        let needed = largest > 0.0 && !(1e-3..1e6).contains(&largest) && digits.is_finite();
        needed.then_some(Self { decimals: digits.clamp(0.0, 6.0) as usize, step })
    }

    fn text(self, value: f64) -> String {
        // The mark at zero is the sum of many steps.
        if value.abs() < 1e-3 * self.step { "0".to_owned() } else { format!("{value:.*e}", self.decimals) }
    }
}

/// The legend of what was labelled so far.
pub(crate) fn legend<'a, DB: DrawingBackend + 'a>(
    chart: &mut Chart<'a, DB>,
    position: SeriesLabelPosition,
) -> Drawn<(), DB> {
    chart
        .configure_series_labels()
        .position(position)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .label_font((FONT, 14))
        .margin(12)
        .draw()
}

/// A picture as text, to be put into a page.
pub(crate) fn svg(picture: &impl Picture) -> anyhow::Result<String> {
    register_font(FONT, FontStyle::Normal, FONT_FILE).map_err(|_| anyhow!("the built-in font cannot be used"))?;
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        picture.draw(&area)?;
        area.present()?;
    }
    Ok(text)
}

/// Writes NAME.svg and NAME.png; returns both names.
pub(crate) fn write(picture: &impl Picture, directory: &Path, name: &str) -> anyhow::Result<[PathBuf; 2]> {
    let files = ["svg", "png"].map(|extension| directory.join(format!("{name}.{extension}")));
    output::write(&files[0], svg(picture)?.as_bytes())?;
    // The encoder writes to a file and goes by its extension.
    let beside = directory.join(format!(".{name}.{}.partial.png", std::process::id()));
    let drawn = draw_png(picture, &beside);
    let bytes =
        drawn.and_then(|()| Ok(fs::read(&beside)?)).with_context(|| format!("cannot write {}", files[1].display()));
    let _ = fs::remove_file(&beside);
    output::write(&files[1], &bytes?)?;
    Ok(files)
}

fn draw_png(picture: &impl Picture, path: &Path) -> anyhow::Result<()> {
    let area = BitMapBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    picture.draw(&area)?;
    Ok(area.present()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_axes_of_small_and_large_numbers_have_powers_of_ten() {
        for range in [-3.0..3.0, 0.0..0.01, 0.0..0.0, 0.0..900_000.0] {
            assert!(Powers::of(&range, 11).is_none(), "{range:?}");
        }
        let text = |range: Range<f64>, value: f64| Powers::of(&range, 11).map(|powers| powers.text(value));
        assert_eq!(text(-1.1e-5..1.1e-5, 2e-6).as_deref(), Some("2.0e-6"));
        assert_eq!(text(-1.1e-5..1.1e-5, -1.7e-21).as_deref(), Some("0"));
        assert_eq!(text(0.0..1e29, 5e28).as_deref(), Some("5.0e28"));
        assert_eq!(text(1.0e9..1.001e9, 1.0005e9).as_deref(), Some("1.0005e9"));
    }
}
