//! Frames: a message, its checksum, and the zeros around them.

use diffgp_core::blob::checksum;
use heapless::Vec;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cobs;

/// The longest frame: a response with all outputs of a classifier (551 bytes), a checksum, COBS and its zeros, rounded up.
pub const FRAME_BYTES: usize = 576;

const CHECKSUM_BYTES: usize = 4;

/// A frame ready to be sent.
pub type Frame = Vec<u8, FRAME_BYTES>;

/// A message as a frame; `None` if it is too long, which no [`Request`](crate::Request) or
/// [`Response`](crate::Response) is.
pub fn encode(message: &impl Serialize) -> Option<Frame> {
    let mut body = [0; FRAME_BYTES];
    let length = postcard::to_slice(message, &mut body).ok()?.len();
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
    too_long: bool,
    dropped: u32,
}

impl Receiver {
    /// Nothing received yet.
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), too_long: false, dropped: 0 }
    }

    /// Takes one byte; returns the message that it completes.
    pub fn push<M: DeserializeOwned>(&mut self, byte: u8) -> Option<M> {
        if byte != 0 {
            self.too_long |= self.bytes.push(byte).is_err();
            return None;
        }
        if self.bytes.is_empty() {
            return None;
        }
        let message = if self.too_long { None } else { decode(&mut self.bytes) };
        self.bytes.clear();
        self.too_long = false;
        if message.is_none() {
            self.dropped = self.dropped.saturating_add(1);
        }
        message
    }

    /// Frames that were damaged, too long, or no message of the expected type.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }
}

fn decode<M: DeserializeOwned>(bytes: &mut [u8]) -> Option<M> {
    let (body, sum) = cobs::decode_in_place(bytes)?.split_last_chunk::<CHECKSUM_BYTES>()?;
    if checksum(body) != u32::from_le_bytes(*sum) {
        return None;
    }
    // Bytes behind the message mean that it is not the message it looks like.
    let (message, rest) = postcard::take_from_bytes(body).ok()?;
    rest.is_empty().then_some(message)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::message::{Answer, MAX_INPUTS, MAX_OUTPUTS, Output, Refusal, Request, Response};
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
