//! Permits: how many may do a thing at once.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::line::{Line, Ticket};
use crate::shim::{Mutex, MutexGuard, const_fn};
use crate::waiting::{self, Waiting};

/// A number of permits. Who wants one waits until one is free, and gives it back by dropping it.
///
/// It is fair: those who wait are served in the order in which they came, so one that wants many permits is not passed
/// over for those who want few.
///
/// ```
/// use thrum_rt::sync::Semaphore;
///
/// # thrum_rt::block_on(async {
/// let downloads = Semaphore::new(2);
/// let one = downloads.acquire().await;
/// let two = downloads.acquire().await;
/// assert!(downloads.try_acquire().is_none());
/// drop(one);
/// assert!(downloads.try_acquire().is_some());
/// # });
/// ```
pub struct Semaphore {
    state: Mutex<State>,
}

struct State {
    permits: usize,
    line: Line,
}

impl Semaphore {
    const_fn! {
        /// A semaphore with so many permits.
        pub fn new(permits: usize) -> Self {
            Self {
                state: Mutex::new(State {
                    permits,
                    line: Line::new(),
                }),
            }
        }
    }

    /// Takes a permit, waiting until one is free.
    ///
    /// Dropping the future before it is done gives its place in the line up.
    pub fn acquire(&self) -> impl Future<Output = Permit<'_>> {
        self.acquire_many(1)
    }

    /// Takes so many permits at once, waiting until they are free. More than there will ever be are waited for for ever.
    ///
    /// Dropping the future before it is done gives its place in the line up.
    pub fn acquire_many(&self, permits: usize) -> impl Future<Output = Permit<'_>> {
        Acquire {
            semaphore: self,
            permits,
            ticket: None,
        }
    }

    /// As [`acquire`](Self::acquire), with a permit that owns its share of the semaphore and may move to another task.
    pub fn acquire_owned(self: Arc<Self>) -> impl Future<Output = OwnedPermit> {
        self.acquire_many_owned(1)
    }

    /// As [`acquire_many`](Self::acquire_many), with a permit that owns its share of the semaphore and may move to another
    /// task.
    pub async fn acquire_many_owned(self: Arc<Self>, permits: usize) -> OwnedPermit {
        self.acquire_many(permits).await.forget();
        OwnedPermit {
            semaphore: self,
            permits,
        }
    }

    /// Takes a permit, if one is free and nobody waits for it.
    pub fn try_acquire(&self) -> Option<Permit<'_>> {
        self.try_acquire_many(1)
    }

    /// Takes so many permits at once, if they are free and nobody waits for them.
    pub fn try_acquire_many(&self, permits: usize) -> Option<Permit<'_>> {
        let taken = self.state.lock().take(permits, None);
        // Made only if taken: a permit that is dropped is given back.
        taken.then(|| Permit {
            semaphore: self,
            permits,
        })
    }

    /// As [`try_acquire`](Self::try_acquire), with a permit that owns its share of the semaphore.
    pub fn try_acquire_owned(self: Arc<Self>) -> Option<OwnedPermit> {
        self.try_acquire()?.forget();
        Some(OwnedPermit {
            semaphore: self,
            permits: 1,
        })
    }

    /// The permits that are free now.
    pub fn available_permits(&self) -> usize {
        self.state.lock().permits
    }

    /// Adds permits to those there are, up to [`usize::MAX`].
    pub fn add_permits(&self, permits: usize) {
        let mut state = self.state.lock();
        state.permits = state.permits.saturating_add(permits);
        pass_on(state);
    }
}

impl State {
    /// Takes permits if they are there and it is the turn of who asks.
    fn take(&mut self, permits: usize, ticket: Option<Ticket>) -> bool {
        // None are had at once, else one who wants none would wait for somebody to give some back.
        let takes = permits == 0 || (self.line.is_turn(ticket) && permits <= self.permits);
        if takes {
            self.permits -= permits;
        }
        takes
    }
}

/// Wakes the first in the line, which looks whether there are enough permits for it.
fn pass_on(state: MutexGuard<'_, State>) {
    let next = (state.permits > 0).then(|| state.line.first()).flatten();
    drop(state);
    if let Some(waker) = next {
        waker.wake();
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore")
            .field("available_permits", &self.available_permits())
            .finish_non_exhaustive()
    }
}

