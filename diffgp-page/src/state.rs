//! What the module keeps between two calls.

use std::cell::Cell;

use diffgp_infer::{Model, Workspace, WorkspaceSlice};
use zerocopy::IntoBytes;

/// Everything that has an address for JavaScript, and the memory of predictions.
#[derive(Default)]
pub(crate) struct State {
    /// Words, so that the model begins at a multiple of four.
    pub(crate) model: Vec<u32>,
    /// D raw values.
    pub(crate) input: Vec<f32>,
    workspace: Vec<u32>,
    /// What the last call found.
    pub(crate) answer: Vec<u32>,
}

/// What a call needs: a model that was checked when it was loaded, a row, memory, and where the answer goes.
pub(crate) struct Parts<'a> {
    pub(crate) model: Model<'a>,
    pub(crate) x: &'a [f32],
    pub(crate) workspace: WorkspaceSlice<'a>,
    pub(crate) answer: &'a mut Vec<u32>,
}

thread_local! {
    static STATE: Cell<State> = const { Cell::new(State::new()) };
}

/// Calls with the state, which is put back afterwards.
pub(crate) fn with<T>(call: impl FnOnce(&mut State) -> T) -> T {
    let mut state = STATE.take();
    let result = call(&mut state);
    STATE.set(state);
    result
}

impl State {
    const fn new() -> Self {
        Self { model: Vec::new(), input: Vec::new(), workspace: Vec::new(), answer: Vec::new() }
    }

    /// Checks the model and makes room for its inputs and predictions; `None` if it is none, or memory is short.
    pub(crate) fn load(&mut self) -> Option<()> {
        let model = Model::parse(self.model.as_bytes()).ok()?;
        self.input = room(model.inputs())?;
        self.workspace = room(model.workspace_words())?;
        Some(())
    }

    /// `None` before a model was loaded.
    pub(crate) fn parts(&mut self) -> Option<Parts<'_>> {
        // Checked by `load`; a look at every byte for each of thousands of predictions would take longer than they do.
        let model = Model::parse_trusted(self.model.as_bytes()).ok()?;
        self.answer.clear();
        let workspace = Workspace::in_slice(&mut self.workspace);
        Some(Parts { model, x: &self.input, workspace, answer: &mut self.answer })
    }
}

/// So many zeros; `None` if there is no memory for them.
pub(crate) fn room<T: Clone + Default>(count: usize) -> Option<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).ok()?;
    room.resize(count, T::default());
    Some(room)
}
