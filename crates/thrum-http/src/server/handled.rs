//! What a handler comes to, in whichever protocol: its panics are caught, its failures counted and answered.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Response, StatusCode};

use super::Counters;
use crate::{Application, Body};

/// What a handler came to.
pub(crate) enum Handled {
    Response(Response<Body>),
    Failed(String),
    Panicked,
}

/// Polls a handler. A panic goes no further.
pub(crate) fn poll_handler<A: Application>(
    future: Pin<&mut A::Future>,
    cx: &mut Context<'_>,
) -> Poll<Handled> {
    match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(Ok(response))) => Poll::Ready(Handled::Response(response.map(Body::wrap))),
        Ok(Poll::Ready(Err(error))) => Poll::Ready(Handled::Failed(error.to_string())),
        Err(_) => Poll::Ready(Handled::Panicked),
    }
}

/// What the client is told when its handler has no response.
pub(crate) fn internal_error(counters: &Counters, handled: Option<Handled>) -> Response<Body> {
    match handled {
        Some(Handled::Failed(error)) => {
            Counters::count(&counters.errors);
            tracing::error!(error, "a handler failed");
        }
        Some(Handled::Response(response)) => {
            Counters::count(&counters.errors);
            let status = response.status().as_u16();
            tracing::error!(status, "a handler answered with an interim status");
        }
        _ => {
            Counters::count(&counters.panics);
            tracing::error!("a handler panicked");
        }
    }
    let mut response = Response::new(Body::from("500 Internal Server Error\n"));
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}
