//! Which models the slots take.

use diffgp_infer::Model;
use diffgp_slots::{Accept, Candidate, Unusable};

/// What a program has room and time for.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct diffgp_limits {
    /// Bytes of its workspace: models that need more are refused.
    pub workspace_bytes: usize,
    /// The most operations of a path (diffgp_work): models that take more are refused.
    pub operations: u64,
}

/// The keys that may have signed a model, and what looks at signatures: a pointer, so that a program that asks for none has
/// no such code in it.
#[cfg_attr(not(feature = "signatures"), expect(dead_code, reason = "nobody fills it"))]
pub(crate) struct Keys {
    pub(crate) keys: &'static [[u8; 32]],
    pub(crate) least_counter: u32,
    pub(crate) also_at_boot: bool,
    pub(crate) accept: fn(&Keys, &Candidate<'_>) -> Result<(), Unusable>,
}

pub(crate) struct Policy {
    pub(crate) limits: Option<diffgp_limits>,
    pub(crate) keys: Option<Keys>,
}

impl Accept for Policy {
    fn accept(&mut self, candidate: &Candidate<'_>) -> Result<(), Unusable> {
        if let Some(keys) = &self.keys {
            (keys.accept)(keys, candidate)?;
        }
        let Some(limits) = self.limits else { return Ok(()) };
        let model = Model::parse_trusted(candidate.model).map_err(Unusable::Model)?;
        if crate::workspace::bytes(model.workspace_words()) > limits.workspace_bytes {
            // The sizes are far below those of the numbers.
            let [inputs, features, outputs] =
                [model.inputs(), model.features(), model.outputs()].map(|size| size as u16);
            return Err(Unusable::Workspace { inputs, features, outputs });
        }
        let operations = model.work_per_path().operations();
        if operations > limits.operations {
            return Err(Unusable::Work { operations, most: limits.operations });
        }
        Ok(())
    }
}
