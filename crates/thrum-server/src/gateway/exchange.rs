//! A program at work: its head becomes a response's, and what follows is sent as it comes.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{Method, Response, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};
use thiserror::Error;
use thrum_http::{Body, BodyError};
use thrum_parse::http::HeadLimits;
use thrum_rt::time::{Deadline, Instant};

use super::head::{Answered, HeadProblem, HeadReader};
use crate::site::reply;

/// A program that answers one request. Dropping it before its end stops it.
pub(crate) trait Program: Send + Unpin + 'static {
    /// The next bytes that it writes. `None`: it is done, and says that all is well. The rest of the request's body is passed
    /// on meanwhile, and what it says on its standard error is logged.
    fn poll_output(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>>;

    /// Bytes of the request's body that it has taken.
    fn taken(&self) -> u64;
}

/// How long a program may take, and how much it may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// To the end of its head, from its start or from the last piece of the request's body that it has taken.
    pub(crate) head: Duration,
    /// From piece to piece of its document.
    pub(crate) idle: Duration,
    /// In all.
    pub(crate) total: Option<Duration>,
    /// Bytes of its document.
    pub(crate) output: Option<u64>,
}

/// Why a program has not answered, or not to the end.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error("what it writes is no answer: {0}")]
    Head(#[from] HeadProblem),
    #[error("it takes too long")]
    Slow,
    #[error("it writes more than it may")]
    TooLarge,
    #[error("it wrote less than its Content-Length")]
    Short,
    #[error("{0}")]
    Ended(String),
    #[error("{0}")]
    System(#[from] io::Error),
    #[error("the request's body: {0}")]
    Request(BodyError),
}

impl Failure {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Slow => StatusCode::GATEWAY_TIMEOUT,
            Self::Request(BodyError::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Request(BodyError::TooSlow) => StatusCode::REQUEST_TIMEOUT,
            Self::Request(_) => StatusCode::BAD_REQUEST,
            _ => StatusCode::BAD_GATEWAY,
        }
    }
}

/// The response that a program makes. `script` is its name in the log; `whole` says that it begins with a status line.
///
/// # Cancellation
/// Dropping the future, or the response's body, stops the program.
pub(crate) async fn respond<P: Program>(
    program: P,
    script: Arc<str>,
    method: &Method,
    whole: bool,
    limits: Limits,
) -> Response<Body> {
    let mut work = Work {
        program,
        script,
        limits,
        began: Instant::now(),
        waiting: Deadline::new(),
    };
    match head(&mut work, whole).await {
        Ok((answered, rest)) => work.document(answered, rest, *method == Method::HEAD),
        Err(failure) => {
            work.log(&failure);
            reply::status(failure.status())
        }
    }
}

/// Reads the head; the start of the document may be behind it.
async fn head<P: Program>(work: &mut Work<P>, whole: bool) -> Result<(Answered, Bytes), Failure> {
    let mut reader = HeadReader::new(HeadLimits::default(), whole);
    let mut buffer = BytesMut::new();
    loop {
        let piece = work.output(work.limits.head).await.transpose()?;
        // Mostly all of it is one piece.
        let (read, eof) = match &piece {
            Some(piece) if buffer.is_empty() => (reader.read(piece, false)?, false),
            Some(piece) => {
                buffer.extend_from_slice(piece);
                (reader.read(&buffer, false)?, false)
            }
            None => (reader.read(&buffer, true)?, true),
        };
        match (read, piece) {
            (Some((answered, length)), Some(piece)) if buffer.is_empty() => {
                return Ok((answered, piece.slice(length..)));
            }
            (Some((answered, length)), _) => {
                return Ok((answered, buffer.split_off(length).freeze()));
            }
            (None, Some(piece)) if buffer.is_empty() => buffer.extend_from_slice(&piece),
            (None, _) if eof => return Err(Failure::Ended("it ended without an answer".into())),
            (None, _) => {}
        }
    }
}

/// A program, and how long it may take.
struct Work<P> {
    program: P,
    script: Arc<str>,
    limits: Limits,
    began: Instant,
    /// For the program: when that was too long.
    waiting: Deadline,
}

impl<P: Program> Work<P> {
    /// What it writes next, within a time that begins anew whenever it takes something.
    async fn output(&mut self, limit: Duration) -> Option<Result<Bytes, Failure>> {
        poll_fn(|cx| self.poll_output(limit, cx)).await
    }

