//! Whether a whole model may be used by this firmware.

use diffgp_infer::{Model, Workspace};

use crate::block::Block;
use crate::error::Unusable;

/// A model that has passed every check of [`Blob::parse`](diffgp_infer::Blob::parse).
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The model.
    pub model: &'a [u8],
    /// The signature block behind it, if there is one.
    pub block: Option<Block<'a>>,
    /// The model and its block.
    pub bytes: &'a [u8],
    /// When it is asked for.
    pub moment: Moment,
}

/// When a model is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It has been in the flash before: [`Slots::open`](crate::Slots::open).
    Boot,
    /// It has arrived in an update.
    Update {
        /// B3 of the model that it would replace, if that has a block.
        in_use: Option<u32>,
    },
}

/// Decides over models, before they are committed and when they are found at boot.
///
/// `()` takes every model; a tuple takes what both take, and asks the first one first. A function will do:
///
/// ```
/// # use diffgp_slots::{Accept, Candidate, Unusable};
/// fn two_inputs(candidate: &Candidate<'_>) -> Result<(), Unusable> {
///     let model = diffgp_infer::Model::parse_trusted(candidate.model).map_err(Unusable::Model)?;
///     if model.inputs() == 2 { Ok(()) } else { Err(Unusable::Unwanted) }
/// }
/// # fn takes(_: impl Accept) {}
/// # takes(two_inputs);
/// ```
pub trait Accept {
    /// `Ok` if it may be used.
    fn accept(&mut self, candidate: &Candidate<'_>) -> Result<(), Unusable>;
}

impl Accept for () {
    fn accept(&mut self, _: &Candidate<'_>) -> Result<(), Unusable> {
        Ok(())
    }
}

impl<A: Accept, B: Accept> Accept for (A, B) {
    fn accept(&mut self, candidate: &Candidate<'_>) -> Result<(), Unusable> {
        self.0.accept(candidate)?;
        self.1.accept(candidate)
    }
}

impl<A: FnMut(&Candidate<'_>) -> Result<(), Unusable>> Accept for A {
    fn accept(&mut self, candidate: &Candidate<'_>) -> Result<(), Unusable> {
        self(candidate)
    }
}

/// Models that a [`Workspace<D, M, O>`] has room for, and whose predictions end in time: of which a sampled path takes no
/// more than so many [`Work::operations`](diffgp_infer::Work::operations).
#[derive(Clone, Copy, Debug)]
pub struct Fits<const D: usize, const M: usize, const O: usize = 1> {
    /// The most operations of a path.
    pub operations: u64,
}

impl<const D: usize, const M: usize, const O: usize> Accept for Fits<D, M, O> {
    fn accept(&mut self, candidate: &Candidate<'_>) -> Result<(), Unusable> {
        let model = Model::parse_trusted(candidate.model).map_err(Unusable::Model)?;
        if !Workspace::<D, M, O>::fits(&model) {
            let small = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
            let [inputs, features, outputs] = [model.inputs(), model.features(), model.outputs()].map(small);
            return Err(Unusable::Workspace { inputs, features, outputs });
        }
        let operations = model.work_per_path().operations();
        if operations > self.operations {
            return Err(Unusable::Work { operations, most: self.operations });
        }
        Ok(())
    }
}
