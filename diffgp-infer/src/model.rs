//! A model in flash, ready to predict.

use diffgp_core::blob::{Blob, LIKELIHOOD_BERNOULLI, ParseError};
use diffgp_core::noise::Noise;
use diffgp_core::rolled::opaque;

use crate::error::Error;
use crate::flow::Flow;
use crate::prediction::{Mixture, Prediction};
use crate::workspace::{Scratch, Workspace};

/// A model, borrowed from the bytes it was parsed from: at most 256 bytes, whatever the model's size.
///
/// After a successful parse no call panics, loops without bound or reads out of bounds, whatever the bytes were, and
/// no prediction holds a NaN or an infinity.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    blob: Blob<'a>,
}

impl<'a> Model<'a> {
    /// Loads a model in place and checks everything once: lengths, limits, finiteness, checksum.
    ///
    /// The bytes must start at a multiple of four; [`include_model!`](crate::include_model) sees to that. More bytes
    /// may follow the model.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        Ok(Self { blob: Blob::parse(bytes)? })
    }

    /// Like [`Model::parse`] without the two passes over the tensors (checksum, finiteness), for devices that wake up
    /// often and have parsed these bytes before. Nothing else changes: damaged bytes still cannot cause a panic or a
    /// NaN in a prediction.
    pub fn parse_trusted(bytes: &'a [u8]) -> Result<Self, ParseError> {
        Ok(Self { blob: Blob::parse_trusted(bytes)? })
    }

    /// The parsed file: header, scaling, ranges, names.
    pub fn blob(&self) -> &Blob<'a> {
        &self.blob
    }

    /// D: values that an input has.
    pub fn inputs(&self) -> usize {
        usize::from(self.blob.header().inputs)
    }

    /// The `M` that a [`Workspace`] needs.
    pub fn features(&self) -> usize {
        self.blob.header().features()
    }

    /// Whether predictions carry a probability (binary classification).
    pub fn is_classifier(&self) -> bool {
        self.blob.header().likelihood == LIKELIHOOD_BERNOULLI
    }

    /// Whether a `Workspace<D, M>` is large enough: ask once, at start-up.
    pub fn fits<const D: usize, const M: usize>(&self) -> bool {
        self.inputs() <= D && self.features() <= M
    }

    /// Predicts along the drift alone: one path without noise.
    ///
    /// Cheap, and close to the sampled mean, but the error bar is the predictor's only and leaves out the spread of
    /// the paths.
    pub fn predict<const D: usize, const M: usize>(
        &self,
        x: &[f32],
        workspace: &mut Workspace<D, M>,
    ) -> Result<Prediction, Error> {
        self.predict_paths(opaque(x), 1, None, &mut workspace.scratch())
    }

    /// Predicts from `paths` sampled Euler–Maruyama paths, in memory that does not grow with their number.
    ///
    /// A model without a flow has only one path; it is computed once.
    pub fn predict_sampled<const D: usize, const M: usize>(
        &self,
        x: &[f32],
        paths: u32,
        noise: &mut impl Noise,
        workspace: &mut Workspace<D, M>,
    ) -> Result<Prediction, Error> {
        let paths = if self.blob.header().steps == 0 { paths.min(1) } else { paths };
        self.predict_paths(opaque(x), paths, Some(noise), &mut workspace.scratch())
    }

    /// The mixture over `paths` paths, without noise along the drift.
    #[inline(never)]
    fn predict_paths(
        &self,
        x: &[f32],
        paths: u32,
        mut noise: Option<&mut dyn Noise>,
        scratch: &mut Scratch<'_>,
    ) -> Result<Prediction, Error> {
        let (inputs, features) = (self.inputs(), self.features());
        let mut scratch = scratch.reborrow().cut(inputs, features).ok_or(Error::Capacity { inputs, features })?;
        let mut mixture = self.mixture();
        let mut in_range = false;
        for path in 0..paths {
            if let Some(noise) = noise.as_deref_mut() {
                noise.begin_path(path);
            }
            // Hidden, so that what a path needs of the header is not kept on the stack from one path to the next.
            let mut flow = Flow::start(opaque(self), x, scratch.reborrow())?;
            while flow.advance(match &mut noise {
                Some(noise) => Some(&mut **noise),
                None => None,
            })? {}
            mixture.add(flow.latent()?);
            in_range = flow.in_range();
        }
        self.prediction(&mixture, in_range)
    }

    /// Puts an input at the beginning of the flow, to be moved step by step.
    pub fn start<'w, const D: usize, const M: usize>(
        &'w self,
        x: &[f32],
        workspace: &'w mut Workspace<D, M>,
    ) -> Result<Flow<'w, 'w>, Error> {
        self.start_in(opaque(x), workspace.scratch())
    }

    #[inline(always)]
    fn start_in<'w>(&'w self, x: &[f32], scratch: Scratch<'w>) -> Result<Flow<'w, 'w>, Error> {
        let (inputs, features) = (self.inputs(), self.features());
        let scratch = scratch.cut(inputs, features).ok_or(Error::Capacity { inputs, features })?;
        Flow::start(self, x, scratch)
    }

    /// An empty mixture, for callers who step through their paths themselves.
    pub fn mixture(&self) -> Mixture {
        Mixture::new(self.blob.header().epsilon)
    }

    /// The prediction in the target's units from a mixture of at least one path. `in_range` is passed on.
    #[inline(never)]
    pub fn prediction(&self, mixture: &Mixture, in_range: bool) -> Result<Prediction, Error> {
        if mixture.paths() == 0 {
            return Err(Error::NoPaths);
        }
        let header = self.blob.header();
        let scale = header.target_scale;
        let prediction = Prediction {
            mean: header.target_mean + scale * mixture.mean(),
            latent_variance: scale * scale * mixture.latent_variance(),
            noise: scale * scale * header.noise,
            probability: self.is_classifier().then(|| mixture.probability()),
            in_range,
        };
        let probability = prediction.probability.unwrap_or(0.0);
        let finite = prediction.mean.is_finite() && prediction.variance().is_finite() && probability.is_finite();
        if finite { Ok(prediction) } else { Err(Error::NotFinite) }
    }

    /// dt = T/K.
    pub(crate) fn step_size(&self) -> f32 {
        let header = self.blob.header();
        header.flow_time / f32::from(header.steps.max(1))
    }
}
