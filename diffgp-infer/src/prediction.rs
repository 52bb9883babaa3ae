//! From the end points of paths to a prediction in the target's units.

#[cfg(feature = "calibration")]
use diffgp_core::blob::CalibrationRecord;
use diffgp_core::device::{keep_rolled, sqrt};
use diffgp_core::normal;

use crate::error::Error;
use crate::model::{Likelihood, Model};
use crate::workspace::Column;

/// What the predictor says of one output at the end of one path: g ~ N(mean, variance), standardised, without noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latent {
    /// The mean of g.
    pub mean: f32,
    /// The variance of g.
    pub variance: f32,
}

/// Inputs outside the range seen in training. Where there are some the model extrapolates; trust its variance only as
/// far as its kernel describes the world out there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct OutOfRange {
    /// Bit i is input i; the format has at most 64.
    inputs: u64,
}

impl OutOfRange {
    pub(crate) fn of_bits(inputs: u64) -> Self {
        Self { inputs }
    }

    /// Whether every input is in its range.
    pub fn is_empty(self) -> bool {
        self.inputs == 0
    }

    /// Whether this input, counted from 0, is outside.
    pub fn contains(self, index: usize) -> bool {
        self.inputs & bit(index) != 0
    }

    /// The inputs outside, counted from 0, in order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..u64::BITS as usize).filter(move |&index| self.contains(index))
    }

    /// Bit i for input i: for logs and other languages.
    pub fn bits(self) -> u64 {
        self.inputs
    }
}

fn bit(index: usize) -> u64 {
    u32::try_from(index).ok().and_then(|index| 1_u64.checked_shl(index)).unwrap_or(0)
}

/// One output of a prediction, with its error bar.
///
/// For a real target, mean and variances are in the target's units. For classes they are those of the latent function g.
///
/// The bar of a calibrated model ([`Blob::calibration`](crate::Blob::calibration)) says how far rows were off that the
/// model was not trained on: a new observation is mean ± s h(|ε|), ε standard normal, with s and h of
/// [`CalibrationRecord`](diffgp_core::blob::CalibrationRecord). Otherwise it is Gaussian, h(u) = u, and s² is the latent
/// variance plus the noise. [`Output::variance`], [`Output::std_dev`] and [`Output::interval`] all speak of that one
/// distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Output {
    mean: f32,
    latent_variance: f32,
    noise: f32,
    /// s².
    square: f32,
    real: bool,
    #[cfg(feature = "calibration")]
    calibration: Option<CalibrationRecord>,
}

impl Output {
    /// The mean: over paths, the mean of their means.
    pub fn mean(&self) -> f32 {
        self.mean
    }

    /// The variance of a new observation: s² E[h(|ε|)²].
    pub fn variance(&self) -> f32 {
        #[cfg(feature = "calibration")]
        if let Some(calibration) = &self.calibration {
            return self.square * calibration.spread;
        }
        self.square
    }

    /// The standard deviation of a new observation.
    pub fn std_dev(&self) -> f32 {
        sqrt(self.variance())
    }

    /// The variance of the underlying function, without noise: over paths, mean of variances plus variance of means.
    /// Never calibrated.
    pub fn latent_variance(&self) -> f32 {
        self.latent_variance
    }

    /// The interval mean ± s h(u), u = Φ⁻¹((1 + level)/2), that holds a new observation with this probability.
    ///
    /// Without calibration and over several paths the prediction is a mixture, and this is the interval of the Gaussian
    /// with the mixture's mean and variance: exact for one path, close when the paths' means spread little, too wide in the
    /// middle and blind to separate modes when they spread much.
    /// `None` for classes, and unless 0 < level < 1.
    pub fn interval(&self, level: f32) -> Option<(f32, f32)> {
        if !self.real {
            return None;
        }
        let half = self.half_width(normal::central_quantile(level)?) * sqrt(self.square);
        Some((self.mean - half, self.mean + half))
    }

    /// h(u).
    fn half_width(&self, u: f32) -> f32 {
        #[cfg(feature = "calibration")]
        if let Some(calibration) = &self.calibration {
            return calibration.half_width(u);
        }
        u
    }

    /// The same output with the bar of the model as it was trained: Gaussian, latent variance plus noise.
    #[must_use]
    pub fn uncalibrated(self) -> Self {
        Self {
            square: self.latent_variance + self.noise,
            #[cfg(feature = "calibration")]
            calibration: None,
            ..self
        }
    }

    /// s², of which [`Output::variance`] is a multiple.
    #[cfg(feature = "calibration")]
    pub fn square(&self) -> f32 {
        self.square
    }

    /// How the bar was calibrated, if it was.
    #[cfg(feature = "calibration")]
    pub fn calibration(&self) -> Option<&CalibrationRecord> {
        self.calibration.as_ref()
    }
}

/// A prediction with its error bars, in the workspace that it was made in.
///
/// It borrows that workspace; what is to outlive it is copied out: a number, or an [`Output`].
///
/// [`Prediction::mean`] and the others without an index speak of the first output, the only one of most models. For
/// classes [`Prediction::class`] and [`Prediction::probabilities`] are what one acts on.
///
/// A prediction from the drift alone leaves out the spread of the paths: its error bar is the predictor's only, unless it
/// was calibrated, which the drift is for itself.
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'w> {
    model: &'w Model<'w>,
    /// `[O]`.
    columns: &'w [Column],
    paths: u32,
    /// Whether paths were sampled: they have a calibration of their own.
    #[cfg_attr(not(feature = "calibration"), expect(dead_code, reason = "only calibrations differ by it"))]
    sampled: bool,
    out_of_range: OutOfRange,
}

