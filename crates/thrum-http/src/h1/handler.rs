//! Waiting for a handler: its panics are caught, its request's body is moved on, and what the client is owed is written
//! before it is made to wait.

use std::future::{Future, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Request, Response, Version};

use super::encode;
use super::transport::Transport;
use super::upload::Upload;
use crate::server::Current;
use crate::{Application, Body};

/// A request's body that may still be on its way. Boxed, as most requests have none.
pub(crate) type Pending = Option<Box<Upload>>;

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

/// What becomes of early hints that the application gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hints {
    /// They are sent.
    Sent,
    /// The client is too old for them, or the response has begun.
    Late,
}

impl Hints {
    pub(crate) fn new(version: Version) -> Self {
        match version {
            Version::HTTP_11 => Hints::Sent,
            _ => Hints::Late,
        }
    }

    /// Puts into the output what was given since.
    fn put(self, transport: &mut Transport<'_>, current: &mut Current) {
        if current.has_hints() {
            self.put_all(transport, current);
        }
    }

    #[cold]
    fn put_all(self, transport: &mut Transport<'_>, current: &mut Current) {
        for fields in current.take_hints() {
            if self == Hints::Sent {
                encode::early_hints(transport.output.buffer(), &fields);
            }
        }
    }
}

/// Polls what is the application's until it is ready, and moves the request's body on meanwhile. What is owed to the
/// client is written first, unless it is ready at once.
pub(crate) async fn drive(
    transport: &mut Transport<'_>,
    current: &mut Current,
    upload: &mut Pending,
    hints: Hints,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<()>,
) -> io::Result<()> {
    let ready = poll_fn(|cx| Poll::Ready(current.enter(|| poll(cx))))
        .await
        .is_ready();
    hints.put(transport, current);
    if ready {
        return Ok(());
    }
    transport.flush().await?;
    poll_fn(|cx| {
        loop {
            let polled = current.enter(|| poll(cx));
            hints.put(transport, current);
            if polled.is_ready() {
                return Poll::Ready(Ok(()));
            }
            // Hints are of use only now.
            if let Poll::Ready(Err(error)) = transport.poll_flush(cx) {
                return Poll::Ready(Err(error));
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
