//! One message from one task to another.
//!
//! ```
//! use thrum_rt::sync::oneshot;
//!
//! # thrum_rt::block_on(async {
//! let (sender, receiver) = oneshot::channel();
//! thrum_rt::spawn(async move { sender.send("done") });
//! assert_eq!(receiver.await, Ok("done"));
//! # });
//! ```

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::error::{Closed, TryRecvError};
use crate::budget;
use crate::shim::Mutex;
use crate::waiting::{self, Waiting};

/// A channel for one message.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let state = Arc::new(Mutex::new(State {
        message: None,
        sender_gone: false,
        receiver_gone: false,
        waiting_sender: None,
        waiting_receiver: None,
    }));
    (Sender(state.clone()), Receiver(state))
}

struct State<T> {
    message: Option<T>,
    /// It has sent, or was dropped.
    sender_gone: bool,
    /// It was closed or dropped.
    receiver_gone: bool,
    waiting_sender: Option<Waker>,
    waiting_receiver: Option<Waker>,
}

/// The end that sends. Dropping it unsent closes the channel.
pub struct Sender<T>(Arc<Mutex<State<T>>>);

impl<T> Sender<T> {
    /// Sends the message. It never waits.
    ///
    /// # Errors
    /// The message, when the receiver is closed or gone. A message that is sent may still never be received: the receiver
    /// may go with the message in the channel.
    pub fn send(self, message: T) -> Result<(), T> {
        let mut state = self.0.lock();
        if state.receiver_gone {
            return Err(message);
        }
        state.message = Some(message);
        Ok(()) // dropping the sender wakes the receiver
    }

    /// Whether nobody will receive the message.
    pub fn is_closed(&self) -> bool {
        self.0.lock().receiver_gone
    }

