//! Waiting for a handler: its panics are caught, its request's body is moved on, and what the client is owed is written
//! before it is made to wait.

use std::future::{Future, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Response;

use crate::Body;
use crate::transport::Transport;
use crate::upload::Upload;

/// A request's body that may still be on its way. Boxed, as most requests have none.
pub(crate) type Pending = Option<Box<Upload>>;

/// What a handler came to.
pub(crate) enum Handled {
    Response(Response<Body>),
    Failed(String),
    Panicked,
}

/// Polls a handler. A panic goes no further.
pub(crate) fn poll_handler<B, E>(
    future: Pin<&mut impl Future<Output = Result<Response<B>, E>>>,
    cx: &mut Context<'_>,
) -> Poll<Handled>
where
    B: Into<Body>,
    E: std::fmt::Display,
{
    match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(Ok(response))) => Poll::Ready(Handled::Response(response.map(Into::into))),
        Ok(Poll::Ready(Err(error))) => Poll::Ready(Handled::Failed(error.to_string())),
        Err(_) => Poll::Ready(Handled::Panicked),
    }
}

/// Polls what is the handler's until it is ready, and moves the request's body on meanwhile. What is owed to the client is
/// written first, unless it is ready at once.
pub(crate) async fn drive(
    transport: &mut Transport,
    upload: &mut Pending,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<()>,
) -> io::Result<()> {
    if poll_fn(|cx| Poll::Ready(poll(cx))).await.is_ready() {
        return Ok(());
    }
    transport.flush().await?;
    poll_fn(|cx| {
        loop {
            if poll(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let Some(upload) = upload else {
                return Poll::Pending;
            };
            if upload.poll(transport, cx).is_pending() {
                return Poll::Pending;
            }
        }
    })
    .await
}
