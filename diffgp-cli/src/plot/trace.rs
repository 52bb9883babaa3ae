//! The course of a run: the bound, iteration by iteration, and the validation rows by which it chose.

mod course;

use std::rc::Rc;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::canvas::{Axis, BLUE, Drawn, GREY, Key, Picture, axes, is_inside, line, of_many};
pub(super) use course::{Course, Stage};

impl Course {
    /// The bound of one stage after the other.
    fn draw_bound<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let stages: Vec<&Stage> = self.stages.iter().filter(|stage| !stage.is_candidate()).collect();
        let x = Axis::around("iteration", stages.iter().flat_map(|stage| stage.placed(&stage.elbo)).map(|(x, _)| x));
        let y = Axis::around_most("ELBO", stages.iter().flat_map(|stage| late(&stage.elbo)), SHOWN);
        let title = if stages.len() > 1 { "Bound (grey: where another stage begins)" } else { "Bound" };
        let mut chart = axes(area, title, &[], x, y)?;
        let y = chart.y_range();
        for stage in stages.iter().skip(1) {
            line(&mut chart, &[(stage.begins, y.start), (stage.begins, y.end)], GREY.stroke_width(1))?;
        }
        for stage in stages {
            line(&mut chart, &stage.placed(&stage.elbo).collect::<Vec<_>>(), BLUE.stroke_width(1))?;
        }
        Ok(())
    }

    /// What the stages were compared by, each from its own beginning; a dot marks what was best and kept.
    fn draw_validation<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        let stages: Vec<&Stage> = self.validated().collect();
        let x =
            Axis::around("iteration of the stage", stages.iter().flat_map(|stage| &stage.validation).map(|&(x, _)| x));
        let best = stages.iter().filter_map(|stage| stage.best).map(|(_, value)| value);
        let mut y =
            Axis::around_most("log-likelihood per row", stages.iter().flat_map(|stage| late(&stage.validation)), SHOWN);
        let room = 0.04 * (y.range.end - y.range.start);
        for value in best {
            y.range = y.range.start.min(value - room)..y.range.end.max(value + room);
        }
        let colour = |index: usize| of_many(index, stages.len());
        let keys: Vec<Key> =
            stages.iter().enumerate().map(|(index, stage)| Key::line(stage.label.clone(), colour(index))).collect();
        let mut chart = axes(area, "Validation rows, by which models are chosen (dots: the best)", &keys, x, y)?;
        for (index, stage) in stages.iter().enumerate() {
            line(&mut chart, &stage.validation, colour(index).stroke_width(2))?;
            if let Some(best) = stage.best.filter(|&best| is_inside(&chart, best)) {
                chart.draw_series([Circle::new(best, 5, colour(index).filled())])?;
            }
        }
        Ok(())
    }
}

/// The share of the values that an axis shows in any case.
const SHOWN: f64 = 0.96;

/// Without the first steep tenth, which would flatten the rest.
fn late(points: &[(f64, f64)]) -> impl Iterator<Item = f64> + '_ {
    points.iter().skip(points.len() / 10).map(|&(_, value)| value)
}

impl Picture for Course {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        if self.validated().next().is_none() {
            return self.draw_bound(area);
        }
        let (upper, lower) = area.split_vertically(area.dim_in_pixel().1 * 45 / 100);
        self.draw_bound(&upper)?;
        self.draw_validation(&lower)
    }
}

/// One of the two, for a page.
pub(super) enum Half {
    Bound(Rc<Course>),
    Validation(Rc<Course>),
}

impl Half {
    pub(super) fn of(course: Course) -> Vec<Self> {
        let has_validation = course.validated().next().is_some();
        let course = Rc::new(course);
        let mut halves = vec![Self::Bound(Rc::clone(&course))];
        halves.extend(has_validation.then_some(Self::Validation(course)));
        halves
    }
}

impl Picture for Half {
    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<(), DB> {
        match self {
            Self::Bound(course) => course.draw_bound(area),
            Self::Validation(course) => course.draw_validation(area),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::canvas;

    #[test]
    fn lines_stay_within_the_axes() {
        // An outlier at the beginning, one in the middle, and one that is higher than all that is shown.
        let elbo: Vec<(f64, f64)> = (0..200)
            .map(|i| {
                (
                    f64::from(i),
                    if i == 0 {
                        -1e6
                    } else if i == 100 {
                        -5e5
                    } else if i == 5 {
                        4e5
                    } else {
                        -100.0 / f64::from(i)
                    },
                )
            })
            .collect();
        let stage = Stage { elbo, ..Stage::new("flow", "the model".to_owned(), 0.0) };
        let svg = canvas::svg_in_page(&Course { stages: vec![stage] }).unwrap();
        let (mut lines, height) = (0, f64::from(canvas::IN_PAGE.1));
        for points in svg.split("points=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            for place in points.split_whitespace() {
                let y: f64 = place.split_once(',').unwrap().1.parse().unwrap();
                assert!((0.0..=height).contains(&y), "{place}");
            }
            lines += 1;
        }
        assert!(lines > 3, "{svg}");
    }
}
