//! The wire as the h2 crate sees it, with the traits that it wants.
//!
//! What is read goes past the [`Meter`]. What is written is kept until the connection's turn is over and then leaves in one
//! write, so that the answers to all requests that came together go together.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Http2Error;
use super::meter::Meter;
use crate::wire::{Wire, would_block};

/// Bytes of output that are kept back for one write. While there are more, nothing is added, so the h2 crate reads nothing
/// that it would have to answer.
const OUTPUT_BYTES: usize = 64 * 1024;

/// Bytes that are read in one turn of the connection: then other tasks have theirs.
const TURN_BYTES: usize = 256 * 1024;

/// As much of the output's end as the debug data of a GOAWAY needs.
const LAST_WORDS_BYTES: usize = 32;

/// Bytes that are read at a time. They have to be cleared first.
const READ_AT_ONCE: usize = 16 * 1024;

/// The h2 crate's end of a [`Pipe`].
pub(super) struct Link(pub(super) Arc<Mutex<Pipe>>);

/// The wire and what is around it, shared with the [`Link`] that the h2 crate holds. Both are of the connection's own task.
pub(super) struct Pipe {
    pub(super) wire: Wire,
    /// What was read before.
    ahead: Bytes,
    pub(super) meter: Meter,
    /// The client has used up its allowance. Nothing more is read.
    pub(super) abuse: Option<Http2Error>,
    output: Vec<u8>,
    /// Bytes of it that are written.
    written: usize,
    /// Bytes written in all.
    pub(super) total_written: u64,
    /// Bytes that may still be read in this turn.
    turn_left: usize,
    /// A write had to wait for room in the output.
    refused_write: bool,
    /// The last that the h2 crate had to say.
    last_words: Vec<u8>,
}

impl Pipe {
    pub(super) fn new(wire: Wire, ahead: Bytes, meter: Meter) -> Self {
        Self {
            wire,
            ahead,
            meter,
            abuse: None,
            output: Vec::new(),
            written: 0,
            total_written: 0,
            turn_left: TURN_BYTES,
            refused_write: false,
            last_words: Vec::new(),
        }
    }

    /// Begins a turn of the connection.
    pub(super) fn begin_turn(&mut self) {
        self.turn_left = TURN_BYTES;
        self.refused_write = false;
    }

    /// Whether the turn ended with more to read.
    pub(super) fn is_turn_over(&self) -> bool {
        self.turn_left == 0
    }

    /// Whether a write waits for what [`poll_drain`](Self::poll_drain) has made room for.
    pub(super) fn refused_write(&self) -> bool {
        self.refused_write
    }

    /// The end of the output when it was ended: of a GOAWAY, the debug data.
    pub(super) fn last_words(&self) -> &[u8] {
        &self.last_words
    }

    /// Whether there is output that the client has not taken.
    pub(super) fn holds_output(&self) -> bool {
        self.written < self.output.len() || self.wire.holds_back()
    }

    /// Writes the output.
    pub(super) fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.output.len() {
            let rest = &self.output[self.written..];
            let written = ready!(futures_io::AsyncWrite::poll_write(
                Pin::new(&mut self.wire),
                cx,
                rest
            ))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.written += written;
            self.total_written += written as u64;
            self.meter.sent(written);
        }
        self.output.clear();
        self.written = 0;
        self.wire.poll_flush(cx)
    }

    /// Writes the rest, ends sending, and throws away so many bytes that come. Ready when there is no use in it any more.
    pub(super) fn poll_discard(&mut self, cx: &mut Context<'_>, left: &mut u64) -> Poll<()> {
        if ready!(self.poll_end(cx)).is_err() {
            return Poll::Ready(());
        }
        let mut buffer = [0; 4096];
        while *left > 0 {
            match ready!(futures_io::AsyncRead::poll_read(
                Pin::new(&mut self.wire),
                cx,
                &mut buffer
            )) {
                Ok(read @ 1..) => *left = left.saturating_sub(read as u64),
                Ok(0) | Err(_) => break,
            }
        }
        Poll::Ready(())
    }

    /// Gives back what an idle connection does not need.
    pub(super) fn release(&mut self) {
        if self.output.is_empty() {
            self.output = Vec::new();
        }
    }

    fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.abuse.is_some() || self.turn_left == 0 || buffer.remaining() == 0 {
            return Poll::Pending; // the connection looks at why
        }
        let before = buffer.filled().len();
        if self.ahead.is_empty() {
            loop {
                ready!(self.wire.poll_readable(cx))?;
                let length = buffer.remaining().min(READ_AT_ONCE);
                match self.wire.try_read(buffer.initialize_unfilled_to(length)) {
                    Ok(read) => break buffer.advance(read),
                    Err(error) if would_block(&error) => {}
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
        } else {
            let count = self.ahead.len().min(buffer.remaining());
            buffer.put_slice(&self.ahead[..count]);
            self.ahead.advance(count);
        }
        let read = &buffer.filled()[before..];
        self.turn_left = self.turn_left.saturating_sub(read.len());
        if let Err(abuse) = self.meter.read(read) {
            self.abuse = Some(abuse);
            buffer.set_filled(before);
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.output.len() >= OUTPUT_BYTES && self.poll_drain(cx)?.is_pending() {
            self.refused_write = true;
            return Poll::Pending;
        }
        let count = bytes.len().min(OUTPUT_BYTES);
        self.output.extend_from_slice(&bytes[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.last_words.is_empty() {
            let begin = self.output.len().saturating_sub(LAST_WORDS_BYTES);
            self.last_words = self.output[begin..].to_vec();
        }
        ready!(self.poll_drain(cx))?;
        futures_io::AsyncWrite::poll_close(Pin::new(&mut self.wire), cx)
    }
}

impl Link {
    fn pipe(&self) -> MutexGuard<'_, Pipe> {
        lock(&self.0)
    }
}

impl AsyncRead for Link {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.pipe().poll_read(cx, buffer)
    }
}

impl AsyncWrite for Link {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.pipe().poll_write(cx, bytes)
    }

    /// The connection itself writes what is kept back, at the end of its turn.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.pipe().poll_end(cx)
    }
}

pub(super) fn lock(pipe: &Mutex<Pipe>) -> MutexGuard<'_, Pipe> {
    pipe.lock().unwrap_or_else(PoisonError::into_inner)
}
