//! What stands above a chart: its title, and what its marks mean. Nothing of it lies on the data.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Drawn, FONT};

/// Pixels around a heading, between two entries, and of a mark.
const ROOM: i32 = 10;
const BETWEEN: i32 = 16;
const MARK: i32 = 20;
/// Letters of a name at most, whatever the width.
const LETTERS: usize = 120;
/// Lines of a title at most.
const LINES: usize = 3;

/// What a colour stands for.
pub(crate) struct Key {
    mark: Mark,
    label: String,
}

#[derive(Clone, Copy)]
enum Mark {
    Line(RGBColor),
    Dot(RGBColor),
    Band(RGBColor),
}

impl Key {
    pub(crate) fn line(label: impl Into<String>, colour: RGBColor) -> Self {
        Self { mark: Mark::Line(colour), label: label.into() }
    }

    pub(crate) fn dot(label: impl Into<String>, colour: RGBColor) -> Self {
        Self { mark: Mark::Dot(colour), label: label.into() }
    }

    pub(crate) fn band(label: impl Into<String>, colour: RGBColor) -> Self {
        Self { mark: Mark::Band(colour), label: label.into() }
    }
}

/// Writes title and keys; gives what is left below.
pub(crate) fn heading<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    title: &str,
    keys: &[Key],
    sizes: (u32, u32),
) -> Drawn<DrawingArea<DB, Shift>, DB> {
    let width = area.dim_in_pixel().0 as i32;
    let (title_size, key_size) = (sizes.0 as i32, sizes.1 as i32);
    let style = (FONT, title_size).into_font().color(&BLACK).pos(Pos::new(HPos::Center, VPos::Top));
    let mut y = ROOM;
    for line in wrapped(area, title, &style, width - 2 * ROOM)? {
        area.draw(&Text::new(line, (width / 2, y), style.clone()))?;
        y += title_size * 5 / 4;
    }
    y += if title.is_empty() { -ROOM } else { ROOM / 3 };
    let style = (FONT, key_size).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
    let mut x = ROOM;
    for (index, Key { mark, label }) in keys.iter().enumerate() {
        let label = fitted(area, label, &style, width - 3 * ROOM - MARK)?;
        let wide = MARK + 5 + text_width(area, &label, &style)?;
        if index > 0 && x + wide > width - ROOM {
            (x, y) = (ROOM, y + key_size * 5 / 4);
        }
        let middle = y + key_size / 2;
        match mark {
            Mark::Line(colour) => {
                area.draw(&PathElement::new([(x, middle), (x + MARK, middle)], colour.stroke_width(2)))?
            }
            Mark::Dot(colour) => area.draw(&Circle::new((x + MARK / 2, middle), 4, colour.filled()))?,
            Mark::Band(colour) => {
                area.draw(&Rectangle::new([(x, middle - 5), (x + MARK, middle + 5)], colour.mix(0.25).filled()))?;
            }
        }
        area.draw(&Text::new(label, (x + MARK + 5, middle), style.clone()))?;
        x += wide + BETWEEN;
    }
    if !keys.is_empty() {
        y += key_size * 5 / 4;
    }
    Ok(area.split_vertically(y).1)
}

/// The text, or as much of its beginning as is not wider.
pub(crate) fn fitted<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    text: &str,
    style: &TextStyle<'_>,
    width: i32,
) -> Drawn<String, DB> {
    let letters: Vec<char> = text.chars().take(LETTERS + 1).collect();
    let mut shown = letters.len();
    let mut fitting = if shown > LETTERS { cut(&letters, LETTERS) } else { text.to_owned() };
    while shown > 1 && text_width(area, &fitting, style)? > width {
        shown -= 1;
        fitting = cut(&letters, shown);
    }
    Ok(fitting)
}

fn cut(letters: &[char], count: usize) -> String {
    letters[..count].iter().chain(&['…']).collect()
}

/// Words on as many lines as they need, up to the most there may be.
fn wrapped<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    text: &str,
    style: &TextStyle<'_>,
    width: i32,
) -> Drawn<Vec<String>, DB> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let Some(line) = lines.pop() else {
            lines.push(word.to_owned());
            continue;
        };
        let longer = format!("{line} {word}");
        if lines.len() + 1 == LINES || text_width(area, &longer, style)? <= width {
            lines.push(longer);
        } else {
            lines.extend([line, word.to_owned()]);
        }
    }
    lines.iter().map(|line| fitted(area, line, style, width)).collect()
}

pub(super) fn text_width<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    text: &str,
    style: &TextStyle<'_>,
) -> Drawn<i32, DB> {
    Ok(area.estimate_text_size(text, style)?.0 as i32)
}
