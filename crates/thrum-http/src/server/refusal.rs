//! Connections above the limit. Each is told so and read on for a moment: closing at once, with the request unread, could
//! destroy the answer on its way (RFC 9112 section 9.6).

use std::future::poll_fn;
use std::net::Shutdown;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use thrum_rt::time::timeout;

use crate::wire::{Socket, would_block};

/// The answer to a connection above the limit.
const OVERLOADED: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\nretry-after: 1\r\n\r\n";

/// So many are read on at once. Others are closed at once.
const LINGERING: usize = 1000;

/// Refusals that are under way: as many as there are clones of it but one.
#[derive(Default)]
pub(crate) struct Refusals(Arc<()>);

impl Refusals {
    /// Says that there are too many connections, and closes this one after reading on for `linger` at most.
    pub(crate) fn refuse(&self, socket: Socket, linger: Duration) {
        if socket.try_write(OVERLOADED).is_err() || socket.shutdown(Shutdown::Write).is_err() {
            return;
        }
        if Arc::strong_count(&self.0) > LINGERING {
            return;
        }
        let place = self.0.clone();
        thrum_rt::spawn(async move {
            let _ = timeout(linger, poll_fn(|cx| poll_end(&socket, cx))).await;
            drop(place);
        });
    }
}

/// Reads until the client ends, and keeps nothing.
fn poll_end(socket: &Socket, cx: &mut Context<'_>) -> Poll<()> {
    let mut scratch = [0; 1024];
    loop {
        if ready!(socket.poll_readable(cx)).is_err() {
            return Poll::Ready(());
        }
        match socket.try_read(&mut scratch) {
            Ok(1..) => {}
            Err(error) if would_block(&error) => {}
            Ok(0) | Err(_) => return Poll::Ready(()),
        }
    }
}
