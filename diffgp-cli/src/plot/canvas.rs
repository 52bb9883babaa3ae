//! What all pictures share: size, font, colours, axes, and the two files each becomes.

mod axes;
mod heading;
mod lines;
mod marks;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use diffgp_train::own_file;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use crate::{output, shown};
pub(crate) use axes::{Axis, axes, small_axes};
pub(crate) use heading::{Key, heading};
pub(crate) use lines::{is_inside, line};

/// A free font in the program itself: pictures look the same everywhere and need no system library.
const FONT_FILE: &[u8] = include_bytes!("../../fonts/DejaVuSans.ttf");
pub(crate) const FONT: &str = "DejaVu Sans";

/// Of a picture in a file of its own.
const SIZE: (u32, u32) = (960, 640);
/// Of one in a page, where two stand side by side and a telephone shows one at nine tenths of its size.
pub(crate) const IN_PAGE: (u32, u32) = (420, 360);

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

/// Something that can be drawn on any canvas: what it looks like follows from the size.
pub(crate) trait Picture {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB>;

    /// Its size in a page.
    fn size_in_page(&self) -> (u32, u32) {
        IN_PAGE
    }
}

/// Panels of the parts into which so many are put in a page: as alike as two columns allow.
pub(crate) fn panels_of_parts(panels: usize) -> Vec<usize> {
    const MOST: usize = 6;
    let parts = panels.div_ceil(MOST).max(1);
    let of_each = panels.div_ceil(parts).next_multiple_of(2);
    (0..parts).map(|part| of_each.min(panels - (part * of_each).min(panels))).collect()
}

/// A picture as text, to be put into a page.
pub(crate) fn svg_in_page(picture: &impl Picture) -> anyhow::Result<String> {
    svg(picture, picture.size_in_page())
}

fn svg(picture: &impl Picture, size: (u32, u32)) -> anyhow::Result<String> {
    register_font(FONT, FontStyle::Normal, FONT_FILE).map_err(|_| anyhow!("the built-in font cannot be used"))?;
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&WHITE)?;
        picture.draw(&area)?;
        area.present()?;
    }
    // The library escapes markup, and lets through what XML does not have.
    Ok(shown::lines(&text))
}

/// Writes NAME.svg and NAME.png; returns both names.
pub(crate) fn write(picture: &impl Picture, directory: &Path, name: &str) -> anyhow::Result<[PathBuf; 2]> {
    let files = ["svg", "png"].map(|extension| directory.join(format!("{name}.{extension}")));
    output::replace(&files[0], svg(picture, SIZE)?.as_bytes())?;
    // The encoder writes to a file and goes by its extension.
    let beside = directory.join(format!(".{name}.{}.partial.png", std::process::id()));
    let drawn = own_file::create(&beside).map_err(anyhow::Error::from).and_then(|_| draw_png(picture, &beside));
    let read = drawn.and_then(|()| Ok(own_file::read(&beside)?));
    let bytes = read.with_context(|| format!("cannot write {}", files[1].display()));
    let _ = fs::remove_file(&beside);
    output::replace(&files[1], &bytes?)?;
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
    use super::panels_of_parts;

    #[test]
    fn parts_hold_all_panels() {
        assert_eq!(panels_of_parts(1), [1]);
        assert_eq!(panels_of_parts(6), [6]);
        assert_eq!(panels_of_parts(8), [4, 4]);
        assert_eq!(panels_of_parts(9), [6, 3]);
        assert!((1..40).all(|panels| panels_of_parts(panels).iter().sum::<usize>() == panels));
    }
}
