//! The `portable` back end: the `polling` crate, which is kqueue on macOS and BSD, and epoll on Linux.
//!
//! It spends two to four more system calls on a wait than the others, and tells nothing of a peer's end.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use polling::{Event, Events, PollMode, Poller};

use super::source::Edge;
use crate::shim::Mutex;

pub(super) struct Portable {
    poller: Poller,
    events: Mutex<Events>,
}

impl Portable {
    pub(super) fn new() -> io::Result<Self> {
        let poller = Poller::new()?;
        if !poller.supports_edge() {
            let message = "this system has no edge-triggered events";
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        Ok(Self {
            poller,
            events: Mutex::new(Events::new()),
        })
    }

    pub(super) fn add(&self, fd: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        let token = usize::try_from(token).map_err(|_| io::ErrorKind::Unsupported)?;
        // SAFETY: the descriptor is taken out by `remove` or `closing` before it is closed.
        unsafe {
            self.poller
                .add_with_mode(&fd, Event::all(token), PollMode::Edge)
        }
    }

    pub(super) fn remove(&self, fd: BorrowedFd<'_>, _: u64) -> io::Result<()> {
        self.poller.delete(fd)
    }

    pub(super) fn closing(&self, fd: BorrowedFd<'_>, token: u64) {
        // It fails only if the descriptor was never added.
        let _ = self.remove(fd, token);
    }

    pub(super) fn interrupt(&self) {
        if let Err(error) = self.poller.notify() {
            tracing::error!(%error, "the reactor cannot be interrupted");
        }
    }

    pub(super) fn wait(
        &self,
        timeout: Option<Duration>,
        mut each: impl FnMut(u64, Edge),
    ) -> io::Result<()> {
        let mut events = self.events.lock();
        events.clear();
        self.poller.wait(&mut events, timeout)?;
        for event in events.iter() {
            let edge = Edge {
                readable: event.readable,
                writable: event.writable,
                ..Edge::default()
            };
            each(event.key as u64, edge);
        }
        Ok(())
    }
}
