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

// There may be MVars by the hundred thousand: `only` lies beside the queue, not in it, because it packs into 8 bytes less.
struct State<T> {
    value: Option<T>,
    queue: Queue,
    /// The kind of the waiter in [`Queue::One`].
    only: Kind,
}

/// Those who wait, in their order.
enum Queue {
    /// Nearly always there is one, so it is kept inline. Its ticket is [`FIRST`].
    One(Waker),
    /// None, or those who came since there was none.
    Many(
        #[expect(
            clippy::box_collection,
            reason = "a word instead of four in each variable"
        )]
        Option<Box<VecDeque<Waiter>>>,
    ),
}

struct Waiter {
    waker: Waker,
    ticket: u32,
    kind: Kind,
}

/// The ticket of who comes when nobody waits. Each ticket after it is the one before it plus one.
const FIRST: u32 = 1;

impl<T> MVar<T> {
    /// A variable that holds a value.
    pub fn new(value: T) -> Self {
        Self::with(Some(value))
    }

    /// A variable that holds none.
    pub fn empty() -> Self {
        Self::with(None)
    }

    fn with(value: Option<T>) -> Self {
        Self {
            state: Mutex::new(State {
                value,
                queue: Queue::Many(None),
                only: Kind::Taker,
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

    /// Copies the value out, if there is one and nobody waits to take it.
    pub fn try_read(&self) -> Option<T>
    where
        T: Clone,
    {
        self.at_once(Kind::Taker, |state| state.value.clone())
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
        if state.front(kind).is_some() {
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
    let next = state.front(kind).map(|(_, waker)| waker.clone());
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
            .front(this.kind)
            .is_none_or(|(ticket, _)| ticket == this.ticket);
        if first && let Some(result) = (this.step)(&mut state) {
            let spent = state.remove(std::mem::take(&mut this.ticket));
            pass_on(state);
            drop(spent);
            return Poll::Ready(result);
        }
        let replaced = state.enter(&mut this.ticket, this.kind, cx.waker());
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
        let spent = state.remove(self.ticket);
        pass_on(state); // it may have been woken and was not served
        drop(spent);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Taker,
    Putter,
}

impl<T> State<T> {
    /// The first of a kind: its ticket and its waker.
    fn front(&self, kind: Kind) -> Option<(u32, &Waker)> {
        match &self.queue {
            Queue::One(waker) => (self.only == kind).then_some((FIRST, waker)),
            Queue::Many(waiters) => waiters
                .iter()
                .flat_map(|waiters| waiters.iter())
                .find(|waiter| waiter.kind == kind)
                .map(|waiter| (waiter.ticket, &waiter.waker)),
        }
    }

    /// Takes a place at the end, or has `waker` woken from now on at the place there is. Returns what is to be dropped.
    fn enter(&mut self, ticket: &mut u32, kind: Kind, waker: &Waker) -> Option<Waker> {
        if *ticket != 0 {
            let mine = self.waker_mut(*ticket)?;
            let stays = mine.will_wake(waker);
            return (!stays).then(|| std::mem::replace(mine, waker.clone()));
        }
        let waiter = |waker, ticket, kind| Waiter {
            waker,
            ticket,
            kind,
        };
        let waker = waker.clone();
        self.queue = match std::mem::replace(&mut self.queue, Queue::Many(None)) {
            Queue::Many(None) => {
                *ticket = FIRST;
                self.only = kind;
                Queue::One(waker)
            }
            Queue::One(first) => {
                *ticket = FIRST + 1;
                let first = waiter(first, FIRST, self.only);
                Queue::Many(Some(Box::new([first, waiter(waker, *ticket, kind)].into())))
            }
            Queue::Many(Some(mut waiters)) => {
                let last = waiters.back().map_or(0, |last| last.ticket);
                *ticket = last.checked_add(1).unwrap_or(FIRST);
                waiters.push_back(waiter(waker, *ticket, kind));
                Queue::Many(Some(waiters))
            }
        };
        None
    }

    fn waker_mut(&mut self, ticket: u32) -> Option<&mut Waker> {
        match &mut self.queue {
            Queue::One(waker) => Some(waker),
            Queue::Many(waiters) => waiters
                .iter_mut()
                .flat_map(|waiters| waiters.iter_mut())
                .find(|waiter| waiter.ticket == ticket)
                .map(|waiter| &mut waiter.waker),
        }
    }

    /// Gives a place up. Returns its waker, to be dropped when the lock is free.
    fn remove(&mut self, ticket: u32) -> Option<Waker> {
        if ticket == 0 {
            return None;
        }
        if let Queue::Many(many) = &mut self.queue {
            let waiters = many.as_mut()?;
            let place = waiters.iter().position(|waiter| waiter.ticket == ticket)?;
            let removed = waiters.remove(place);
            many.take_if(|waiters| waiters.is_empty());
            return removed.map(|waiter| waiter.waker);
        }
        match std::mem::replace(&mut self.queue, Queue::Many(None)) {
            Queue::One(waker) => Some(waker),
            Queue::Many(_) => None,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;

    use super::super::testing::poll;
    use super::*;

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
    fn order_is_kept_when_some_of_many_give_up() {
        let variable = MVar::empty();
        let mut takes: Vec<_> = (0..6).map(|_| Some(Box::pin(variable.take()))).collect();
        for take in takes.iter_mut().flatten() {
            assert!(poll(take.as_mut()).is_pending());
        }
        takes[0] = None;
        takes[3] = None;
        let mut late = pin!(variable.take());
        assert!(poll(late.as_mut()).is_pending());
        for (value, place) in [1, 2, 4, 5].into_iter().enumerate() {
            variable.try_put(value).unwrap();
            assert!(poll(late.as_mut()).is_pending());
            let take = takes[place].as_mut().unwrap();
            assert_eq!(poll(take.as_mut()), Poll::Ready(value));
        }
        variable.try_put(9).unwrap();
        assert_eq!(poll(late.as_mut()), Poll::Ready(9));
    }

    #[test]
    fn takers_and_putters_wait_in_one_queue() {
        let variable = MVar::new(0);
        let mut puts = [1, 2].map(|value| Box::pin(variable.put(value)));
        for put in &mut puts {
            assert!(poll(put.as_mut()).is_pending());
        }
        assert_eq!(variable.try_take(), Some(0));
        // The first putter's turn has come: nobody gets before it, and no taker gets anything.
        assert_eq!(variable.try_put(9), Err(9));
        let mut take = pin!(variable.take());
        assert!(poll(take.as_mut()).is_pending());
        assert_eq!(poll(puts[0].as_mut()), Poll::Ready(()));
        assert_eq!(poll(take.as_mut()), Poll::Ready(1));
        assert_eq!(poll(puts[1].as_mut()), Poll::Ready(()));
        assert_eq!(variable.try_take(), Some(2));
    }

    #[test]
    fn try_read_leaves_the_value() {
        let variable = MVar::empty();
        assert_eq!(variable.try_read(), None);
        variable.try_put(1).unwrap();
        assert_eq!(variable.try_read(), Some(1));
        assert_eq!(variable.try_take(), Some(1));
    }

    #[test]
    fn it_is_small() {
        assert!(size_of::<MVar<()>>() <= 32, "{}", size_of::<MVar<()>>());
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::future::block_on;
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    /// A value goes through a variable; a lost wake-up would show as a deadlock.
    #[test]
    fn values_go_through_in_order() {
        loom::model(|| {
            let variable = Arc::new(MVar::empty());
            let putter = thread::spawn({
                let variable = variable.clone();
                move || {
                    block_on(variable.put(1));
                    block_on(variable.put(2));
                }
            });
            assert_eq!(block_on(variable.take()), 1);
            assert_eq!(block_on(variable.take()), 2);
            putter.join().unwrap();
        });
    }

    #[test]
    fn two_takers_get_a_value_each() {
        loom::model(|| {
            let variable = Arc::new(MVar::empty());
            let taker = thread::spawn({
                let variable = variable.clone();
                move || block_on(variable.take())
            });
            let putter = thread::spawn({
                let variable = variable.clone();
                move || block_on(variable.put(1))
            });
            block_on(variable.put(2));
            let one = taker.join().unwrap();
            let two = block_on(variable.take());
            putter.join().unwrap();
            assert_eq!(one + two, 3);
        });
    }

    /// One who is woken and goes without looking has its value taken by the other.
    #[test]
    fn a_turn_given_up_is_passed_on() {
        loom::model(|| {
            let variable = Arc::new(MVar::empty());
            let mut gone = Box::pin(variable.take());
            let polled = gone.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
            let putter = thread::spawn({
                let variable = variable.clone();
                move || block_on(variable.put(1))
            });
            let taker = thread::spawn({
                let variable = variable.clone();
                move || block_on(variable.take())
            });
            drop(gone);
            assert_eq!(taker.join().unwrap(), 1);
            putter.join().unwrap();
        });
    }
}
