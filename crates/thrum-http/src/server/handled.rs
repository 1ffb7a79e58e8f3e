//! What a handler comes to, in whichever protocol: its panics are caught, its failures counted and answered.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Request, Response, StatusCode};

use super::Counters;
use crate::{Application, Body};

/// What a handler came to.
pub(crate) enum Handled {
    Response(Response<Body>),
    Failed(String),
    Panicked,
}

/// Hands a request to an application once that is ready for it, and polls what it answers. A panic goes no further.
///
/// The request is taken out and the future put in place when it is called, so that neither is moved on the way: they are
/// large, and moving them shows.
pub(crate) fn poll_call<A: Application>(
    application: &mut A,
    request: &mut Option<Request<Body>>,
    mut future: Pin<&mut Option<A::Future>>,
    cx: &mut Context<'_>,
) -> Poll<Handled> {
    let poll = || {
        if request.is_some() {
            ready!(application.poll_ready(cx))?;
            future.set(request.take().map(|request| application.call(request)));
        }
        match future.as_mut().as_pin_mut() {
            Some(future) => future.poll(cx),
            None => Poll::Pending,
        }
    };
    match catch_unwind(AssertUnwindSafe(poll)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(Ok(response))) => Poll::Ready(Handled::Response(response.map(Body::wrap))),
        // Errors become text at once: they need not be `Send`.
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
