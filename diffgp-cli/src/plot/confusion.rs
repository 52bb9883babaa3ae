//! Which classes are taken for which.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{BLUE, Drawn, FONT, GREY, IN_PAGE, Picture, heading};

/// Pixels that are left free above and on the right, and those for what is written beside the names.
const ABOVE: i32 = 8;
const FREE: i32 = 20;
const DESCRIBED: i32 = 50;
/// Cells that are smaller, in pixels, hold no number.
const LEAST_CELL: i32 = 19;
/// Letters of a name, and their size at most.
const LETTERS: usize = 16;
const LARGEST: i32 = 15;

/// Rows by true class and by most probable class.
pub(super) struct Confusion {
    title: String,
    classes: Vec<String>,
    /// `[true][predicted]`.
    rows: Vec<Vec<usize>>,
}

impl Confusion {
    pub(super) fn new(classes: Vec<String>, rows: Vec<Vec<usize>>) -> Self {
        let right: usize = rows.iter().enumerate().map(|(class, row)| row[class]).sum();
        let all: usize = rows.iter().flatten().sum();
        let share = 100.0 * right as f64 / all.max(1) as f64;
        Self { title: format!("Confusion: {right} of {all} rows are right ({share:.1} %)"), classes, rows }
    }
}

impl Picture for Confusion {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let large = area.dim_in_pixel().0 > IN_PAGE.0;
        let area = heading(area, &self.title, &[], if large { (20, 16) } else { (17, 15) })?;
        let (width, height) = area.dim_in_pixel();
        let count = self.classes.len() as i32;
        let letters = self.classes.iter().map(|name| shortened(name).chars().count() as i32).max().unwrap_or(0);
        // As if names were as large as they can be: a letter is half as wide as it is high.
        let names = letters * LARGEST / 2 + DESCRIBED;
        let cell = ((width as i32 - names - FREE) / count).min((height as i32 - ABOVE - names) / count).max(1);
        let side = cell * count;
        let left = names + (width as i32 - names - FREE - side) / 2;
        let text = |size: i32| (FONT, size).into_font();
        let at = |h, v| Pos::new(h, v);
        let centred = at(HPos::Center, VPos::Center);

        for (truth, row) in self.rows.iter().enumerate() {
            let of_class: usize = row.iter().sum();
            for (predicted, &rows) in row.iter().enumerate() {
                let share = rows as f64 / of_class.max(1) as f64;
                let (x, y) = (left + cell * predicted as i32, ABOVE + cell * truth as i32);
                area.draw(&Rectangle::new([(x, y), (x + cell, y + cell)], shade(share).filled()))?;
                if rows > 0 && cell >= LEAST_CELL {
                    let digits = rows.to_string();
                    let size = (cell * 2 / 5).min(cell * 8 / (5 * digits.len() as i32 + 3)).clamp(7, 18);
                    let ink = if share > 0.55 { WHITE } else { BLACK };
                    let style = text(size).color(&ink).pos(centred);
                    area.draw(&Text::new(digits, (x + cell / 2, y + cell / 2), style))?;
                }
            }
        }
        let grid = RGBColor(200, 200, 200);
        for line in 0..=count {
            let place = cell * line;
            area.draw(&PathElement::new([(left + place, ABOVE), (left + place, ABOVE + side)], grid))?;
            area.draw(&PathElement::new([(left, ABOVE + place), (left + side, ABOVE + place)], grid))?;
        }

        let size = (cell * 2 / 3).clamp(8, LARGEST);
        let longest = letters * size / 2;
        // Upright where the names are wider than the cells.
        let upright = longest >= cell;
        for (index, name) in self.classes.iter().enumerate() {
            let (middle, name) = (cell * index as i32 + cell / 2, shortened(name));
            let style = text(size).color(&BLACK).pos(at(HPos::Right, VPos::Center));
            area.draw(&Text::new(name.clone(), (left - 8, ABOVE + middle), style))?;
            let style = match upright {
                true => text(size).transform(FontTransform::Rotate270).color(&BLACK).pos(at(HPos::Right, VPos::Center)),
                false => text(size).color(&BLACK).pos(at(HPos::Center, VPos::Top)),
            };
            area.draw(&Text::new(name, (left + middle, ABOVE + side + 8), style))?;
        }
        let names = if upright { longest } else { size };
        let described = text(16).color(&GREY).pos(at(HPos::Center, VPos::Top));
        let below = (ABOVE + side + names + 18).min(height as i32 - 22);
        area.draw(&Text::new("most probable class", (left + side / 2, below), described))?;
        let beside = text(16).transform(FontTransform::Rotate270).color(&GREY).pos(at(HPos::Center, VPos::Top));
        area.draw(&Text::new("true class", ((left - longest - 44).max(8), ABOVE + side / 2), beside))
    }

    fn size_in_page(&self) -> (u32, u32) {
        let more = 12 * self.classes.len().saturating_sub(4) as u32;
        (IN_PAGE.0 + more, IN_PAGE.0 + more)
    }
}

/// From white for no row of a class to blue for all of them.
fn shade(share: f64) -> RGBColor {
    // The root shows rare mistakes.
    let share = share.sqrt();
    let mixed = |full: u8| (255.0 - share * (255.0 - f64::from(full))).round() as u8;
    RGBColor(mixed(BLUE.0), mixed(BLUE.1), mixed(BLUE.2))
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::canvas;

    fn picture(classes: usize, name: impl Fn(usize) -> String) -> Confusion {
        let rows = |truth: usize| (0..classes).map(|p| if p == truth { 90 + truth } else { truth * p % 7 }).collect();
        Confusion::new((0..classes).map(name).collect(), (0..classes).map(rows).collect())
    }

    #[test]
    fn two_and_many_classes_can_be_drawn() {
        for classes in [2, 6, 32] {
            let svg = canvas::svg_in_page(&picture(classes, |class| format!("class {class} <&>"))).unwrap();
            assert!(svg.contains("most probable class") && svg.contains("&lt;"), "{classes}");
        }
        let three = Confusion::new(vec![String::new(); 2], vec![vec![2, 1], vec![0, 1]]);
        assert_eq!(three.title, "Confusion: 3 of 4 rows are right (75.0 %)");
    }
}
