//! A connection for those who render their requests themselves: load generators, replayers, tests of servers.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use http::{Method, StatusCode};
use thrum_parse::http::{HeadError, HeadParser, ResponseHead, Status};

use super::connection::{NoAnswer, READ_BYTES, is_silent};
use super::receive;
use super::rest::Rest;
use crate::client::{BadResponse, Config, Error, Phase};
use crate::h1::chunked::Piece;
use crate::h1::{Input, Output};
use crate::wire::{Wire, would_block};
use crate::{BodyError, client::direct::Dialed};

/// A connection that speaks HTTP/1.1 and sends requests as they were rendered, any number of them before the first response.
/// It is made by [`Dialed::http1`].
///
/// Nothing is copied but the requests, and no time limit holds but those of whoever polls it. The limits of
/// [`ClientBuilder::limits`](super::super::ClientBuilder::limits) on heads and chunk lines do hold.
///
/// ```no_run
/// use std::future::poll_fn;
/// use thrum_http::Method;
/// use thrum_http::client::{Client, Part};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let dialer = Client::builder().dialer("http://127.0.0.1:8080/")?;
/// let mut connection = dialer.dial().await?.http1();
/// connection.queue(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
/// poll_fn(|cx| connection.poll_flush(cx)).await?;
/// let mut bytes = 0;
/// let ended = poll_fn(|cx| loop {
///     match std::task::ready!(connection.poll_part(cx, &Method::GET)) {
///         Ok(Part::Data(data)) => bytes += data.len(),
///         Ok(Part::End { .. }) => return std::task::Poll::Ready(Ok(())),
///         Ok(Part::Head { .. }) => {}
///         Err(error) => return std::task::Poll::Ready(Err(error)),
///     }
/// });
/// ended.await?;
/// # Ok(())
/// # }
/// ```
pub struct Pipeline {
    wire: Wire,
    input: Input,
    output: Output,
    parser: HeadParser,
    head: ResponseHead,
    config: Arc<Config>,
    /// What is to come of the body, between a head and its end.
    rest: Option<Rest>,
    keep_alive: bool,
    eof: bool,
    /// Interim responses since the last final one.
    interim: u32,
    /// Bytes at the beginning of the input that the last part showed.
    shown: usize,
    received: u64,
    /// When that was last.
    read_at: Instant,
}

/// The next part of what a server answers.
#[derive(Debug)]
pub enum Part<'a> {
    /// The head of a final response.
    Head {
        /// Its status.
        status: StatusCode,
        /// Its fields.
        fields: Fields<'a>,
        /// When the last of it was read.
        at: Instant,
    },
    /// Some of the body, without its framing.
    Data(&'a [u8]),
    /// The response is over.
    End {
        /// The server goes on with the connection.
        keep_alive: bool,
        /// When the last of it was read.
        at: Instant,
    },
}

/// The fields of a head, as they came.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    head: &'a ResponseHead,
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Names and values, in their order.
    pub fn iter(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let Self { head, bytes } = self;
        let fields = head.headers().iter();
        fields.map(move |field| (field.name.of(bytes), field.value.of(bytes)))
    }

    /// The values of a field; upper and lower case are the same in its name.
    pub fn get(self, name: &[u8]) -> impl Iterator<Item = &'a [u8]> {
        let fields = self.iter();
        fields.filter_map(move |(found, value)| found.eq_ignore_ascii_case(name).then_some(value))
    }
}

impl Dialed {
    /// Speaks HTTP/1.1, with requests that the caller renders.
    pub fn http1(self) -> Pipeline {
        Pipeline {
            input: Input::new(READ_BYTES),
            output: Output::default(),
            parser: HeadParser::new(self.config.limits.head()),
            head: ResponseHead::new(),
            wire: self.wire,
            config: self.config,
            rest: None,
            keep_alive: true,
            eof: false,
            interim: 0,
            shown: 0,
            received: 0,
            read_at: Instant::now(),
        }
    }
}

impl Pipeline {
    /// Appends to what is to be sent: a whole request, or any part of one.
    pub fn queue(&mut self, request: &[u8]) {
        self.output.buffer().extend_from_slice(request);
    }

    /// Sends what was queued. Ready once the kernel has it.
    ///
    /// # Errors
    /// Those of the connection. It is of no more use for sending; the server may have answered before.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.output.is_empty() {
            match self.wire.try_write(self.output.pending()) {
                Ok(count) => self.output.wrote(count),
                Err(error) if would_block(&error) => ready!(self.wire.poll_writable(cx))?,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        match self.wire.holds_back() {
            true => self.wire.poll_flush(cx),
            false => Poll::Ready(Ok(())),
        }
    }

