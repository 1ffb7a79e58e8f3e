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

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;

    use super::super::testing::{Wakes, poll};
    use super::*;

    #[test]
    fn a_change_is_news_once() {
        let (sender, mut receiver) = channel(1);
        assert!(!receiver.has_changed());
        let mut other = receiver.clone();
        sender.send(2);
        sender.send_modify(|value| *value += 1);
        assert_eq!(poll(pin!(receiver.changed())), Poll::Ready(Ok(())));
        assert_eq!(*receiver.borrow(), 3);
        assert!(poll(pin!(receiver.changed())).is_pending());
        assert_eq!(*other.borrow_and_update(), 3);
        assert!(!other.has_changed());
        assert!(!sender.subscribe().has_changed());
        assert_eq!(*sender.borrow(), 3);
    }

    #[test]
    fn a_change_wakes_all_who_wait() {
        let (sender, mut one) = channel(1);
        let mut two = one.clone();
        let wakes = Wakes::new();
        let (mut first, mut second) = (pin!(one.changed()), pin!(two.changed()));
        assert!(wakes.poll(first.as_mut()).is_pending());
        assert!(wakes.poll(second.as_mut()).is_pending());
        sender.send(2);
        assert_eq!(wakes.count(), 2);
        assert_eq!(poll(first), Poll::Ready(Ok(())));
        assert_eq!(poll(second), Poll::Ready(Ok(())));
    }

    #[test]
    fn a_dropped_wait_misses_no_change() {
        let (sender, mut receiver) = channel(1);
        {
            let mut wait = Box::pin(receiver.changed());
            assert!(poll(wait.as_mut()).is_pending());
            sender.send(2);
        }
        assert!(receiver.has_changed());
    }

    #[test]
    fn the_last_change_comes_before_the_end() {
        let (sender, mut receiver) = channel(1);
        let another = sender.clone();
        sender.send(2);
        drop(sender);
        assert_eq!(poll(pin!(receiver.changed())), Poll::Ready(Ok(())));
        {
            let (mut wait, wakes) = (pin!(receiver.changed()), Wakes::new());
            assert!(wakes.poll(wait.as_mut()).is_pending());
            drop(another);
            assert_eq!(wakes.count(), 1);
            assert_eq!(poll(wait), Poll::Ready(Err(Closed)));
        }
        assert_eq!(*receiver.borrow(), 2);
    }

    #[test]
    fn the_wanted_value_is_waited_for() {
        let (sender, mut receiver) = channel(1);
        {
            let mut wait = pin!(receiver.wait_for(|value| *value >= 3));
            assert!(poll(wait.as_mut()).is_pending());
            sender.send(2);
            assert!(poll(wait.as_mut()).is_pending());
            sender.send(3);
            let Poll::Ready(Ok(value)) = poll(wait.as_mut()) else {
                panic!("it is as wanted");
            };
            assert_eq!(*value, 3);
        }
        drop(sender);
        assert!(matches!(
            poll(pin!(receiver.wait_for(|value| *value > 3))),
            Poll::Ready(Err(Closed))
        ));
        assert!(matches!(
            poll(pin!(receiver.wait_for(|value| *value == 3))),
            Poll::Ready(Ok(_))
        ));
    }

    #[test]
    fn a_change_that_panics_tells_nobody() {
        let (sender, receiver) = channel(1);
        let change = std::panic::AssertUnwindSafe(|| sender.send_modify(|_| panic!("no")));
        std::panic::catch_unwind(change).unwrap_err();
        assert!(!receiver.has_changed());
        sender.send(2);
        assert_eq!(*receiver.borrow(), 2);
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::future::block_on;
    use loom::thread;

    use super::super::testing::model;
    use super::*;

    #[test]
    fn a_change_beside_a_wait_ends_it() {
        model(|| {
            let (sender, mut receiver) = channel(0);
            let sending = thread::spawn(move || {
                sender.send(1);
                sender
            });
            assert_eq!(block_on(receiver.changed()), Ok(()));
            assert_eq!(*receiver.borrow(), 1);
            sending.join().unwrap();
        });
    }

    /// The last value is seen before the end, and a value that was looked at is not news.
    #[test]
    fn the_last_value_comes_before_the_end() {
        model(|| {
            let (sender, mut receiver) = channel(0);
            let sending = thread::spawn(move || {
                sender.send(1);
                sender.send(2);
            });
            let mut last = *receiver.borrow_and_update();
            while block_on(receiver.changed()).is_ok() {
                let value = *receiver.borrow_and_update();
                assert!(value > last);
                last = value;
            }
            assert_eq!(last, 2);
            sending.join().unwrap();
        });
    }
}
