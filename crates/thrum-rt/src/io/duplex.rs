//! A connection in memory, for tests and for joining two parts of one process.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};

use crate::budget;
use crate::shim::Mutex;
use crate::waiters::Waiters;
use crate::waiting::{self, Waiting};

/// Two ends of a connection in memory: what is written to one is read from the other. Each way holds `capacity` bytes; a
/// writer that finds them full waits.
///
/// # Panics
/// If `capacity` is zero.
pub fn duplex(capacity: usize) -> (Duplex, Duplex) {
    assert!(capacity > 0, "a connection needs room for a byte");
    let there = Arc::new(Mutex::new(Lane::new(capacity)));
    let back = Arc::new(Mutex::new(Lane::new(capacity)));
    let a = Duplex {
        incoming: back.clone(),
        outgoing: there.clone(),
    };
    let b = Duplex {
        incoming: there,
        outgoing: back,
    };
    (a, b)
}

/// One end of a [`duplex`] connection.
///
/// Closing it ends what it writes; it can still read. Once it is dropped, the other end gets `BrokenPipe` when it writes.
///
/// Dropping a future that waits for it loses nothing.
#[derive(Debug)]
pub struct Duplex {
    incoming: Arc<Mutex<Lane>>,
    outgoing: Arc<Mutex<Lane>>,
}

/// One way.
#[derive(Debug)]
struct Lane {
    bytes: VecDeque<u8>,
    capacity: usize,
    /// No more will be written.
    ended: bool,
    /// No more will be read.
    abandoned: bool,
    reader: Waiters,
    writer: Waiters,
}

impl Lane {
    fn new(capacity: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            capacity,
            ended: false,
            abandoned: false,
            reader: Waiters::default(),
            writer: Waiters::default(),
        }
    }
}

impl AsyncRead for Duplex {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if budget::exhausted(cx) {
            return Poll::Pending;
        }
        let mut lane = self.incoming.lock();
        if lane.bytes.is_empty() && !lane.ended && !buffer.is_empty() {
            lane.reader.add(cx.waker());
            waiting::note(Waiting::Channel);
            return Poll::Pending;
        }
        let read = lane.bytes.read(buffer)?;
        let writer = lane.writer.take();
        drop(lane);
        writer.wake_all();
        budget::spend_bytes(read);
        Poll::Ready(Ok(read))
    }
}

impl AsyncWrite for Duplex {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if budget::exhausted(cx) {
            return Poll::Pending;
        }
        let mut lane = self.outgoing.lock();
        if lane.ended || lane.abandoned {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let written = bytes.len().min(lane.capacity - lane.bytes.len());
        if written == 0 && !bytes.is_empty() {
            lane.writer.add(cx.waker());
            waiting::note(Waiting::Channel);
            return Poll::Pending;
        }
        lane.bytes.extend(&bytes[..written]);
        let reader = lane.reader.take();
        drop(lane);
        reader.wake_all();
        budget::spend_bytes(written);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut lane = self.outgoing.lock();
        lane.ended = true;
        let reader = lane.reader.take();
        drop(lane);
        reader.wake_all();
        Poll::Ready(Ok(()))
    }
}

impl Drop for Duplex {
    fn drop(&mut self) {
        let mut outgoing = self.outgoing.lock();
        outgoing.ended = true;
        let reader = outgoing.reader.take();
        drop(outgoing);
        let mut incoming = self.incoming.lock();
        incoming.abandoned = true;
        let writer = incoming.writer.take();
        drop(incoming);
        reader.wake_all();
        writer.wake_all();
    }
}
