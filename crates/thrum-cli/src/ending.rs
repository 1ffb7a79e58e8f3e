//! How a server ends: it is asked to, finishes open requests, and goes; asked again, it goes at once.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use thrum_http::Drained;
use thrum_rt::{signal, time};

use crate::banner;

/// How long finishing may take before it is worth saying.
const SAY_AFTER: Duration = Duration::from_millis(300);

/// A shell's status for a program that was ended by SIGINT.
pub(crate) const INTERRUPTED: i32 = 130;

/// Waits for Ctrl-C or SIGTERM.
pub(crate) async fn asked_to_stop() -> io::Result<()> {
    match race(signal::ctrl_c(), signal::terminate()).await {
        First::Left(asked) | First::Right(asked) => asked,
    }
}

/// Finishes open requests. Says so if it takes a while, and ends the process if it is asked to stop again, after `last`.
/// Returns how many connections were cut.
pub(crate) async fn drain(
    draining: impl Future<Output = Drained>,
    grace: Duration,
    says: bool,
    last: impl FnOnce(),
) -> usize {
    let draining = async {
        let mut draining = pin!(draining);
        match race(draining.as_mut(), time::sleep(SAY_AFTER)).await {
            First::Left(drained) => drained,
            First::Right(()) => {
                if says {
                    banner::print_draining(grace);
                }
                draining.await
            }
        }
    };
    match race(asked_to_stop(), draining).await {
        First::Right(drained) => drained.cut,
        First::Left(_) => {
            last();
            // Not by returning: that would wait for threads that are stuck in a poll.
            std::process::exit(INTERRUPTED)
        }
    }
}

/// What came first of two.
pub(crate) enum First<A, B> {
    Left(A),
    Right(B),
}

/// Waits for whichever is done first, asking the left one first; drops the other.
pub(crate) async fn race<A, B>(
    left: impl Future<Output = A>,
    right: impl Future<Output = B>,
) -> First<A, B> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    poll_fn(|cx| {
        if let Poll::Ready(output) = left.as_mut().poll(cx) {
            return Poll::Ready(First::Left(output));
        }
        right.as_mut().poll(cx).map(First::Right)
    })
    .await
}
