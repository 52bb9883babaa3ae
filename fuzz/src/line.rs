//! A serial line with anything on it: frames, pieces of frames, noise.

use arbitrary::Arbitrary;
use diffgp_link::{Receiver, Request, Response, encode};

/// One thing after the other on the line.
#[derive(Arbitrary, Clone, Debug)]
pub enum Piece {
    /// Bytes from anywhere.
    Noise(Vec<u8>),
    /// A whole frame.
    Frame(Message),
    /// The beginning of a frame.
    Cut(Message, u8),
    /// A frame with a bit flipped.
    Flipped(Message, u16),
}

/// A request.
#[derive(Arbitrary, Clone, Debug)]
pub struct Message {
    id: u32,
    paths: u32,
    seed: u64,
    row: u32,
    x: Vec<f32>,
}

impl Message {
    fn request(&self) -> Request {
        let x = self.x.iter().copied().take(diffgp_link::MAX_INPUTS).collect();
        Request { id: self.id, paths: self.paths, seed: self.seed, row: self.row, x }
    }
}

/// How often a whole frame was received, and whether anything was dropped. Panics if a whole frame was not received.
pub fn check(line: &[Piece]) -> (u32, bool) {
    let mut requests = Receiver::new();
    let mut responses = Receiver::new();
    let mut received = 0;
    for piece in line {
        let bytes = bytes(piece);
        let mut last = None;
        for &byte in &bytes {
            last = requests.push::<Request>(byte);
            // No frame of ours is a response, but the noise may be one: it must read back as it was.
            if let Some(response) = responses.push::<Response>(byte) {
                let frame = encode(&response).expect("every response fits a frame");
                let mut again = Receiver::new();
                let read = frame.iter().filter_map(|&byte| again.push::<Response>(byte)).last();
                assert_eq!(read.and_then(|response| encode(&response)), Some(frame));
            }
        }
        if let Piece::Frame(message) = piece {
            let message = message.request();
            let last = last.expect("a whole frame is received with its last byte, whatever came before");
            // Compared as bytes: a NaN is equal to itself there.
            assert_eq!(encode(&last), encode(&message));
            received += 1;
        }
    }
    (received, requests.dropped() > 0)
}

fn bytes(piece: &Piece) -> Vec<u8> {
    let frame = |message: &Message| encode(&message.request()).expect("every request fits a frame").to_vec();
    match piece {
        Piece::Noise(bytes) => bytes.clone(),
        Piece::Frame(message) => frame(message),
        Piece::Cut(message, keep) => {
            let mut bytes = frame(message);
            bytes.truncate(usize::from(*keep));
            bytes
        }
        Piece::Flipped(message, bit) => {
            let mut bytes = frame(message);
            let bit = usize::from(*bit) % (8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes
        }
    }
}
