//! The device at the end of the line, over blocking and over asynchronous flash: the same answers, and updates that survive
//! futures that are dropped.

use diffgp_infer::Workspace;
use diffgp_link::{
    Device, Info, Receiver, Request, Step, UpdateRequest, UpdateResponse, asynchronous, checksum, encode,
    model_checksum,
};
use diffgp_slots::{Copied, Fits};

use super::executor::{Slow, run, run_for};
use super::flash::Flash;
use super::{active, layout, models, replace};

type Small = Flash<1, 8, 256>;

const FITS: Fits<1, 3> = Fits { operations: 1_000_000 };

fn ticks(work: &mut dyn FnMut()) -> u32 {
    work();
    1
}

fn update(step: Step) -> Vec<u8> {
    encode(&UpdateRequest { id: 7, step }).unwrap().to_vec()
}

fn prediction() -> Vec<u8> {
    let x = [0.25].into_iter().collect();
    encode(&Request { id: 8, paths: 4, seed: 1, row: 2, x }).unwrap().to_vec()
}

/// The frames of an update, and questions between them.
fn session(file: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = vec![update(Step::Info), prediction()];
    frames.push(update(Step::Begin { length: file.len() as u32, checksum: checksum(file) }));
    for (at, bytes) in file.chunks(100).enumerate() {
        let offset = 100 * at as u32;
        frames.push(update(Step::Piece { offset, bytes: bytes.iter().copied().collect() }));
        frames.push(prediction());
    }
    frames.extend([update(Step::Commit), prediction(), update(Step::Confirm), update(Step::Info)]);
    frames
}

#[test]
fn asynchronous_and_blocking_devices_give_the_same_answers() {
    let models = models();
    let (layout, mut start) = layout::<1, 8, 256>(600);
    replace(&mut start, layout, &models[0]).unwrap();
    start.power_on();
    let [mut one, mut two] = [start.clone(), start.clone()];
    let [mut memory, mut other] = [[0_u32; 256]; 2];
    let slots = diffgp_slots::Slots::open(&mut one, layout, Copied(&mut memory), FITS).unwrap();
    let mut blocking = Device::new(slots, Workspace::<1, 3>::new(), 1_000_000, ticks).confirming_after(2);
    let slots = diffgp_slots::asynchronous::Slots::open(Slow(&mut two), layout, Copied(&mut other), FITS);
    let workspace = Workspace::<1, 3>::new();
    let mut slow = asynchronous::Device::new(run(slots).unwrap(), workspace, 1_000_000, ticks).confirming_after(2);
    let frames = [&models[1], &models[2]].map(|model| session(model)).concat();
    let (mut answers, mut longest) = (0, 0);
    for byte in frames.concat() {
        let answer = slow.answer(byte);
        longest = longest.max(size_of_val(&answer));
        let (said, also) = (blocking.answer(byte), run(answer));
        assert_eq!(said, also);
        answers += usize::from(said.is_some());
    }
    assert_eq!(answers, frames.len());
    println!("{answers} answers, the same; the future of one has {longest} bytes");
    assert!(longest < 8 * 1024, "{longest} bytes");
    drop((blocking, slow));
    assert_eq!(one.bytes, two.bytes);
    assert_eq!(active(&mut one, layout).as_ref(), Some(&models[2]));
}

/// As `diffgp update` does it: a question without an answer is asked again, and the file goes on where it is. At one turn of
/// the whole the future of an answer is dropped, as by a timeout.
#[test]
fn an_update_goes_on_after_an_answer_was_dropped() {
    let models = models();
    let (layout, mut start) = layout::<1, 8, 256>(600);
    replace(&mut start, layout, &models[0]).unwrap();
    start.power_on();
    let mut dropped = 0;
    for turns in 1.. {
        let mut flash: Small = start.clone();
        let mut memory = [0_u32; 256];
        let slots = diffgp_slots::asynchronous::Slots::open(Slow(&mut flash), layout, Copied(&mut memory), FITS);
        let mut device = asynchronous::Device::new(run(slots).unwrap(), Workspace::<1, 3>::new(), 1_000_000, ticks);
        let mut left = Some(turns);
        let mut ask = |step: Step| -> Result<Info, diffgp_link::UpdateRefusal> {
            loop {
                let mut answer = None;
                for byte in update(step.clone()) {
                    // Every byte takes a turn, those that complete a frame more.
                    let frame = match left {
                        None => Some(run(device.answer(byte))),
                        Some(most) => {
                            let mut used = 0;
                            let frame = run_for(most, counted(&mut used, device.answer(byte)));
                            left = frame.is_some().then(|| most - used);
                            frame
                        }
                    };
                    answer = frame.flatten().or(answer);
                }
                if let Some(frame) = answer {
                    let mut receiver = Receiver::new();
                    let response: Option<UpdateResponse> = frame.iter().find_map(|&byte| receiver.push(byte));
                    return response.unwrap().outcome;
                }
            }
        };
        let file = &models[1];
        let begin = Step::Begin { length: file.len() as u32, checksum: checksum(file) };
        let confirmed = (0..4).find_map(|_| {
            let mut received = ask(begin.clone()).ok()?.received as usize;
            while received < file.len() {
                let bytes = file[received..].iter().copied().take(100).collect();
                received = ask(Step::Piece { offset: received as u32, bytes }).ok()?.received as usize;
            }
            ask(Step::Commit).ok()?;
            let info = ask(Step::Confirm).ok().or_else(|| ask(Step::Info).ok().filter(|info| info.confirmed))?;
            (info.model == model_checksum(file)).then_some(info.confirmed)
        });
        assert_eq!(confirmed, Some(true), "dropped after {turns} turns");
        let ended = left.is_some();
        drop(device);
        assert_eq!(active(&mut flash, layout).as_ref(), Some(file), "dropped after {turns} turns");
        if ended {
            break;
        }
        dropped += 1;
    }
    println!("{dropped} answers dropped, updates lost: 0");
    assert!(dropped > 100, "{dropped}");
}

/// Counts the turns that a future takes.
async fn counted<T>(turns: &mut usize, future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(|context| {
        *turns += 1;
        future.as_mut().poll(context)
    })
    .await
}
