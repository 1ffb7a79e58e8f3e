//! A seat: the right to run tasks, and a reactor to look after.

use std::io;
use std::sync::Arc;

use crate::reactor::{Io, Reactor};
use crate::shim::{AtomicUsize, Ordering};

const NOBODY: usize = usize::MAX;

pub(crate) struct Seat {
    pub(crate) reactor: Arc<Reactor>,
    /// The member that holds it.
    holder: AtomicUsize,
}

impl Seat {
    pub(super) fn new(io: Io) -> io::Result<Self> {
        Ok(Self {
            reactor: Arc::new(Reactor::new(io)?),
            holder: AtomicUsize::new(NOBODY),
        })
    }

    /// The member that holds it; none while a thread is on its way to it.
    pub(crate) fn holder(&self) -> Option<usize> {
        let holder = self.holder.load(Ordering::Acquire);
        (holder != NOBODY).then_some(holder)
    }

    /// Takes the seat from a member; false if it does not hold it. So of two who would hand a seat off, the watchdog and
    /// the thread itself, one does.
    pub(super) fn vacate(&self, member: usize) -> bool {
        self.holder
            .compare_exchange(member, NOBODY, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    pub(super) fn set_holder(&self, member: usize) {
        self.holder.store(member, Ordering::Release);
    }
}
