//! What a reactor asks of the kernel, and the names of it.
//!
//! `user_data` is the token of the source and, in two bits that it leaves free, the kind of the request:
//!
//! ```text
//! 55        32 31  30 29     0
//!  generation   kind   index
//! ```

use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use io_uring::types::Fd;
use io_uring::{IoUring, opcode, squeue};
use rustix::event::PollFlags;

use super::buffers;
use super::inbox::Inbox;

/// Names the poll of the eventfd. No source has it, as there are but three kinds.
pub(super) const WAKE: u64 = u64::MAX;

/// Names what has no answer worth reading.
pub(super) const IGNORED: u64 = u64::MAX - 1;

pub(super) const KIND_SHIFT: u32 = 30;
pub(super) const KIND_MASK: u64 = 0b11 << KIND_SHIFT;

/// Kinds of requests, as a set; in `user_data`, as the number of the bit.
pub(super) type Kinds = u8;
/// Both directions are polled.
pub(super) const POLL: Kinds = 1 << 0;
/// Writing is polled: for a stream that is received ahead and has a writer that waits.
pub(super) const WRITES: Kinds = 1 << 1;
/// A stream is received ahead.
pub(super) const RECEIVE: Kinds = 1 << 2;

/// What is asked of the kernel, or is to be.
#[derive(Default)]
pub(super) struct Requests {
    /// By the index in the token.
    pub(super) sources: Vec<Option<Requested>>,
    /// Indices of those with something to submit in the next turn.
    pub(super) pending: Vec<u32>,
    /// The eventfd is polled.
    pub(super) wakes: bool,
    /// Names of those to cancel in the next turn.
    pub(super) cancelled: Vec<u64>,
    /// None before the first turn.
    pub(super) ring: Option<Arc<IoUring>>,
    /// Whose ring it is; 0 at first.
    pub(super) thread: u64,
}

pub(super) struct Requested {
    pub(super) fd: RawFd,
    pub(super) token: u64,
    pub(super) inbox: Option<Arc<Inbox>>,
    pub(super) wanted: Kinds,
    /// Those whose last completion has not come yet.
    pub(super) submitted: Kinds,
}

impl Requests {
    pub(super) fn get(&mut self, token: u64) -> Option<&mut Requested> {
        let requested = self.sources.get_mut(index(token))?.as_mut()?;
        (requested.token == token).then_some(requested)
    }

    pub(super) fn want(&mut self, token: u64, kinds: Kinds) {
        if let Some(requested) = self.get(token) {
            requested.wanted |= kinds;
            self.pending.push(index(token) as u32);
        }
    }

    /// Has all submitted again, to a ring of this thread. Returns the streams that were being stopped, and now are.
    pub(super) fn begin(&mut self, ring: IoUring) -> Vec<(u64, Arc<Inbox>)> {
        self.ring = Some(Arc::new(ring));
        self.thread = this_thread();
        self.wakes = false;
        self.cancelled.clear();
        self.pending.clear();
        let mut stopped = Vec::new();
        for (index, slot) in self.sources.iter_mut().enumerate() {
            if let Some(requested) = slot {
                if requested.submitted & !requested.wanted & RECEIVE != 0
                    && let Some(inbox) = &requested.inbox
                {
                    stopped.push((requested.token, inbox.clone()));
                }
                requested.submitted = 0;
                self.pending.push(index as u32);
            }
        }
        stopped
    }

    /// A request has ended. It is submitted again if it is still wanted and may be; if not, this is true.
    pub(super) fn ended(&mut self, token: u64, kind: Kinds, again: bool) -> bool {
        let Some(requested) = self.get(token) else {
            return false; // that was an earlier life
        };
        requested.submitted &= !kind;
        if !again {
            requested.wanted &= !kind;
        }
        if requested.wanted & kind == 0 {
            return true;
        }
        self.pending.push(index(token) as u32);
        false
    }
}

impl Requested {
    pub(super) fn entry(&self, kind: Kinds) -> squeue::Entry {
        match kind {
            RECEIVE => opcode::RecvMulti::new(Fd(self.fd), buffers::GROUP).build(),
            WRITES => poll(self.fd, PollFlags::OUT),
            _ => poll(self.fd, PollFlags::IN | PollFlags::OUT | PollFlags::RDHUP),
        }
    }
}

/// An edge-triggered poll that goes on until it is cancelled.
pub(super) fn poll(fd: RawFd, events: PollFlags) -> squeue::Entry {
    opcode::PollAdd::new(Fd(fd), u32::from(events.bits()))
        .multi(true)
        .build()
}

pub(super) fn index(token: u64) -> usize {
    token as u32 as usize
}

/// The `user_data` of each of some kinds of requests.
pub(super) fn names(token: u64, kinds: Kinds) -> impl Iterator<Item = u64> {
    let numbers = (0..3u32).filter(move |number| kinds & 1 << number != 0);
    numbers.map(move |number| token + (u64::from(number) << KIND_SHIFT))
}

pub(super) fn kind(name: u64) -> Kinds {
    1 << ((name & KIND_MASK) >> KIND_SHIFT)
}

pub(super) fn token_of(name: u64) -> u64 {
    name & !KIND_MASK
}

pub(super) fn this_thread() -> u64 {
    THREAD.with(|thread| *thread)
}

thread_local! {
    /// A number for each thread, never used again, unlike those of the system.
    static THREAD: u64 = {
        static LAST: AtomicU64 = AtomicU64::new(0);
        LAST.fetch_add(1, Ordering::Relaxed) + 1
    };
}
