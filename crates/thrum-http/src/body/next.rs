//! A response's body, polled: a panic in it goes no further.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};

use crate::{Body, BodyError};

/// What a body has next.
pub(crate) enum Next {
    Frame(Frame<Bytes>),
    End,
    Failed(BodyError),
    Panicked,
}

/// Polls a body. A panic goes no further.
pub(crate) fn poll_frame(body: &mut Body, cx: &mut Context<'_>) -> Poll<Next> {
    match catch_unwind(AssertUnwindSafe(|| Pin::new(body).poll_frame(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(None)) => Poll::Ready(Next::End),
        Ok(Poll::Ready(Some(Ok(frame)))) => Poll::Ready(Next::Frame(frame)),
        Ok(Poll::Ready(Some(Err(error)))) => Poll::Ready(Next::Failed(error)),
        Err(_) => Poll::Ready(Next::Panicked),
    }
}
