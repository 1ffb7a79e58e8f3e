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
