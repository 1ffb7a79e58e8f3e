//! A connection in the hands of two tasks.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures_io::{AsyncRead, AsyncWrite};

use super::connection::Connection;
use super::{Error, Message};

/// The half of a [`WebSocket`](super::WebSocket) that sends.
///
/// It reads nothing: pings are answered while the other half receives.
#[derive(Debug)]
pub struct Sender<S> {
    shared: Arc<Shared<S>>,
}

/// The half of a [`WebSocket`](super::WebSocket) that receives.
///
/// It answers pings and close frames, and sends pings to a silent peer, so it is to be awaited for as long as the connection
/// is used.
#[derive(Debug)]
pub struct Receiver<S> {
    shared: Arc<Shared<S>>,
}

pub(super) fn halves<S>(connection: Connection<S>) -> (Sender<S>, Receiver<S>) {
    let shared = Arc::new(Shared {
        connection: Mutex::new(connection),
        tasks: Arc::default(),
    });
    let sender = Sender {
        shared: shared.clone(),
    };
    (sender, Receiver { shared })
}

impl<S: AsyncRead + AsyncWrite + Unpin> Sender<S> {
    /// As [`WebSocket::send`](super::WebSocket::send). A [`Message::Close`] is the last one; the other half receives the
    /// answer to it.
    ///
    /// Dropping the future before it is done leaves the message either unsent or, if its first byte was taken, to be sent
    /// whole by the next calls of either half.
    ///
    /// # Errors
    /// As [`WebSocket::send`](super::WebSocket::send).
    pub async fn send(&mut self, message: impl Into<Message>) -> Result<(), Error> {
        self.feed(message).await?;
        self.flush().await
    }

    /// As [`WebSocket::feed`](super::WebSocket::feed).
    ///
    /// Dropping the future before it is done: the message is not sent.
    ///
    /// # Errors
    /// As [`WebSocket::send`](super::WebSocket::send).
    pub async fn feed(&mut self, message: impl Into<Message>) -> Result<(), Error> {
        let mut message = Some(message.into());
        poll_fn(|cx| {
            self.shared.poll(cx, Half::Sender, |connection, cx| {
                connection.poll_feed(cx, &mut message)
            })
        })
        .await
    }

    /// Writes what is in the write buffer.
    ///
    /// Dropping the future before it is done loses nothing.
    ///
    /// # Errors
    /// [`Error::WriteTimeout`]; [`Error::Io`].
    pub async fn flush(&mut self) -> Result<(), Error> {
        poll_fn(|cx| {
            self.shared
                .poll(cx, Half::Sender, |connection, cx| connection.poll_flush(cx))
        })
        .await
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Receiver<S> {
    /// The next message; `None` after the last.
    ///
    /// Dropping the future before it is done loses nothing: what has been read of a message is kept for the next call.
    pub async fn receive(&mut self) -> Option<Result<Message, Error>> {
        poll_fn(|cx| {
            self.shared.poll(cx, Half::Receiver, |connection, cx| {
                connection.poll_receive(cx)
            })
        })
        .await
    }
}

#[derive(Debug)]
struct Shared<S> {
    /// Held for one poll, which never waits.
    connection: Mutex<Connection<S>>,
    tasks: Arc<Tasks>,
}

#[derive(Clone, Copy)]
enum Half {
    Sender,
    Receiver,
}

/// The tasks that wait. A stream remembers one waker for each direction, but either half may read and write (a receiver
/// answers pings), so both are woken by either.
#[derive(Debug, Default)]
struct Tasks {
    waiting: Mutex<[Option<Waker>; 2]>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Shared<S> {
    fn poll<T>(
        &self,
        cx: &mut Context<'_>,
        half: Half,
        act: impl FnOnce(&mut Connection<S>, &mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        // Before it is known that there is something to wait for, so that no wake is lost.
        self.tasks.enter(half, cx.waker());
        let both = Waker::from(self.tasks.clone());
        let (poll, moved) = {
            let mut connection = lock(&self.connection);
            let before = connection.progress();
            let poll = act(&mut connection, &mut Context::from_waker(&both));
            (poll, connection.progress() != before)
        };
        if poll.is_ready() {
            self.tasks.leave(half);
        }
        if moved {
            // The other half waits for what will not come, or without the deadline that there is now.
            both.wake();
        }
        poll
    }
}

impl Tasks {
    fn enter(&self, half: Half, waker: &Waker) {
        match &mut lock(&self.waiting)[half as usize] {
            Some(old) => old.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    fn leave(&self, half: Half) {
        lock(&self.waiting)[half as usize] = None;
    }
}

impl Wake for Tasks {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        for waker in waiting.into_iter().flatten() {
            waker.wake();
        }
    }
}

/// A panic in a poll leaves a connection that can at worst fail.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
