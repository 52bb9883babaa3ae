//! The command on hostile files, and against hostile devices: a promised exit code, no panic, in time, and nothing that acts
//! on a terminal.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use diffgp_infer::Model;
use diffgp_link::{Answer, Output, Receiver, Request, Response, encode, model_checksum};
use diffgp_train::aligned::AlignedBytes;

use super::{Counts, Dice, Ground, hostile_table};

/// Nothing here takes longer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs `diffgp` in the folder; its exit code, or what is wrong with how it ended.
pub(crate) fn run(ground: &Ground, arguments: &str) -> Result<i32, String> {
    let out = |name: &str| fs::File::create(ground.folder.path().join(name)).map_err(|error| error.to_string());
    let mut child = Command::new(&ground.diffgp)
        .args(arguments.split_whitespace())
        .current_dir(ground.folder.path())
        .stdin(Stdio::null())
        .stdout(out("stdout")?)
        .stderr(out("stderr")?)
        .spawn()
        .map_err(|error| error.to_string())?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("`diffgp {arguments}` did not end"));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let said = ["stdout", "stderr"].map(|name| fs::read(ground.folder.path().join(name)).unwrap_or_default()).concat();
    let text = String::from_utf8_lossy(&said);
    match status.code() {
        _ if text.contains("panicked") => Err(format!("`diffgp {arguments}` panicked: {text}")),
        _ if text.chars().any(|letter| letter.is_control() && letter != '\n') => {
            Err(format!("`diffgp {arguments}` printed a control character: {text:?}"))
        }
        Some(code) => Ok(code),
        None => Err(format!("`diffgp {arguments}` was ended by a signal: {text}")),
    }
}

pub(crate) fn said(ground: &Ground) -> String {
    fs::read_to_string(ground.folder.path().join("stderr")).unwrap_or_default()
}

/// Exit codes of a command that has everything it needs, or was given what cannot be.
fn expect_answer_or_refusal(ground: &Ground, arguments: &str, counts: &mut Counts) -> Result<(), String> {
    match run(ground, arguments)? {
        0 => *counts.entry("commands that ended well").or_default() += 1,
        2 => *counts.entry("commands that refused their input").or_default() += 1,
        code => return Err(format!("`diffgp {arguments}` ended with {code}: {}", said(ground))),
    }
    let text = fs::read_to_string(ground.folder.path().join("stdout")).unwrap_or_default();
    match text.split(|letter: char| !letter.is_alphabetic()).any(|word| word == "NaN") {
        true => Err(format!("`diffgp {arguments}` printed NaN: {text}")),
        false => Ok(()),
    }
}

/// Rows that suit a model, and where its targets are.
fn rows_for(model: &Model<'_>, dice: &mut Dice) -> (String, String) {
    let inputs = model.inputs();
    let targets = if model.is_classifier() { 1 } else { model.outputs() };
    let class = model.blob().classes().next().unwrap_or("0").replace(',', " ");
    let mut rows = String::new();
    for _ in 0..5 {
        let mut cells: Vec<String> = (0..inputs).map(|_| format!("{}.{}", dice.below(3), dice.below(1000))).collect();
        let target = if model.is_classifier() { class.clone() } else { format!("{}.5", dice.below(3)) };
        cells.extend(vec![target; targets]);
        rows += &(cells.join(",") + "\n");
    }
    let columns: Vec<String> = (inputs..inputs + targets).map(|column| column.to_string()).collect();
    (rows, format!("--header no --target {}", columns.join(",")))
}

