//! The answering end of the line: predictions and updates, so that firmware does not write the loop.

use diffgp_core::blob::stored_checksum;
use diffgp_infer::{Memory, Model, Workspace};
use diffgp_slots::{Accept, Error, Paused, Unconfirmed, Unusable};

use super::{Access, CAN_BE_DROPPED, NorFlash, Slots, twin};
use crate::frame::{Frame, Receiver, encode, encode_version};
use crate::message::{Refusal, Request, Response};
use crate::predict::predict;
use crate::update::{Fault, Info, Step, UpdateRefusal, UpdateRequest, UpdateResponse};

/// A device that predicts with the model in its slots, and lets it be replaced.
///
/// ```ignore
/// let mut device = Device::new(slots, Workspace::<8, 100>::new(), MOST_OPERATIONS, ticks);
/// loop {
///     if let Some(frame) = device.answer(uart.read()) {
///         uart.write(&frame);
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Device<F, M, A, W, T> {
    slots: Slots<F, M, A>,
    workspace: W,
    largest: [u16; 3],
    most: u64,
    ticks: T,
    receiver: Receiver,
    /// An update under way, and the checksum that was announced for it.
    arriving: Option<(Paused, u32)>,
    /// Good predictions after which a model on trial is confirmed, and those that it has made.
    enough: Option<u32>,
    good: u32,
    /// A request is being answered; at the beginning of another one, the future of the one before was dropped.
    answering: bool,
}

impl<F, M, A, T, const D: usize, const N: usize, const O: usize> Device<F, M, A, Workspace<D, N, O>, T>
where
    F: NorFlash,
    M: Access<F>,
    A: Accept,
    T: FnMut(&mut dyn FnMut()) -> u32,
{
    /// Predictions of up to `most` operations; `ticks` runs what it is given and says how long that took.
    pub fn new(slots: Slots<F, M, A>, workspace: Workspace<D, N, O>, most: u64, ticks: T) -> Self {
        Self {
            slots,
            workspace,
            largest: [D as u16, N as u16, O as u16],
            most,
            ticks,
            receiver: Receiver::new(),
            arriving: None,
            enough: None,
            good: 0,
            answering: false,
        }
    }
}

#[twin]
impl<F: NorFlash, M: Access<F>, A: Accept, W: Memory, T: FnMut(&mut dyn FnMut()) -> u32> Device<F, M, A, W, T> {
    /// Confirms a model on trial by itself, after so many predictions that were finite and within the ranges of
    /// training.
    #[must_use]
    pub fn confirming_after(self, predictions: u32) -> Self {
        Self { enough: Some(predictions), ..self }
    }

    /// The slots, for firmware that has other things to do with them.
    pub fn slots(&mut self) -> &mut Slots<F, M, A> {
        &mut self.slots
    }

    /// Takes a byte from the line; the frame to send back, if it completes a request.
    pub async fn answer(&mut self, byte: u8) -> Option<Frame> {
        let whole = self.receiver.take(byte)?;
        if whole.other_version().is_some() {
            return encode_version();
        }
        if let Some(request) = whole.read::<Request>() {
            self.begin_answer().await;
            let frame = self.answer_prediction(&request).await;
            self.answering = false;
            return frame;
        }
        if let Some(request) = whole.read::<UpdateRequest>() {
            self.begin_answer().await;
            let done = self.step(&request.step).await;
            let info = self.info().await;
            self.answering = false;
            return encode(&UpdateResponse { id: request.id, outcome: done.map(|()| info) });
        }
        self.receiver.drop_frame();
        None
    }

    async fn begin_answer(&mut self) {
        let dropped = core::mem::replace(&mut self.answering, true);
        if CAN_BE_DROPPED && dropped {
            self.slots.reopen().await;
        }
    }

    async fn answer_prediction(&mut self, request: &Request) -> Option<Frame> {
        // Its slot was checked.
        let bytes = self.slots.model();
        let model = bytes.and_then(|bytes| Model::parse_trusted(bytes).ok());
        let outcome = match &model {
            Some(model) => predict(model, request, &mut self.workspace, self.most, &mut self.ticks),
            None => Err(Refusal::NoModel),
        };
        let checksum = bytes.and_then(stored_checksum);
        let response = Response { id: request.id, dropped: self.receiver.dropped(), model: checksum, outcome };
        let frame = encode(&response);
        if response.outcome.is_ok_and(|answer| answer.out_of_range == 0) {
            self.good = self.good.saturating_add(1);
            if self.slots.is_on_trial() && self.enough.is_some_and(|enough| self.good >= enough) {
                // If the flash fails, the next boot takes the old one back, as if nobody had confirmed.
                let _ = self.slots.confirm().await;
            }
        }
        frame
    }

