//! `diffgp device` against a device in a thread: honest, lying, silent, noisy, with another model.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use diffgp_infer::{Keyed, Model, Prediction, Workspace};
use diffgp_link::{Answer, Output, Receiver, Refusal, Request, Response, encode, model_checksum};
use diffgp_train::aligned::AlignedBytes;

use crate::runner::{Folder, Outcome};

/// A device that has this model and lets `line` decide which bytes go out for a request and its honest response.
/// Returns what to say to `--port`.
fn device(model: Vec<u8>, line: impl FnMut(&Request, Response) -> Vec<u8> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // It ends with the test, or when the command hangs up.
    thread::spawn(move || serve(&listener.accept().unwrap().0, &AlignedBytes::new(&model), line));
    format!("tcp:127.0.0.1:{port}")
}

fn serve(mut stream: &TcpStream, model: &AlignedBytes, mut line: impl FnMut(&Request, Response) -> Vec<u8>) {
    let mut workspace = Workspace::<8, 64>::new();
    let mut receiver = Receiver::new();
    let mut byte = [0];
    while let Ok(1) = stream.read(&mut byte) {
        let Some(request) = receiver.push::<Request>(byte[0]) else { continue };
        let parsed = Model::parse(model.as_slice()).ok();
        let outcome = parsed.ok_or(Refusal::NoModel).map(|model| answer(&predict(&model, &request, &mut workspace)));
        let model = parsed.and_then(|_| model_checksum(model.as_slice()));
        let honest = Response { id: request.id, dropped: receiver.dropped(), model, outcome };
        // The command may have hung up.
        let _ = stream.write_all(&line(&request, honest));
    }
}

fn predict<'w>(model: &'w Model<'_>, request: &Request, workspace: &'w mut Workspace<8, 64>) -> Prediction<'w> {
    let mut noise = Keyed::new(request.seed, request.row);
    match request.paths {
        0 => model.predict(&request.x, workspace).unwrap(),
        paths => model.predict_sampled(&request.x, paths, &mut noise, workspace).unwrap(),
    }
}

fn answer(p: &Prediction<'_>) -> Answer {
    Answer {
        outputs: p.outputs().map(output).collect(),
        probabilities: p.probabilities().collect(),
        out_of_range: p.out_of_range().bits(),
        ticks: 1000,
    }
}

fn output(output: diffgp_infer::Output) -> Output {
    Output { mean: output.mean(), variance: output.variance(), latent_variance: output.latent_variance() }
}

fn frame(response: &Response) -> Vec<u8> {
    encode(response).unwrap().to_vec()
}

fn honest(folder: &Folder) -> String {
    device(folder.read("model.dgp"), |_, response| frame(&response))
}

impl Outcome {
    /// Exit code 1 and a message with all of these words.
    #[track_caller]
    fn fails_with(self, words: &[&str]) -> Self {
        assert_eq!(self.code, 1, "{self:?}");
        for word in words {
            assert!(self.stderr.contains(word), "no {word:?} in {:?}", self.stderr);
        }
        self
    }
}

#[test]
fn an_honest_device_is_equal_along_the_drift_and_sampled() {
    let folder = Folder::with_model();
    for flags in ["", "--paths 3 --seed 7"] {
        let port = honest(&folder);
        let json = folder.run(&format!("device model.dgp data.csv --port {port} {flags} --json")).json();
        for (key, value) in [("n", 60), ("equal", 60), ("different", 0), ("retries", 0), ("ticks_median", 1000)] {
            assert_eq!(json[key], value, "{key} in {json}");
        }
        assert!(json["first_different"].is_null() && json["rows_per_second"].as_f64() > Some(0.0), "{json}");
    }
    let port = honest(&folder);
    let text = folder.run(&format!("device model.dgp data.csv --port {port} --limit 7")).succeeds().stdout;
    assert!(text.starts_with("7 rows: 7 equal, 0 different") && text.lines().count() == 1, "{text}");
}

