//! Messages that every receiver sees.
//!
//! The channel keeps the last `capacity` messages. Sending never waits: it drops the oldest, and a receiver that had not seen
//! it is told how many it missed, so one slow receiver holds up nobody.
//!
//! ```
//! use thrum_rt::sync::broadcast;
//!
//! # thrum_rt::block_on(async {
//! let (sender, mut one) = broadcast::channel(16);
//! let mut two = sender.subscribe();
//! sender.send("hello").unwrap();
//! assert_eq!(one.recv().await, Ok("hello"));
//! assert_eq!(two.recv().await, Ok("hello"));
//! # });
//! ```

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::error::SendError;
use super::line::{Line, Ticket};
use crate::budget;
use crate::shim::Mutex;
use crate::waiting::{self, Waiting};

/// A channel that keeps so many messages for those who have not seen them yet.
///
/// # Panics
/// If `capacity` is zero.
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(
        capacity > 0,
        "a broadcast channel keeps at least one message"
    );
    let shared = Arc::new(Mutex::new(State {
        kept: VecDeque::new(),
        first: 0,
        capacity,
        senders: 1,
        receivers: 1,
        line: Line::new(),
    }));
    let receiver = Receiver {
        shared: shared.clone(),
        next: 0,
    };
    (Sender { shared }, receiver)
}

struct State<T> {
    /// Messages that some receiver has not seen. Whoever has yet to see one has yet to see all that came after it, so the
    /// first of them is the first that everyone has seen.
    kept: VecDeque<Kept<T>>,
    /// The number of the first message that is kept.
    first: u64,
    capacity: usize,
    senders: usize,
    receivers: usize,
    line: Line,
}

struct Kept<T> {
    /// Shared, so that it is cloned when the lock is free.
    message: Arc<T>,
    /// Receivers that have not seen it.
    unseen: usize,
}

impl<T> State<T> {
    fn end(&self) -> u64 {
        self.first + self.kept.len() as u64
    }

    /// The place in `kept` of the message that comes next for a receiver; that of the oldest if it has missed some.
    fn place(&self, next: u64) -> usize {
        next.saturating_sub(self.first) as usize
    }

    fn drop_first(&mut self) -> Option<Arc<T>> {
        let first = self.kept.pop_front()?;
        self.first += 1;
        Some(first.message)
    }

    /// The next message of a receiver, whose position moves on.
    fn next(&mut self, next: &mut u64) -> Result<Arc<T>, TryRecvError> {
        let missed = self.first.saturating_sub(*next);
        if missed > 0 {
            *next = self.first;
            return Err(TryRecvError::Lagged(missed));
        }
        let place = self.place(*next);
        let Some(kept) = self.kept.get_mut(place) else {
            return Err(match self.senders {
                0 => TryRecvError::Closed,
                _ => TryRecvError::Empty,
            });
        };
        kept.unseen -= 1;
        *next += 1;
        if kept.unseen > 0 {
            return Ok(kept.message.clone());
        }
        Ok(self.drop_first().expect("the first is there"))
    }
}

/// The end that sends. It can be cloned; when all are gone, the receivers get what is left and then
/// [`Closed`](RecvError::Closed).
pub struct Sender<T> {
    shared: Arc<Mutex<State<T>>>,
}

impl<T> Sender<T> {
    /// Sends a message to all receivers there are, and says how many that is. It never waits.
    ///
    /// # Errors
    /// The message, when there is no receiver.
    pub fn send(&self, message: T) -> Result<usize, SendError<T>> {
        let mut state = self.shared.lock();
        let receivers = state.receivers;
        if receivers == 0 {
            return Err(SendError(message));
        }
        let oldest = (state.kept.len() == state.capacity).then(|| state.drop_first());
        state.kept.push_back(Kept {
            message: Arc::new(message),
            unseen: receivers,
        });
        let everyone = state.line.take();
        drop(state);
        drop(oldest);
        everyone.wake();
        Ok(receivers)
    }

    /// A receiver of the messages sent from now on.
    pub fn subscribe(&self) -> Receiver<T> {
        let mut state = self.shared.lock();
        state.receivers += 1;
        Receiver {
            shared: self.shared.clone(),
            next: state.end(),
        }
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        self.shared.lock().receivers
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.lock().senders += 1;
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
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
        f.debug_struct("Sender")
            .field("receivers", &self.receiver_count())
            .finish_non_exhaustive()
    }
}

/// The end that receives. A clone has the same messages before it.
pub struct Receiver<T> {
    shared: Arc<Mutex<State<T>>>,
    /// The number of the next message.
    next: u64,
}

impl<T> Receiver<T> {
    /// How many messages wait for this receiver.
    pub fn len(&self) -> usize {
        let state = self.shared.lock();
        state.kept.len() - state.place(self.next)
    }

