//! A value that many look at, and who waits for it to change.
//!
//! A receiver sees the latest value, not each one: what a configuration, a state or a progress needs.
//!
//! ```
//! use thrum_rt::sync::watch;
//!
//! # thrum_rt::block_on(async {
//! let (sender, mut receiver) = watch::channel(1);
//! sender.send(2);
//! sender.send(3);
//! receiver.changed().await.unwrap();
//! assert_eq!(*receiver.borrow(), 3);
//! # });
//! ```

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::error::Closed;
use super::line::{Line, Ticket};
use crate::budget;
use crate::shim::{Mutex, RwLock, RwLockReadGuard};
use crate::waiting::{self, Waiting};

/// A watched value, with a first receiver, to which it is not news.
pub fn channel<T>(value: T) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        value: RwLock::new(value),
        state: Mutex::new(State {
            version: 0,
            senders: 1,
            line: Line::new(),
        }),
    });
    let receiver = Receiver {
        shared: shared.clone(),
        seen: 0,
    };
    (Sender { shared }, receiver)
}

struct Shared<T> {
    value: RwLock<T>,
    /// Locked after the value, if both are.
    state: Mutex<State>,
}

struct State {
    /// Counts the changes of the value.
    version: u64,
    senders: usize,
    line: Line,
}

/// The end that sets the value. It can be cloned; when all are gone, waiting receivers get [`Closed`].
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// Sets the value, whether or not there is a receiver, and wakes all who wait for it to change. Tasks do not wait here,
    /// but the thread waits for guards of [`borrow`](Self::borrow).
    pub fn send(&self, value: T) {
        let old = self.change(|current| std::mem::replace(current, value));
        drop(old); // when the lock is free
    }

    /// Changes the value in place, and wakes all who wait for it to change.
    ///
    /// `change` runs under the value's lock: borrowing the value in it never ends. If it panics, the value is left as it is
    /// then, and nobody is woken.
    pub fn send_modify(&self, change: impl FnOnce(&mut T)) {
        self.change(change);
    }

    fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let mut value = self.shared.value.write();
        let result = change(&mut value);
        let mut state = self.shared.state.lock();
        state.version += 1;
        let everyone = state.line.take();
        drop(state);
        drop(value);
        everyone.wake();
        result
    }

    /// The value. It cannot be set while the guard is held, and a task that is to be spawned cannot hold it while it waits.
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref(self.shared.value.read())
    }

    /// A receiver, to which the value as it is now is not news.
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver {
            shared: self.shared.clone(),
            seen: self.shared.state.lock().version,
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.state.lock().senders += 1;
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.senders -= 1;
        if state.senders == 0 {
            let everyone = state.line.take();
            drop(state);
            everyone.wake();
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// The end that looks at the value. A clone has seen what this one has.
#[derive(Clone)]
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    /// The last version it has seen.
    seen: u64,
}

impl<T> Receiver<T> {
    /// The value; [`changed`](Self::changed) still tells it as news if it is. It cannot be set while the guard is held, and a
    /// task that is to be spawned cannot hold it while it waits.
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref(self.shared.value.read())
    }

    /// The value, as [`borrow`](Self::borrow), which is then no news any more.
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        look(&self.shared, &mut self.seen)
    }

    /// Whether the value has changed since this receiver was last told so.
    pub fn has_changed(&self) -> bool {
        self.shared.state.lock().version != self.seen
    }

    /// Waits until the value has changed since this receiver was last told so.
    ///
    /// Dropping the future before it is done misses no change.
    ///
    /// # Errors
    /// [`Closed`] when it has not changed and all senders are gone.
    pub fn changed(&mut self) -> impl Future<Output = Result<(), Closed>> {
        Changed {
            shared: &self.shared,
            seen: &mut self.seen,
            ticket: None,
        }
    }

    /// Waits until the value is as wanted, which it may be already, and gives it.
    ///
    /// `wanted` runs under the value's lock. Dropping the future before it is done loses nothing.
    ///
    /// # Errors
    /// [`Closed`] when the value is not as wanted and all senders are gone.
    pub async fn wait_for(
        &mut self,
        mut wanted: impl FnMut(&T) -> bool,
    ) -> Result<Ref<'_, T>, Closed> {
        let Self { shared, seen } = self;
        loop {
            {
                let value = look(shared, seen);
                if wanted(&value) {
                    return Ok(value);
                }
            }
            Changed {
                shared,
                seen,
                ticket: None,
            }
            .await?;
        }
    }
}

fn look<'a, T>(shared: &'a Shared<T>, seen: &mut u64) -> Ref<'a, T> {
    let value = shared.value.read();
    *seen = shared.state.lock().version;
    Ref(value)
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("has_changed", &self.has_changed())
            .finish_non_exhaustive()
    }
}

/// A look at the value.
#[derive(Debug)]
pub struct Ref<'a, T>(RwLockReadGuard<'a, T>);

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

struct Changed<'a, T> {
    shared: &'a Shared<T>,
    seen: &'a mut u64,
    ticket: Option<Ticket>,
}

impl<T> Future for Changed<'_, T> {
    type Output = Result<(), Closed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if budget::exhausted(cx) {
            return Poll::Pending;
        }
        let this = &mut *self;
        let mut state = this.shared.state.lock();
        let changed = state.version != *this.seen;
        if !changed && state.senders > 0 {
            let replaced = state.line.wait(&mut this.ticket, cx.waker());
            drop(state);
            drop(replaced);
            waiting::note(Waiting::Channel);
            return Poll::Pending;
        }
        *this.seen = state.version;
        let spent = state.line.leave(&mut this.ticket);
        drop(state);
        drop(spent);
        budget::spend(1);
        Poll::Ready(if changed { Ok(()) } else { Err(Closed) })
    }
}

impl<T> Drop for Changed<'_, T> {
    fn drop(&mut self) {
        if self.ticket.is_some() {
            let spent = self.shared.state.lock().line.leave(&mut self.ticket);
            drop(spent);
        }
    }
}
