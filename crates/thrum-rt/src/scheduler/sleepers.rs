//! Which seats are asleep: a bit each. Whoever clears a bit answers for the wake-up.

use crate::shim::{AtomicU64, Ordering};

pub(super) struct Sleepers(Box<[AtomicU64]>);

impl Sleepers {
    pub(super) fn new(seats: usize) -> Self {
        Self((0..seats.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    /// Marks a seat asleep. Its worker then looks at all queues once more before it waits.
    pub(super) fn fall_asleep(&self, seat: usize) {
        self.0[seat / 64].fetch_or(bit(seat), Ordering::SeqCst);
    }

    /// Marks a seat awake; false if somebody has woken it.
    pub(super) fn wake_up(&self, seat: usize) -> bool {
        self.0[seat / 64].fetch_and(!bit(seat), Ordering::SeqCst) & bit(seat) != 0
    }

    /// Takes a sleeping seat, marked awake. The caller interrupts its worker.
    pub(super) fn wake_one(&self) -> Option<usize> {
        for (index, word) in self.0.iter().enumerate() {
            let mut asleep = word.load(Ordering::Relaxed);
            while asleep != 0 {
                let lowest = asleep.trailing_zeros() as usize;
                let before = word.fetch_and(!bit(lowest), Ordering::SeqCst);
                if before & bit(lowest) != 0 {
                    return Some(index * 64 + lowest);
                }
                asleep = before;
            }
        }
        None
    }

    pub(super) fn is_asleep(&self, seat: usize) -> bool {
        self.0[seat / 64].load(Ordering::SeqCst) & bit(seat) != 0
    }
}

fn bit(seat: usize) -> u64 {
    1 << (seat % 64)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_sleeper_is_woken_once() {
        let sleepers = Sleepers::new(130);
        for seat in [3, 64, 129] {
            sleepers.fall_asleep(seat);
        }
        assert!(sleepers.is_asleep(129));
        assert_eq!(sleepers.wake_one(), Some(3));
        assert!(!sleepers.wake_up(3), "it was woken");
        assert!(sleepers.wake_up(64), "it woke by itself");
        assert_eq!(sleepers.wake_one(), Some(129));
        assert_eq!(sleepers.wake_one(), None);
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering, fence};
    use loom::thread;

    use super::*;

    /// The parking protocol: a worker that sleeps and one who adds a task. Either the worker sees the task on its second
    /// look, or the other sees it asleep.
    #[test]
    fn a_task_added_while_falling_asleep_is_not_lost() {
        loom::model(|| {
            let sleepers = Arc::new(Sleepers::new(1));
            let queue = Arc::new(AtomicUsize::new(0));
            let adder = thread::spawn({
                let (sleepers, queue) = (sleepers.clone(), queue.clone());
                move || {
                    queue.store(1, Ordering::Release);
                    fence(Ordering::SeqCst);
                    sleepers.wake_one().is_some()
                }
            });
            sleepers.fall_asleep(0);
            fence(Ordering::SeqCst);
            let seen = queue.load(Ordering::Acquire) == 1;
            let woken = adder.join().unwrap();
            assert!(seen || woken);
        });
    }

    /// Two who add tasks never wake the same sleeper twice.
    #[test]
    fn two_wakers_share_out_the_sleepers() {
        loom::model(|| {
            let sleepers = Arc::new(Sleepers::new(2));
            sleepers.fall_asleep(0);
            sleepers.fall_asleep(1);
            let other = thread::spawn({
                let sleepers = sleepers.clone();
                move || sleepers.wake_one()
            });
            let one = sleepers.wake_one().unwrap();
            let other = other.join().unwrap().unwrap();
            assert_ne!(one, other);
        });
    }
}
