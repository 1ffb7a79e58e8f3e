//! A timer in a reactor's wheel, owned: dropping it takes it out.

use std::sync::Arc;
use std::task::Waker;

use crate::context;
use crate::reactor::{Reactor, TimerKey};

pub(super) struct Timer {
    reactor: Arc<Reactor>,
    key: TimerKey,
}

impl Timer {
    /// Has `waker` woken at `at_ms`, by the reactor of this worker.
    pub(super) fn arm(at_ms: u64, waker: &Waker) -> Self {
        let reactor = context::reactor();
        let key = reactor.arm(at_ms, waker.clone());
        Self { reactor, key }
    }

    /// Wakes `waker` from now on; false if the timer has fired.
    pub(super) fn rewake(&self, waker: &Waker) -> bool {
        self.reactor.rewake(self.key, waker)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.reactor.disarm(self.key);
    }
}
