//! A seat: the right to run tasks, and a reactor to look after.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::reactor::{Io, Reactor};

pub(crate) struct Seat {
    pub(crate) reactor: Arc<Reactor>,
    /// The member that holds it.
    holder: AtomicUsize,
}

impl Seat {
    pub(super) fn new(io: Io) -> io::Result<Self> {
        Ok(Self {
            reactor: Arc::new(Reactor::new(io)?),
            holder: AtomicUsize::new(usize::MAX),
        })
    }

    /// The member that holds it; none before its first thread has come up.
    pub(crate) fn holder(&self) -> Option<usize> {
        let holder = self.holder.load(Ordering::Acquire);
        (holder != usize::MAX).then_some(holder)
    }

    pub(super) fn set_holder(&self, member: usize) {
        self.holder.store(member, Ordering::Release);
    }
}
