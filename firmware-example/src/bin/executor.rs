//! The image `update` over flash whose driver is asynchronous: a task of an executor, here the smallest there is.
//!
//! It has a panic handler: a future that is polled after its end panics, and the compiler does not see that none is.
#![no_std]
#![no_main]

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use diffgp_firmware::counter::Counter;
use diffgp_firmware::flash::{Flash, LAYOUT, model_at};
use diffgp_firmware::uart::Uart;
use diffgp_firmware::{MOST_OPERATIONS, console, entry};
use diffgp_infer::Workspace;
use diffgp_link::asynchronous::Device;
use diffgp_slots::asynchronous::Slots;
use diffgp_slots::{Fits, Mapped};
use embedded_storage::nor_flash::{ErrorType, NorFlash as _, NorFlashErrorKind, ReadNorFlash as _};
use embedded_storage_async::nor_flash::{NorFlash, ReadNorFlash};

diffgp_firmware::report_panic!();

/// A driver that is ready a turn later.
struct Slow(Flash);

/// Lets other tasks have a turn.
async fn wait() {
    let mut waited = false;
    poll_fn(|_| if core::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

impl ErrorType for Slow {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Slow {
    const READ_SIZE: usize = Flash::READ_SIZE;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        wait().await;
        self.0.read(offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

impl NorFlash for Slow {
    const WRITE_SIZE: usize = Flash::WRITE_SIZE;
    const ERASE_SIZE: usize = Flash::ERASE_SIZE;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        wait().await;
        self.0.erase(from, to)
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        wait().await;
        self.0.write(offset, bytes)
    }
}

/// The only task.
async fn device(mut uart: Uart, counter: Counter) {
    let fits = Fits::<4, 50> { operations: MOST_OPERATIONS };
    let Ok(slots) = Slots::open(Slow(Flash::take()), LAYOUT, Mapped(model_at), fits).await else { console::exit(2) };
    let mut device = Device::new(slots, Workspace::<4, 50>::new(), MOST_OPERATIONS, |work| counter.ticks(work).0);
    loop {
        if let Some(frame) = device.answer(uart.read()).await {
            uart.write(&frame);
        }
    }
}

#[entry]
fn main() -> ! {
    let Some(counter) = Counter::start() else { console::exit(1) };
    let mut task = pin!(device(Uart::start(), counter));
    // A real executor sleeps until an interrupt wakes it.
    while task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {}
    console::exit(3)
}