impl PartialEq for Prediction<'_> {
    /// The same answers, wherever they are.
    fn eq(&self, other: &Self) -> bool {
        self.outputs().eq(other.outputs())
            && self.probabilities().eq(other.probabilities())
            && self.out_of_range == other.out_of_range
    }
}

impl<'w> Prediction<'w> {
    /// Everything that can be asked is finite, or there is no prediction.
    #[inline(never)]
    pub(crate) fn new(
        model: &'w Model<'w>,
        columns: &'w [Column],
        paths: u32,
        sampled: bool,
        out_of_range: OutOfRange,
    ) -> Result<Self, Error> {
        let prediction = Self { model, columns, paths, sampled, out_of_range };
        let mut finite = true;
        for (index, &[.., probability]) in columns.iter().enumerate() {
            keep_rolled();
            let output = prediction.output_at(index);
            finite &= output.mean.is_finite() && output.variance().is_finite() && probability.is_finite();
        }
        if finite { Ok(prediction) } else { Err(Error::NotFinite) }
    }

    /// What is kept of an output; zeros if there is none.
    fn column(&self, index: usize) -> Column {
        self.columns.get(index).copied().unwrap_or_default()
    }

    #[inline(never)]
    fn output_at(&self, index: usize) -> Output {
        let ([_, _, _, mean, scatter, variance, _], target) = (self.column(index), self.model.blob().target(index));
        let unit = target.scale * target.scale;
        let latent_variance = variance + scatter / self.paths.max(1) as f32;
        let output = Output {
            mean: target.mean + target.scale * mean,
            latent_variance: unit * latent_variance,
            noise: unit * target.noise,
            square: unit * latent_variance + unit * target.noise,
            real: self.model.likelihood() == Likelihood::Gaussian,
            #[cfg(feature = "calibration")]
            calibration: None,
        };
        #[cfg(feature = "calibration")]
        if let Some(record) = self.model.blob().target_calibration(self.sampled, index) {
            let square = unit * record.square(mean, latent_variance, target.noise);
            return Output { square, calibration: Some(record), ..output };
        }
        output
    }

    /// Output `index`, counted from 0: a real target, or the latent function of a class.
    pub fn output(&self, index: usize) -> Option<Output> {
        (index < self.model.outputs()).then(|| self.output_at(index))
    }

    /// Every output in order.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = Output> + use<'_, 'w> {
        (0..self.model.outputs()).map(|index| self.output_at(index))
    }

    /// The mean of the first output: over paths, the mean of their means.
    pub fn mean(&self) -> f32 {
        self.output_at(0).mean
    }

    /// [`Output::variance`] of the first output.
    pub fn variance(&self) -> f32 {
        self.output_at(0).variance()
    }

    /// [`Output::std_dev`] of the first output.
    pub fn std_dev(&self) -> f32 {
        self.output_at(0).std_dev()
    }

    /// [`Output::latent_variance`] of the first output.
    pub fn latent_variance(&self) -> f32 {
        self.output_at(0).latent_variance
    }

    /// [`Output::interval`] of the first output.
    pub fn interval(&self, level: f32) -> Option<(f32, f32)> {
        self.output_at(0).interval(level)
    }

    fn probability_at(&self, index: usize) -> f32 {
        let [.., probability] = self.column(index);
        probability
    }

    /// Of two classes, the probability of the second, averaged over paths; `None` of anything else.
    pub fn probability(&self) -> Option<f32> {
        (self.model.likelihood() == Likelihood::Bernoulli).then(|| self.probability_at(0))
    }

    /// The probability of every class in order, averaged over paths; none for real targets. They sum to 1 up to rounding.
    pub fn probabilities(&self) -> impl ExactSizeIterator<Item = f32> + use<'_, 'w> {
        (0..self.model.classes()).map(|class| match self.probability() {
            Some(second) => {
                if class == 0 {
                    1.0 - second
                } else {
                    second
                }
            }
            None => self.probability_at(class),
        })
    }

    /// The most probable class, counted from 0, the first of equals; `None` for real targets.
    pub fn class(&self) -> Option<usize> {
        let mut best = None;
        for (class, probability) in self.probabilities().enumerate() {
            if best.is_none_or(|(_, largest)| probability > largest) {
                best = Some((class, probability));
            }
        }
        best.map(|(class, _)| class)
    }

    /// Whether a class belongs to the prediction set, which holds the true class with a probability of nine in ten; of
    /// calibrated classifiers, otherwise the most probable class alone does.
    pub fn set_contains(&self, class: usize) -> bool {
        #[cfg(all(feature = "calibration", feature = "classes"))]
        if let Some(threshold) = self.model.blob().class_threshold(self.sampled, class) {
            return self.probabilities().nth(class).is_some_and(|probability| probability >= threshold);
        }
        self.class() == Some(class)
    }

    /// The classes of the prediction set, counted from 0, in order: either of these. Empty if none of them is likely
    /// enough.
    pub fn class_set(&self) -> impl Iterator<Item = usize> + use<'_, 'w> {
        (0..self.model.classes()).filter(|&class| self.set_contains(class))
    }

    /// Which inputs lie outside the range seen in training.
    pub fn out_of_range(&self) -> OutOfRange {
        self.out_of_range
    }

    /// Whether every input lies in the range seen in training.
    pub fn in_range(&self) -> bool {
        self.out_of_range.is_empty()
    }
}
