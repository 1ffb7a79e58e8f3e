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

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;

    use super::super::testing::{Wakes, poll};
    use super::*;

    #[test]
    fn one_notification_is_kept() {
        let notify = Notify::new();
        notify.notify_one();
        notify.notify_one();
        assert!(poll(pin!(notify.notified())).is_ready());
        assert!(poll(pin!(notify.notified())).is_pending());
    }

    #[test]
    fn notifications_reach_waiters_in_order() {
        let notify = Notify::new();
        let (mut first, mut second) = (pin!(notify.notified()), pin!(notify.notified()));
        let wakes = [Wakes::new(), Wakes::new()];
        assert!(wakes[0].poll(first.as_mut()).is_pending());
        assert!(wakes[1].poll(second.as_mut()).is_pending());
        notify.notify_one();
        assert_eq!([wakes[0].count(), wakes[1].count()], [1, 0]);
        notify.notify_one();
        assert_eq!([wakes[0].count(), wakes[1].count()], [1, 1]);
        assert!(poll(second.as_mut()).is_ready());
        assert!(poll(first.as_mut()).is_ready());
        assert!(
            poll(pin!(notify.notified())).is_pending(),
            "nothing is left"
        );
    }

    #[test]
    fn who_goes_without_looking_passes_it_on() {
        let notify = Notify::new();
        let mut first = Box::pin(notify.notified());
        let mut second = pin!(notify.notified());
        let wakes = Wakes::new();
        assert!(poll(first.as_mut()).is_pending());
        assert!(wakes.poll(second.as_mut()).is_pending());
        notify.notify_one();
        drop(first);
        assert_eq!(wakes.count(), 1);
        assert!(poll(second.as_mut()).is_ready());

        let mut only = Box::pin(notify.notified());
        assert!(poll(only.as_mut()).is_pending());
        notify.notify_one();
        drop(only);
        assert!(poll(pin!(notify.notified())).is_ready(), "it is kept");
    }

    #[test]
    fn who_waits_no_more_is_not_notified() {
        let notify = Notify::new();
        let mut gone = Box::pin(notify.notified());
        assert!(poll(gone.as_mut()).is_pending());
        drop(gone);
        notify.notify_one();
        assert!(poll(pin!(notify.notified())).is_ready(), "it met nobody");
    }

    #[test]
    fn all_waiters_are_those_of_before() {
        let notify = Notify::new();
        let mut polled = pin!(notify.notified());
        let unpolled = pin!(notify.notified());
        let wakes = Wakes::new();
        assert!(wakes.poll(polled.as_mut()).is_pending());
        notify.notify_waiters();
        assert_eq!(wakes.count(), 1);
        assert!(poll(pin!(notify.notified())).is_pending(), "it came later");
        assert!(poll(polled.as_mut()).is_ready());
        assert!(poll(unpolled).is_ready());
    }

    #[test]
    fn a_notification_of_all_is_not_passed_on() {
        let notify = Notify::new();
        let mut gone = Box::pin(notify.notified());
        assert!(poll(gone.as_mut()).is_pending());
        notify.notify_waiters();
        drop(gone);
        assert!(poll(pin!(notify.notified())).is_pending());
    }
}

#[cfg(all(test, loom))]
mod model {
    use std::task::Waker;

    use loom::future::block_on;
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    #[test]
    fn a_notification_beside_a_wait_ends_it() {
        loom::model(|| {
            let notify = Arc::new(Notify::new());
            let notifier = thread::spawn({
                let notify = notify.clone();
                move || notify.notify_one()
            });
            block_on(notify.notified());
            notifier.join().unwrap();
        });
    }

    #[test]
    fn two_notifications_end_two_waits() {
        loom::model(|| {
            let notify = Arc::new(Notify::new());
            let mut here = Box::pin(notify.notified());
            let polled = here.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
            let waiter = thread::spawn({
                let notify = notify.clone();
                move || block_on(notify.notified())
            });
            let notifier = thread::spawn({
                let notify = notify.clone();
                move || notify.notify_one()
            });
            notify.notify_one();
            block_on(here);
            notifier.join().unwrap();
            waiter.join().unwrap();
        });
    }

    #[test]
    fn a_notification_of_one_who_goes_is_passed_on() {
        loom::model(|| {
            let notify = Arc::new(Notify::new());
            let mut gone = Box::pin(notify.notified());
            let polled = gone.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
            let waiter = thread::spawn({
                let notify = notify.clone();
                move || block_on(notify.notified())
            });
            let notifier = thread::spawn({
                let notify = notify.clone();
                move || notify.notify_one()
            });
            drop(gone);
            notifier.join().unwrap();
            waiter.join().unwrap();
        });
    }

    #[test]
    fn all_are_notified_beside_their_polls() {
        loom::model(|| {
            let notify = Arc::new(Notify::new());
            let notified = notify.notified();
            let notifier = thread::spawn({
                let notify = notify.clone();
                move || notify.notify_waiters()
            });
            block_on(notified);
            notifier.join().unwrap();
        });
    }
}
