//! How a protocol asks and is answered, on one connection.
//!
//! | module | what is in it |
//! |---|---|
//! | `http1` | HTTP/1.1, pipelined |
//! | `http2` | HTTP/2, a stream for each request |
//! | `websocket` | messages that are echoed |
//! | `line` | lines that are answered by lines |

pub(crate) mod http1;
pub(crate) mod http2;
pub(crate) mod line;
pub(crate) mod websocket;

use std::error::Error as _;
use std::io;
use std::task::{Context, Poll};
use std::time::Instant;

use thrum_http::client::{Error, Phase};

use crate::ErrorKind;
use crate::record::Times;
use crate::requests::Asker;

/// One connection. What was asked is answered in any order.
pub(crate) trait Conversation: Send {
    /// Has the next request sent by the next flush. It was due then, and it is now so late.
    fn ask(&mut self, asker: &mut Asker, due: Instant, now: Instant);

    /// Sends what was asked. An error is the end of the connection.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ErrorKind>>;

    /// The next answer, to be called while one is outstanding. An error is the end of the connection.
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answer, ErrorKind>>;

    /// Whether the connection, on which nothing is outstanding, can take a request.
    fn is_usable(&mut self, cx: &mut Context<'_>) -> bool;

    /// Bytes received and sent so far.
    fn moved(&self) -> (u64, u64);
}

/// A request's answer.
pub(crate) struct Answer {
    pub(crate) times: Times,
    /// Where the protocol has one.
    pub(crate) status: Option<u16>,
    /// Whether it is as expected.
    pub(crate) verdict: Result<(), ErrorKind>,
    /// The connection can be used for more.
    pub(crate) goes_on: bool,
}

/// What kind of failure it is that the client tells of.
pub(crate) fn kind(error: &Error) -> ErrorKind {
    if error.is_timeout() {
        return ErrorKind::Timeout;
    }
    match error.phase() {
        Phase::Connect => ErrorKind::Connect,
        Phase::Handshake => ErrorKind::Tls,
        _ => match error.source().and_then(|source| source.downcast_ref()) {
            Some(error) => kind_of_io(error),
            None => ErrorKind::Protocol,
        },
    }
}

pub(crate) fn kind_of_io(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::InvalidData => ErrorKind::Protocol,
        io::ErrorKind::TimedOut => ErrorKind::Timeout,
        _ => ErrorKind::Lost,
    }
}