    fn poll_output(
        &mut self,
        limit: Duration,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Failure>>> {
        let left = match self.limits.total {
            Some(total) => total.saturating_sub(self.began.elapsed()).min(limit),
            None => limit,
        };
        if left.is_zero() {
            return Poll::Ready(Some(Err(Failure::Slow)));
        }
        let before = self.program.taken();
        let output = self.program.poll_output(cx);
        if output.is_ready() {
            self.waiting.clear();
            return output;
        }
        if self.program.taken() > before {
            self.waiting.clear();
        }
        let late = if self.waiting.is_set() {
            self.waiting.poll_expired(cx)
        } else {
            self.waiting.start(left, cx)
        };
        late.map(|()| Some(Err(Failure::Slow)))
    }

    fn log(&self, failure: &Failure) {
        match failure {
            // That is the client's fault.
            Failure::Request(_) => tracing::debug!(script = %self.script, "{failure}"),
            _ => tracing::warn!(script = %self.script, "{failure}"),
        }
    }

    /// The response, whose body has the program.
    fn document(self, answered: Answered, rest: Bytes, is_head: bool) -> Response<Body> {
        let Answered { response, length } = answered;
        let status = response.status();
        let bodiless = is_head
            || status == StatusCode::NO_CONTENT
            || status == StatusCode::NOT_MODIFIED
            || response
                .extensions()
                .get::<super::LocalRedirect>()
                .is_some();
        let document = Document {
            work: Some(self),
            piece: rest,
            left: length,
            written: 0,
        };
        if bodiless || length == Some(0) {
            document.go_on_alone();
            return response.map(|()| Body::empty());
        }
        response.map(|()| Body::wrap(document))
    }
}

/// What a program writes behind its head, as a body.
struct Document<P: Program> {
    /// `None` once it is over.
    work: Option<Work<P>>,
    /// What was read with the head.
    piece: Bytes,
    /// Bytes that are to come, if the head told.
    left: Option<u64>,
    written: u64,
}

impl<P: Program> Document<P> {
    /// Nobody wants the rest, but the program is to come to its end.
    fn go_on_alone(mut self) {
        if let Some(work) = self.work.take() {
            thrum_rt::spawn(to_the_end(work));
        }
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        let Some(work) = &mut self.work else {
            return Poll::Ready(None);
        };
        let mut piece = match std::mem::take(&mut self.piece) {
            piece if !piece.is_empty() => piece,
            _ => match std::task::ready!(work.poll_output(work.limits.idle, cx)) {
                Some(Ok(piece)) => piece,
                None if self.left.is_some_and(|left| left > 0) => {
                    return Poll::Ready(Some(Err(Failure::Short)));
                }
                other => return Poll::Ready(other),
            },
        };
        self.written += piece.len() as u64;
        if work.limits.output.is_some_and(|limit| self.written > limit) {
            return Poll::Ready(Some(Err(Failure::TooLarge)));
        }
        if let Some(left) = &mut self.left {
            if piece.len() as u64 > *left {
                tracing::warn!(script = %work.script, "it writes more than its Content-Length");
                piece.truncate(*left as usize); // which is less than the piece's
            }
            *left -= piece.len() as u64;
            if *left == 0
                && let Some(work) = self.work.take()
            {
                thrum_rt::spawn(to_the_end(work));
            }
        }
        Poll::Ready(Some(Ok(piece)))
    }
}

/// Reads what nobody wants, so that the program comes to its end.
async fn to_the_end<P: Program>(mut work: Work<P>) {
    let mut written = 0;
    while let Some(piece) = work.output(work.limits.idle).await {
        written += piece.as_ref().map_or(0, |piece| piece.len() as u64);
        let too_large = work.limits.output.is_some_and(|limit| written > limit);
        if let Err(failure) = piece.and(if too_large {
            Err(Failure::TooLarge)
        } else {
            Ok(())
        }) {
            return work.log(&failure);
        }
    }
}

impl<P: Program> HttpBody for Document<P> {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let piece = std::task::ready!(self.poll_piece(cx));
        match &piece {
            Some(Ok(_)) => {}
            None => self.work = None,
            Some(Err(failure)) => {
                if let Some(work) = self.work.take() {
                    work.log(failure);
                }
            }
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.work.is_none() && self.piece.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        self.left
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
