//! A lock for many readers or one writer.

use std::fmt;

pub use async_lock::{RwLockReadGuard, RwLockWriteGuard};

use crate::shim::const_fn;
use crate::waiting::{self, Waiting};

/// A lock that many readers or one writer hold, also while they wait.
///
/// Writers go first: while one waits, no new reader gets in. When it is free, the next reader and the next writer are woken
/// together. So a task that holds it for reading must not ask for it again: a writer may have come between. It does not
/// poison: a task that panics leaves the value as it is then.
///
/// ```
/// use thrum_rt::sync::RwLock;
///
/// # thrum_rt::block_on(async {
/// let names = RwLock::new(vec!["ada"]);
/// {
///     let one = names.read().await;
///     let two = names.read().await;
///     assert_eq!(one.len(), two.len());
/// }
/// names.write().await.push("grace");
/// # });
/// ```
#[derive(Default)]
pub struct RwLock<T: ?Sized>(async_lock::RwLock<T>);

impl<T> RwLock<T> {
    const_fn! {
        /// A lock with this value in it.
        pub fn new(value: T) -> Self {
            Self(async_lock::RwLock::new(value))
        }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Locks it for reading, waiting until no writer holds it or waits for it.
    ///
    /// Dropping the future before it is done gives its turn to the next.
    pub async fn read(&self) -> RwLockReadGuard<'_, T> {
        waiting::on(Waiting::Lock, self.0.read()).await
    }

    /// Locks it for reading, if no writer holds it or waits for it.
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        self.0.try_read()
    }

    /// Locks it for writing, waiting until nobody holds it.
    ///
    /// Dropping the future before it is done gives its turn to the next; readers that it has kept out get in.
    pub async fn write(&self) -> RwLockWriteGuard<'_, T> {
        waiting::on(Waiting::Lock, self.0.write()).await
    }

    /// Locks it for writing, if nobody holds it.
    pub fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        self.0.try_write()
    }

    /// The value, which needs no lock when nobody else can have it.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<T: fmt::Debug + ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;
    use std::task::Poll;

    use super::super::testing::{Wakes, poll};
    use super::*;

    #[test]
    fn many_read_or_one_writes() {
        let lock = RwLock::new(1);
        let readers = [lock.try_read().unwrap(), lock.try_read().unwrap()];
        assert!(lock.try_write().is_none());
        let (mut write, wakes) = (pin!(lock.write()), Wakes::new());
        assert!(wakes.poll(write.as_mut()).is_pending());
        assert!(lock.try_read().is_none(), "a writer waits");
        drop(readers);
        assert!(wakes.count() > 0);
        let Poll::Ready(writer) = poll(write) else {
            panic!("nobody holds it");
        };
        assert!(lock.try_read().is_none() && lock.try_write().is_none());
        drop(writer);
        assert!(lock.try_read().is_some());
    }

    #[test]
    fn a_writer_that_gives_up_lets_readers_in() {
        let lock = RwLock::new(1);
        let _reader = lock.try_read().unwrap();
        let mut write = Box::pin(lock.write());
        assert!(poll(write.as_mut()).is_pending());
        let (mut read, wakes) = (pin!(lock.read()), Wakes::new());
        assert!(wakes.poll(read.as_mut()).is_pending());
        drop(write);
        assert!(wakes.count() > 0);
        assert!(poll(read).is_ready());
    }
}
