//! A variable that is full or empty, as in Concurrent Haskell.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::task::{Context, Poll, Waker};

use crate::shim::{Mutex, MutexGuard};
use crate::waiting::{self, Waiting};

/// A variable that holds one value or none: [`take`](Self::take) waits until it is full, [`put`](Self::put) until it is
/// empty. It serves as a lock, a channel of one place, or a signal.
///
/// It is fair: those who wait are served in the order in which they came. (Peyton Jones, Gordon and Finne, "Concurrent
/// Haskell", 1996.)
///
/// ```
/// use std::sync::Arc;
/// use thrum_rt::sync::MVar;
///
/// # thrum_rt::block_on(async {
/// let variable = Arc::new(MVar::empty());
/// let filler = variable.clone();
/// thrum_rt::spawn(async move { filler.put("hello").await });
/// assert_eq!(variable.take().await, "hello");
/// # });
/// ```
pub struct MVar<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    value: Option<T>,
    queue: Queue,
}

impl<T> MVar<T> {
    /// A variable that holds a value.
    pub fn new(value: T) -> Self {
        Self {
            state: Mutex::new(State {
                value: Some(value),
                queue: Queue::default(),
            }),
        }
    }

    /// A variable that holds none.
    pub fn empty() -> Self {
        Self {
            state: Mutex::new(State {
                value: None,
                queue: Queue::default(),
            }),
        }
    }

    /// Takes the value out, waiting until there is one.
    ///
    /// Dropping the future before it is done takes nothing.
    pub fn take(&self) -> impl Future<Output = T> + use<'_, T> {
        Wait::new(self, Kind::Taker, |state| state.value.take())
    }

    /// Puts a value in, waiting until there is room.
    ///
    /// Dropping the future before it is done drops the value.
    pub fn put(&self, value: T) -> impl Future<Output = ()> + use<'_, T> {
        let mut value = Some(value);
        Wait::new(self, Kind::Putter, move |state| {
            if state.value.is_none() {
                state.value = value.take();
                return Some(());
            }
            None
        })
    }

    /// Copies the value out, waiting until there is one.
    pub fn read(&self) -> impl Future<Output = T> + use<'_, T>
    where
        T: Clone,
    {
        Wait::new(self, Kind::Taker, |state| state.value.clone())
    }

    /// Takes the value out, if there is one and nobody waits for it.
    pub fn try_take(&self) -> Option<T> {
        self.at_once(Kind::Taker, |state| state.value.take())
    }

    /// Puts a value in, if there is room and nobody waits for it; else gives it back.
    ///
    /// # Errors
    /// The value, when there is no room.
    pub fn try_put(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.at_once(Kind::Putter, |state| {
            if state.value.is_none() {
                state.value = value.take();
            }
            value.is_none().then_some(())
        });
        value.map_or(Ok(()), Err)
    }

    fn at_once<R>(&self, kind: Kind, step: impl FnOnce(&mut State<T>) -> Option<R>) -> Option<R> {
        let mut state = self.state.lock();
        if state.queue.front(kind).is_some() {
            return None;
        }
        let result = step(&mut state)?;
        pass_on(state);
        Some(result)
    }
}

/// Wakes who can go on now: the first taker if the variable is full, else the first putter.
fn pass_on<T>(state: MutexGuard<'_, State<T>>) {
    let kind = if state.value.is_some() {
        Kind::Taker
    } else {
        Kind::Putter
    };
    let next = state.queue.front(kind).map(|waiter| waiter.waker.clone());
    drop(state); // a waker is somebody's code
    if let Some(waker) = next {
        waker.wake();
    }
}

impl<T> Default for MVar<T> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<T> fmt::Debug for MVar<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MVar")
            .field("full", &self.state.lock().value.is_some())
            .finish()
    }
}

/// A wait for a step to succeed. Its ticket is its place in the queue; zero: none yet.
struct Wait<'a, T, F> {
    variable: &'a MVar<T>,
    step: F,
    ticket: u32,
    kind: Kind,
}

impl<'a, T, R, F: FnMut(&mut State<T>) -> Option<R>> Wait<'a, T, F> {
    fn new(variable: &'a MVar<T>, kind: Kind, step: F) -> Self {
        Self {
            variable,
            step,
            ticket: 0,
            kind,
        }
    }
}

// Nothing in it is ever pinned.
impl<T, F> Unpin for Wait<'_, T, F> {}

impl<T, R, F: FnMut(&mut State<T>) -> Option<R>> Future for Wait<'_, T, F> {
    type Output = R;

    fn poll(mut self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        let this = &mut *self;
        let mut state = this.variable.state.lock();
        let first = state
            .queue
            .front(this.kind)
            .is_none_or(|first| first.ticket == this.ticket);
        if first && let Some(result) = (this.step)(&mut state) {
            let spent = state.queue.remove(std::mem::take(&mut this.ticket));
            pass_on(state);
            drop(spent);
            return Poll::Ready(result);
        }
        let replaced = state.queue.enter(&mut this.ticket, this.kind, cx.waker());
        drop(state);
        drop(replaced);
        waiting::note(Waiting::Variable);
        Poll::Pending
    }
}

