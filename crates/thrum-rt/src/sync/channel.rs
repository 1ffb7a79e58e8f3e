//! Messages from any number of tasks to any number of tasks; each message reaches one of them.
//!
//! Messages of one sender arrive in their order. Those who wait are woken in the order in which they came; one that comes
//! just then may be served before.
//!
//! ```
//! use thrum_rt::sync::channel;
//!
//! # thrum_rt::block_on(async {
//! let (sender, receiver) = channel::bounded(10);
//! thrum_rt::spawn(async move {
//!     for number in 1..=3 {
//!         sender.send(number).await.unwrap();
//!     }
//! });
//! let mut sum = 0;
//! while let Ok(number) = receiver.recv().await {
//!     sum += number;
//! }
//! assert_eq!(sum, 6);
//! # });
//! ```

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use futures_core::Stream;

use super::error::{Closed, SendError, TryRecvError, TrySendError};
use crate::budget;
use crate::waiting::{self, Waiting};

/// A channel that holds up to `capacity` messages; who sends more waits for room.
///
/// # Panics
/// If `capacity` is zero.
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    pair(async_channel::bounded(capacity))
}

/// A channel that holds as many messages as memory does. Use it where something else bounds their number.
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    pair(async_channel::unbounded())
}

fn pair<T>(
    (sender, receiver): (async_channel::Sender<T>, async_channel::Receiver<T>),
) -> (Sender<T>, Receiver<T>) {
    (Sender(sender), Receiver(Box::pin(receiver)))
}

/// The end that sends. It can be cloned; the channel is closed when all are gone, or all receivers.
pub struct Sender<T>(async_channel::Sender<T>);

impl<T> Sender<T> {
    /// Sends a message, waiting until there is room for it.
    ///
    /// Dropping the future before it is done drops the message, which is then not sent.
    ///
    /// # Errors
    /// The message, when the channel is closed.
    pub async fn send(&self, message: T) -> Result<(), SendError<T>> {
        let sent = within_budget(self.0.send(message)).await;
        sent.map_err(|refused| SendError(refused.0))
    }

    /// Sends a message, if there is room for it.
    ///
    /// # Errors
    /// The message, when the channel is full or closed.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.0.try_send(message).map_err(|refused| match refused {
            async_channel::TrySendError::Full(message) => TrySendError::Full(message),
            async_channel::TrySendError::Closed(message) => TrySendError::Closed(message),
        })
    }

    /// Closes the channel: no more messages get in; those in it can still be received. False if it was closed before.
    pub fn close(&self) -> bool {
        self.0.close()
    }

    /// Whether no more messages get in.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// The messages in the channel.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no message is in the channel.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The messages that the channel can hold, if there is a bound.
    pub fn capacity(&self) -> Option<usize> {
        self.0.capacity()
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .finish()
    }
}

/// The end that receives. It can be cloned; the channel is closed when all are gone, or all senders.
///
/// It is also a [`Stream`] of the messages, that ends when the channel is closed and empty.
pub struct Receiver<T>(Pin<Box<async_channel::Receiver<T>>>); // pinned here, so that users need not

impl<T> Receiver<T> {
    /// Takes the next message, waiting until there is one.
    ///
    /// Dropping the future before it is done loses no message.
    ///
    /// # Errors
    /// [`Closed`] when the channel is closed and empty.
    pub async fn recv(&self) -> Result<T, Closed> {
        let received = within_budget(self.0.recv()).await;
        received.map_err(|async_channel::RecvError| Closed)
    }

    /// Takes the next message, if there is one.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`] when there is none now, [`TryRecvError::Closed`] when none will come.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.0.try_recv().map_err(|error| match error {
            async_channel::TryRecvError::Empty => TryRecvError::Empty,
            async_channel::TryRecvError::Closed => TryRecvError::Closed,
        })
    }

    /// Closes the channel: no more messages get in; those in it can still be received. False if it was closed before.
    pub fn close(&self) -> bool {
        self.0.close()
    }

    /// Whether no more messages get in.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// The messages in the channel.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no message is in the channel.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The messages that the channel can hold, if there is a bound.
    pub fn capacity(&self) -> Option<usize> {
        self.0.capacity()
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self(Box::pin((*self.0).clone()))
    }
}

impl<T> Stream for Receiver<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        poll_within_budget(cx, |cx| self.0.as_mut().poll_next(cx))
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .finish()
    }
}

async fn within_budget<F: Future>(operation: F) -> F::Output {
    let mut operation = pin!(operation);
    std::future::poll_fn(|cx| poll_within_budget(cx, |cx| operation.as_mut().poll(cx))).await
}

