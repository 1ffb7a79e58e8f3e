//! The `epoll` back end: one epoll set, and an eventfd to interrupt its wait.
//!
//! Descriptors are registered once, edge-triggered, for both directions. The eventfd is edge-triggered too and never
//! read: each write is a new edge.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;

use super::source::Edge;

/// Events taken from the kernel in one wait.
const BATCH: usize = 256;

/// The token of the eventfd; no source has it, as a slot's index stays below 2^30.
const WAKE: u64 = u64::MAX;

pub(super) struct Epoll {
    set: OwnedFd,
    wake: OwnedFd,
}

impl Epoll {
    pub(super) fn new() -> io::Result<Self> {
        let set = epoll::create(CreateFlags::CLOEXEC)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(
            &set,
            &wake,
            EventData::new_u64(WAKE),
            EventFlags::IN | EventFlags::ET,
        )?;
        Ok(Self { set, wake })
    }

    pub(super) fn add(&self, fd: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        let interest = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(
            &self.set,
            fd,
            EventData::new_u64(token),
            interest,
        )?)
    }

    pub(super) fn remove(&self, fd: BorrowedFd<'_>, _: u64) -> io::Result<()> {
        Ok(epoll::delete(&self.set, fd)?)
    }

    /// Closing takes it out of the epoll set, without a call for it. If a child process still holds the descriptor, events
    /// may go on to come; they are of an earlier life and are ignored.
    pub(super) fn closing(&self, _: BorrowedFd<'_>, _: u64) {}

    /// Ends a wait that is under way, or the next one.
    pub(super) fn interrupt(&self) {
        // It fails only with EAGAIN at 2^64 - 1 interrupts, which still leaves the edge.
        let _ = rustix::io::write(self.wake.as_fd(), &1u64.to_ne_bytes());
    }

    /// Waits for events and hands each to `each`, with its token. `None` waits for ever.
    pub(super) fn wait(
        &self,
        timeout: Option<Duration>,
        mut each: impl FnMut(u64, Edge),
    ) -> io::Result<()> {
        let timeout = timeout.map(|timeout| Timespec {
            tv_sec: timeout.as_secs() as _,
            tv_nsec: timeout.subsec_nanos() as _,
        });
        let mut buffer = [const { MaybeUninit::<Event>::uninit() }; BATCH];
        let events = match epoll::wait(&self.set, &mut buffer, timeout.as_ref()) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for event in events {
            let token = event.data.u64();
            if token != WAKE {
                each(token, edge(event.flags));
            }
        }
        Ok(())
    }
}

fn edge(flags: EventFlags) -> Edge {
    let gone = flags.contains(EventFlags::HUP);
    let failed = flags.contains(EventFlags::ERR);
    Edge {
        readable: flags.contains(EventFlags::IN) || failed,
        writable: flags.contains(EventFlags::OUT) || failed,
        read_closed: gone || flags.contains(EventFlags::RDHUP),
        // A pipe whose reader is gone says ERR, never HUP.
        write_closed: gone || failed,
    }
}
