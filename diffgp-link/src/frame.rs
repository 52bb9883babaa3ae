//! Frames: the version of the protocol, a message, its checksum, and the zeros around them.

use diffgp_core::blob::checksum;
use heapless::Vec;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cobs;

/// The longest frame: a response with all outputs of a classifier (551 bytes), a checksum, COBS and its zeros, rounded up.
pub const FRAME_BYTES: usize = 576;

/// The version of the protocol, the first byte of every frame. It goes up when a message would be misread.
pub const PROTOCOL: u8 = 1;

/// Version and kind.
const HEAD_BYTES: usize = 2;
const CHECKSUM_BYTES: usize = 4;

/// What can be sent: the kind stands behind the version, so that no message is taken for another.
pub trait Message: Serialize + DeserializeOwned {
    /// The second byte of its frames.
    const KIND: u8;
}

/// Frames without a message, from a device that was asked in another version: they name its own.
const KIND_VERSION: u8 = 0;

/// A frame ready to be sent.
pub type Frame = Vec<u8, FRAME_BYTES>;

/// A message as a frame; `None` if it is too long, which none of this crate is.
pub fn encode<M: Message>(message: &M) -> Option<Frame> {
    let mut body = [0; FRAME_BYTES];
    let length = postcard::to_slice(message, body.get_mut(HEAD_BYTES..)?).ok()?.len();
    finish(&mut body, M::KIND, length)
}

/// A frame that says nothing but the version of the protocol: the answer to a frame of another.
pub fn encode_version() -> Option<Frame> {
    finish(&mut [0; FRAME_BYTES], KIND_VERSION, 0)
}

fn finish(body: &mut [u8; FRAME_BYTES], kind: u8, length: usize) -> Option<Frame> {
    body.get_mut(..HEAD_BYTES)?.copy_from_slice(&[PROTOCOL, kind]);
    let length = HEAD_BYTES + length;
    let sum = checksum(body.get(..length)?);
    body.get_mut(length..length + CHECKSUM_BYTES)?.copy_from_slice(&sum.to_le_bytes());
    let mut frame = Frame::new();
    frame.push(0).ok()?;
    cobs::encode(body.get(..length + CHECKSUM_BYTES)?, &mut frame)?;
    frame.push(0).ok()?;
    Some(frame)
}

/// Collects bytes from a line until they make a message.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    bytes: Vec<u8, FRAME_BYTES>,
    /// The bytes belong to a frame that has ended.
    ended: bool,
    too_long: bool,
    dropped: u32,
}

impl Receiver {
    /// Nothing received yet.
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), ended: false, too_long: false, dropped: 0 }
    }

    /// Takes one byte; returns the message that it completes. Whole frames with other messages are dropped.
    pub fn push<M: Message>(&mut self, byte: u8) -> Option<M> {
        let message = self.take(byte)?.read();
        self.dropped = self.dropped.saturating_add(message.is_none().into());
        message
    }

    /// Takes one byte; returns the whole frame that it completes, for those who expect more than one kind of message.
    pub fn take(&mut self, byte: u8) -> Option<Whole<'_>> {
        if core::mem::take(&mut self.ended) {
            self.bytes.clear();
        }
        if byte != 0 {
            self.too_long |= self.bytes.push(byte).is_err();
            return None;
        }
        if self.bytes.is_empty() {
            return None;
        }
        self.ended = true;
        let whole = if core::mem::take(&mut self.too_long) { None } else { check(&mut self.bytes) };
        self.dropped = self.dropped.saturating_add(whole.is_none().into());
        whole
    }

    /// Counts a whole frame that was of no use.
    pub fn drop_frame(&mut self) {
        self.dropped = self.dropped.saturating_add(1);
    }

    /// Frames that were damaged, too long, or no message of the expected type.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }
}

/// A frame that came in whole.
#[derive(Clone, Copy, Debug)]
pub struct Whole<'f> {
    version: u8,
    kind: u8,
    body: &'f [u8],
}

impl Whole<'_> {
    /// The version of the protocol, if it is another one: then nothing else can be known.
    pub fn other_version(&self) -> Option<u8> {
        (self.version != PROTOCOL).then_some(self.version)
    }

    /// The message, if it is of that kind.
    pub fn read<M: Message>(&self) -> Option<M> {
        if self.version != PROTOCOL || self.kind != M::KIND {
            return None;
        }
        // Bytes behind the message mean that it is not the message it looks like.
        let (message, rest) = postcard::take_from_bytes(self.body).ok()?;
        rest.is_empty().then_some(message)
    }
}