impl<T, F> Drop for Wait<'_, T, F> {
    fn drop(&mut self) {
        if self.ticket == 0 {
            return;
        }
        let mut state = self.variable.state.lock();
        let spent = state.queue.remove(self.ticket);
        pass_on(state); // it may have been woken and was not served
        drop(spent);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Taker,
    Putter,
}

struct Waiter {
    waker: Waker,
    ticket: u32,
    kind: Kind,
}

/// Those who wait, in their order. Nearly always there is one, so the first is kept inline.
#[derive(Default)]
struct Queue {
    first: Option<Waiter>,
    #[expect(
        clippy::box_collection,
        reason = "a word instead of four in each variable"
    )]
    others: Option<Box<VecDeque<Waiter>>>,
    last_ticket: u32,
}

impl Queue {
    fn iter(&self) -> impl Iterator<Item = &Waiter> {
        self.first
            .iter()
            .chain(self.others.iter().flat_map(|others| others.iter()))
    }

    /// The first of a kind.
    fn front(&self, kind: Kind) -> Option<&Waiter> {
        self.iter().find(|waiter| waiter.kind == kind)
    }

    /// Takes a place at the end, or has `waker` woken from now on at the place there is. Returns what is to be dropped.
    fn enter(&mut self, ticket: &mut u32, kind: Kind, waker: &Waker) -> Option<Waker> {
        if *ticket != 0 {
            let others = self.others.iter_mut().flat_map(|others| others.iter_mut());
            let mine = self
                .first
                .iter_mut()
                .chain(others)
                .find(|waiter| waiter.ticket == *ticket)?;
            let stays = mine.waker.will_wake(waker);
            return (!stays).then(|| std::mem::replace(&mut mine.waker, waker.clone()));
        }
        self.last_ticket = self.last_ticket.checked_add(1).unwrap_or(1);
        *ticket = self.last_ticket;
        let waiter = Waiter {
            waker: waker.clone(),
            ticket: *ticket,
            kind,
        };
        match &mut self.first {
            None => self.first = Some(waiter),
            Some(_) => self.others.get_or_insert_default().push_back(waiter),
        }
        None
    }

    /// Gives a place up. Returns its waiter, to be dropped when the lock is free.
    fn remove(&mut self, ticket: u32) -> Option<Waiter> {
        if ticket == 0 {
            return None;
        }
        if self
            .first
            .as_ref()
            .is_some_and(|first| first.ticket == ticket)
        {
            let next = self.others.as_mut().and_then(|others| others.pop_front());
            let removed = std::mem::replace(&mut self.first, next);
            self.others.take_if(|others| others.is_empty());
            return removed;
        }
        let others = self.others.as_mut()?;
        let index = others.iter().position(|waiter| waiter.ticket == ticket)?;
        let removed = others.remove(index);
        self.others.take_if(|others| others.is_empty());
        removed
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;

    use super::*;

    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn takers_are_served_in_order() {
        let variable = MVar::empty();
        let (mut first, mut second) = (pin!(variable.take()), pin!(variable.take()));
        assert!(poll(first.as_mut()).is_pending());
        assert!(poll(second.as_mut()).is_pending());
        variable.try_put(1).unwrap();
        assert!(poll(second.as_mut()).is_pending(), "the first one's turn");
        assert_eq!(
            variable.try_take(),
            None,
            "the same for one who did not wait"
        );
        assert_eq!(poll(first.as_mut()), Poll::Ready(1));
        variable.try_put(2).unwrap();
        assert_eq!(poll(second.as_mut()), Poll::Ready(2));
    }

    #[test]
    fn who_gives_up_passes_its_turn_on() {
        let variable = MVar::empty();
        let mut first = Box::pin(variable.take());
        let mut second = pin!(variable.take());
        assert!(poll(first.as_mut()).is_pending());
        assert!(poll(second.as_mut()).is_pending());
        variable.try_put(1).unwrap();
        drop(first);
        assert_eq!(poll(second.as_mut()), Poll::Ready(1));
    }

    #[test]
    fn put_waits_for_room_and_keeps_the_value_till_then() {
        let variable = MVar::new(1);
        let mut put = pin!(variable.put(2));
        assert!(poll(put.as_mut()).is_pending());
        assert_eq!(variable.try_put(3), Err(3));
        assert_eq!(variable.try_take(), Some(1));
        assert_eq!(poll(put.as_mut()), Poll::Ready(()));
        let mut read = pin!(variable.read());
        assert_eq!(poll(read.as_mut()), Poll::Ready(2));
        assert_eq!(variable.try_take(), Some(2));
    }

    #[test]
    fn it_is_small() {
        assert!(size_of::<MVar<()>>() <= 56, "{}", size_of::<MVar<()>>());
    }
}
