//! One connection: messages both ways, pings, and its end. It has no futures, only polls, so that one task or two can drive it.
//!
//! Frames, masks and the state of the closing handshake are tungstenite's. What is here is what it leaves to its caller:
//! waiting, deadlines, how much may wait to be written, telling the peer what it did wrong, and ending so that it hears it.
//!
//! A connection is `Open` until a close frame has come, or a fault. Then what is to be said last is flushed (`Flushing`),
//! the outcome is handed out, the stream is shut down (`ShuttingDown`) and what the peer still sends is read away
//! (`Draining`), because closing a socket with unread bytes would reset it, and the peer might never see the close frame. One
//! deadline is over all of that.

use std::io::ErrorKind;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncRead, AsyncWrite};
use thrum_rt::time::Deadline;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketContext};

use super::adapter::Adapter;
use super::message::received;
use super::{Config, Error, Message};

pub(super) type Received = Result<Message, Error>;

pub(super) struct Connection<S> {
    stream: S,
    context: WebSocketContext,
    role: Role,
    config: Config,
    phase: Phase,
    /// What a poll for sending came across: one message, so that a peer that only talks is held up, not stored.
    inbox: Option<Received>,
    /// The stream did not take all that there was to write.
    blocked: bool,
    /// Set while it does not.
    stalled: Deadline,
    /// Set while the connection is open, if there are to be pings.
    silence: Deadline,
    /// A ping went out and nothing has come since.
    pinged: bool,
    /// Set once a close frame was sent or received.
    ending: Deadline,
}

enum Phase {
    Open,
    /// The last frame is being written; the outcome is for the receiver.
    Flushing(Received),
    ShuttingDown,
    Draining,
    Ended,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// A connection after its opening handshake, and bytes that were read with that.
    pub(super) fn new(stream: S, already_read: Vec<u8>, role: Role, config: Config) -> Self {
        let settings = Some(config.for_tungstenite());
        let context = if already_read.is_empty() {
            WebSocketContext::new(role, settings)
        } else {
            WebSocketContext::from_partially_read(already_read, role, settings)
        };
        let mut silence = Deadline::new();
        if let Some(keep_alive) = config.keep_alive {
            silence.set(keep_alive.after);
        }
        Self {
            stream,
            context,
            role,
            config,
            phase: Phase::Open,
            inbox: None,
            blocked: false,
            stalled: Deadline::new(),
            silence,
            pinged: false,
            ending: Deadline::new(),
        }
    }

    pub(super) fn stream(&self) -> &S {
        &self.stream
    }

    /// How far it is towards its end. When one half moves this, the other one may be waiting in vain.
    pub(super) fn progress(&self) -> impl PartialEq + use<S> {
        (mem::discriminant(&self.phase), self.ending.is_set())
    }

    /// The next message; `None` when there will be no more.
    pub(super) fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Option<Received>> {
        match self.inbox.take() {
            Some(received) => Poll::Ready(Some(received)),
            None => self.poll_advance(cx),
        }
    }

    /// Takes the message once there is room for it.
    pub(super) fn poll_feed(
        &mut self,
        cx: &mut Context<'_>,
        message: &mut Option<Message>,
    ) -> Poll<Result<(), Error>> {
        if let Some(message) = message {
            check(message)?;
        }
        if !matches!(self.phase, Phase::Open) {
            return Poll::Ready(Err(Error::Closed));
        }
        if self.blocked {
            ready!(self.poll_flush(cx))?;
        }
        if let Some(message) = message.take() {
            self.write(cx, message)?;
        }
        Poll::Ready(Ok(()))
    }