fn check(bytes: &mut [u8]) -> Option<Whole<'_>> {
    let (content, sum) = cobs::decode_in_place(bytes)?.split_last_chunk::<CHECKSUM_BYTES>()?;
    if checksum(content) != u32::from_le_bytes(*sum) {
        return None;
    }
    let (&[version, kind], body) = content.split_first_chunk::<HEAD_BYTES>()?;
    Some(Whole { version, kind, body })
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::message::{Answer, MAX_INPUTS, MAX_OUTPUTS, Output, Refusal, Request, Response};
    use crate::update::{PIECE_BYTES, Step, UpdateRequest};
    use std::vec::Vec as StdVec;

    fn request(id: u32) -> Request {
        Request { id, paths: 32, seed: 0, row: 7, x: [1.0, -0.0, f32::MIN_POSITIVE].into_iter().collect() }
    }

    fn receive(receiver: &mut Receiver, bytes: &[u8]) -> StdVec<Request> {
        bytes.iter().filter_map(|&byte| receiver.push(byte)).collect()
    }

    #[test]
    fn the_longest_messages_fit() {
        let x = core::iter::repeat_n(f32::MAX, MAX_INPUTS).collect();
        let request = Request { id: u32::MAX, paths: u32::MAX, seed: u64::MAX, row: u32::MAX, x };
        let frame = encode(&request).unwrap();
        assert_eq!(receive(&mut Receiver::new(), &frame), [request]);
        let output = Output { mean: 1.0, variance: 2.0, latent_variance: 1.5 };
        let answer = Answer {
            outputs: core::iter::repeat_n(output, MAX_OUTPUTS).collect(),
            probabilities: core::iter::repeat_n(0.5, MAX_OUTPUTS).collect(),
            out_of_range: u64::MAX,
            ticks: u32::MAX,
        };
        let bytes = core::iter::repeat_n(0, PIECE_BYTES).collect();
        let piece = UpdateRequest { id: u32::MAX, step: Step::Piece { offset: u32::MAX, bytes } };
        let frame = encode(&piece).unwrap();
        let mut receiver = Receiver::new();
        let received: StdVec<UpdateRequest> = frame.iter().filter_map(|&byte| receiver.push(byte)).collect();
        assert_eq!(received, [piece]);
        for outcome in [Ok(answer), Err(Refusal::TooMuchWork { most_paths: u32::MAX })] {
            let response = Response { id: u32::MAX, dropped: u32::MAX, model: Some(u32::MAX), outcome };
            let frame = encode(&response).unwrap();
            let mut receiver = Receiver::new();
            let received: StdVec<Response> = frame.iter().filter_map(|&byte| receiver.push(byte)).collect();
            assert_eq!(received, [response]);
        }
    }

    #[test]
    fn merged_frames_come_apart_and_noise_costs_no_message() {
        let mut line = StdVec::from(*b"\xff\x01noise");
        line.extend(encode(&request(1)).unwrap());
        line.extend(encode(&request(2)).unwrap());
        line.extend([0, 0, 0]);
        line.extend([0x55; 10_000]);
        line.extend(encode(&request(3)).unwrap());
        let mut receiver = Receiver::new();
        assert_eq!(receive(&mut receiver, &line), [request(1), request(2), request(3)]);
        assert_eq!(receiver.dropped(), 2);
    }

    #[test]
    fn another_version_and_another_kind_are_told_apart() {
        let frame = encode_version().unwrap();
        // Version, kind and checksum, of which none has a zero but the kind.
        let mut other = [0; 6];
        other[0] = PROTOCOL + 1;
        let sum = checksum(&other[..2]);
        other[2..].copy_from_slice(&sum.to_le_bytes());
        let mut coded = Frame::new();
        cobs::encode(&other, &mut coded).unwrap();
        coded.push(0).unwrap();
        let mut receiver = Receiver::new();
        let mut version = |bytes: &[u8]| {
            bytes.iter().find_map(|&byte| receiver.take(byte).map(|whole| whole.other_version())).unwrap()
        };
        assert_eq!(version(&frame), None);
        assert_eq!(version(&coded), Some(PROTOCOL + 1));
        let mut receiver = Receiver::new();
        let update = encode(&UpdateRequest { id: 1, step: Step::Info }).unwrap();
        assert_eq!(receive(&mut receiver, &update), []);
        assert_eq!(receive(&mut receiver, &encode(&request(2)).unwrap()), [request(2)]);
        assert_eq!(receiver.dropped(), 1);
    }

    #[test]
    fn any_flipped_bit_and_any_lost_byte_costs_one_frame_and_no_more() {
        let frame = encode(&request(1)).unwrap();
        for place in (1..frame.len() - 1).step_by(if cfg!(miri) { 9 } else { 1 }) {
            let mut cut = StdVec::from(frame.as_slice());
            cut.remove(place);
            let mut damaged = [const { StdVec::new() }; 8];
            for (bit, damaged) in damaged.iter_mut().enumerate() {
                *damaged = StdVec::from(frame.as_slice());
                damaged[place] ^= 1 << bit;
            }
            for line in damaged.into_iter().chain([cut]) {
                let mut receiver = Receiver::new();
                assert_eq!(receive(&mut receiver, &line), []);
                assert_eq!(receive(&mut receiver, &encode(&request(2)).unwrap()), [request(2)]);
                assert!(receiver.dropped() >= 1);
            }
        }
    }
}