    /// The next part of the response to the first request that has not been answered, which had this method. Interim
    /// responses are passed over.
    ///
    /// # Errors
    /// See [`Error`]; the connection is of no more use.
    pub fn poll_part(
        &mut self,
        cx: &mut Context<'_>,
        method: &Method,
    ) -> Poll<Result<Part<'_>, Error>> {
        self.input.consume(std::mem::take(&mut self.shown));
        loop {
            let next = match &mut self.rest {
                Some(rest) => Self::next_of_body(rest, &self.input),
                None => self.next_head(method),
            };
            match next? {
                Next::Skip(count) => self.input.consume(count),
                Next::Head(count) => {
                    self.shown = count;
                    let bad = |why: BadResponse| Error::new(Phase::Head, why);
                    return Poll::Ready(Ok(Part::Head {
                        status: receive::status(&self.head).map_err(bad)?,
                        fields: Fields {
                            head: &self.head,
                            bytes: self.input.bytes(),
                        },
                        at: self.read_at,
                    }));
                }
                Next::Data(count) => {
                    self.shown = count;
                    return Poll::Ready(Ok(Part::Data(&self.input.bytes()[..count])));
                }
                Next::End => {
                    self.rest = None;
                    let keep_alive = self.keep_alive && !self.eof;
                    let at = self.read_at;
                    return Poll::Ready(Ok(Part::End { keep_alive, at }));
                }
                Next::Read => {
                    let read = ready!(self.poll_read(cx));
                    let phase = if self.rest.is_some() {
                        Phase::Body
                    } else {
                        Phase::Head
                    };
                    read.map_err(|error| Error::new(phase, error))?;
                }
            }
        }
    }

    /// Whether a connection on which nothing is asked can take a request: the server has neither closed it nor sent
    /// anything.
    pub fn is_usable(&mut self, cx: &mut Context<'_>) -> bool {
        let is_clean = self.input.bytes().len() == self.shown && !self.eof;
        is_clean && is_silent(&mut self.wire, &mut self.input, cx)
    }

    /// Bytes that have come so far, without the encryption of TLS.
    pub fn received_bytes(&self) -> u64 {
        self.received
    }

    fn next_of_body(rest: &mut Rest, input: &Input) -> Result<Next, Error> {
        let bad = |error| Error::new(Phase::Body, BodyError::Malformed(error));
        Ok(match rest.next(input.bytes()).map_err(bad)? {
            Piece::Framing(count) => Next::Skip(count),
            Piece::Data(count) => Next::Data(count),
            Piece::Need => Next::Read,
            Piece::Done => Next::End,
        })
    }

    fn next_head(&mut self, method: &Method) -> Result<Next, Error> {
        let bytes = self.input.bytes();
        if bytes.is_empty() {
            return Ok(Next::Read);
        }
        let bad = |why: BadResponse| Error::new(Phase::Head, why);
        let parsed = self.parser.parse(bytes, self.eof, &mut self.head);
        let length = match parsed.map_err(|error| bad(error.into()))? {
            Status::Partial => return Ok(Next::Read),
            Status::Complete { consumed } => consumed,
        };
        let status = receive::status(&self.head).map_err(bad)?;
        if status.is_informational() && status != StatusCode::SWITCHING_PROTOCOLS {
            self.interim += 1;
            if self.interim > self.config.limits.interim_responses {
                return Err(bad(BadResponse::TooManyInterim));
            }
            return Ok(Next::Skip(length));
        }
        let terms = receive::terms(&self.head, bytes, method).map_err(bad)?;
        let rest = Rest::of(terms.framing, self.config.limits.chunk_line_bytes);
        self.rest = Some(rest.ok_or_else(|| bad(BadResponse::UnexpectedUpgrade))?);
        self.keep_alive = terms.keep_alive;
        self.interim = 0;
        Ok(Next::Head(length))
    }

    /// Reads what is there, after waiting for it.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.eof {
            let why = match &self.rest {
                Some(Rest::Close) => {
                    self.rest = Some(Rest::Length(0));
                    return Poll::Ready(Ok(()));
                }
                Some(_) => io::Error::new(ErrorKind::UnexpectedEof, BodyError::Truncated),
                None => io::Error::new(ErrorKind::UnexpectedEof, NoAnswer),
            };
            return Poll::Ready(Err(why));
        }
        if self.input.space().is_empty() && !self.input.grow(self.config.limits.head_bytes) {
            let why = BadResponse::Head(HeadError::HeadTooLarge);
            return Poll::Ready(Err(io::Error::new(ErrorKind::InvalidData, why)));
        }
        loop {
            ready!(self.wire.poll_readable(cx))?;
            match self.wire.try_read(self.input.space()) {
                Ok(0) => {
                    self.eof = true;
                    self.read_at = Instant::now();
                }
                Ok(count) => {
                    self.received += count as u64;
                    self.read_at = Instant::now();
                    self.input.filled(count);
                }
                Err(error) if would_block(&error) => continue,
                Err(error) => return Poll::Ready(Err(error)),
            }
            return Poll::Ready(Ok(()));
        }
    }
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipeline").finish_non_exhaustive()
    }
}

/// What comes next.
enum Next {
    /// So many bytes that say nothing to the caller.
    Skip(usize),
    /// A final head of so many bytes.
    Head(usize),
    /// So many bytes of a body.
    Data(usize),
    End,
    /// More has to be read to tell.
    Read,
}
