//! A connection in the hands of one task.

use std::future::poll_fn;

use futures_io::{AsyncRead, AsyncWrite};
use tungstenite::protocol::frame::Utf8Bytes;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role};

use super::connection::Connection;
use super::split::{Receiver, Sender, halves};
use super::{Config, Error, Message};

/// A WebSocket connection over a stream, after its opening handshake.
///
/// One task receives and sends in turn. For one that receives while another one sends there is
/// [`split`](WebSocket::split).
///
/// **Pings** are answered by [`receive`](WebSocket::receive), and by [`send`](WebSocket::send) and
/// [`flush`](WebSocket::flush) too: they read at most one message ahead, which the next `receive` gives. So one who only
/// sends answers them, unless the peer sends messages that nobody receives. Pings to a silent peer
/// ([`Config::keep_alive`]) go out in the same calls.
///
/// **The end.** A close frame of the peer is answered before it is handed out as [`Message::Close`]. A peer that breaks the
/// protocol is told so in a close frame before `receive` gives the error. Receive until `None`: meanwhile the stream is
/// shut down and what the peer still sends is read away, for [`Config::close_timeout`] at most. One that is dropped earlier
/// just closes the stream, which resets it if there was something unread: the peer may then see a lost connection.
#[derive(Debug)]
pub struct WebSocket<S> {
    connection: Connection<S>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> WebSocket<S> {
    /// The server's end of a connection whose opening handshake has been done elsewhere.
    pub fn server(stream: S, config: Config) -> Self {
        Self::new(stream, Vec::new(), Role::Server, config)
    }

    /// The client's end of a connection whose opening handshake has been done elsewhere.
    pub fn client(stream: S, config: Config) -> Self {
        Self::new(stream, Vec::new(), Role::Client, config)
    }

    pub(super) fn new(stream: S, already_read: Vec<u8>, role: Role, config: Config) -> Self {
        Self {
            connection: Connection::new(stream, already_read, role, config),
        }
    }

    /// The next message; `None` after the last.
    ///
    /// Dropping the future before it is done loses nothing: what has been read of a message is kept for the next call.
    pub async fn receive(&mut self) -> Option<Result<Message, Error>> {
        poll_fn(|cx| self.connection.poll_receive(cx)).await
    }

    /// Sends a message and waits until the stream has taken it.
    ///
    /// Dropping the future before it is done leaves the message either unsent or, if its first byte was taken, to be sent
    /// whole by the next calls. So after a timeout it cannot be told which; the connection remains intact.
    ///
    /// # Errors
    /// [`Error::Closed`] after a close frame of either side; [`Error::InvalidControl`]; [`Error::WriteTimeout`];
    /// [`Error::Io`].
    pub async fn send(&mut self, message: impl Into<Message>) -> Result<(), Error> {
        self.feed(message).await?;
        self.flush().await
    }

    /// Puts a message into the write buffer, and writes that once it is full: for many small messages of which only the
    /// last is followed by [`flush`](WebSocket::flush).
    ///
    /// Dropping the future before it is done: the message is not sent.
    ///
    /// # Errors
    /// As [`send`](WebSocket::send).
    pub async fn feed(&mut self, message: impl Into<Message>) -> Result<(), Error> {
        let mut message = Some(message.into());
        poll_fn(|cx| {
            let fed = self.connection.poll_feed(cx, &mut message);
            if fed.is_pending() {
                self.connection.poll_read_ahead(cx);
            }
            fed
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
            // Written first: a close frame that is read would let nothing more out.
            let flushed = self.connection.poll_flush(cx);
            self.connection.poll_read_ahead(cx);
            flushed
        })
        .await
    }

    /// Ends the connection in order: sends a close frame, and waits for that of the peer and for the stream's end, for
    /// [`Config::close_timeout`] at most. Messages that still come are dropped.
    ///
    /// To go on receiving until the peer's close frame comes, send a [`Message::Close`] instead.
    ///
    /// Dropping the future before it is done drops the connection.
    ///
    /// # Errors
    /// [`Error::InvalidControl`] for a code that may not be sent or a reason of more than 123 bytes, which ends the connection
    /// without a close frame; what [`receive`](WebSocket::receive) gives when the peer does not end in order.
    pub async fn close(
        mut self,
        code: CloseCode,
        reason: impl Into<Utf8Bytes>,
    ) -> Result<(), Error> {
        let reason = reason.into();
        match self
            .send(Message::Close(Some(CloseFrame { code, reason })))
            .await
        {
            // The peer was faster.
            Ok(()) | Err(Error::Closed) => {}
            Err(error) => return Err(error),
        }
        while let Some(received) = self.receive().await {
            received?;
        }
        Ok(())
    }

    /// Two halves, for two tasks.
    pub fn split(self) -> (Sender<S>, Receiver<S>) {
        halves(self.connection)
    }

    /// The stream, to ask it for its peer's address and the like.
    pub fn stream(&self) -> &S {
        self.connection.stream()
    }
}
