//! A request's body on its way to the server, as fast as the server's windows let it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::SendStream;
use http_body::Body as _;

use crate::{Body, BodyError};

pub(super) struct Upload {
    stream: SendStream<Bytes>,
    body: Body,
    /// What was taken of the body and has no room yet.
    chunk: Bytes,
    /// Bytes that were passed on.
    pub(super) sent: u64,
    /// The body was asked for data, so it is no longer whole.
    pub(super) has_begun: bool,
}

/// Why an upload ended early.
pub(super) enum Broken {
    /// The server wants no more of it, or the connection is gone: the response says which.
    Stream,
    /// The body itself failed.
    Body(BodyError),
}

impl Upload {
    pub(super) fn new(stream: SendStream<Bytes>, body: Body) -> Self {
        Self {
            stream,
            body,
            chunk: Bytes::new(),
            sent: 0,
            has_begun: false,
        }
    }

    /// Whether it waits for the server, not for the body.
    pub(super) fn waits_for_room(&self) -> bool {
        !self.chunk.is_empty()
    }

    pub(super) fn into_body(self) -> Body {
        self.body
    }

    /// Passes on what there is. Ready at the end.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        loop {
            while !self.chunk.is_empty() {
                self.stream.reserve_capacity(self.chunk.len());
                let room = match ready!(self.stream.poll_capacity(cx)) {
                    Some(Ok(room)) => room.min(self.chunk.len()),
                    Some(Err(_)) | None => return Poll::Ready(Err(Broken::Stream)),
                };
                let part = self.chunk.split_to(room);
                let sent = self.stream.send_data(part, false);
                sent.map_err(|_| Broken::Stream)?;
                self.sent += room as u64;
            }
            // While the body waits too: the server may not want it any more.
            if self.stream.poll_reset(cx).is_ready() {
                return Poll::Ready(Err(Broken::Stream));
            }
            self.has_begun = true;
            let frame = ready!(Pin::new(&mut self.body).poll_frame(cx)).transpose();
            let end = match frame {
                Ok(Some(frame)) => match frame.into_data() {
                    Ok(data) => {
                        self.chunk = data;
                        continue;
                    }
                    Err(frame) => match frame.into_trailers() {
                        Ok(trailers) => self.stream.send_trailers(trailers),
                        Err(_) => continue,
                    },
                },
                Ok(None) => self.stream.send_data(Bytes::new(), true),
                Err(error) => {
                    self.stream.send_reset(h2::Reason::INTERNAL_ERROR);
                    return Poll::Ready(Err(Broken::Body(error)));
                }
            };
            return Poll::Ready(end.map_err(|_| Broken::Stream));
        }
    }
}
