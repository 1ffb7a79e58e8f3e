//! Locks of what stays whole whoever panics while holding it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks it, poisoned or not.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
