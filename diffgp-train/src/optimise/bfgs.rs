//! Maximisation within bounds, by BFGS with projected steps and a line search.
//!
//! Ours: a few dozen lines, and the same bits whatever a library changes.
//! Reference: Nocedal and Wright, "Numerical Optimization", 2006, 6.1.

use nalgebra::{DMatrix, DVector};

/// What is climbed.
pub(crate) trait Surface {
    /// What else is known of a point.
    type Note;

    /// Value, slope and note at θ; `None` where there is no value.
    fn at(&self, theta: &[f64]) -> Option<Point<Self::Note>>;
}

/// A point of a surface.
pub(crate) struct Point<Note> {
    pub(crate) value: f64,
    pub(crate) slope: DVector<f64>,
    pub(crate) note: Note,
}

/// An ascent, from θ upwards.
pub(crate) struct Ascent<Note> {
    pub(crate) theta: DVector<f64>,
    pub(crate) at: Point<Note>,
    /// Least and largest value of every parameter.
    bounds: Vec<(f64, f64)>,
    /// The inverse of −∂², as far as known.
    inverse_hessian: Option<DMatrix<f64>>,
    pub(crate) ended: bool,
}

/// Longest step of a parameter, and of the first iteration.
const LONGEST: f64 = 2.0;
const FIRST: f64 = 0.5;
/// A step must gain this share of what the slope promises; else it is cut by `CUT`, so often.
const ARMIJO: f64 = 1e-4;
const CUT: f64 = 0.4;
const CUTS: usize = 8;
/// A slope that is zero.
const FLAT: f64 = 1e-7;

impl<Note> Ascent<Note> {
    pub(crate) fn new(theta: Vec<f64>, bounds: Vec<(f64, f64)>, surface: &impl Surface<Note = Note>) -> Option<Self> {
        let at = surface.at(&theta)?;
        Some(Self { theta: theta.into(), at, bounds, inverse_hessian: None, ended: false })
    }

    pub(crate) fn go_on(&mut self, iterations: usize, surface: &impl Surface<Note = Note>) {
        for _ in 0..iterations {
            self.ended = self.ended || !self.step(surface);
        }
    }

    /// One iteration; whether there was a better place.
    fn step(&mut self, surface: &impl Surface<Note = Note>) -> bool {
        let size = self.theta.len();
        let slope = DVector::from_fn(size, |index, _| {
            let ((low, high), at, slope) = (self.bounds[index], self.theta[index], self.at.slope[index]);
            if (at <= low && slope < 0.0) || (at >= high && slope > 0.0) { 0.0 } else { slope }
        });
        let steepest = slope.amax();
        if steepest < FLAT {
            return false;
        }
        let (mut direction, mut longest) = (&slope * (FIRST / steepest), FIRST);
        if let Some(inverse) = &self.inverse_hessian {
            let newton = (inverse * &slope).zip_map(&slope, |step, slope| if slope == 0.0 { 0.0 } else { step });
            if newton.dot(&slope) > 0.0 {
                (direction, longest) = (newton, LONGEST);
            }
        }
        direction *= (longest / direction.amax()).min(1.0);
        let promised = direction.dot(&slope);
        for cut in 0..CUTS {
            let factor = CUT.powi(cut as i32);
            let theta = DVector::from_fn(size, |index, _| {
                let (low, high) = self.bounds[index];
                (self.theta[index] + factor * direction[index]).clamp(low, high)
            });
            let Some(point) = surface.at(theta.as_slice()) else { continue };
            if point.value >= self.at.value + ARMIJO * factor * promised {
                self.learn(&theta - &self.theta, &self.at.slope - &point.slope);
                (self.theta, self.at) = (theta, point);
                return true;
            }
        }
        // Curvature that led nowhere is forgotten once.
        self.inverse_hessian.take().is_some()
    }

    /// H ← (I − s yᵀ/(sᵀy)) H (I − y sᵀ/(sᵀy)) + s sᵀ/(sᵀy), for a step s along which −∂ changed by y.
    fn learn(&mut self, step: DVector<f64>, change: DVector<f64>) {
        let along = step.dot(&change);
        if along <= 1e-12 {
            return;
        }
        let size = step.len();
        let before = self.inverse_hessian.take();
        let before = before.unwrap_or_else(|| DMatrix::identity(size, size) * (along / change.norm_squared()));
        let left = DMatrix::identity(size, size) - (&step * change.transpose()) / along;
        self.inverse_hessian = Some(&left * before * left.transpose() + (&step * step.transpose()) / along);
    }
}

