//! The serial line to a device: where it is, and questions over it.

mod line;
mod port;
mod questions;

use diffgp_link::{Message, Request, Response, UpdateRequest, UpdateResponse};

pub(crate) use line::LineLost;
pub(crate) use port::{LineArgs, Port};
pub(crate) use questions::Questions;

/// A request and what answers it.
pub(crate) trait Question: Message + Clone {
    /// What answers it.
    type Answer: Message;

    /// Comes back in the answer.
    fn id(&mut self) -> &mut u32;

    /// The id of the question that is answered.
    fn answered(answer: &Self::Answer) -> u32;

    /// What to call it when nobody answers.
    fn name(&self) -> String;
}

impl Question for Request {
    type Answer = Response;

    fn id(&mut self) -> &mut u32 {
        &mut self.id
    }

    fn answered(answer: &Response) -> u32 {
        answer.id
    }

    fn name(&self) -> String {
        format!("row {}", self.row + 1)
    }
}

impl Question for UpdateRequest {
    type Answer = UpdateResponse;

    fn id(&mut self) -> &mut u32 {
        &mut self.id
    }

    fn answered(answer: &UpdateResponse) -> u32 {
        answer.id
    }

    fn name(&self) -> String {
        "the update".to_owned()
    }
}
