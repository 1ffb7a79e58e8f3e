//! A nudge to another task that something has changed.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::line::{Line, Ticket};
use crate::shim::{Mutex, const_fn};
use crate::waiting::{self, Waiting};

/// Tells waiting tasks that something has happened; what it was they look up elsewhere.
///
/// [`notify_one`](Self::notify_one) is for work that one task is to do: when nobody waits, it is kept, once, for the next
/// who does. [`notify_waiters`](Self::notify_waiters) is for news that concerns everyone who waits now.
///
/// ```
/// use std::sync::Arc;
/// use thrum_rt::sync::Notify;
///
/// # thrum_rt::block_on(async {
/// let notify = Arc::new(Notify::new());
/// let waiter = notify.clone();
/// let task = thrum_rt::spawn(async move { waiter.notified().await });
/// notify.notify_one(); // before or after the task has begun to wait
/// task.await.unwrap();
/// # });
/// ```
pub struct Notify {
    state: Mutex<State>,
}

struct State {
    /// A notification that met nobody.
    kept: bool,
    /// Counts the calls of `notify_waiters`.
    round: u64,
    line: Line,
    /// Those who were notified one by one and have not looked yet, in order. If one goes without looking, another gets its
    /// notification.
    chosen: VecDeque<Ticket>,
}

impl Notify {
    const_fn! {
        /// One that nobody has notified.
        pub fn new() -> Self {
            Self {
                state: Mutex::new(State {
                    kept: false,
                    round: 0,
                    line: Line::new(),
                    chosen: VecDeque::new(),
                }),
            }
        }
    }

    /// Notifies the task that has waited the longest. If none waits, the next one that does will not have to; several such
    /// notifications count as one.
    pub fn notify_one(&self) {
        let mut state = self.state.lock();
        let Some((ticket, waker)) = state.line.pop() else {
            state.kept = true;
            return;
        };
        let place = state.chosen.partition_point(|other| *other < ticket);
        state.chosen.insert(place, ticket);
        drop(state);
        waker.wake();
    }

    /// Notifies everyone who waits: each [`notified`](Self::notified) that was called before this, polled or not. Nothing
    /// is kept for later ones.
    pub fn notify_waiters(&self) {
        let mut state = self.state.lock();
        state.round += 1;
        let everyone = state.line.take();
        drop(state);
        everyone.wake();
    }

    /// Waits for a notification.
    ///
    /// Dropping the future before it is done loses nothing: a notification meant for it goes to the next.
    pub fn notified(&self) -> impl Future<Output = ()> {
        Notified {
            notify: self,
            round: self.state.lock().round,
            ticket: None,
        }
    }
}

impl Default for Notify {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}

struct Notified<'a> {
    notify: &'a Notify,
    /// The round in which it was made.
    round: u64,
    ticket: Option<Ticket>,
}

impl State {
    /// Takes back that a waiter was chosen; false if it was not.
    fn unchoose(&mut self, ticket: Option<Ticket>) -> bool {
        let place = ticket.and_then(|ticket| self.chosen.binary_search(&ticket).ok());
        place.is_some_and(|place| self.chosen.remove(place).is_some())
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut state = this.notify.state.lock();
        let notified = state.unchoose(this.ticket)
            || state.round != this.round
            || (this.ticket.is_none() && std::mem::take(&mut state.kept));
        if notified {
            this.ticket = None;
            this.round = u64::MAX; // done: polled again, it is still done
            return Poll::Ready(());
        }
        let replaced = state.line.wait(&mut this.ticket, cx.waker());
        drop(state);
        drop(replaced);
        waiting::note(Waiting::Notification);
        Poll::Pending
    }
}

impl Drop for Notified<'_> {
    fn drop(&mut self) {
        if self.ticket.is_none() {
            return;
        }
        let mut state = self.notify.state.lock();
        let chosen = state.unchoose(self.ticket);
        let spent = state.line.leave(&mut self.ticket);
        drop(state);
        drop(spent);
        if chosen {
            self.notify.notify_one();
        }
    }
}
