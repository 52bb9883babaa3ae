//! `diffgp update` against a device in a thread: the library's answering end, over a line that is lost.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use diffgp_infer::Workspace;
use diffgp_link::Device;
use diffgp_slots::{Copied, Fits, Layout, Signed, Slots};
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};

use crate::runner::{Folder, Outcome};

struct Ram(Vec<u8>);

impl ErrorType for Ram {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Ram {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        bytes.copy_from_slice(&self.0[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.0.len()
    }
}

impl NorFlash for Ram {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 1024;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        self.0[from as usize..to as usize].fill(0xff);
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        self.0[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

/// A device that takes models signed with this key, or any. Every connection but the last ends after so many bytes from
/// the computer. Returns what to say to `--port`.
fn device(key: Option<[u8; 32]>, lost_after: Vec<usize>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let keys = Vec::leak(key.into_iter().collect());
        let fits = Fits::<8, 100> { operations: 1_000_000 };
        let layout = Layout { start: 0, slot_bytes: 8192 };
        let memory = vec![0_u32; 2048].leak();
        let signed = Signed::by(keys);
        let accept = move |candidate: &diffgp_slots::Candidate<'_>| {
            if key.is_some() {
                diffgp_slots::Accept::accept(&mut { signed }, candidate)?;
            }
            diffgp_slots::Accept::accept(&mut { fits }, candidate)
        };
        let slots = Slots::open(Ram(vec![0xff; 16_384]), layout, Copied(memory), accept).unwrap();
        let ticks = |work: &mut dyn FnMut()| {
            work();
            1
        };
        let mut device = Device::new(slots, Workspace::<8, 100>::new(), 1_000_000, ticks);
        for limit in lost_after.into_iter().chain(std::iter::repeat(usize::MAX)) {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let (mut byte, mut taken) = ([0], 0);
            while taken < limit && matches!(stream.read(&mut byte), Ok(1)) {
                taken += 1;
                if let Some(frame) = device.answer(byte[0])
                    && stream.write_all(&frame).is_err()
                {
                    break;
                }
            }
        }
    });
    format!("tcp:127.0.0.1:{port}")
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("model.dgp", include_bytes!("../../diffgp-infer/models/power.dgp"));
    folder.write("other.dgp", include_bytes!("../../diffgp-slots/models/steps.dgp"));
    folder
}

fn update(folder: &Folder, port: &str, rest: &str) -> Outcome {
    folder.run(&format!("update {rest} --port {port} --timeout 5 --json"))
}

fn report(outcome: &Outcome) -> serde_json::Value {
    assert_eq!(outcome.code, 0, "{outcome:?}");
    serde_json::from_str(&outcome.stdout).unwrap()
}

#[test]
fn a_model_is_sent_tried_and_confirmed() {
    let (folder, port) = (folder(), device(None, Vec::new()));
    let first = report(&update(&folder, &port, "other.dgp --confirm"));
    assert_eq!((first["sent"].as_u64(), first["confirmed"].as_bool()), (Some(716), Some(true)), "{first}");
    let tried = report(&update(&folder, &port, "model.dgp"));
    assert_eq!((tried["on_trial"].as_bool(), tried["confirmed"].as_bool()), (Some(true), Some(false)), "{tried}");
    let kept = report(&update(&folder, &port, "model.dgp --confirm"));
    assert_eq!((kept["sent"].as_u64(), kept["confirmed"].as_bool()), (Some(0), Some(true)), "{kept}");
}

#[test]
fn a_lost_line_is_found_again_and_the_rest_is_sent() {
    let (folder, port) = (folder(), device(None, vec![1000, 2500]));
    let report = report(&update(&folder, &port, "model.dgp --confirm"));
    assert_eq!(report["sent"], report["bytes"], "every byte once: {report}");
    assert!(report["retries"].as_u64() >= Some(2), "{report}");
    assert_eq!(report["confirmed"], true, "{report}");
}

#[test]
fn a_device_that_asks_for_signatures_gets_them() {
    let folder = folder();
    folder.run("keygen pump").succeeds();
    let text = folder.read_text("pump.pub");
    let digits = text.split_whitespace().nth(1).unwrap();
    let byte = |at: usize| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap();
    let port = device(Some(std::array::from_fn(byte)), Vec::new());
    let refused = update(&folder, &port, "model.dgp");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("signed models only"), "{}", refused.stderr);
    folder.run("sign model.dgp --key pump.key --counter 3").succeeds();
    assert_eq!(report(&update(&folder, &port, "model.dgp --confirm"))["counter"], 3);
    folder.run("sign other.dgp --key pump.key --counter 3").succeeds();
    let refused = update(&folder, &port, "other.dgp");
    assert!(refused.code == 2 && refused.stderr.contains("takes 4 or more"), "{}", refused.stderr);
    folder.run("sign other.dgp --key pump.key --counter 4").succeeds();
    assert_eq!(report(&update(&folder, &port, "other.dgp --confirm"))["counter"], 4);
}
