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
/// The request is taken out of its place and the future and the response are put into theirs, so that none is moved on the
/// way: they are large, and moving them shows.
pub(crate) fn poll_call<A: Application>(
    application: &mut A,
    request: &mut Option<Request<Body>>,
    mut future: Pin<&mut Option<A::Future>>,
    handled: &mut Option<Handled>,
    cx: &mut Context<'_>,
) -> Poll<()> {
    let poll = || {
        // Errors become text at once: they need not be `Send`.
        let failed = |error: A::Error| Some(Handled::Failed(error.to_string()));
        if request.is_some() {
            if let Err(error) = ready!(application.poll_ready(cx)) {
                *handled = failed(error);
                return Poll::Ready(());
            }
            future.set(request.take().map(|request| application.call(request)));
        }
        let Some(future) = future.as_mut().as_pin_mut() else {
            return Poll::Pending;
        };
        *handled = match ready!(future.poll(cx)) {
            Ok(response) => Some(Handled::Response(response.map(Body::wrap))),
            Err(error) => failed(error),
        };
        Poll::Ready(())
    };
    catch_unwind(AssertUnwindSafe(poll)).unwrap_or_else(|_| {
        *handled = Some(Handled::Panicked);
        Poll::Ready(())
    })
}

/// What the client is told when its handler has no response.
#[cold]
pub(crate) fn internal_error(counters: &Counters, handled: Option<&Handled>) -> Response<Body> {
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