impl Ascent<f64> {
    /// How many numbers an ascent along so many parameters is.
    pub(crate) fn numbers_len(parameters: usize) -> usize {
        4 + 2 * parameters + parameters * parameters
    }

    /// All that changes, for another process.
    pub(crate) fn to_numbers(&self) -> Vec<f64> {
        let flag = |holds: bool| f64::from(u8::from(holds));
        let mut numbers = vec![flag(self.ended), flag(self.inverse_hessian.is_some()), self.at.value, self.at.note];
        numbers.extend(self.theta.iter().chain(&self.at.slope));
        match &self.inverse_hessian {
            Some(inverse) => numbers.extend(inverse),
            None => numbers.resize(Self::numbers_len(self.theta.len()), 0.0),
        }
        numbers
    }

    /// The ascent that they were made of.
    pub(crate) fn of_numbers(numbers: &[f64], bounds: Vec<(f64, f64)>) -> Self {
        let size = bounds.len();
        let (theta, rest) = numbers[4..].split_at(size);
        let (slope, inverse) = rest.split_at(size);
        Self {
            theta: DVector::from_column_slice(theta),
            at: Point { value: numbers[2], slope: DVector::from_column_slice(slope), note: numbers[3] },
            bounds,
            inverse_hessian: (numbers[1] == 1.0).then(|| DMatrix::from_column_slice(size, size, inverse)),
            ended: numbers[0] == 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// −Σ (θ − 1)⁴ − (θ₀ − θ₁)², whose maximum is at 1.
    struct Hill;

    impl Surface for Hill {
        type Note = ();

        fn at(&self, theta: &[f64]) -> Option<Point<()>> {
            let between = theta[0] - theta[1];
            let value = -theta.iter().map(|t| (t - 1.0).powi(4)).sum::<f64>() - between * between;
            let slope = |i: usize| -4.0 * (theta[i] - 1.0).powi(3) - 2.0 * between * if i == 0 { 1.0 } else { -1.0 };
            Some(Point { value, slope: DVector::from_fn(2, |i, _| slope(i)), note: () })
        }
    }

    /// The same with a note, that of the value.
    struct NotedHill;

    impl Surface for NotedHill {
        type Note = f64;

        fn at(&self, theta: &[f64]) -> Option<Point<f64>> {
            Hill.at(theta).map(|Point { value, slope, .. }| Point { value, slope, note: value })
        }
    }

    #[test]
    fn another_process_goes_on_as_this_one_would() {
        let bounds = vec![(-10.0, 10.0); 2];
        let mut here = Ascent::new(vec![-3.0, 4.0], bounds.clone(), &NotedHill).unwrap();
        for _ in 0..100 {
            let numbers = here.to_numbers();
            assert_eq!(numbers.len(), Ascent::numbers_len(2));
            let mut there = Ascent::of_numbers(&numbers, bounds.clone());
            here.go_on(1, &NotedHill);
            there.go_on(1, &NotedHill);
            assert_eq!(here.to_numbers(), there.to_numbers());
        }
        assert!(here.ended);
    }

    #[test]
    fn it_ends_at_the_maximum_within_the_bounds() {
        let climb = |bounds: Vec<(f64, f64)>| {
            let mut ascent = Ascent::new(vec![-3.0, 4.0], bounds, &Hill).unwrap();
            ascent.go_on(100, &Hill);
            assert!(ascent.ended);
            ascent.theta
        };
        let free = climb(vec![(-10.0, 10.0); 2]);
        assert!((free[0] - 1.0).abs() < 0.01 && (free[1] - 1.0).abs() < 0.01, "{free}");
        // With θ₀ ≤ 0 the slope of θ₁ is zero where 4(θ₁ − 1)³ = −2 θ₁.
        let bound = climb(vec![(-10.0, 0.0), (-10.0, 10.0)]);
        assert_eq!(bound[0], 0.0);
        assert!((4.0 * (bound[1] - 1.0).powi(3) + 2.0 * bound[1]).abs() < 1e-5, "{bound}");
    }
}
