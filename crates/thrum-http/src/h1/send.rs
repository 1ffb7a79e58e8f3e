//! Sending a response's body.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};

use super::chunked;
use super::connection::Active;
use super::encode::Ending;
use super::handler::{Hints, Pending, drive};
use super::transport::Transport;
use crate::body::{FilePart, Kind, Next, poll_frame};
use crate::server::Counters;
use crate::{Application, Body};

/// A body up to this length is copied behind its head, so that one plain write takes both.
const COPY_UP_TO: usize = 16 * 1024;

impl Transport<'_> {
    /// Puts a short body, or none, into the output. The bytes of it; `None`: it is to be sent in another way.
    pub(super) fn copy_body(&mut self, body: &Body, ending: Ending) -> Option<u64> {
        match &body.kind {
            _ if ending == Ending::NoBody => Some(0),
            Kind::Empty => Some(0),
            // Its head must not wait for more (MSG_MORE) that does not come.
            Kind::File(part) if part.length == 0 => Some(0),
            Kind::Bytes(bytes) if bytes.len() <= COPY_UP_TO => {
                self.output.buffer().extend_from_slice(bytes);
                Some(bytes.len() as u64)
            }
            _ => None,
        }
    }
}

impl<A: Application> Active<'_, A> {
    /// Sends a body behind its head; whether all of it was there. A short one is [copied](Transport::copy_body).
    pub(super) async fn send_body(
        &mut self,
        body: Body,
        ending: Ending,
        trailers: bool,
        upload: &mut Pending,
        sent: &mut u64,
    ) -> io::Result<bool> {
        match body.kind {
            Kind::Empty => Ok(true),
            Kind::Bytes(bytes) => {
                self.transport.flush_with(&bytes).await?;
                *sent += bytes.len() as u64;
                Ok(true)
            }
            Kind::File(part) => self.send_file(part, sent).await,
            kind @ (Kind::Incoming(_) | Kind::Http2(_) | Kind::Stream(_)) => {
                let mut body = Body { kind };
                // Mostly it is one piece that is there at once.
                let first =
                    poll_fn(|cx| Poll::Ready(self.current.enter(|| poll_frame(&mut body, cx))));
                let first = first.await;
                if let Ending::Length(length) = ending
                    && let Poll::Ready(Next::Frame(frame)) = &first
                    && let Some(data) = frame.data_ref()
                    && data.len() as u64 == length
                    && data.len() <= COPY_UP_TO
                {
                    self.transport.output.buffer().extend_from_slice(data);
                    *sent += length;
                    return Ok(true);
                }
                // Boxed, as it is rare and would make every connection larger.
                let stream = self.send_stream(body, first, ending, trailers, upload, sent);
                Box::pin(stream).await
            }
        }
    }

    /// Sends part of a file; whether it was all there.
    async fn send_file(&mut self, part: FilePart, sent: &mut u64) -> io::Result<bool> {
        let FilePart {
            file,
            mut offset,
            mut length,
        } = part;
        self.transport.flush_before_more().await?;
        while length > 0 {
            let moved = self.transport.send_file(&file, offset, length).await? as u64;
            if moved == 0 {
                return Ok(false); // it has shrunk: the promised length cannot be kept
            }
            offset += moved;
            length -= moved;
            *sent += moved;
        }
        Ok(true)
    }

    /// Sends a body as it comes; whether it came in full.
    async fn send_stream(
        &mut self,
        mut body: Body,
        mut polled: Poll<Next>,
        ending: Ending,
        trailers: bool,
        upload: &mut Pending,
        sent: &mut u64,
    ) -> io::Result<bool> {
        let mut left = match ending {
            Ending::Length(length) => length,
            _ => u64::MAX,
        };
        let mut trailing = None;
        loop {
            if polled.is_pending() {
                let poll = |cx: &mut Context<'_>| {
                    polled = poll_frame(&mut body, cx);
                    polled
                        .is_ready()
                        .then_some(())
                        .map_or(Poll::Pending, Poll::Ready)
                };
                drive(
                    &mut self.transport,
                    &mut self.current,
                    upload,
                    Hints::Late,
                    poll,
                )
                .await?;
            }
            let data = match std::mem::replace(&mut polled, Poll::Pending) {
                Poll::Pending => continue,
                Poll::Ready(Next::End) => break,
                Poll::Ready(Next::Frame(frame)) => match frame.into_data() {
                    Ok(data) => data,
                    Err(frame) => {
                        trailing = frame.into_trailers().ok().filter(|_| trailers);
                        continue;
                    }
                },
                Poll::Ready(Next::Failed(error)) => {
                    tracing::debug!(%error, "a response body ended early");
                    self.transport.flush().await?;
                    return Ok(false);
                }
                Poll::Ready(Next::Panicked) => {
                    Counters::count(&self.transport.line.open.counters().panics);
                    tracing::error!("a response body panicked");
                    return Ok(false);
                }
            };
            if data.len() as u64 > left {
                tracing::error!("a response body is longer than its size says");
                return Ok(false);
            }
            left -= data.len() as u64;
            *sent += data.len() as u64;
            let output = self.transport.output.buffer();
            match ending {
                Ending::Chunked => chunked::encode(output, &data),
                _ => output.extend_from_slice(&data),
            }
            if output.len() >= COPY_UP_TO {
                self.transport.flush().await?;
            }
        }
        if ending == Ending::Chunked {
            chunked::encode_end(self.transport.output.buffer(), trailing.as_ref());
        }
        Ok(!matches!(ending, Ending::Length(_)) || left == 0)
    }
}
