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