#[test]
fn the_rows_are_those_of_predict() {
    let folder = Folder::with_model();
    let expected = folder.run("predict model.dgp data.csv --paths 3 --seed 7 --json").json();
    let table: String = folder.read_text("data.csv").lines().fold(String::new(), |table, line| {
        let cells: Vec<&str> = line.split(',').collect();
        format!("{table}{},note {},{}\n", cells[1], cells[0], cells[0])
    });
    folder.write("shuffled.csv", table);
    let port = device(folder.read("model.dgp"), move |request, response| {
        let mean = expected["mean"][request.row as usize].as_f64().unwrap() as f32;
        let mut response = response;
        if let Ok(answer) = &mut response.outcome {
            answer.outputs[0].mean = mean;
        }
        frame(&response)
    });
    folder.run(&format!("device model.dgp shuffled.csv --port {port} --paths 3 --seed 7")).succeeds();
}

fn flip(number: &mut f32) {
    *number = f32::from_bits(number.to_bits() ^ 1);
}

#[test]
fn one_bit_in_one_row_is_noticed() {
    let folder = Folder::with_model();
    type Change = fn(&mut Answer);
    let changes: [(&str, Change); 4] = [
        ("mean", |answer| flip(&mut answer.outputs[0].mean)),
        ("variance", |answer| flip(&mut answer.outputs[0].variance)),
        ("latent variance", |answer| flip(&mut answer.outputs[0].latent_variance)),
        ("training ranges", |answer| answer.out_of_range ^= 1),
    ];
    for (what, change) in changes {
        let port = device(folder.read("model.dgp"), move |request, mut response| {
            if let (17, Ok(answer)) = (request.row, &mut response.outcome) {
                change(answer);
            }
            frame(&response)
        });
        let outcome = folder.run(&format!("device model.dgp data.csv --port {port} --json"));
        let outcome = outcome.fails_with(&["1 of 60 rows", "row 18", what]);
        let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!((&json["different"], &json["first_different"]), (&1.into(), &18.into()));
    }
}

#[test]
fn a_refusal_counts_as_a_difference() {
    let folder = Folder::with_model();
    let port = device(folder.read("model.dgp"), |request, response| {
        let outcome = if request.row == 2 { Err(Refusal::NotFinite) } else { response.outcome };
        frame(&Response { outcome, ..response })
    });
    folder.run(&format!("device model.dgp data.csv --port {port}")).fails_with(&["row 3", "refuses", "NotFinite"]);
}

#[test]
fn noise_and_cut_lost_merged_and_late_answers_are_survived() {
    let folder = Folder::with_model();
    let mut asked = 0;
    let mut late = Vec::new();
    let port = device(folder.read("model.dgp"), move |request, response| {
        asked += 1;
        let whole = frame(&response);
        let mut damaged = whole.clone();
        damaged[whole.len() / 2] ^= 0x20;
        // The answers to every sixth row are damaged in turn until they are asked for again.
        match (request.row % 6, asked % 2) {
            (0, 0) => damaged,
            (1, 0) => whole[..whole.len() / 2].to_vec(),
            (2, 0) => Vec::new(),
            (3, 0) => {
                late = whole;
                Vec::new()
            }
            (3, _) => [late.clone(), whole].concat(),
            (4, _) => [b"\xffnoise".repeat(200), whole].concat(),
            _ => whole,
        }
    });
    let flags = "--timeout 0.3 --retries 3 --limit 24 --json";
    let json = folder.run(&format!("device model.dgp data.csv --port {port} {flags}")).json();
    assert_eq!((&json["n"], &json["equal"]), (&24.into(), &24.into()), "{json}");
    assert!(json["retries"].as_u64() > Some(4), "{json}");
}

#[test]
fn answers_may_come_in_single_bytes() {
    let folder = Folder::with_model();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let model = folder.read("model.dgp");
    thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        stream.set_nodelay(true).unwrap();
        let writer = stream.try_clone().unwrap();
        serve(&stream, &AlignedBytes::new(&model), |_, response| {
            for byte in frame(&response) {
                (&writer).write_all(&[byte]).unwrap();
                thread::sleep(Duration::from_micros(200));
            }
            Vec::new()
        });
        let _ = stream.flush();
    });
    folder.run(&format!("device model.dgp data.csv --port tcp:127.0.0.1:{port} --limit 5")).succeeds();
}

