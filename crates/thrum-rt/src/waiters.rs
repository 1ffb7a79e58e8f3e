//! The wakers of those who wait for one thing. Nearly always there is one, so that one is kept inline.

use std::task::Waker;

/// A small set of wakers.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    first: Option<Waker>,
    /// Boxed, as there are two of these for each descriptor and one is hardly ever in use.
    #[allow(clippy::box_collection)]
    more: Option<Box<Vec<Waker>>>,
}

impl Waiters {
    pub(crate) const fn new() -> Self {
        Self {
            first: None,
            more: None,
        }
    }

    /// Adds a waker, unless an equal one is here already.
    pub(crate) fn add(&mut self, waker: &Waker) {
        match &self.first {
            None => self.first = Some(waker.clone()),
            Some(first) if first.will_wake(waker) => {}
            Some(_) => {
                let more = self.more.get_or_insert_default();
                if !more.iter().any(|other| other.will_wake(waker)) {
                    more.push(waker.clone());
                }
            }
        }
    }

    /// Takes all of them out. The caller wakes them after it has let go of its lock: a waker is somebody's code.
    pub(crate) fn take(&mut self) -> Waiters {
        std::mem::take(self)
    }

    /// Wakes everyone.
    pub(crate) fn wake_all(self) {
        if let Some(first) = self.first {
            first.wake();
        }
        if let Some(more) = self.more {
            more.into_iter().for_each(Waker::wake);
        }
    }
}
