//! The request loop over QEMU's serial-over-TCP: every answer bit for bit, on a line that is far from clean.

use super::board::Board;
use super::cases::Case;
use super::machine::{self, Loaded, Serial};
use anyhow::{Context, Result, bail, ensure};
use diffgp_link::{Answer, Receiver, Refusal, Request, Response, encode, model_checksum};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

/// For one answer, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// Rows that are asked for; the other rows are compared without the serial port.
const ROWS: usize = 5;

/// A regression trained on the power data.
const MODEL: &str = "v2-power";

pub(crate) fn run(board: &Board, cases: &[Case]) -> Result<()> {
    let case = cases.iter().find(|case| case.name == MODEL).context("no case for the serial port")?;
    let image = machine::build(board, "serial", "release")?;

    let mut line = Line::open(board, &image, &[], &[])?;
    line.send(&encoded(&request(case, 0, 0)?)?)?;
    let refused = line.receive()?;
    ensure!(
        refused.outcome == Err(Refusal::NoModel) && refused.model.is_none(),
        "without a model the device answers {refused:?}"
    );
    drop(line);

    let model = Loaded { file: &case.model, address: board.model_address };
    let mut line = Line::open(board, &image, &[model], &[])?;
    clean_line(&mut line, case)?;
    dirty_line(&mut line, case)
}

/// One request after the other.
fn clean_line(line: &mut Line, case: &Case) -> Result<()> {
    for row in 0..ROWS {
        for paths in [0, case.paths()?] {
            let request = request(case, row, paths)?;
            line.send(&encoded(&request)?)?;
            check(case, &request, &line.receive()?, 0)?;
        }
    }
    let mut short = request(case, 0, 0)?;
    short.x.pop();
    line.send(&encoded(&short)?)?;
    let refused = line.receive()?;
    let expected = request(case, 0, 0)?.x.len() as u32;
    ensure!(refused.outcome == Err(Refusal::InputLength { expected }), "a short input is answered with {refused:?}");
    line.send(&encoded(&request(case, 0, u32::MAX / 2000)?)?)?;
    let refused = line.receive()?;
    let Err(Refusal::TooMuchWork { most_paths }) = refused.outcome else {
        bail!("a request that would never end is answered with {refused:?}")
    };
    ensure!((1..1_000_000).contains(&most_paths), "at most {most_paths} paths are allowed");
    Ok(())
}

/// Garbage, an endless frame, a frame cut off, a flipped bit, two frames in one packet, one frame byte by byte.
fn dirty_line(line: &mut Line, case: &Case) -> Result<()> {
    let (first, second) = (request(case, 1, 0)?, request(case, 2, 0)?);
    let frame = encoded(&first)?;
    let mut flipped = frame.clone();
    flipped[frame.len() / 2] ^= 0x04;
    // A piece of garbage ends where the next frame begins with its zero: each is one dropped frame.
    let garbage: [&[u8]; 4] = [b"\x07garbage", &[0x55; 5000], &frame[..frame.len() / 2], &flipped];
    for (count, garbage) in garbage.into_iter().enumerate() {
        line.send(garbage)?;
        line.send(&frame)?;
        check(case, &first, &line.receive()?, count as u32 + 1)?;
    }

    line.send(&[frame.clone(), encoded(&second)?].concat())?;
    check(case, &first, &line.receive()?, 4)?;
    check(case, &second, &line.receive()?, 4)?;
    for byte in frame {
        line.send(&[byte])?;
        thread::sleep(Duration::from_millis(1));
    }
    check(case, &first, &line.receive()?, 4)
}

fn encoded(request: &Request) -> Result<Vec<u8>> {
    Ok(encode(request).context("a request fits into a frame")?.to_vec())
}

fn request(case: &Case, row: usize, paths: u32) -> Result<Request> {
    let mut x = diffgp_link::Request { id: 0, paths, seed: case.seed()?, row: row as u32, x: Default::default() };
    x.id = 1000 * paths + row as u32;
    x.x.extend(case.row(row)?);
    Ok(x)
}

/// The answer to this request, with the host's bits, and this many dropped frames so far.
fn check(case: &Case, request: &Request, response: &Response, dropped: u32) -> Result<()> {
    ensure!(response.id == request.id, "asked {}, answered {}", request.id, response.id);
    ensure!(response.dropped == dropped, "{} frames dropped instead of {dropped}", response.dropped);
    ensure!(response.model == model_checksum(&std::fs::read(&case.model)?), "another model: {:?}", response.model);
    let answer = response.outcome.as_ref().map_err(|refusal| anyhow::anyhow!("refused: {refusal:?}"))?;
    ensure!(answer.ticks > 0, "a prediction without cost");
    let kind = if request.paths == 0 { "drift" } else { "sampled" };
    let host = case.expected.lines().filter(|line| line.starts_with(kind)).nth(request.row as usize);
    let host = host.map(|line| without_intervals(line, answer.outputs.len()));
    let device = as_line(kind, request.row, answer);
    ensure!(host.as_ref() == Some(&device), "other bits than on the host:\n  host   {host:?}\n  device {device}");
    Ok(())
}

/// What the protocol answers: the line of the host without the interval behind the three numbers of every output.
fn without_intervals(line: &str, outputs: usize) -> String {
    const HEAD: usize = 3;
    let is_interval = |place: usize| place >= HEAD && place < HEAD + 4 * outputs && (place - HEAD) % 4 == 3;
    let words = line.split(' ').enumerate().filter(|&(place, _)| !is_interval(place));
    words.map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

fn as_line(kind: &str, row: u32, answer: &Answer) -> String {
    let outputs = answer.outputs.iter().flat_map(|output| [output.mean, output.variance, output.latent_variance]);
    let numbers =
        outputs.chain(answer.probabilities.iter().copied()).map(|number| format!(" {:08x}", number.to_bits()));
    format!("{kind} {row:08x} {:08x}", answer.out_of_range) + &numbers.collect::<String>()
}

/// A board whose serial port is a TCP connection to us. It runs until this is dropped.
pub(super) struct Line {
    emulator: Child,
    stream: TcpStream,
    receiver: Receiver,
}

impl Line {
    pub(super) fn open(board: &Board, image: &std::path::Path, loaded: &[Loaded<'_>], more: &[String]) -> Result<Self> {
        // We listen and the emulator calls: so the port is known to be free.
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let mut emulator = machine::start_with_serial(board, image, loaded, Serial::TcpClient(port), more)?;
        listener.set_nonblocking(true)?;
        let deadline = Instant::now() + PATIENCE;
        let stream = loop {
            match listener.accept() {
                Ok((stream, _)) => break stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock && Instant::now() < deadline => {
                    thread::sleep(Duration::from_millis(10));
                }
                Err(error) => {
                    emulator.kill()?;
                    emulator.wait()?;
                    return Err(error).context("the emulator did not connect its serial port");
                }
            }
        };
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self { emulator, stream, receiver: Receiver::new() })
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes).context("the device does not take bytes")
    }

    fn receive(&mut self) -> Result<Response> {
        loop {
            let byte = self.byte()?;
            if let Some(response) = self.receiver.push(byte) {
                return Ok(response);
            }
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        match self.stream.read(&mut byte).context("no answer")? {
            0 => bail!("the emulator hung up"),
            _ => Ok(byte[0]),
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // It is on its own way out if this fails.
        let _ = self.emulator.kill();
        let _ = self.emulator.wait();
    }
}
