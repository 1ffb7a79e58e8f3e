//! A connection's socket, its buffers, and the deadline that it works under.

use std::fs::File;
use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use thrum_rt::time::Deadline;

use super::buffer::{Input, Output};
use crate::server::{Context as Served, Counters, Open};
use crate::wire::{Wire, would_block};

/// A connection without its buffers: all of it, while it rests.
pub(crate) struct Line {
    pub(crate) open: Open,
    pub(crate) wire: Wire,
    pub(crate) context: Arc<Served>,
    pub(crate) deadline: Deadline,
    /// Requests so far.
    pub(crate) served: u32,
    /// The deadline is that of a write that waits.
    stalled: bool,
    /// The deadline is that of the server's last call.
    called: bool,
}

/// A connection with buffers, while it works.
pub(crate) struct Transport<'a> {
    pub(crate) line: &'a mut Line,
    pub(crate) input: Input,
    pub(crate) output: Output,
}

/// Why a wait for the client is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    Readable,
    Expired,
    /// The server is ending, and asks idle connections to end too.
    Ending,
}

impl Line {
    pub(crate) fn new(open: Open, wire: Wire, context: Arc<Served>) -> Self {
        Self {
            open,
            wire,
            context,
            deadline: Deadline::new(),
            served: 0,
            stalled: false,
            called: false,
        }
    }

    /// Waits for the client to send something, or for the deadline, or for the server's end if the connection is `idle`. If
    /// there is something to wait for, the deadline is first set to what `limit` says.
    pub(crate) async fn readable(
        &mut self,
        idle: bool,
        mut limit: Option<Duration>,
    ) -> io::Result<Awaited> {
        poll_fn(|cx| {
            if let Poll::Ready(ready) = self.wire.poll_readable(cx) {
                return Poll::Ready(ready.map(|()| Awaited::Readable));
            }
            // After the wait is registered, so that the end of the server wakes it.
            if idle
                && !self.called
                && let Some(last_call) = self.open.last_call()
            {
                if last_call.is_zero() {
                    return Poll::Ready(Ok(Awaited::Ending));
                }
                self.called = true;
                limit = Some(limit.map_or(last_call, |limit| limit.min(last_call)));
            }
            let expired = match limit.take() {
                Some(limit) => self.deadline.start(limit, cx),
                None => self.deadline.poll_expired(cx),
            };
            expired.map(|()| Ok(Awaited::Expired))
        })
        .await
    }
}

impl<'a> Transport<'a> {
    pub(crate) fn new(line: &'a mut Line) -> Self {
        Self {
            input: Input::new(line.context.limits.head_bytes),
            output: Output::default(),
            line,
        }
    }

    /// What was read and not used.
    pub(crate) fn ahead(&self) -> Bytes {
        Bytes::copy_from_slice(self.input.bytes())
    }

    /// Waits for the client to send something, or for the deadline, or for the server's end if nothing has come yet.
    pub(crate) async fn readable(&mut self, limit: Option<Duration>) -> io::Result<Awaited> {
        if !self.input.is_empty() {
            // A client that takes its time for a head is not given a whole buffer for it.
            let waits = poll_fn(|cx| Poll::Ready(self.line.wire.poll_readable(cx).is_pending()));
            if waits.await {
                self.input.shrink();
            }
        }
        self.line.readable(self.input.is_empty(), limit).await
    }

