//! Waiting for a handler: its request's body is moved on, and what the client is owed is written before it is made to wait.
//! Nor is a client waited for that has left.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};

use http::Version;

use super::encode;
use super::transport::Transport;
use super::upload::Upload;
use crate::server::Current;

/// A request's body that may still be on its way. Boxed, as most requests have none.
pub(crate) type Pending = Option<Box<Upload>>;

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
///
/// A client that ends its side while it is waited for has left: the error is then `ConnectionAborted`.
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
    // It may take long, and there may be many.
    transport.release_buffers();
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
            let comes = upload.as_mut().map(|upload| upload.poll(transport, cx));
            match comes {
                Some(Poll::Ready(())) => {}
                Some(Poll::Pending) if !upload.as_ref().is_some_and(|upload| upload.is_done()) => {
                    return Poll::Pending;
                }
                _ => return transport.poll_left(cx).map(Err),
            }
        }
    })
    .await
}
