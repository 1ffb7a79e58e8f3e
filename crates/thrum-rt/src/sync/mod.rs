//! Waiting for another task: variables, channels, locks, and signals between tasks.
//!
//! | what it is about | use |
//! |---|---|
//! | one result of one task | [`oneshot`], or the task's own [`JoinHandle`](crate::JoinHandle) |
//! | work for one or several tasks, each piece for one of them | [`channel`] |
//! | news that everyone is to hear, one by one | [`broadcast`] |
//! | a state of which only the latest matters | [`watch`] |
//! | a value handed to and fro, or a channel of one place | [`MVar`] |
//! | a value that many change, held while waiting | [`Mutex`]; [`RwLock`] if most only look |
//! | a value that many change, never held while waiting | [`std::sync::Mutex`] |
//! | how many may do a thing at once | [`Semaphore`] |
//! | "look again" | [`Notify`] |
//! | going on together | [`Barrier`] |
//! | a value made once, when it is first needed | [`OnceCell`] |
//!
//! All of it works between tasks, between threads, and under other executors. A wait is given up by dropping its future;
//! each says what that means. Channels count towards the budget of a poll, so a channel that is never empty does not let
//! its receiver keep the worker.

mod barrier;
pub mod broadcast;
pub mod channel;
mod error;
mod line;
mod mutex;
mod mvar;
mod notify;
mod once_cell;
pub mod oneshot;
mod rwlock;
mod semaphore;
#[cfg(test)]
mod testing;
pub mod watch;

pub use self::barrier::{Barrier, BarrierWaitResult};
pub use self::error::{Closed, SendError, TryRecvError, TrySendError};
pub use self::mutex::{Mutex, MutexGuard};
pub use self::mvar::MVar;
pub use self::notify::Notify;
pub use self::once_cell::OnceCell;
pub use self::rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use self::semaphore::{OwnedPermit, Permit, Semaphore};

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;

    use super::testing::poll;
    use super::*;
    use crate::waiting::{Waiting, take_note};

    #[test]
    fn who_waits_says_for_what() {
        fn note<F: Future>(wait: F) -> Waiting {
            take_note();
            assert!(poll(pin!(wait)).is_pending());
            Waiting::unpack(take_note())
        }

        let (variable, mutex, lock) = (MVar::<()>::empty(), Mutex::new(()), RwLock::new(()));
        let _guards = (mutex.try_lock().unwrap(), lock.try_write().unwrap());
        let (sender, receiver) = channel::bounded(1);
        let (_broadcast, mut everyone) = broadcast::channel::<()>(1);
        let (_watched, mut watcher) = watch::channel(());
        let (mut one, result) = oneshot::channel::<()>();
        assert_eq!(note(variable.take()), Waiting::Variable);
        assert_eq!(note(receiver.recv()), Waiting::Channel);
        sender.try_send(()).unwrap();
        assert_eq!(note(sender.send(())), Waiting::Channel);
        assert_eq!(note(everyone.recv()), Waiting::Channel);
        assert_eq!(note(watcher.changed()), Waiting::Channel);
        assert_eq!(note(one.closed()), Waiting::Channel);
        assert_eq!(note(result), Waiting::Channel);
        assert_eq!(note(mutex.lock()), Waiting::Lock);
        assert_eq!(note(lock.read()), Waiting::Lock);
        assert_eq!(note(lock.write()), Waiting::Lock);
        assert_eq!(note(Semaphore::new(0).acquire()), Waiting::Permit);
        assert_eq!(note(Notify::new().notified()), Waiting::Notification);
        assert_eq!(note(Barrier::new(2).wait()), Waiting::Barrier);
        assert_eq!(note(OnceCell::<()>::new().wait()), Waiting::OnceCell);
    }
}
