//! A lock that may be held while waiting.

use std::fmt;

pub use async_lock::MutexGuard;

use crate::shim::const_fn;
use crate::waiting::{self, Waiting};

/// A lock whose guard may be held while the task waits, and that others wait for without blocking their thread.
///
/// For a value that is never held while waiting, [`std::sync::Mutex`] is faster, and as good a neighbour.
///
/// Who tries first gets it first, unless somebody has waited for half a millisecond: then those who wait are served in their
/// order. It does not poison: a task that panics leaves the value as it is then.
///
/// ```
/// use thrum_rt::sync::Mutex;
///
/// # thrum_rt::block_on(async {
/// let counter = Mutex::new(0);
/// *counter.lock().await += 1;
/// assert_eq!(counter.into_inner(), 1);
/// # });
/// ```
#[derive(Default)]
pub struct Mutex<T: ?Sized>(async_lock::Mutex<T>);

impl<T> Mutex<T> {
    const_fn! {
        /// A lock with this value in it.
        pub fn new(value: T) -> Self {
            Self(async_lock::Mutex::new(value))
        }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks it, waiting until nobody else holds it.
    ///
    /// Dropping the future before it is done gives its turn to the next.
    pub async fn lock(&self) -> MutexGuard<'_, T> {
        waiting::on(Waiting::Lock, self.0.lock()).await
    }

    /// Locks it, if nobody holds it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock()
    }

    /// The value, which needs no lock when nobody else can have it.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<T: fmt::Debug + ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;

    use super::super::testing::{Wakes, poll};
    use super::*;

    #[test]
    fn it_is_held_by_one() {
        let mut mutex = Mutex::new(1);
        let guard = mutex.try_lock().unwrap();
        assert!(mutex.try_lock().is_none());
        {
            let (mut lock, wakes) = (pin!(mutex.lock()), Wakes::new());
            assert!(wakes.poll(lock.as_mut()).is_pending());
            drop(guard);
            assert_eq!(wakes.count(), 1);
            assert!(poll(lock).is_ready());
        }
        *mutex.get_mut() += 1;
        assert_eq!(mutex.into_inner(), 2);
    }

    #[test]
    fn who_gives_up_passes_its_turn_on() {
        let mutex = Mutex::new(());
        let guard = mutex.try_lock().unwrap();
        let mut first = Box::pin(mutex.lock());
        let mut second = pin!(mutex.lock());
        let wakes = Wakes::new();
        assert!(poll(first.as_mut()).is_pending());
        assert!(wakes.poll(second.as_mut()).is_pending());
        drop(guard);
        drop(first);
        assert_eq!(wakes.count(), 1);
        assert!(poll(second).is_ready());
    }
}