    /// Whether no message waits for this receiver.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Clone> Receiver<T> {
    /// Waits for the next message.
    ///
    /// Dropping the future before it is done loses no message.
    ///
    /// # Errors
    /// [`RecvError::Lagged`], once, when messages were dropped before this receiver saw them; the next call gives the oldest
    /// that is kept. [`RecvError::Closed`] when all have been seen and the senders are gone.
    pub fn recv(&mut self) -> impl Future<Output = Result<T, RecvError>> {
        Recv {
            receiver: self,
            ticket: None,
        }
    }

    /// Takes the next message, if there is one.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`] when there is none now; else as [`recv`](Self::recv).
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let message = self.shared.lock().next(&mut self.next);
        message.map(Arc::unwrap_or_clone)
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        let mut state = self.shared.lock();
        state.receivers += 1;
        let place = state.place(self.next);
        for kept in state.kept.range_mut(place..) {
            kept.unseen += 1;
        }
        Self {
            shared: self.shared.clone(),
            next: self.next,
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.receivers -= 1;
        let place = state.place(self.next);
        for kept in state.kept.range_mut(place..) {
            kept.unseen -= 1;
        }
        let mut seen = Vec::new();
        while state.kept.front().is_some_and(|kept| kept.unseen == 0) {
            seen.extend(state.drop_first());
        }
        drop(state);
        drop(seen);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

struct Recv<'a, T> {
    receiver: &'a mut Receiver<T>,
    ticket: Option<Ticket>,
}

impl<T: Clone> Future for Recv<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if budget::exhausted(cx) {
            return Poll::Pending;
        }
        let this = &mut *self;
        let mut state = this.receiver.shared.lock();
        let next = state.next(&mut this.receiver.next);
        if let Err(TryRecvError::Empty) = next {
            let replaced = state.line.wait(&mut this.ticket, cx.waker());
            drop(state);
            drop(replaced);
            waiting::note(Waiting::Channel);
            return Poll::Pending;
        }
        let spent = state.line.leave(&mut this.ticket);
        drop(state);
        drop(spent);
        budget::spend(1);
        Poll::Ready(match next {
            Ok(message) => Ok(Arc::unwrap_or_clone(message)),
            Err(TryRecvError::Lagged(missed)) => Err(RecvError::Lagged(missed)),
            Err(TryRecvError::Closed | TryRecvError::Empty) => Err(RecvError::Closed),
        })
    }
}

impl<T> Drop for Recv<'_, T> {
    fn drop(&mut self) {
        if self.ticket.is_some() {
            let spent = self.receiver.shared.lock().line.leave(&mut self.ticket);
            drop(spent);
        }
    }
}

/// Why [`Receiver::recv`] gave no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvError {
    /// So many messages were dropped before this receiver saw them.
    Lagged(u64),
    /// The senders are gone, and all messages have been seen.
    Closed,
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecvError::Lagged(missed) => write!(f, "{missed} messages were missed"),
            RecvError::Closed => f.write_str("the channel is closed"),
        }
    }
}

impl Error for RecvError {}

/// Why [`Receiver::try_recv`] gave no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is none now.
    Empty,
    /// So many messages were dropped before this receiver saw them.
    Lagged(u64),
    /// The senders are gone, and all messages have been seen.
    Closed,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryRecvError::Empty => f.write_str("the channel is empty"),
            TryRecvError::Lagged(missed) => RecvError::Lagged(*missed).fmt(f),
            TryRecvError::Closed => RecvError::Closed.fmt(f),
        }
    }
}

