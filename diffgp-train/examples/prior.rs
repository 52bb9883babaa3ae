//! Pictures of priors in two dimensions: `rank.svg`, `flow.svg` and the numbers of `rank.md`.
//!
//!     cargo run --release --example prior -- DIRECTORY
//!
//! A deep Gaussian process composes draws f₁, f₂, …; every layer squeezes some direction, and soon the plane is a line.
//! A flow composes x + f(x) dt: its Jacobian stays near I for every step, and the plane a plane. The number is the
//! ratio of the singular values of the Jacobian, 1 for a rotation, 0 for a map onto a line.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use diffgp_train::elbo::{Trace, trace};
use diffgp_train::params::{Flow, Kernel, Likelihood, Params, Posterior, Process};
use diffgp_train::threads::Threads;
use nalgebra::{DMatrix, DVector, Matrix2, Vector2};

type Failure = Box<dyn Error>;
type Point = Vector2<f64>;

/// Draws of the prior over which the numbers are medians.
const DRAWS: usize = 20;
/// Layers and times shown.
const DEPTHS: [usize; 6] = [0, 1, 2, 3, 4, 5];
/// Steps per unit of time.
const STEPS: usize = 20;
/// s² of a layer, which must carry signals of variance 1, and of a field, as training starts with.
const LAYER_VARIANCE: f64 = 1.0;
const FIELD_VARIANCE: f64 = 0.1;
/// The shown square is [-SIDE, SIDE]².
const SIDE: f64 = 2.0;

fn main() -> Result<(), Failure> {
    let directory = std::env::args().nth(1).ok_or("expected a directory")?;
    let directory = Path::new(&directory);
    let threads = Threads::new(0)?;
    std::fs::write(directory.join("rank.svg"), rank_picture(&threads)?)?;
    std::fs::write(directory.join("rank.md"), rank_page(&threads)?)?;
    std::fs::write(directory.join("flow.svg"), flow_picture(&threads)?)?;
    Ok(())
}

/// Standard normal numbers: sums of twelve uniform ones from a 64-bit multiplicative generator, enough for a picture.
struct Normals(u64);

impl Normals {
    fn next(&mut self) -> f64 {
        let mut uniform = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        };
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }

    fn vector(&mut self, length: usize) -> Vec<f64> {
        (0..length).map(|_| self.next()).collect()
    }
}

/// A field drawn from the prior: inducing values u ~ N(0, K), which leave a little variance between them.
fn field(seed: u64, inducing_side: usize, time: f64, variance: f64) -> Params {
    let mut normals = Normals(seed);
    let count = inducing_side * inducing_side;
    let place = |i: usize| -3.0 + 6.0 * i as f64 / (inducing_side - 1) as f64;
    let inducing = DMatrix::from_fn(count, 2, |row, column| {
        place(if column == 0 { row % inducing_side } else { row / inducing_side })
    });
    let mut posterior = || Posterior {
        mean: DVector::from_vec(normals.vector(count)),
        factor: DMatrix::from_diagonal_element(count, count, 1e-3),
    };
    let kernel = Kernel { kind: KernelKind::Rbf, variance, length_scales: vec![1.0; 2] };
    let posteriors = vec![posterior(), posterior()];
    let predictor =
        Process { posteriors: vec![posterior()], inducing: inducing.clone(), kernels: vec![kernel.clone()] };
    let steps = ((STEPS as f64 * time) as usize).max(1);
    let scheme = Scheme::EulerMaruyama;
    let flow =
        Flow { time, steps, scheme, temporal: None, field: Process { inducing, kernels: vec![kernel], posteriors } };
    let likelihood = Likelihood::Gaussian { noise: vec![1.0] };
    Params { flow: Some(flow), predictor, likelihood, jitter: 1e-6, variance_floor: 1e-10 }
}

fn flat(points: &[Point]) -> Vec<f64> {
    points.iter().flat_map(|point| [point.x, point.y]).collect()
}

fn follow(params: &Params, points: &[Point], noise: Option<&[f64]>, threads: &Threads) -> Result<Trace<f64>, Failure> {
    Ok(trace(params, &flat(points), 1, noise, threads)?)
}

/// The points after every depth of `DEPTHS`, through layers or along the flow.
fn composed(seed: u64, deep: bool, points: &[Point], threads: &Threads) -> Result<Vec<Vec<Point>>, Failure> {
    let pairs = |values: &[f64]| values.as_chunks().0.iter().map(|&[x, y]| Point::new(x, y)).collect::<Vec<_>>();
    let last = DEPTHS[DEPTHS.len() - 1];
    let mut all = vec![points.to_vec()];
    if deep {
        for layer in 0..last {
            let draw = field(seed + 1000 * (layer as u64 + 1), 10, 1.0 / STEPS as f64, LAYER_VARIANCE);
            let before = &all[layer];
            // One step of the flow knows f(x): its drift.
            all.push(pairs(&follow(&draw, before, None, threads)?.drift));
        }
    } else {
        let path = follow(&field(seed, 10, last as f64, FIELD_VARIANCE), points, None, threads)?.path;
        let states: Vec<&[f64]> = path.chunks_exact(2 * points.len()).collect();
        all.extend((1..=last).map(|time| pairs(states[time * STEPS])));
    }
    Ok(DEPTHS.iter().map(|&depth| all[depth].clone()).collect())
}

