//! The last-in slot: the task that was woken last, which runs next. Anyone may take it, so that a stuck thread keeps none.

use std::ptr::{self, NonNull};

use crate::shim::{AtomicPtr, Ordering};
use crate::task::Runnable;

/// Holds one task or none.
#[derive(Default)]
pub(super) struct LastIn(AtomicPtr<()>);

impl LastIn {
    /// Puts a task in; returns the one that was there.
    pub(super) fn put(&self, runnable: Runnable) -> Option<Runnable> {
        from_raw(self.0.swap(runnable.into_raw().as_ptr(), Ordering::AcqRel))
    }

    pub(super) fn take(&self) -> Option<Runnable> {
        if !self.is_full() {
            return None;
        }
        from_raw(self.0.swap(ptr::null_mut(), Ordering::AcqRel))
    }

    pub(super) fn is_full(&self) -> bool {
        !self.0.load(Ordering::Relaxed).is_null()
    }
}

impl Drop for LastIn {
    fn drop(&mut self) {
        drop(self.take());
    }
}

fn from_raw(raw: *mut ()) -> Option<Runnable> {
    // SAFETY: a pointer in the slot came from `Runnable::into_raw` in `put`, of the same type, and a swap hands it to one
    // caller only.
    NonNull::new(raw).map(|raw| unsafe { Runnable::from_raw(raw) })
}

#[cfg(all(test, loom))]
mod model {
    use std::sync::Arc;

    use loom::thread;

    use super::*;
    use crate::reactor::Io;
    use crate::scheduler::Scheduler;
    use crate::scheduler::model::runnable;

    /// Of what the owner puts in while a thief looks, each task is had once.
    #[test]
    fn each_task_is_had_once() {
        loom::model(|| {
            let scheduler = Arc::new(Scheduler::new(1, 0, Io::Epoll).unwrap());
            let slot = Arc::new(LastIn::default());
            let thief = thread::spawn({
                let slot = slot.clone();
                move || slot.take().into_iter().chain(slot.take()).count()
            });
            let displaced = [0, 1].map(|_| slot.put(runnable(&scheduler)).is_some());
            let stolen = thief.join().unwrap();
            let left = usize::from(slot.take().is_some());
            let displaced = displaced.into_iter().filter(|&some| some).count();
            assert_eq!(displaced + stolen + left, 2);
        });
    }
}
