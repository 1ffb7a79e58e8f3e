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