#[test]
fn a_silent_device_is_given_up() {
    let folder = Folder::with_model();
    let run = |port: String| folder.run(&format!("device model.dgp data.csv --port {port} --timeout 0.1 --retries 2"));
    let silent = device(folder.read("model.dgp"), |_, _| Vec::new());
    run(silent).fails_with(&["tcp:", "no answer to row 1", "0.1 s", "asked 3 times", "--timeout"]);
    let babbling = device(folder.read("model.dgp"), |_, _| b"what?\0".to_vec());
    run(babbling).fails_with(&["no answer to row 1", "3 frames came in damaged", "--baud"]);
    let mut rows = 0;
    let mute = device(folder.read("model.dgp"), move |_, response| {
        rows += 1;
        if rows > 5 { Vec::new() } else { frame(&response) }
    });
    run(mute).fails_with(&["no answer to row 6"]);
}

#[test]
fn another_model_and_no_model_are_refused() {
    let folder = Folder::with_model();
    let mut other = folder.read("model.dgp");
    folder.run("train data.csv --target y --inducing 6 --iterations 3 --out other.dgp").succeeds();
    let port = device(folder.read("other.dgp"), |_, response| frame(&response));
    folder.run(&format!("device model.dgp data.csv --port {port}")).refused_with(&["another model", "model.dgp"]);
    let middle = other.len() / 2;
    other[middle] ^= 1;
    let port = device(other, |_, response| frame(&response));
    folder.run(&format!("device model.dgp data.csv --port {port}")).fails_with(&["no usable model", "model.dgp"]);
    let port = device(folder.read("model.dgp"), |_, response| {
        frame(&Response { outcome: Err(Refusal::Capacity), ..response })
    });
    folder.run(&format!("device model.dgp data.csv --port {port}")).fails_with(&["Workspace::<2, 8>"]);
}

#[test]
fn wrong_ports_are_refused() {
    let folder = Folder::with_model();
    let run = |flags: &str| folder.run(&format!("device model.dgp data.csv {flags}"));
    run("--port tcp:4444").refused_with(&["--port tcp:4444", "tcp:HOST:PORT"]);
    run("--port tcp:localhost:x").refused_with(&["tcp:HOST:PORT"]);
    run("--port tcp:localhost:4444 --baud 9600").refused_with(&["--baud", "serial"]);
    run("--port none/tty").refused_with(&["--port none/tty", "115200 baud", "/dev/ttyACM0"]);
    run("--port data.csv --baud 9600").refused_with(&["--port data.csv", "9600 baud"]);
    assert_eq!(run("--port none/tty --timeout -1").code, 2);
    assert_eq!(run("").code, 2);
    // Bound and dropped: nobody listens there now.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    run(&format!("--port tcp:127.0.0.1:{port}")).refused_with(&["--port tcp:", "listens"]);
    folder.write("bad.csv", "a,b\n1,2\n1,x\n");
    folder.run("device model.dgp bad.csv --port none/tty").refused_with(&["bad.csv", "row 2"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_shows_what_was_compared_so_far() {
    let folder = Folder::with_model();
    let (sender, receiver) = std::sync::mpsc::channel();
    let port = device(folder.read("model.dgp"), move |request, response| {
        if request.row < 4 {
            return frame(&response);
        }
        let _ = sender.send(());
        Vec::new()
    });
    let mut command = folder.command(&format!("device model.dgp data.csv --port {port} --timeout 60"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    receiver.recv_timeout(Duration::from_secs(60)).unwrap();
    let asked = Instant::now();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let outcome = Outcome::from(child.wait_with_output().unwrap()).fails_with(&["interrupted after 4 of 60 rows"]);
    assert!(outcome.stdout.starts_with("4 rows: 4 equal"), "{outcome:?}");
    assert!(asked.elapsed() < Duration::from_secs(30), "it waited for the answer");
}
