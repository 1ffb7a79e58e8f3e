//! A registered stream whose bytes the kernel receives ahead of its reader: what differs from other descriptors.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::net::{RecvFlags, recv};

use super::Uring;
use super::inbox::Inbox;
use crate::budget;
use crate::reactor::Registered;
use crate::reactor::backend::Backend;
use crate::reactor::source::{Direction, Edge, Seen};

/// How long taking a stream out of its reactor may take. Without a thread stuck in the turn it takes microseconds.
const STOP: Duration = Duration::from_secs(1);

impl<T: AsFd> Registered<T> {
    /// Has it received ahead, at once or once it is connected.
    pub(in crate::reactor) fn received_ahead(mut self, connected: bool) -> Self {
        let inbox = Arc::new(Inbox::default());
        self.inbox = Some(inbox.clone());
        if let Backend::Uring(uring) = &self.reactor.backend {
            if connected {
                // No poll says so. Who finds no room will ask for one.
                let writable = Edge {
                    writable: true,
                    ..Edge::default()
                };
                let source = self.source();
                source.dispatch(source.generation(), writable);
            }
            uring.add_stream(self.get().as_fd(), self.token(), inbox, connected);
        }
        self
    }

    fn ahead(&self) -> Option<(&Uring, &Inbox)> {
        match (&self.reactor.backend, &self.inbox) {
            (Backend::Uring(uring), Some(inbox)) => Some((uring, inbox)),
            _ => None,
        }
    }

    pub(in crate::reactor) fn begin_ahead(&self) {
        if let Some((uring, _)) = self.ahead() {
            uring.connected(self.token());
        }
    }

    pub(in crate::reactor) fn writer_waits(&self) {
        if let Some((uring, _)) = self.ahead() {
            uring.writer_waits(self.token());
        }
    }

    /// Reads from what was received, or from the kernel; nothing if this stream is not received ahead.
    pub(in crate::reactor) fn receive_ahead(&self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        let (uring, inbox) = self.ahead()?;
        let seen = self.source().seen();
        let ends = self.source().ends(Direction::Read);
        let received = uring.receive(inbox, self.token(), buffer, ends, |buffer| {
            let (read, _) = recv(self.get().as_fd(), buffer, RecvFlags::empty())?;
            Ok(read)
        });
        match received.result {
            Ok(read) => budget::spend_bytes(read),
            Err(_) => budget::spend(1),
        }
        if received.drained {
            self.source().clear(Direction::Read, seen);
        }
        Some(received.result)
    }

    /// Copies from what was received; nothing if nothing was, or if this stream is not received ahead.
    pub(in crate::reactor) fn peek_ahead(&self, buffer: &mut [u8]) -> Option<usize> {
        let (uring, inbox) = self.ahead()?;
        budget::spend(1);
        let peeked = inbox.lock().peek(buffer, &uring.buffers);
        (peeked > 0).then_some(peeked)
    }

    /// Before something other than [`receive`](Self::receive) reads the descriptor: has the kernel leave it alone.
    pub(in crate::reactor) fn read_directly(
        &self,
        direction: Direction,
        seen: Seen,
    ) -> io::Result<()> {
        match self.ahead() {
            Some((uring, inbox)) if direction == Direction::Read => {
                let result = uring.read_directly(inbox, self.token());
                if let Err(error) = &result
                    && error.kind() == io::ErrorKind::WouldBlock
                {
                    self.source().clear(direction, seen);
                }
                result
            }
            _ => Ok(()),
        }
    }

    /// Waits until the kernel receives no more.
    pub(in crate::reactor) fn stop_ahead(&self) -> io::Result<()> {
        let Some((uring, inbox)) = self.ahead() else {
            return Ok(());
        };
        let deadline = Instant::now() + STOP;
        loop {
            match uring.read_directly(inbox, self.token()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
            if Instant::now() > deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            // The last completion comes in a turn: here, or where the requests were submitted.
            match self.reactor.try_turn() {
                Some(mut turn) if uring.is_submitter() => {
                    self.reactor.turn(&mut turn, Some(Duration::ZERO));
                }
                _ => {
                    self.reactor.interrupt();
                    std::thread::sleep(Duration::from_micros(50));
                }
            }
        }
    }
}
