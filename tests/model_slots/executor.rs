//! An executor of one task, and a flash that lets it wait: once before every word and every page.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake};

use embedded_storage::nor_flash::{ErrorType, NorFlash as _, ReadNorFlash as _};
use embedded_storage_async::nor_flash::{NorFlash, ReadNorFlash};

use super::flash::{Flash, Lost};

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Polls a future so many times; `None` if it is dropped then.
pub(super) fn run_for<T>(turns: usize, future: impl Future<Output = T>) -> Option<T> {
    let woken = Arc::new(Woken::default());
    let waker = woken.clone().into();
    let mut future = pin!(future);
    for _ in 0..turns {
        if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(done);
        }
        assert!(woken.0.swap(false, Ordering::Relaxed), "a future that waits for nothing never ends");
    }
    None
}

pub(super) fn run<T>(future: impl Future<Output = T>) -> T {
    run_for(usize::MAX, future).unwrap()
}

/// Not now.
async fn a_turn() {
    let mut waited = false;
    poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// A driver that leaves a word or a page behind at every turn: dropped in between, the rest is not done.
#[derive(Debug)]
pub(super) struct Slow<'f, const R: usize, const W: usize, const E: usize>(pub(super) &'f mut Flash<R, W, E>);

impl<const R: usize, const W: usize, const E: usize> ErrorType for Slow<'_, R, W, E> {
    type Error = Lost;
}

impl<const R: usize, const W: usize, const E: usize> ReadNorFlash for Slow<'_, R, W, E> {
    const READ_SIZE: usize = R;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Lost> {
        // Half now and half later: what was asked for is there in part.
        let half = (bytes.len() / 2).next_multiple_of(R);
        let mut now = bytes.to_vec();
        self.0.read(offset, &mut now)?;
        bytes[..half].copy_from_slice(&now[..half]);
        a_turn().await;
        bytes.copy_from_slice(&now);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

impl<const R: usize, const W: usize, const E: usize> NorFlash for Slow<'_, R, W, E> {
    const WRITE_SIZE: usize = W;
    const ERASE_SIZE: usize = E;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), Lost> {
        for page in (from..to).step_by(E) {
            a_turn().await;
            self.0.erase(page, page + E as u32)?;
        }
        Ok(())
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Lost> {
        assert!(bytes.len().is_multiple_of(W), "{} bytes to write", bytes.len());
        for (at, word) in (offset..).step_by(W).zip(bytes.as_chunks::<W>().0) {
            a_turn().await;
            self.0.write(at, word)?;
        }
        Ok(())
    }
}