    /// Ready once the stream has taken all that there was to write.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        loop {
            match self.with_context(cx, |context, stream| context.flush(stream)) {
                // The server's last frame is out.
                Ok(()) | Err(Error::Closed) => {
                    self.stalled.clear();
                    // A pong may have found no room before: it has now.
                    if !mem::take(&mut self.blocked) {
                        return Poll::Ready(Ok(()));
                    }
                }
                Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {
                    if !matches!(self.phase, Phase::Open | Phase::Flushing(_)) {
                        return Poll::Ready(Err(Error::Closed));
                    }
                    self.blocked = true;
                    if !self.stalled.is_set() {
                        self.stalled.set(self.config.write_timeout);
                    }
                    if self.stalled.poll_expired(cx).is_ready() {
                        self.phase = Phase::Ended;
                        return Poll::Ready(Err(Error::WriteTimeout));
                    }
                    return Poll::Pending;
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Reads one message ahead, so that pings are answered although nobody receives.
    pub(super) fn poll_read_ahead(&mut self, cx: &mut Context<'_>) {
        while self.inbox.is_none() {
            match self.poll_advance(cx) {
                Poll::Ready(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => {}
                Poll::Ready(Some(received)) => self.inbox = Some(received),
                Poll::Ready(None) | Poll::Pending => return,
            }
        }
    }

    fn poll_advance(&mut self, cx: &mut Context<'_>) -> Poll<Option<Received>> {
        loop {
            let late = self.ending.poll_expired(cx).is_ready();
            match &mut self.phase {
                Phase::Open if late => {
                    // The peer did not answer the close frame.
                    self.phase = Phase::Ended;
                    return Poll::Ready(Some(Err(Error::Lost)));
                }
                Phase::Open => match ready!(self.poll_next(cx)) {
                    Ok(Message::Close(frame)) => {
                        self.begin_ending();
                        self.phase = Phase::Flushing(Ok(Message::Close(frame)));
                    }
                    Ok(message) => return Poll::Ready(Some(Ok(message))),
                    Err(error) => match error.close_code() {
                        Some(code) => self.tell(cx, code, error),
                        None => {
                            self.phase = Phase::Ended;
                            return Poll::Ready(Some(Err(error)));
                        }
                    },
                },
                Phase::Flushing(_) => {
                    let flushed = self.poll_flush(cx);
                    if flushed.is_pending() && !late {
                        return Poll::Pending;
                    }
                    let written = matches!(flushed, Poll::Ready(Ok(())));
                    if let Phase::Flushing(outcome) = mem::replace(&mut self.phase, Phase::Ended) {
                        self.phase = self.after(&outcome, written);
                        return Poll::Ready(Some(outcome));
                    }
                }
                Phase::ShuttingDown => {
                    let closed = Pin::new(&mut self.stream).poll_close(cx);
                    if closed.is_pending() && !late {
                        return Poll::Pending;
                    }
                    self.phase = match closed {
                        Poll::Ready(Ok(())) => Phase::Draining,
                        _ => Phase::Ended,
                    };
                }
                Phase::Draining => {
                    let mut unread = [0; 4096];
                    let read = Pin::new(&mut self.stream).poll_read(cx, &mut unread);
                    match read {
                        Poll::Ready(Ok(1..)) if !late => {}
                        Poll::Pending if !late => return Poll::Pending,
                        _ => self.phase = Phase::Ended,
                    }
                }
                Phase::Ended => return Poll::Ready(None),
            }
        }
    }

    /// What is left to do when the last frame has been written, or could not be.
    fn after(&self, outcome: &Received, written: bool) -> Phase {
        match (outcome, self.role) {
            _ if !written => Phase::Ended,
            // RFC 6455, 7.1.1: the server closes first.
            (Ok(_), Role::Client) => Phase::Draining,
            _ => Phase::ShuttingDown,
        }
    }

    /// Reads, answers pings, and sends pings.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Received> {
        // What a send left behind when it was dropped. If this fails then so will reading, with what there is to be read first.
        if self.blocked
            && let Poll::Ready(Err(Error::WriteTimeout)) = self.poll_flush(cx)
        {
            return Poll::Ready(Err(Error::WriteTimeout));
        }
        loop {
            match self.with_context(cx, |context, stream| context.read(stream)) {
                Ok(message) => {
                    if let Some(message) = received(message) {
                        return Poll::Ready(Ok(message));
                    }
                }
                Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {
                    return self.poll_silence(cx).map(Err);
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Sends a ping when the peer has been silent; ready when it has been for too long.
    fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        let Some(keep_alive) = self.config.keep_alive else {
            return Poll::Pending;
        };
        while !self.ending.is_set() && self.silence.poll_expired(cx).is_ready() {
            if self.pinged {
                return Poll::Ready(Error::PongTimeout);
            }
            self.pinged = true;
            self.silence.set(keep_alive.pong_within);
            // If it cannot be written, nothing will come back.
            let _ = self.write(cx, Message::Ping(Default::default()));
            let _ = self.poll_flush(cx);
        }
        Poll::Pending
    }

    /// Has the peer told what it did wrong, and the receiver after that.
    fn tell(&mut self, cx: &mut Context<'_>, code: CloseCode, error: Error) {
        let reason = match &error {
            Error::Protocol(error) => error.to_string(),
            other => other.to_string(),
        };
        let frame = CloseFrame {
            code,
            reason: shortened(reason).into(),
        };
        // A frame that was written before the fault was found is followed by nothing.
        let _ = self.write(cx, Message::Close(Some(frame)));
        self.begin_ending();
        self.phase = Phase::Flushing(Err(error));
    }

    fn begin_ending(&mut self) {
        if !self.ending.is_set() {
            self.ending.set(self.config.close_timeout);
        }
    }

    /// Puts a message into the write buffer, and writes that if it is full or if nothing may come after this.
    fn write(&mut self, cx: &mut Context<'_>, message: Message) -> Result<(), Error> {
        let closes = matches!(message, Message::Close(_));
        let bytes = message.as_bytes().len();
        let room = if closes {
            usize::MAX // after it there is nothing that could fill the buffer
        } else {
            self.config.write_buffer_with(bytes)
        };
        self.context
            .set_config(|settings| settings.max_write_buffer_size = room);
        let result = self.with_context(cx, |context, stream| context.write(stream, message.into()));
        if closes {
            self.begin_ending();
        } else {
            // Pongs must not pile up behind what the peer does not take.
            let room = self.config.write_buffer_with(0);
            self.context
                .set_config(|settings| settings.max_write_buffer_size = room);
        }
        match result {
            // It is in the buffer all the same.
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {
                self.blocked = true;
                Ok(())
            }
            // A server's close frame that answers one.
            Err(Error::Closed) if closes => Ok(()),
            other => other,
        }
    }

    fn with_context<T>(
        &mut self,
        cx: &mut Context<'_>,
        act: impl FnOnce(
            &mut WebSocketContext,
            &mut Adapter<'_, '_, S>,
        ) -> Result<T, tungstenite::Error>,
    ) -> Result<T, Error> {
        let mut adapter = Adapter::new(&mut self.stream, cx);
        let result = act(&mut self.context, &mut adapter);
        if adapter.wrote_any && self.stalled.is_set() {
            self.stalled.set(self.config.write_timeout);
        }
        if adapter.read_any
            && let Some(keep_alive) = self.config.keep_alive
        {
            self.pinged = false;
            self.silence.set(keep_alive.after);
        }
        result.map_err(Error::from)
    }
}

/// What RFC 6455 lets nobody send, and tungstenite would.
fn check(message: &Message) -> Result<(), Error> {
    match message {
        Message::Ping(bytes) | Message::Pong(bytes) if bytes.len() > 125 => {
            Err(Error::InvalidControl("more than 125 bytes"))
        }
        Message::Close(Some(frame)) if frame.reason.len() > 123 => {
            Err(Error::InvalidControl("a reason of more than 123 bytes"))
        }
        Message::Close(Some(frame)) if !frame.code.is_allowed() => {
            Err(Error::InvalidControl("a code that may not be sent"))
        }
        _ => Ok(()),
    }
}

/// As much of a reason as fits into a close frame.
fn shortened(mut reason: String) -> String {
    while reason.len() > 123 {
        reason.pop();
    }
    reason
}

impl<S> std::fmt::Debug for Connection<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("role", &self.role)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