/// σ₂/σ₁ of the Jacobian at places of the square, by central differences, for every depth: the median over places.
fn rank_ratios(seed: u64, deep: bool, threads: &Threads) -> Result<Vec<f64>, Failure> {
    const STEP: f64 = 1e-4;
    let axis: Vec<f64> = (0..12).map(|i| -SIDE + 2.0 * SIDE * (f64::from(i) + 0.5) / 12.0).collect();
    let shifts = [Point::new(STEP, 0.0), Point::new(-STEP, 0.0), Point::new(0.0, STEP), Point::new(0.0, -STEP)];
    let places = axis.iter().flat_map(|&x| axis.iter().map(move |&y| Point::new(x, y)));
    let points: Vec<Point> = places.flat_map(|place| shifts.map(|shift| place + shift)).collect();
    let ratio = |[right, left, up, down]: &[Point; 4]| {
        let jacobian = Matrix2::from_columns(&[right - left, up - down]) / (2.0 * STEP);
        let values = jacobian.svd(false, false).singular_values;
        values.min() / values.max()
    };
    let medians = composed(seed, deep, &points, threads)?;
    Ok(medians.iter().map(|points| median(points.as_chunks().0.iter().map(ratio).collect())).collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn rank_page(threads: &Threads) -> Result<String, Failure> {
    let mut ratios = [Vec::new(), Vec::new()];
    for seed in 0..DRAWS as u64 {
        ratios[0].push(rank_ratios(seed, true, threads)?);
        ratios[1].push(rank_ratios(seed, false, threads)?);
    }
    let mut text = format!(
        "# Rank\n\nWritten by `cargo xtask reproduce rank`. Ratio of the singular values of the Jacobian of the whole \
         map, median over a square and over {DRAWS} draws of the prior: 1 for a rotation, 0 for a map onto a line. Layers \
         have variance {LAYER_VARIANCE}, fields {FIELD_VARIANCE} (what training starts with), length-scales are 1; the flow is along the drift alone.\n\n\
         | layers, or time | deep Gaussian process | differential Gaussian process |\n|---|---|---|\n"
    );
    for (index, depth) in DEPTHS.iter().enumerate() {
        let of = |side: usize| median(ratios[side].iter().map(|draw| draw[index]).collect());
        writeln!(text, "| {depth} | {:.2e} | {:.2e} |", of(0), of(1))?;
    }
    text += "\nOne draw of each, as what becomes of a square grid (panels have scales of their own):\n\n![A square grid after 0 to 5 layers of a deep \
             Gaussian process, where it collapses onto a curve, and after times 0 to 5 of a differential Gaussian \
             process, where it stays a sheet](rank.svg)\n\nA field drawn from the prior, the flow along its drift, the \
             diffusion that its inducing points leave, and sampled paths:\n\n![Four panels: arrows of the drift, flow \
             lines, a map of the diffusion, and sampled paths](flow.svg)\n";
    Ok(text)
}

/// Lines of a square grid through six depths, layers above, flow below.
fn rank_picture(threads: &Threads) -> Result<String, Failure> {
    const LINES: usize = 13;
    const POINTS: usize = 49;
    let at = |i: usize, count: usize| -SIDE + 2.0 * SIDE * i as f64 / (count - 1) as f64;
    let mut points = Vec::new();
    for line in 0..LINES {
        points.extend((0..POINTS).map(|i| Point::new(at(i, POINTS), at(line, LINES))));
        points.extend((0..POINTS).map(|i| Point::new(at(line, LINES), at(i, POINTS))));
    }
    let mut svg = Svg::new(6, 2);
    for (row, (deep, unit)) in [(true, "layers"), (false, "time")].into_iter().enumerate() {
        for (column, points) in composed(1, deep, &points, threads)?.iter().enumerate() {
            svg.panel(column, row, &format!("{unit} {}", DEPTHS[column]), reach(3.2, points));
            for (number, line) in points.as_chunks::<POINTS>().0.iter().enumerate() {
                svg.line(line, if number % 2 == 0 { "#0072B2" } else { "#D55E00" }, 1.0);
            }
        }
    }
    Ok(svg.finish())
}

/// What a panel must show to show all points: at least so much, and a little more than the farthest.
fn reach(least: f64, points: &[Point]) -> f64 {
    points.iter().fold(least, |reach, point| reach.max(1.03 * point.amax()))
}

/// Drift, flow, diffusion and sampled paths of one field with few inducing points.
fn flow_picture(threads: &Threads) -> Result<String, Failure> {
    let params = field(4, 5, 3.0, 1.0);
    let steps = params.flow.as_ref().map_or(0, |flow| flow.steps);
    let grid = |side: usize| -> Vec<Point> {
        let at = |i: usize| -SIDE + 2.0 * SIDE * (i as f64 + 0.5) / side as f64;
        (0..side * side).map(|i| Point::new(at(i % side), at(i / side))).collect()
    };
    let mut svg = Svg::new(4, 1);
    let arrows = grid(15);
    let at_arrows = follow(&params, &arrows, None, threads)?;
    svg.panel(0, 0, "drift", 2.6);
    for (point, &[x, y]) in arrows.iter().zip(at_arrows.drift.as_chunks().0) {
        svg.line(&[*point, point + 0.12 * Point::new(x, y)], "#0072B2", 1.5);
        svg.dot(*point, "#0072B2", 1.5);
    }
    let starts = grid(6);
    let paths = |noise: Option<&[f64]>| -> Result<Vec<Vec<Point>>, Failure> {
        let path = follow(&params, &starts, noise, threads)?.path;
        let at =
            |k: usize, i: usize| Point::new(path[(k * starts.len() + i) * 2], path[(k * starts.len() + i) * 2 + 1]);
        Ok((0..starts.len()).map(|i| (0..=steps).map(|k| at(k, i)).collect()).collect())
    };
    svg.panel(1, 0, "flow along the drift, T = 3", 2.6);
    for path in paths(None)? {
        svg.line(&path, "#0072B2", 1.5);
        svg.dot(path[0], "#444444", 2.0);
    }
    svg.panel(2, 0, "diffusion √Σ", 2.6);
    let cells = grid(30);
    let noise = vec![0.0; steps * cells.len() * 2];
    let variances = follow(&params, &cells, Some(&noise), threads)?.diffusion_variance;
    for (cell, [first, second]) in cells.iter().zip(variances.as_chunks().0) {
        svg.cell(*cell, 2.0 * SIDE / 30.0, (0.5 * (first + second)).max(0.0).sqrt());
    }
    let noise = Normals(77).vector(steps * starts.len() * 2);
    let sampled = paths(Some(&noise))?;
    svg.panel(3, 0, "sampled paths, T = 3", reach(2.6, &sampled.concat()));
    for path in sampled {
        svg.line(&path, "#D55E00", 1.0);
        svg.dot(path[0], "#444444", 2.0);
    }
    Ok(svg.finish())
}

/// Panels of 200 pixels; coordinates are those of the last panel.
struct Svg {
    text: String,
    origin: (f64, f64),
    reach: f64,
}

impl Svg {
    const PANEL: f64 = 200.0;
    const GAP: f64 = 14.0;
    const TITLE: f64 = 24.0;

    fn new(columns: usize, rows: usize) -> Self {
        let width = columns as f64 * (Self::PANEL + Self::GAP) + Self::GAP;
        let height = rows as f64 * (Self::PANEL + Self::TITLE + Self::GAP);
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"14\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        Self { text, origin: (0.0, 0.0), reach: 1.0 }
    }

    /// Begins a panel that shows [-reach, reach]²; what lies outside is cut off.
    fn panel(&mut self, column: usize, row: usize, title: &str, reach: f64) {
        if self.origin != (0.0, 0.0) {
            self.text += "</svg>\n";
        }
        let left = Self::GAP + column as f64 * (Self::PANEL + Self::GAP);
        let top = Self::TITLE + row as f64 * (Self::PANEL + Self::TITLE + Self::GAP);
        (self.origin, self.reach) = ((left, top), reach);
        let side = Self::PANEL;
        self.text += &format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{title}</text>\n\
             <svg x=\"{left}\" y=\"{top}\" width=\"{side}\" height=\"{side}\">\n\
             <rect width=\"{side}\" height=\"{side}\" fill=\"none\" stroke=\"#999999\"/>\n",
            left + 0.5 * side,
            top - 7.0
        );
    }

    fn place(&self, point: Point) -> (f64, f64) {
        let scale = 0.5 * Self::PANEL / self.reach;
        (scale * (point.x + self.reach), scale * (self.reach - point.y))
    }

    fn line(&mut self, points: &[Point], colour: &str, width: f64) {
        let mut places = String::new();
        for &point in points {
            let (x, y) = self.place(point);
            places += &format!("{x:.1},{y:.1} ");
        }
        self.text += &format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>\n",
            places.trim_end()
        );
    }

    fn dot(&mut self, point: Point, colour: &str, radius: f64) {
        let (x, y) = self.place(point);
        self.text += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"/>\n");
    }

    /// A square, darker for values near 1.
    fn cell(&mut self, centre: Point, side: f64, value: f64) {
        let (x, y) = self.place(Point::new(centre.x - 0.5 * side, centre.y + 0.5 * side));
        let pixels = side * 0.5 * Self::PANEL / self.reach;
        self.text += &format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{pixels:.1}\" height=\"{pixels:.1}\" fill=\"#0072B2\" \
             fill-opacity=\"{:.2}\"/>\n",
            value.min(1.0)
        );
    }

    fn finish(mut self) -> String {
        self.text += "</svg>\n</svg>\n";
        self.text
    }
}