/// A channel that is never full or never empty would have a task go on for ever.
fn poll_within_budget<R>(
    cx: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
) -> Poll<R> {
    if budget::exhausted(cx) {
        return Poll::Pending;
    }
    let polled = poll(cx);
    match polled {
        Poll::Ready(_) => budget::spend(1),
        Poll::Pending => waiting::note(Waiting::Channel),
    }
    polled
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::task::Waker;

    use super::super::testing::{Wakes, poll};
    use super::*;

    #[test]
    fn a_full_channel_has_its_sender_wait() {
        let (sender, receiver) = bounded(1);
        sender.try_send(1).unwrap();
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        let (mut send, wakes) = (pin!(sender.send(2)), Wakes::new());
        assert!(wakes.poll(send.as_mut()).is_pending());
        assert_eq!((receiver.len(), receiver.capacity()), (1, Some(1)));
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!(wakes.count(), 1);
        assert_eq!(poll(send), Poll::Ready(Ok(())));
        assert_eq!(receiver.try_recv(), Ok(2));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }

    #[test]
    fn a_dropped_receive_passes_its_message_on() {
        let (sender, receiver) = unbounded();
        let mut first = Box::pin(receiver.recv());
        let mut second = pin!(receiver.recv());
        let wakes = Wakes::new();
        assert!(poll(first.as_mut()).is_pending());
        assert!(wakes.poll(second.as_mut()).is_pending());
        sender.try_send(1).unwrap();
        drop(first);
        assert_eq!(wakes.count(), 1);
        assert_eq!(poll(second), Poll::Ready(Ok(1)));
    }

    #[test]
    fn a_dropped_send_passes_its_room_on_and_sends_nothing() {
        let (sender, receiver) = bounded(1);
        sender.try_send(1).unwrap();
        let mut first = Box::pin(sender.send(2));
        let mut second = pin!(sender.send(3));
        let wakes = Wakes::new();
        assert!(poll(first.as_mut()).is_pending());
        assert!(wakes.poll(second.as_mut()).is_pending());
        assert_eq!(receiver.try_recv(), Ok(1));
        drop(first);
        assert_eq!(wakes.count(), 1);
        assert!(poll(second).is_ready());
        assert_eq!(receiver.try_recv(), Ok(3));
        assert!(receiver.is_empty());
    }

    #[test]
    fn a_closed_channel_is_emptied_first() {
        let (sender, receiver) = bounded(2);
        sender.try_send(1).unwrap();
        assert!(receiver.close());
        assert!(!sender.close(), "it was closed before");
        assert!(sender.is_closed() && receiver.is_closed());
        assert_eq!(sender.try_send(2), Err(TrySendError::Closed(2)));
        assert_eq!(poll(pin!(sender.send(3))), Poll::Ready(Err(SendError(3))));
        assert_eq!(poll(pin!(receiver.recv())), Poll::Ready(Ok(1)));
        assert_eq!(poll(pin!(receiver.recv())), Poll::Ready(Err(Closed)));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    }

    #[test]
    fn either_side_closes_it_by_going() {
        let (sender, receiver) = unbounded::<()>();
        let other = receiver.clone();
        drop(receiver);
        assert!(!sender.is_closed());
        drop(other);
        assert!(sender.is_closed());

        let (sender, receiver) = unbounded::<()>();
        let (mut wait, wakes) = (pin!(receiver.recv()), Wakes::new());
        assert!(wakes.poll(wait.as_mut()).is_pending());
        drop(sender);
        assert_eq!(wakes.count(), 1);
        assert_eq!(poll(wait), Poll::Ready(Err(Closed)));
    }

    #[test]
    fn a_receiver_is_a_stream_that_ends() {
        let (sender, mut receiver) = unbounded();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut receiver).poll_next(&mut cx).is_pending());
        sender.try_send(1).unwrap();
        drop(sender);
        assert_eq!(
            Pin::new(&mut receiver).poll_next(&mut cx),
            Poll::Ready(Some(1))
        );
        assert_eq!(
            Pin::new(&mut receiver).poll_next(&mut cx),
            Poll::Ready(None)
        );
    }

    #[test]
    fn a_channel_that_is_never_empty_gives_way() {
        let (sender, receiver) = unbounded();
        for number in 0..100_000 {
            sender.try_send(number).unwrap();
        }
        budget::renew();
        let mut all = pin!(async { while receiver.recv().await.is_ok() {} });
        let wakes = Wakes::new();
        assert!(wakes.poll(all.as_mut()).is_pending());
        assert_eq!(wakes.count(), 1, "to go on later");
        assert!((1..100_000).contains(&receiver.len()));
    }
}
