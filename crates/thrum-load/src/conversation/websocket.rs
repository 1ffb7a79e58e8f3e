//! WebSocket: a message is sent, and one comes back.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use thrum_http::upgrade::Upgraded;
use thrum_http::websocket::{Error, Message, WebSocket};

use super::{Answer, Conversation, kind_of_io};
use crate::ErrorKind;
use crate::check::Expect;
use crate::record::Times;
use crate::requests::Asker;

pub(crate) struct Messages {
    socket: WebSocket<Upgraded>,
    expect: Arc<Expect>,
    waiting: VecDeque<(Instant, Instant)>,
    output: VecDeque<String>,
    received: u64,
    sent: u64,
}

impl Messages {
    pub(crate) fn new(socket: WebSocket<Upgraded>, expect: Arc<Expect>) -> Self {
        Self {
            socket,
            expect,
            waiting: VecDeque::new(),
            output: VecDeque::new(),
            received: 0,
            sent: 0,
        }
    }
}

impl Conversation for Messages {
    fn ask(&mut self, asker: &mut Asker, due: Instant, now: Instant) {
        let text = asker.next_text();
        self.sent += text.len() as u64;
        self.output.push_back(text);
        self.waiting.push_back((due, now));
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ErrorKind>> {
        while let Some(text) = self.output.front() {
            // Dropped before it is done, it has fed nothing.
            ready!(pin!(self.socket.feed(text.as_str())).poll(cx)).map_err(kind)?;
            self.output.pop_front();
        }
        pin!(self.socket.flush()).poll(cx).map_err(kind)
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answer, ErrorKind>> {
        loop {
            // Dropped before it is done, it keeps what it has read.
            let message = match ready!(pin!(self.socket.receive()).poll(cx)) {
                None | Some(Ok(Message::Close(_))) => return Poll::Ready(Err(ErrorKind::Lost)),
                Some(Err(error)) => return Poll::Ready(Err(kind(error))),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(message)) => message,
            };
            self.received += message.as_bytes().len() as u64;
            let Some((due, sent)) = self.waiting.pop_front() else {
                return Poll::Ready(Err(ErrorKind::Protocol));
            };
            let done = Instant::now();
            return Poll::Ready(Ok(Answer {
                times: Times {
                    due,
                    sent,
                    first_byte: done,
                    done,
                },
                status: None,
                verdict: self.expect.body(message.as_bytes()),
                goes_on: true,
            }));
        }
    }

    fn is_usable(&mut self, cx: &mut Context<'_>) -> bool {
        pin!(self.socket.receive()).poll(cx).is_pending()
    }

    fn moved(&self) -> (u64, u64) {
        (self.received, self.sent)
    }
}

fn kind(error: Error) -> ErrorKind {
    match error {
        Error::Io(error) => kind_of_io(&error),
        Error::Closed => ErrorKind::Lost,
        Error::WriteTimeout => ErrorKind::Timeout,
        _ => ErrorKind::Protocol,
    }
}