pub(super) fn attack(ground: &Ground, dice: &mut Dice, counts: &mut Counts) -> Result<(), String> {
    let write = |name: &str, bytes: &[u8]| fs::write(ground.folder.path().join(name), bytes).map_err(|e| e.to_string());
    if dice.below(4) == 0 {
        write("table.csv", &hostile_table(dice))?;
        return expect_answer_or_refusal(
            ground,
            "crossval table.csv --target 0 --folds 2 --inducing 2 --flow-time 0 --iterations 2 --threads 1",
            counts,
        );
    }
    // Most forgeries are refused while they are read: those that are not go further.
    let mut bytes = AlignedBytes::new(&ground.hostile_model(dice));
    for _ in 0..20 {
        if Model::parse(bytes.as_slice()).is_ok() {
            break;
        }
        bytes = AlignedBytes::new(&ground.hostile_model(dice));
    }
    write("hostile.dgp", bytes.as_slice())?;
    let target = match Model::parse(bytes.as_slice()) {
        Ok(model) => {
            let (rows, target) = rows_for(&model, dice);
            write("rows.csv", rows.as_bytes())?;
            target
        }
        Err(_) => "--header no --target 1".to_owned(),
    };
    let arguments = match dice.below(7) {
        0 => "inspect hostile.dgp".to_owned(),
        1 => "inspect hostile.dgp --json".to_owned(),
        2 => "inspect hostile.dgp --rust-static".to_owned(),
        3 => format!("eval hostile.dgp rows.csv {target} --paths 4"),
        4 => format!("predict hostile.dgp rows.csv {target} --paths 4"),
        5 => format!("plot hostile.dgp rows.csv {target} --paths 4 --out-dir pictures"),
        _ => "compress hostile.dgp --tolerance 0.1 --out small.dgp --force --threads 1".to_owned(),
    };
    expect_answer_or_refusal(ground, &arguments, counts)
}

/// A device that answers with its own numbers, with noise, with nothing, or twice.
pub(super) fn attack_by_device(ground: &Ground, dice: &mut Dice, counts: &mut Counts) -> Result<(), String> {
    let model = &ground.models[dice.below(ground.models.len())];
    fs::write(ground.folder.path().join("honest.dgp"), model).map_err(|error| error.to_string())?;
    let aligned = AlignedBytes::new(model);
    let parsed = Model::parse(aligned.as_slice()).map_err(|error| error.to_string())?;
    let (rows, target) = rows_for(&parsed, dice);
    fs::write(ground.folder.path().join("rows.csv"), rows).map_err(|error| error.to_string())?;
    let checksum = model_checksum(aligned.as_slice());
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    let mut seed = Dice(diffgp_infer::keyed_rng(dice.below(1 << 30) as u64, 1, 0));
    std::thread::spawn(move || {
        let Ok((mut stream, _)) = listener.accept() else { return };
        let (mut receiver, mut byte) = (Receiver::new(), [0]);
        while let Ok(1) = stream.read(&mut byte) {
            let Some(request) = receiver.push::<Request>(byte[0]) else { continue };
            let bytes = lie(&request, checksum, &mut seed);
            if stream.write_all(&bytes).is_err() {
                return;
            }
        }
    });
    let arguments =
        format!("device honest.dgp rows.csv {target} --port tcp:127.0.0.1:{port} --timeout 0.2 --retries 1");
    match run(ground, &arguments)? {
        0 => Err(format!("a lying device was believed: {}", said(ground))),
        1 => {
            *counts.entry("devices that were found to lie").or_default() += 1;
            Ok(())
        }
        2 => {
            *counts.entry("devices told from one with the model").or_default() += 1;
            Ok(())
        }
        code => Err(format!("`diffgp {arguments}` ended with {code}")),
    }
}

/// Half of them name the right model.
fn lie(request: &Request, checksum: Option<u32>, dice: &mut Dice) -> Vec<u8> {
    let number = |dice: &mut Dice| dice.of(&super::NASTY);
    let mut output = || Output { mean: number(dice), variance: number(dice), latent_variance: number(dice) };
    let outputs = [output()].into_iter().collect();
    let answer = Answer { outputs, probabilities: [].into_iter().collect(), out_of_range: u64::MAX, ticks: u32::MAX };
    let id = request.id.wrapping_add(dice.below(2) as u32);
    let model = if dice.below(8) > 0 { checksum } else { Some(dice.below(1 << 30) as u32) };
    let answered = Response { id, dropped: dice.below(3) as u32, model, outcome: Ok(answer) };
    let frame = encode(&answered).map(|frame| frame.to_vec()).unwrap_or_default();
    match dice.below(4) {
        0 => frame,
        1 => [frame.clone(), frame].concat(),
        2 => {
            let noise = dice.below(200);
            dice.bytes(noise)
        }
        _ => frame[..frame.len() / 2].to_vec(),
    }
}
