//! A request's body on its way to the server.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::Body as HttpBody;
use thiserror::Error as ThisError;

use super::encode::Framing;
use crate::body::{FilePart, Kind};
use crate::h1::{Output, chunked};
use crate::wire::{Wire, would_block};
use crate::{Body, BodyError};

/// A body up to this length is copied behind its head, so that one plain write takes both.
const COPY_UP_TO: usize = 16 * 1024;

/// Bytes of a file sent in one call.
const FILE_PIECE: u64 = 1024 * 1024;

pub(crate) struct Upload {
    source: Source,
    /// Some of a body that cannot be had twice has been taken.
    begun: bool,
    /// Bytes that were written since this was last looked at.
    pub(crate) wrote: bool,
    /// What it waits for is more of the body, not the server.
    pub(crate) starves: bool,
}

enum Source {
    /// All of it is in the output, or sent.
    Done,
    Bytes(Bytes),
    File(FilePart),
    Stream(Stream),
}

/// A body that comes as it is sent.
struct Stream {
    body: Body,
    /// Bytes that were promised and are to come; `None` if it is sent in chunks.
    left: Option<u64>,
    /// Boxed, as there are seldom any, and every request's future would be larger.
    trailers: Option<Box<HeaderMap>>,
    ended: bool,
}

/// Why a body was not sent.
#[derive(Debug)]
pub(crate) enum Broken {
    Wire(io::Error),
    Body(BodyError),
}

/// A body that is not what its size says.
#[derive(Debug, ThisError)]
#[error("the request's body is not as long as its size says")]
struct WrongLength;

impl Upload {
    /// Begins to send a body behind the head that is in the output. A body in memory stays with the request as well.
    /// `waits`: it goes out only once that is asked for.
    pub(crate) fn new(body: &mut Body, framing: Framing, waits: bool, output: &mut Output) -> Self {
        let source = match &mut body.kind {
            Kind::Empty => Source::Done,
            Kind::Bytes(bytes) if bytes.len() <= COPY_UP_TO && !waits => {
                output.buffer().extend_from_slice(bytes);
                Source::Done
            }
            Kind::Bytes(bytes) => Source::Bytes(bytes.clone()),
            Kind::File(part) => Source::File(part.clone()),
            _ if framing == Framing::None => Source::Done,
            Kind::Incoming(_) | Kind::Http2(_) | Kind::Stream(_) => Source::Stream(Stream {
                body: std::mem::take(body),
                left: match framing {
                    Framing::Length(length) => Some(length),
                    Framing::Chunked | Framing::None => None,
                },
                trailers: None,
                ended: false,
            }),
        };
        Self {
            source,
            begun: false,
            wrote: false,
            starves: false,
        }
    }

    /// Gives a body back that was taken and is still whole. Whether the request has all of its body again.
    pub(crate) fn restore(self, body: &mut Body) -> bool {
        if let Source::Stream(stream) = self.source
            && !self.begun
        {
            *body = stream.body;
        }
        !self.begun
    }

    /// Sends the output, and nothing of the body that is not in there.
    pub(crate) fn poll_head(
        &mut self,
        wire: &mut Wire,
        output: &mut Output,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Broken>> {
        self.starves = false;
        while !output.is_empty() {
            let written = ready!(poll_write(wire, cx, |wire| wire.try_write(output.pending())))?;
            output.wrote(written);
            self.wrote = true;
        }
        while wire.holds_back() {
            ready!(wire.poll_writable(cx)).map_err(Broken::Wire)?;
            ready!(wire.poll_flush(cx)).map_err(Broken::Wire)?;
        }
        Poll::Ready(Ok(()))
    }

    /// Sends the output and the body. Ready once all of it is with the kernel.
    pub(crate) fn poll(
        &mut self,
        wire: &mut Wire,
        output: &mut Output,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Broken>> {
        loop {
            match &mut self.source {
                Source::Done => return self.poll_head(wire, output, cx),
                Source::Bytes(bytes) => {
                    while !bytes.is_empty() {
                        let written = ready!(poll_write(wire, cx, |wire| {
                            wire.try_write_vectored(&[
                                IoSlice::new(output.pending()),
                                IoSlice::new(bytes),
                            ])
                        }))?;
                        let of_output = written.min(output.pending().len());
                        output.wrote(of_output);
                        bytes.advance(written - of_output);
                        self.wrote = true;
                    }
                }
                Source::File(part) => {
                    while !output.is_empty() {
                        let written = ready!(poll_write(wire, cx, |wire| {
                            wire.try_write_more(output.pending())
                        }))?;
                        output.wrote(written);
                        self.wrote = true;
                    }
                    while part.length > 0 {
                        let piece = part.length.min(FILE_PIECE) as usize;
                        let sent = ready!(poll_write(wire, cx, |wire| {
                            wire.try_send_file(&part.file, part.offset, piece)
                        }))? as u64;
                        if sent == 0 {
                            return Poll::Ready(Err(wrong_length()));
                        }
                        part.offset += sent;
                        part.length -= sent;
                        self.wrote = true;
                    }
                }
                Source::Stream(stream) => {
                    while !stream.ended && output.pending().len() < COPY_UP_TO {
                        self.begun = true;
                        match stream.poll_fill(output, cx) {
                            Poll::Ready(filled) => filled?,
                            Poll::Pending if output.is_empty() => {
                                self.starves = true;
                                return Poll::Pending;
                            }
                            Poll::Pending => break,
                        }
                    }
                    if !stream.ended || !output.is_empty() {
                        ready!(self.poll_head(wire, output, cx))?;
                        continue;
                    }
                }
            }
            self.source = Source::Done;
        }
    }
}

impl Stream {
    /// Moves the next of the body to the output.
    fn poll_fill(&mut self, output: &mut Output, cx: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        let frame = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => return Poll::Ready(Err(Broken::Body(error))),
            None => {
                self.ended = true;
                match self.left {
                    None => chunked::encode_end(output.buffer(), self.trailers.as_deref()),
                    Some(0) => {}
                    Some(_) => return Poll::Ready(Err(wrong_length())),
                }
                return Poll::Ready(Ok(()));
            }
        };
        match frame.into_data() {
            Ok(data) => match &mut self.left {
                None => chunked::encode(output.buffer(), &data),
                Some(left) => {
                    let rest = left.checked_sub(data.len() as u64);
                    *left = match rest {
                        Some(rest) => rest,
                        None => return Poll::Ready(Err(wrong_length())),
                    };
                    output.buffer().extend_from_slice(&data);
                }
            },
            Err(frame) => self.trailers = frame.into_trailers().ok().map(Box::new),
        }
        Poll::Ready(Ok(()))
    }
}

fn wrong_length() -> Broken {
    Broken::Body(BodyError::Other(WrongLength.into()))
}

/// Does a write until it does not block.
fn poll_write(
    wire: &mut Wire,
    cx: &mut Context<'_>,
    mut write: impl FnMut(&mut Wire) -> io::Result<usize>,
) -> Poll<Result<usize, Broken>> {
    loop {
        ready!(wire.poll_writable(cx)).map_err(Broken::Wire)?;
        match write(wire) {
            Err(error) if would_block(&error) => {}
            result => return Poll::Ready(result.map_err(Broken::Wire)),
        }
    }
}