    /// Reads what is there. `None`: nothing after all; 0: the client has sent its last.
    pub(crate) fn read(&mut self) -> io::Result<Option<usize>> {
        let space = self.input.space();
        match self.line.wire.try_read(space) {
            Ok(read) => {
                self.input.filled(read);
                Ok(Some(read))
            }
            Err(error) if would_block(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Ready when the client has left, as far as can be known: what it sends ahead is not read up to its end.
    pub(crate) fn poll_left(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        while self.input.is_empty() {
            let readable = ready!(self.line.wire.poll_readable(cx));
            match readable.and_then(|()| self.read()) {
                Ok(Some(1..)) => {}
                Ok(Some(0)) => return Poll::Ready(ErrorKind::ConnectionAborted.into()),
                Ok(None) => self.input.release(),
                Err(error) => return Poll::Ready(error),
            }
        }
        Poll::Pending
    }

    /// Waits until the client takes more, but no longer than the write timeout.
    fn poll_writable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Poll::Ready(ready) = self.line.wire.poll_writable(cx) {
            self.line.stalled = false;
            return Poll::Ready(ready);
        }
        if !self.line.stalled {
            self.line.stalled = true;
            self.input.release();
            self.line.deadline.set(self.line.context.timeouts.write);
        }
        ready!(self.line.deadline.poll_expired(cx));
        Counters::count(&self.line.open.counters().write_timeouts);
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }

    /// Does a write until it does not block.
    fn poll_write<R>(
        &mut self,
        cx: &mut Context<'_>,
        mut write: impl FnMut(&mut Wire, &Output) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        loop {
            ready!(self.poll_writable(cx))?;
            match write(&mut self.line.wire, &self.output) {
                Err(error) if would_block(&error) => {}
                result => return Poll::Ready(result),
            }
        }
    }

    /// Writes all of the output.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.output.is_empty() {
            let write = |wire: &mut Wire, output: &Output| wire.try_write(output.pending());
            let written = ready!(self.poll_write(cx, write))?;
            self.output.wrote(written);
        }
        while self.line.wire.holds_back() {
            ready!(self.poll_write(cx, |wire, _| wire.try_flush()))?;
        }
        Poll::Ready(Ok(()))
    }

    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        if self.output.is_empty() && !self.line.wire.holds_back() {
            return Ok(());
        }
        poll_fn(|cx| self.poll_flush(cx)).await
    }

    /// Writes the output and then `bytes`, without copying them.
    pub(crate) async fn flush_with(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !self.output.is_empty() || !bytes.is_empty() {
            let write = |wire: &mut Wire, output: &Output| {
                wire.try_write_vectored(&[IoSlice::new(output.pending()), IoSlice::new(bytes)])
            };
            let mut write = write;
            let written = poll_fn(|cx| self.poll_write(cx, &mut write)).await?;
            let of_output = written.min(self.output.pending().len());
            self.output.wrote(of_output);
            bytes = &bytes[written - of_output..];
        }
        Ok(())
    }

    /// Writes the output, and says that more follows at once.
    pub(crate) async fn flush_before_more(&mut self) -> io::Result<()> {
        while !self.output.is_empty() {
            let mut write =
                |wire: &mut Wire, output: &Output| wire.try_write_more(output.pending());
            let written = poll_fn(|cx| self.poll_write(cx, &mut write)).await?;
            self.output.wrote(written);
        }
        Ok(())
    }

    /// Sends some of a file. 0: it has ended.
    pub(crate) async fn send_file(
        &mut self,
        file: &File,
        offset: u64,
        length: u64,
    ) -> io::Result<usize> {
        // In pieces, so that the task gives way in between.
        let length = length.min(FILE_PIECE) as usize;
        let mut write = |wire: &mut Wire, _: &Output| wire.try_send_file(file, offset, length);
        poll_fn(|cx| self.poll_write(cx, &mut write)).await
    }

    /// Gives back what an idle connection does not need.
    pub(crate) fn release_buffers(&mut self) {
        self.input.release();
        self.output.release();
    }

    /// Ends sending, and reads on for a moment: closing at once, with bytes unread, could destroy the response on its way
    /// (RFC 9112 section 9.6).
    pub(crate) async fn linger(&mut self) {
        let max_bytes = self.line.context.limits.drain_bytes;
        if self.line.wire.end().is_err() {
            return;
        }
        self.input.consume(self.input.bytes().len());
        self.release_buffers();
        self.line.deadline.set(self.line.context.timeouts.linger);
        let mut drained = 0;
        while drained < max_bytes {
            let poll = |cx: &mut Context<'_>| match self.line.wire.poll_readable(cx) {
                Poll::Ready(_) => Poll::Ready(true),
                Poll::Pending => self.line.deadline.poll_expired(cx).map(|()| false),
            };
            let mut poll = poll;
            if !poll_fn(&mut poll).await {
                return;
            }
            match self.read() {
                Ok(Some(read @ 1..)) => {
                    self.input.consume(read);
                    self.release_buffers();
                    drained += read as u64;
                }
                Ok(None) => {}
                Ok(Some(0)) | Err(_) => return,
            }
        }
    }
}

/// Bytes of a file sent in one call.
const FILE_PIECE: u64 = 1024 * 1024;
