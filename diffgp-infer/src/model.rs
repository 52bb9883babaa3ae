//! A loaded model.

use diffgp_core::blob::{Blob, LIKELIHOOD_BERNOULLI, LIKELIHOOD_GAUSSIAN, ParseError};
use diffgp_core::device::opaque;
use diffgp_core::noise::Noise;
use diffgp_core::scheme::Scheme;

use crate::error::Error;
use crate::prediction::Prediction;
use crate::run::{Course, Drift, Integers, RawPrediction, Run};
use crate::workspace::{Memory, Sizes};

/// A model, borrowed from the bytes it was parsed from: at most 256 bytes, whatever the model's size.
///
/// After a successful parse no call panics, loops without bound or reads out of bounds, whatever the bytes were, and
/// no prediction holds a NaN or an infinity.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    blob: Blob<'a>,
}

/// How targets depend on the predictor's outputs g.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Likelihood {
    /// Real targets y = g + noise, one for every output.
    Gaussian,
    /// Two classes: P(second) = e + (1 − 2e) Φ(g).
    Bernoulli,
    /// Three classes or more, with an output each: softmax(g).
    Softmax,
}

impl<'a> Model<'a> {
    /// Loads a model in place and checks everything once: lengths, limits, numbers, checksum.
    ///
    /// The bytes must start at a multiple of four; [`include_model!`](crate::include_model) sees to that. More bytes
    /// may follow the model.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the bytes: [`ParseError`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        Blob::parse(bytes).map(|blob| Self { blob })
    }

    /// Like [`Model::parse`] without the two passes over the tensors (checksum, numbers), for devices that wake up
    /// often and have parsed these bytes before. Nothing else changes: damaged bytes still cannot cause a panic or a
    /// NaN in a prediction.
    ///
    /// # Errors
    ///
    /// As of [`Model::parse`], except for a wrong checksum or number.
    pub fn parse_trusted(bytes: &'a [u8]) -> Result<Self, ParseError> {
        Blob::parse_trusted(bytes).map(|blob| Self { blob })
    }

    /// Like [`Model::parse`], and refuses a model of which one sampled path takes more than `most`
    /// [`Work::operations`](crate::Work::operations): for firmware that takes models from elsewhere and has a deadline.
    ///
    /// # Errors
    ///
    /// As of [`Model::parse`], and [`ParseError::TooMuchWork`].
    pub fn parse_within(bytes: &'a [u8], most: u64) -> Result<Self, ParseError> {
        let model = Self::parse(bytes)?;
        let operations = model.work_per_path().operations();
        if operations <= most {
            return Ok(model);
        }
        Err(ParseError::TooMuchWork { operations: u32::try_from(operations).unwrap_or(u32::MAX) })
    }

    /// The parsed file: header, scaling, ranges, names.
    pub fn blob(&self) -> &Blob<'a> {
        &self.blob
    }

    /// D: values that an input has.
    pub fn inputs(&self) -> usize {
        usize::from(self.blob.header().inputs)
    }

    /// The `M` that a [`Workspace`](crate::Workspace) needs.
    pub fn features(&self) -> usize {
        self.blob.header().features()
    }

    /// O: real targets, or the latent functions of classes, of which two need one.
    pub fn outputs(&self) -> usize {
        usize::from(self.blob.header().outputs)
    }

    /// Words of memory that [`Workspace::in_slice`](crate::Workspace::in_slice) needs for this model.
    pub fn workspace_words(&self) -> usize {
        self.sizes().words()
    }

    /// How targets depend on the outputs.
    pub fn likelihood(&self) -> Likelihood {
        match self.blob.header().likelihood {
            LIKELIHOOD_GAUSSIAN => Likelihood::Gaussian,
            LIKELIHOOD_BERNOULLI => Likelihood::Bernoulli,
            _ => Likelihood::Softmax,
        }
    }

    /// Whether a class is predicted.
    pub fn is_classifier(&self) -> bool {
        self.likelihood() != Likelihood::Gaussian
    }

    /// C: classes to choose from; zero for real targets.
    pub fn classes(&self) -> usize {
        self.blob.header().class_count()
    }

    /// K: updates of a path; zero without a flow.
    pub fn steps(&self) -> usize {
        usize::from(self.blob.header().steps)
    }

    /// Whether it is evaluated in integers.
    #[inline(always)]
    pub fn is_fixed(&self) -> bool {
        self.blob.header().is_fixed()
    }

    /// How a step of the flow is made.
    pub fn scheme(&self) -> Scheme {
        self.blob.header().scheme()
    }

    /// Predicts along the drift alone: one path without noise.
    ///
    /// Cheap, and close to the sampled mean. A calibrated error bar is one for the drift; otherwise it is the predictor's
    /// only and leaves out the spread of the paths.
    ///
    /// # Errors
    ///
    /// If x has another number of values or one that is not finite, if the workspace is too small, and
    /// [`Error::NotFinite`] if the prediction overflows.
    pub fn predict<'w>(
        &'w self,
        x: &[f32],
        workspace: &'w mut (impl Memory + ?Sized),
    ) -> Result<Prediction<'w>, Error> {
        Course::run(self, opaque(x), 1, None, workspace.cut(self.sizes()))
    }

    /// Predicts from `paths` sampled Euler–Maruyama paths, in memory that does not grow with their number.
    ///
    /// A model without a flow has only one path; it is computed once.
    ///
    /// # Errors
    ///
    /// As of [`Model::predict`], and [`Error::NoPaths`] over none.
    pub fn predict_sampled<'w>(
        &'w self,
        x: &[f32],
        paths: u32,
        noise: &mut impl Noise,
        workspace: &'w mut (impl Memory + ?Sized),
    ) -> Result<Prediction<'w>, Error> {
        Course::run(self, opaque(x), paths, Some(noise), workspace.cut(self.sizes()))
    }

    /// [`Model::predict_sampled`] with a number of paths and their noise, else [`Model::predict`]: both in one function, for
    /// interfaces in which each caller would bring another copy of them.
    ///
    /// # Errors
    ///
    /// As of those.
    pub fn predict_either<'w>(
        &'w self,
        x: &[f32],
        noise: Option<(u32, &mut dyn Noise)>,
        workspace: &'w mut (impl Memory + ?Sized),
    ) -> Result<Prediction<'w>, Error> {
        let (paths, noise) = noise.map_or((1, None), |(paths, noise)| (paths, Some(noise)));
        Course::run(self, opaque(x), paths, noise, workspace.cut(self.sizes()))
    }

    /// As [`Model::predict`], from and to fixed-point numbers: what a sensor counts, times 2⁻ⁿ for n = `digits`, in the units
    /// of the training data. Of a model that is evaluated in integers and predicts real targets. No float is computed with,
    /// so that a program without other predictions has no code for that; rounding aside, the numbers are those of
    /// [`Model::predict`], without calibration.
    ///
    /// # Errors
    ///
    /// As of [`Model::predict`], and [`Error::NotRaw`] for other models.
    pub fn predict_raw<'w>(
        &'w self,
        x: &[i32],
        digits: u32,
        workspace: &'w mut (impl Memory + ?Sized),
    ) -> Result<RawPrediction<'w>, Error> {
        Course::run_raw(self, (opaque(x), digits), 1, None, workspace.cut(self.sizes()))
    }

    /// As [`Model::predict_sampled`], likewise.
    ///
    /// # Errors
    ///
    /// As of [`Model::predict_raw`], and [`Error::NoPaths`] over none.
    pub fn predict_raw_sampled<'w>(
        &'w self,
        x: &[i32],
        digits: u32,
        paths: u32,
        noise: &mut impl Noise,
        workspace: &'w mut (impl Memory + ?Sized),
    ) -> Result<RawPrediction<'w>, Error> {
        let noise = &mut Integers(noise);
        Course::run_raw(self, (opaque(x), digits), paths, Some(noise), workspace.cut(self.sizes()))
    }

    /// Begins what [`Model::predict_sampled`] does in one go, to be done piece by piece.
    ///
    /// # Errors
    ///
    /// As of [`Model::predict_sampled`].
    pub fn begin<'w, 'n, N: Noise>(
        &'w self,
        x: &[f32],
        paths: u32,
        noise: &'n mut N,
        workspace: &'w mut (impl Memory + ?Sized),
    ) -> Result<Run<'w, 'n, N>, Error> {
        Ok(Run::new(Course::new(self, opaque(x), paths, true, workspace.cut(self.sizes()))?, Some(noise)))
    }

    /// Begins what [`Model::predict`] does in one go, to be done piece by piece.
    ///
    /// # Errors
    ///
    /// As of [`Model::predict`].
    pub fn begin_drift<'w>(
        &'w self,
        x: &[f32],
        workspace: &'w mut (impl Memory + ?Sized),
    ) -> Result<Run<'w, 'static>, Error> {
        Ok(Run::<Drift>::new(Course::new(self, opaque(x), 1, false, workspace.cut(self.sizes()))?, None))
    }

    pub(crate) fn sizes(&self) -> Sizes {
        Sizes { inputs: self.inputs(), features: self.features(), outputs: self.outputs() }
    }

    /// dt = T/K.
    pub(crate) fn step_size(&self) -> f32 {
        let header = self.blob.header();
        header.flow_time / f32::from(header.steps.max(1))
    }
}
