//! The bell: wakes the watchdog when a worker wakes up, and costs a worker one look when it need not.

use std::sync::OnceLock;

use crate::shim::{AtomicBool, Ordering, Thread, fence, park};

/// Wakes the watchdog when a worker wakes up.
#[derive(Default)]
pub(crate) struct Bell {
    asleep: AtomicBool,
    watchdog: OnceLock<Thread>,
}

impl Bell {
    /// Says whom to wake.
    pub(super) fn belongs_to(&self, watchdog: Thread) {
        let _ = self.watchdog.set(watchdog);
    }

    /// Wakes the watchdog if it sleeps without a timer. Cheap otherwise: a worker calls it each time it comes out of its
    /// reactor, *after* its seat is marked awake by a sequentially consistent exchange.
    pub(crate) fn ring_if_asleep(&self) {
        if self.asleep.load(Ordering::SeqCst) {
            self.ring();
        }
    }

    /// Wakes the watchdog.
    pub(crate) fn ring(&self) {
        self.asleep.store(false, Ordering::SeqCst);
        if let Some(watchdog) = self.watchdog.get() {
            watchdog.unpark();
        }
    }

    /// Sleeps until the bell is rung; not at all, and false, unless all is quiet *after* whoever rings can see it asleep.
    pub(super) fn sleep_if(&self, all_quiet: impl FnOnce() -> bool) -> bool {
        self.asleep.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let sleeps = all_quiet();
        if sleeps {
            while self.asleep.load(Ordering::SeqCst) {
                park();
            }
        }
        self.asleep.store(false, Ordering::SeqCst);
        sleeps
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    /// A worker wakes up while the watchdog falls asleep: the watchdog sees that, or hears the bell. If it did neither it
    /// would sleep on, which the model checker calls a deadlock.
    #[test]
    fn a_worker_that_wakes_up_is_watched() {
        loom::model(|| {
            let bell = Arc::new(Bell::default());
            let parked = Arc::new(AtomicBool::new(true));
            let watchdog = thread::spawn({
                let (bell, parked) = (bell.clone(), parked.clone());
                move || {
                    bell.belongs_to(thread::current());
                    bell.sleep_if(|| parked.load(Ordering::SeqCst));
                }
            });
            parked.swap(false, Ordering::SeqCst);
            // The exchange and the look are sequentially consistent, which the checker takes for less.
            fence(Ordering::SeqCst);
            bell.ring_if_asleep();
            watchdog.join().unwrap();
        });
    }
}