struct Acquire<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
    ticket: Option<Ticket>,
}

impl<'a> Future for Acquire<'a> {
    type Output = Permit<'a>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut state = this.semaphore.state.lock();
        if state.take(this.permits, this.ticket) {
            let spent = state.line.leave(&mut this.ticket);
            pass_on(state);
            drop(spent);
            return Poll::Ready(Permit {
                semaphore: this.semaphore,
                permits: this.permits,
            });
        }
        let replaced = state.line.wait(&mut this.ticket, cx.waker());
        drop(state);
        drop(replaced);
        waiting::note(Waiting::Permit);
        Poll::Pending
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        if self.ticket.is_some() {
            let mut state = self.semaphore.state.lock();
            let spent = state.line.leave(&mut self.ticket);
            pass_on(state); // it may have been woken and was not served
            drop(spent);
        }
    }
}

/// One or more permits of a [`Semaphore`], given back when dropped.
#[derive(Debug)]
#[must_use = "a permit is given back when dropped"]
pub struct Permit<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
}

impl Permit<'_> {
    /// Never gives it back: the semaphore has so many permits fewer.
    pub fn forget(mut self) {
        self.permits = 0;
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        give_back(self.semaphore, self.permits);
    }
}

/// One or more permits that keep their [`Semaphore`] alive, given back when dropped.
#[derive(Debug)]
#[must_use = "a permit is given back when dropped"]
pub struct OwnedPermit {
    semaphore: Arc<Semaphore>,
    permits: usize,
}

impl OwnedPermit {
    /// Never gives it back: the semaphore has so many permits fewer.
    pub fn forget(mut self) {
        self.permits = 0;
    }
}

impl Drop for OwnedPermit {
    fn drop(&mut self) {
        give_back(&self.semaphore, self.permits);
    }
}