impl Error for TryRecvError {}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;

    use super::super::testing::{Wakes, poll};
    use super::*;

    #[test]
    fn everyone_sees_every_message() {
        let (sender, mut one) = channel(4);
        let mut two = one.clone();
        assert_eq!(sender.send("a"), Ok(2));
        let mut three = sender.subscribe();
        assert_eq!(sender.send("b"), Ok(3));
        assert_eq!([one.len(), two.len(), three.len()], [2, 2, 1]);
        for receiver in [&mut one, &mut two] {
            assert_eq!(receiver.try_recv(), Ok("a"));
        }
        for receiver in [&mut one, &mut two, &mut three] {
            assert_eq!(receiver.try_recv(), Ok("b"));
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        }
    }

    #[test]
    fn a_message_wakes_all_who_wait() {
        let (sender, mut one) = channel(4);
        let mut two = sender.subscribe();
        let wakes = Wakes::new();
        let (mut first, mut second) = (pin!(one.recv()), pin!(two.recv()));
        assert!(wakes.poll(first.as_mut()).is_pending());
        assert!(wakes.poll(second.as_mut()).is_pending());
        sender.send(1).unwrap();
        assert_eq!(wakes.count(), 2);
        assert_eq!(poll(first), Poll::Ready(Ok(1)));
        assert_eq!(poll(second), Poll::Ready(Ok(1)));
    }

    #[test]
    fn who_lags_is_told_how_much_it_missed() {
        let (sender, mut slow) = channel(2);
        let mut quick = sender.subscribe();
        for number in 0..5 {
            sender.send(number).unwrap();
            assert_eq!(quick.try_recv(), Ok(number));
        }
        assert_eq!(slow.try_recv(), Err(TryRecvError::Lagged(3)));
        assert_eq!(slow.try_recv(), Ok(3));
        let mut other = slow.clone();
        assert_eq!(slow.try_recv(), Ok(4));
        sender.send(5).unwrap();
        sender.send(6).unwrap();
        assert_eq!(
            poll(pin!(other.recv())),
            Poll::Ready(Err(RecvError::Lagged(1)))
        );
        assert_eq!(poll(pin!(other.recv())), Poll::Ready(Ok(5)));
        assert_eq!(slow.try_recv(), Ok(5));
    }

    #[test]
    fn a_dropped_wait_loses_no_message() {
        let (sender, mut receiver) = channel(4);
        {
            let mut wait = Box::pin(receiver.recv());
            assert!(poll(wait.as_mut()).is_pending());
            sender.send(1).unwrap();
        }
        assert_eq!(receiver.try_recv(), Ok(1));
    }

    #[test]
    fn closing_comes_after_the_last_message() {
        let (sender, mut receiver) = channel(4);
        sender.clone().send(1).unwrap();
        drop(sender);
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
        assert_eq!(
            poll(pin!(receiver.recv())),
            Poll::Ready(Err(RecvError::Closed))
        );
    }

    #[test]
    fn the_end_wakes_who_waits() {
        let (sender, mut receiver) = channel::<()>(4);
        let (mut wait, wakes) = (pin!(receiver.recv()), Wakes::new());
        assert!(wakes.poll(wait.as_mut()).is_pending());
        drop(sender);
        assert_eq!(wakes.count(), 1);
        assert_eq!(poll(wait), Poll::Ready(Err(RecvError::Closed)));
    }

    #[test]
    fn without_receivers_a_message_comes_back() {
        let (sender, receiver) = channel(4);
        drop(receiver);
        assert_eq!(sender.send(1), Err(SendError(1)));
        let mut late = sender.subscribe();
        assert_eq!(sender.send(2), Ok(1));
        assert_eq!(late.try_recv(), Ok(2));
    }

    #[test]
    fn what_everyone_has_seen_is_dropped() {
        let (sender, mut one) = channel(4);
        let two = one.clone();
        let message = Arc::new(());
        sender.send(message.clone()).unwrap();
        sender.send(message.clone()).unwrap();
        one.try_recv().unwrap();
        assert_eq!(Arc::strong_count(&message), 3);
        drop(two);
        assert_eq!(
            Arc::strong_count(&message),
            2,
            "one has not seen the second"
        );
        one.try_recv().unwrap();
        assert_eq!(Arc::strong_count(&message), 1);
    }

    #[test]
    fn a_receiver_that_lags_may_go() {
        let (sender, slow) = channel(2);
        let mut quick = sender.subscribe();
        for number in 0..5 {
            sender.send(number).unwrap();
        }
        assert_eq!(slow.len(), 2);
        drop(slow);
        assert_eq!(quick.try_recv(), Err(TryRecvError::Lagged(3)));
        assert_eq!(quick.try_recv(), Ok(3));
        assert_eq!(quick.try_recv(), Ok(4));
        assert!(quick.is_empty());
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::future::block_on;
    use loom::thread;

    use super::super::testing::model;
    use super::*;

    #[test]
    fn two_receivers_see_the_message() {
        model(|| {
            let (sender, mut receiver) = channel(2);
            let mut other = receiver.clone();
            let receiving = thread::spawn(move || {
                assert_eq!(block_on(other.recv()), Ok(1));
                other // its end is another story
            });
            assert_eq!(sender.send(1), Ok(2));
            assert_eq!(block_on(receiver.recv()), Ok(1));
            receiving.join().unwrap();
        });
    }

    #[test]
    fn a_receiver_sees_the_message_and_the_end() {
        model(|| {
            let (sender, mut receiver) = channel(2);
            let sending = thread::spawn(move || assert_eq!(sender.send(1), Ok(1)));
            assert_eq!(block_on(receiver.recv()), Ok(1));
            assert_eq!(block_on(receiver.recv()), Err(RecvError::Closed));
            sending.join().unwrap();
        });
    }

    #[test]
    fn nothing_is_seen_twice_or_missed_uncounted() {
        model(|| {
            let (sender, mut receiver) = channel(1);
            let sending = thread::spawn(move || {
                for number in 1..=2 {
                    sender.send(number).unwrap();
                }
            });
            let mut count = 0;
            loop {
                match block_on(receiver.recv()) {
                    Ok(number) => {
                        count += 1;
                        assert_eq!(number, count);
                    }
                    Err(RecvError::Lagged(missed)) => count += missed,
                    Err(RecvError::Closed) => break,
                }
            }
            assert_eq!(count, 2);
            sending.join().unwrap();
        });
    }
}
