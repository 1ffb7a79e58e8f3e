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
        let takes = self.line.is_turn(ticket) && permits <= self.permits;
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