fn give_back(semaphore: &Semaphore, permits: usize) {
    if permits > 0 {
        semaphore.add_permits(permits);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;

    use super::super::testing::{Wakes, poll};
    use super::*;

    #[test]
    fn those_who_wait_are_served_in_order() {
        let semaphore = Semaphore::new(0);
        let (mut first, mut second) = (pin!(semaphore.acquire()), pin!(semaphore.acquire()));
        let wakes = [Wakes::new(), Wakes::new()];
        assert!(wakes[0].poll(first.as_mut()).is_pending());
        assert!(wakes[1].poll(second.as_mut()).is_pending());
        semaphore.add_permits(1);
        assert_eq!([wakes[0].count(), wakes[1].count()], [1, 0]);
        assert!(poll(second.as_mut()).is_pending(), "the first one's turn");
        assert!(semaphore.try_acquire().is_none(), "for everyone");
        let Poll::Ready(permit) = poll(first.as_mut()) else {
            panic!("its permit is there");
        };
        drop(permit);
        assert!(poll(second.as_mut()).is_ready());
    }

    #[test]
    fn one_who_wants_many_is_not_passed_over() {
        let semaphore = Semaphore::new(1);
        let mut many = pin!(semaphore.acquire_many(2));
        let mut few = pin!(semaphore.acquire());
        assert!(poll(many.as_mut()).is_pending());
        assert!(poll(few.as_mut()).is_pending());
        assert!(semaphore.try_acquire().is_none());
        semaphore.add_permits(1);
        assert!(poll(few.as_mut()).is_pending());
        let permits = poll(many.as_mut());
        assert!(permits.is_ready());
        drop(permits);
        assert!(poll(few.as_mut()).is_ready());
        assert_eq!(semaphore.available_permits(), 2);
    }

    #[test]
    fn permits_for_several_reach_all_of_them() {
        let semaphore = Semaphore::new(0);
        let mut waits: Vec<_> = (0..3).map(|_| Box::pin(semaphore.acquire())).collect();
        let wakes: Vec<_> = waits.iter().map(|_| Wakes::new()).collect();
        for (wait, wakes) in waits.iter_mut().zip(&wakes) {
            assert!(wakes.poll(wait.as_mut()).is_pending());
        }
        semaphore.add_permits(3);
        for (wait, wakes) in waits.iter_mut().zip(&wakes) {
            assert!(wakes.count() > 0);
            let Poll::Ready(permit) = poll(wait.as_mut()) else {
                panic!("there is one for each");
            };
            permit.forget();
        }
        assert_eq!(semaphore.available_permits(), 0);
    }

    #[test]
    fn who_gives_up_passes_its_turn_on() {
        let semaphore = Semaphore::new(0);
        let mut first = Box::pin(semaphore.acquire());
        let mut second = pin!(semaphore.acquire());
        let wakes = Wakes::new();
        assert!(poll(first.as_mut()).is_pending());
        assert!(wakes.poll(second.as_mut()).is_pending());
        semaphore.add_permits(1);
        assert_eq!(wakes.count(), 0);
        drop(first);
        assert_eq!(wakes.count(), 1);
        assert!(poll(second.as_mut()).is_ready());
    }

    #[test]
    fn owned_permits_are_given_back_and_forgotten() {
        let semaphore = Arc::new(Semaphore::new(3));
        let Poll::Ready(two) = poll(pin!(semaphore.clone().acquire_many_owned(2))) else {
            panic!("they are free");
        };
        let one = semaphore.clone().try_acquire_owned().unwrap();
        assert!(semaphore.clone().try_acquire_owned().is_none());
        drop(two);
        one.forget();
        assert_eq!(semaphore.available_permits(), 2);
        assert!(semaphore.try_acquire_many(3).is_none());
        let mut many = pin!(semaphore.acquire_many(3));
        assert!(poll(many.as_mut()).is_pending());
        assert!(semaphore.try_acquire_many(0).is_some());
    }

    #[test]
    fn who_waits_for_too_many_holds_others_up_until_it_gives_up() {
        let semaphore = Semaphore::new(2);
        let mut many = Box::pin(semaphore.acquire_many(3));
        assert!(poll(many.as_mut()).is_pending());
        assert!(semaphore.try_acquire_many(2).is_none());
        drop(many);
        assert!(semaphore.try_acquire_many(2).is_some());
    }

    #[test]
    fn permits_do_not_overflow() {
        let semaphore = Semaphore::new(usize::MAX);
        semaphore.add_permits(1);
        assert_eq!(semaphore.available_permits(), usize::MAX);
    }
}

#[cfg(all(test, loom))]
mod model {
    use std::task::Waker;

    use loom::future::block_on;
    use loom::thread;

    use super::*;

    #[test]
    fn a_permit_goes_from_hand_to_hand() {
        loom::model(|| {
            let semaphore = Arc::new(Semaphore::new(1));
            let other = thread::spawn({
                let semaphore = semaphore.clone();
                move || drop(block_on(semaphore.acquire()))
            });
            drop(block_on(semaphore.acquire()));
            other.join().unwrap();
            assert_eq!(semaphore.available_permits(), 1);
        });
    }

    #[test]
    fn permits_given_together_reach_all() {
        loom::model(|| {
            let semaphore = Arc::new(Semaphore::new(0));
            let other = thread::spawn({
                let semaphore = semaphore.clone();
                move || block_on(semaphore.acquire()).forget()
            });
            let giver = thread::spawn({
                let semaphore = semaphore.clone();
                move || semaphore.add_permits(2)
            });
            block_on(semaphore.acquire()).forget();
            other.join().unwrap();
            giver.join().unwrap();
            assert_eq!(semaphore.available_permits(), 0);
        });
    }

    #[test]
    fn a_turn_given_up_is_passed_on() {
        loom::model(|| {
            let semaphore = Arc::new(Semaphore::new(0));
            let mut gone = Box::pin(semaphore.acquire());
            let polled = gone.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
            let waiter = thread::spawn({
                let semaphore = semaphore.clone();
                move || block_on(semaphore.acquire()).forget()
            });
            let giver = thread::spawn({
                let semaphore = semaphore.clone();
                move || semaphore.add_permits(1)
            });
            drop(gone);
            waiter.join().unwrap();
            giver.join().unwrap();
            assert_eq!(semaphore.available_permits(), 0);
        });
    }
}