    /// Waits until the receiver is closed or gone: what it would take to make the message need not be done.
    ///
    /// Dropping the future before it is done forgets the wait.
    pub async fn closed(&mut self) {
        std::future::poll_fn(|cx| {
            let mut state = self.0.lock();
            if state.receiver_gone {
                return Poll::Ready(());
            }
            let replaced = state.waiting_sender.replace(cx.waker().clone());
            drop(state);
            drop(replaced);
            waiting::note(Waiting::Channel);
            Poll::Pending
        })
        .await;
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.sender_gone = true;
        let (own, receiver) = (state.waiting_sender.take(), state.waiting_receiver.take());
        drop(state);
        drop(own);
        if let Some(receiver) = receiver {
            receiver.wake();
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// The end that receives: a future of the message. Dropping it closes the channel, and drops a message that is there.
#[must_use = "futures do nothing unless awaited"]
pub struct Receiver<T>(Arc<Mutex<State<T>>>);

impl<T> Receiver<T> {
    /// Takes the message, if it is there.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`] when it may still come, [`TryRecvError::Closed`] when it will not, or was taken.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let mut state = self.0.lock();
        match state.message.take() {
            Some(message) => Ok(message),
            None if state.sender_gone || state.receiver_gone => Err(TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Refuses the message, unless it has been sent: then it can still be received.
    pub fn close(&mut self) {
        let mut state = self.0.lock();
        state.receiver_gone = true;
        let sender = state.waiting_sender.take();
        drop(state);
        if let Some(sender) = sender {
            sender.wake();
        }
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, Closed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if budget::exhausted(cx) {
            return Poll::Pending;
        }
        let polled = match self.try_recv() {
            Ok(message) => Poll::Ready(Ok(message)),
            Err(TryRecvError::Closed) => Poll::Ready(Err(Closed)),
            Err(TryRecvError::Empty) => self.wait(cx),
        };
        match polled {
            Poll::Ready(_) => budget::spend(1),
            Poll::Pending => waiting::note(Waiting::Channel),
        }
        polled
    }
}

impl<T> Receiver<T> {
    fn wait(&mut self, cx: &Context<'_>) -> Poll<Result<T, Closed>> {
        let mut state = self.0.lock();
        if state.sender_gone {
            return Poll::Ready(state.message.take().ok_or(Closed));
        }
        let replaced = state.waiting_receiver.replace(cx.waker().clone());
        drop(state);
        drop(replaced);
        Poll::Pending
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.close();
        let mut state = self.0.lock();
        let left = (state.message.take(), state.waiting_receiver.take());
        drop(state);
        drop(left);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;

    use super::super::testing::{Wakes, poll};
    use super::*;

    #[test]
    fn the_message_wakes_the_receiver() {
        let (sender, receiver) = channel();
        let (mut receiver, wakes) = (pin!(receiver), Wakes::new());
        assert!(wakes.poll(receiver.as_mut()).is_pending());
        sender.send(7).unwrap();
        assert_eq!(wakes.count(), 1);
        assert_eq!(poll(receiver.as_mut()), Poll::Ready(Ok(7)));
        assert_eq!(
            poll(receiver.as_mut()),
            Poll::Ready(Err(Closed)),
            "it was taken"
        );
    }

    #[test]
    fn a_sender_that_goes_unsent_closes() {
        let (sender, mut receiver) = channel::<()>();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        let wakes = Wakes::new();
        assert!(wakes.poll(pin!(&mut receiver)).is_pending());
        drop(sender);
        assert_eq!(wakes.count(), 1);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
        assert_eq!(poll(pin!(receiver)), Poll::Ready(Err(Closed)));
    }

    #[test]
    fn a_receiver_that_goes_is_noticed_and_gives_the_message_back() {
        let (mut sender, receiver) = channel();
        let wakes = Wakes::new();
        {
            let mut closed = pin!(sender.closed());
            assert!(wakes.poll(closed.as_mut()).is_pending());
            drop(receiver);
            assert_eq!(wakes.count(), 1);
            assert!(poll(closed).is_ready());
        }
        assert!(sender.is_closed());
        assert_eq!(sender.send(7), Err(7));
    }

    #[test]
    fn what_was_sent_before_the_close_is_received() {
        let (sender, mut receiver) = channel();
        sender.send(7).unwrap();
        receiver.close();
        assert_eq!(receiver.try_recv(), Ok(7));
        let (sender, mut receiver) = channel();
        receiver.close();
        assert_eq!(sender.send(7), Err(7));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    }

    #[test]
    fn an_unreceived_message_is_dropped_with_its_receiver() {
        let message = Arc::new(());
        let (sender, receiver) = channel();
        sender.send(message.clone()).unwrap();
        drop(receiver);
        assert_eq!(Arc::strong_count(&message), 1);
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::future::block_on;
    use loom::thread;

    use super::super::testing::model;
    use super::*;

    #[test]
    fn the_message_or_the_end_reaches_the_receiver() {
        for message in [Some(7), None] {
            model(move || {
                let (sender, receiver) = channel();
                let sending = thread::spawn(move || {
                    if let Some(message) = message {
                        sender.send(message).unwrap();
                    }
                });
                assert_eq!(block_on(receiver).ok(), message);
                sending.join().unwrap();
            });
        }
    }

    /// A message that is sent beside the receiver's end comes back or is dropped, never both or neither.
    #[test]
    fn the_end_of_the_receiver_reaches_the_sender() {
        model(|| {
            let (mut sender, receiver) = channel();
            let going = thread::spawn(move || drop(receiver));
            block_on(sender.closed());
            assert_eq!(sender.send(1), Err(1));
            going.join().unwrap();
        });
        model(|| {
            let message = Arc::new(());
            let (sender, receiver) = channel();
            let going = thread::spawn(move || drop(receiver));
            let kept = sender.send(message.clone()).is_err();
            going.join().unwrap();
            assert_eq!(Arc::strong_count(&message), 1, "given back: {kept}");
        });
    }
}
