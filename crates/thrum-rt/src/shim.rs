//! Atomics and locks. Built with `--cfg loom` they are the model checker's, so that the protocols in `reactor`,
//! `scheduler`, `watchdog::bell`, `waiters` and `sync` are explored, not only tried.

use std::time::Duration;

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence,
};

#[cfg(loom)]
pub(crate) use loom::thread::{Thread, current, park};
#[cfg(not(loom))]
pub(crate) use std::thread::{Thread, current, park};

#[cfg(loom)]
use loom::sync as imp;
#[cfg(not(loom))]
use std::sync as imp;

/// A mutex that does not poison: what it guards here is always left consistent, and user code never runs under it.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(imp::Mutex<T>);

pub(crate) type MutexGuard<'a, T> = imp::MutexGuard<'a, T>;

/// A function that is `const`, except in the model checker's builds, where no lock can be.
macro_rules! const_fn {
    ($(#[$meta:meta])* $visibility:vis fn $($rest:tt)*) => {
        #[cfg(not(loom))]
        $(#[$meta])*
        $visibility const fn $($rest)*
        #[cfg(loom)]
        $(#[$meta])*
        $visibility fn $($rest)*
    };
}
pub(crate) use const_fn;

impl<T> Mutex<T> {
    const_fn! {
        pub(crate) fn new(value: T) -> Self {
            Self(imp::Mutex::new(value))
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }
}

/// A condition variable of such a mutex.
#[derive(Debug)]
pub(crate) struct Condvar(imp::Condvar);

impl Default for Condvar {
    fn default() -> Self {
        Self(imp::Condvar::new())
    }
}

impl Condvar {
    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0
            .wait(guard)
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits no longer than `timeout`. (The model checker knows no time: there it is a [`wait`](Self::wait).)
    pub(crate) fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> MutexGuard<'a, T> {
        let waited = self.0.wait_timeout(guard, timeout);
        waited.unwrap_or_else(std::sync::PoisonError::into_inner).0
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// A lock for many readers or one writer that does not poison either. It may run user code: what a panic leaves is
/// that code's own value.
#[derive(Debug, Default)]
pub(crate) struct RwLock<T>(imp::RwLock<T>);

pub(crate) type RwLockReadGuard<'a, T> = imp::RwLockReadGuard<'a, T>;
pub(crate) type RwLockWriteGuard<'a, T> = imp::RwLockWriteGuard<'a, T>;

impl<T> RwLock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(imp::RwLock::new(value))
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0
            .read()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