    async fn info(&mut self) -> Info {
        Info {
            model: self.slots.model().and_then(stored_checksum),
            counter: self.slots.counter().await,
            confirmed: self.slots.is_confirmed(),
            on_trial: self.slots.is_on_trial(),
            capacity: self.slots.capacity(),
            largest: self.largest,
            operations: self.most,
            received: self.arriving.as_ref().map_or(0, |(paused, _)| paused.received()),
        }
    }

    async fn step(&mut self, step: &Step) -> Result<(), UpdateRefusal> {
        match step {
            Step::Info => Ok(()),
            Step::Begin { length, checksum } => self.begin(*length, *checksum).await,
            Step::Piece { offset, bytes } => self.piece(*offset, bytes).await,
            Step::Commit => self.commit().await,
            Step::Confirm => self.slots.confirm().await.map_err(|error| match error {
                Unconfirmed::NothingOnTrial => UpdateRefusal::NothingOnTrial,
                _ => UpdateRefusal::Unknown,
            }),
            Step::TakeBack => {
                self.slots.take_back().await;
                Ok(())
            }
        }
    }

    /// What has arrived of the same file stays.
    async fn begin(&mut self, length: u32, checksum: u32) -> Result<(), UpdateRefusal> {
        let same = |arriving: &(Paused, u32)| (arriving.0.length(), arriving.1) == (length, checksum);
        if let Some((paused, _)) = self.arriving.take_if(|arriving| same(arriving))
            && let Some(update) = self.slots.resume(paused)
        {
            self.arriving = Some((update.pause(), checksum));
            return Ok(());
        }
        self.arriving = None;
        let update = self.slots.update(length).await.map_err(refusal)?;
        self.arriving = Some((update.pause(), checksum));
        Ok(())
    }

    /// A piece that is not the next one was sent twice, or the one before it was lost: the answer says where to go on.
    async fn piece(&mut self, offset: u32, bytes: &[u8]) -> Result<(), UpdateRefusal> {
        let (paused, checksum) = self.arriving.take().ok_or(UpdateRefusal::NotBegun)?;
        let next = offset == paused.received();
        let mut update = self.slots.resume(paused).ok_or(UpdateRefusal::NotBegun)?;
        if next {
            update.write(bytes).await.map_err(refusal)?;
        }
        self.arriving = Some((update.pause(), checksum));
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), UpdateRefusal> {
        let (paused, checksum) = self.arriving.take().ok_or(UpdateRefusal::NotBegun)?;
        let received = paused.received();
        if received < paused.length() {
            self.arriving = Some((paused, checksum));
            return Err(UpdateRefusal::Incomplete { received });
        }
        self.slots.resume(paused).ok_or(UpdateRefusal::NotBegun)?.commit().await.map_err(refusal)?;
        self.good = 0;
        Ok(())
    }
}

fn refusal<E>(error: Error<E>) -> UpdateRefusal {
    match error {
        Error::TooLong { capacity, .. } => UpdateRefusal::TooLong { capacity },
        Error::Bytes { .. } => UpdateRefusal::Damaged,
        Error::NotAModel(unusable) => UpdateRefusal::Model(fault(unusable)),
        Error::Unknown => UpdateRefusal::Unknown,
        _ => UpdateRefusal::Flash,
    }
}

fn fault(unusable: Unusable) -> Fault {
    match unusable {
        Unusable::Model(_) | Unusable::OtherModel | Unusable::Length { .. } => Fault::NotAModel,
        Unusable::Workspace { inputs, features, outputs } => Fault::Workspace { needed: [inputs, features, outputs] },
        Unusable::Work { operations, most } => Fault::Work { operations, most },
        Unusable::Unsigned => Fault::Unsigned,
        Unusable::OtherKey => Fault::OtherKey,
        Unusable::Forged => Fault::Forged,
        Unusable::Older { counter, least } => Fault::Older { counter, least },
        _ => Fault::Other,
    }
}
