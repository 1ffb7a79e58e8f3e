//! One connection, from its first byte to its last.
//!
//! It reads what is there, answers all complete requests of it, and writes the answers at once (DESIGN D6). It waits
//! without a buffer. Requests are answered one after the other, in their order; while a handler is not done, nothing is read
//! but the body that it asks for.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use thrum_parse::http::{HeadParser, RequestHead, Status};
use thrum_rt::sync::oneshot;

use super::transport::{Awaited, Line, Transport};
use crate::server::{ConnectionInfo, Context, Current, Open};
use crate::upgrade::Upgraded;
use crate::wire::Wire;
use crate::{Application, Reject, h2};

/// What a client begins with that speaks HTTP/2 and knows that we do (RFC 9113 section 3.3).
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How long a connection waits for its next request with all that it needs for one at hand.
const READY: Duration = Duration::from_millis(20);

/// Serves a connection until it ends.
pub(crate) fn serve<A: Application>(
    open: Open,
    wire: Wire,
    context: Arc<Context>,
    application: A,
) -> impl Future<Output = ()> + Send {
    // Boxed, as the future would hold it twice: as it was handed over, and as it is used.
    let connection = Box::new(Connection {
        line: Line::new(open, wire, context),
        application,
    });
    connection.run()
}

/// A connection, as it rests: this is all the memory that it holds then.
struct Connection<A> {
    line: Line,
    application: A,
}

/// A connection at work, until it has waited a while for the next request.
pub(super) struct Active<'a, A> {
    pub(super) transport: Transport<'a>,
    pub(super) application: &'a mut A,
    pub(super) current: Current,
    pub(super) head: RequestHead,
    parser: HeadParser,
    /// The memory of the last response's fields, for the next request's.
    pub(super) spare: HeaderMap,
}

/// How a connection ends, or ends being at work.
pub(super) enum Ended {
    /// It does not: the client may say more, some time.
    Rest,
    /// It is over.
    Closed,
    /// It goes on in another protocol, for whoever waits for it.
    Upgraded {
        promise: oneshot::Sender<Upgraded>,
        ahead: Bytes,
    },
    /// It is HTTP/2, from these first bytes.
    Http2 { ahead: Bytes },
}

/// What comes next from the client.
enum Next {
    /// A head of so many bytes.
    Head(usize),
    Refused(Reject),
    Http2,
    Rest,
    End,
}

impl<A: Application> Connection<A> {
    async fn run(mut self: Box<Self>) {
        let ended = loop {
            let idle = self.line.context.timeouts.idle;
            match self.line.readable(true, Some(idle)).await {
                Ok(Awaited::Readable) => {}
                Ok(Awaited::Expired | Awaited::Ending) => break Ok(Ended::Closed),
                Err(error) => break Err(error),
            }
            // Boxed, and so gone while the connection rests.
            match Box::pin(self.work()).await {
                Ok(Ended::Rest) => {}
                ended => break ended,
            }
        };
        let Line {
            open,
            mut wire,
            context,
            ..
        } = self.line;
        match ended {
            Ok(Ended::Rest | Ended::Closed) => wire.say_end(),
            Ok(Ended::Upgraded { promise, ahead }) => {
                // Nobody waits for it any more: it closes.
                let _ = promise.send(Upgraded::new(wire, ahead, Some(open)));
            }
            Ok(Ended::Http2 { ahead }) => {
                Box::pin(h2::serve(open, wire, ahead, context, self.application)).await;
            }
            // The client is gone, or does not take its answer. That is its right.
            Err(error) => tracing::trace!(%error, peer = ?open.peer, "connection lost"),
        }
    }

    async fn work(&mut self) -> io::Result<Ended> {
        let info = ConnectionInfo::new(&self.line.open, &self.line.wire);
        let limits = self.line.context.limits.head();
        let mut active = Active {
            transport: Transport::new(&mut self.line),
            application: &mut self.application,
            current: Current::new(info),
            head: RequestHead::new(),
            parser: HeadParser::new(limits),
            spare: HeaderMap::new(),
        };
        active.run().await
    }
}

impl<A: Application> Active<'_, A> {
    async fn run(&mut self) -> io::Result<Ended> {
        loop {
            match self.next().await? {
                Next::Head(length) => {
                    if let Some(ended) = self.exchange(length).await? {
                        return Ok(ended);
                    }
                }
                Next::Refused(reject) => {
                    // What there is of the head cannot be trusted, so it is not told.
                    self.head.clear();
                    return self.refuse(reject, &Bytes::new()).await;
                }
                Next::Http2 => {
                    let ahead = self.transport.ahead();
                    return Ok(Ended::Http2 { ahead });
                }
                Next::Rest => return Ok(Ended::Rest),
                Next::End => return Ok(Ended::Closed),
            }
        }
    }

    /// Reads until a head is complete.
    async fn next(&mut self) -> io::Result<Next> {
        let mut begun = false;
        let mut eof = false;
        loop {
            let transport = &mut self.transport;
            if !transport.input.is_empty() {
                match self
                    .parser
                    .parse(transport.input.bytes(), eof, &mut self.head)
                {
                    Ok(Status::Complete { consumed }) => return Ok(Next::Head(consumed)),
                    Ok(Status::Partial) => {}
                    Err(_)
                        if transport.line.served == 0
                            && transport.input.bytes().starts_with(HTTP2_PREFACE) =>
                    {
                        return Ok(Next::Http2);
                    }
                    Err(_)
                        if transport.line.served == 0
                            && !eof
                            && HTTP2_PREFACE.starts_with(transport.input.bytes()) => {}
                    // The empty line that some clients send behind a body (RFC 9112 section 2.2).
                    Err(_) if eof && transport.input.bytes() == b"\r\n" => return Ok(Next::End),
                    Err(error) => return Ok(Next::Refused(error.into())),
                }
            } else if eof {
                return Ok(Next::End);
            }
            transport.flush().await?;
            let mut limit = None;
            if transport.input.is_empty() {
                transport.release_buffers();
                limit = Some(transport.line.context.timeouts.idle.min(READY));
            } else if !std::mem::replace(&mut begun, true) {
                transport
                    .line
                    .deadline
                    .set(transport.line.context.timeouts.head);
            }
            match transport.readable(limit).await? {
                Awaited::Readable => eof = transport.read()? == Some(0),
                Awaited::Expired if begun => return Ok(Next::Refused(Reject::HeadTimeout)),
                Awaited::Expired => return Ok(Next::Rest),
                Awaited::Ending => return Ok(Next::End),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_rests_is_small() {
        // Of this, 60 bytes are for the server's list and counters, and 50 for a deadline that moves lazily.
        assert!(size_of::<Connection<()>>() <= 152);
    }
}
