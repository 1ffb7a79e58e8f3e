//! A connection that is handed to another protocol (RFC 9110 section 7.8).
//!
//! A handler that agrees answers `101 Switching Protocols` with an `Upgrade` field. Once that is written, the connection
//! is its own:
//!
//! ```no_run
//! use futures_lite::{AsyncReadExt, AsyncWriteExt};
//! use thrum_http::{Body, Request, Response, StatusCode, header, service_fn, upgrade};
//!
//! let shout = service_fn(async |mut request: Request<Body>| {
//!     let Some(upgrade) = upgrade::on(&mut request) else {
//!         let mut response = Response::new("this speaks SHOUT only\n");
//!         *response.status_mut() = StatusCode::UPGRADE_REQUIRED;
//!         return response;
//!     };
//!     thrum_rt::spawn(async move {
//!         let mut connection = upgrade.await?;
//!         let mut line = [0; 80];
//!         while let read @ 1.. = connection.read(&mut line).await? {
//!             connection.write_all(&line[..read].to_ascii_uppercase()).await?;
//!         }
//!         std::io::Result::Ok(())
//!     });
//!     let mut response = Response::new("");
//!     *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
//!     response.headers_mut().insert(header::UPGRADE, header::HeaderValue::from_static("SHOUT"));
//!     response
//! });
//! # let _ = shout;
//! ```

use std::future::Future;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use futures_io::{AsyncRead, AsyncWrite};
use thrum_rt::sync::oneshot;

use crate::server::Open;
use crate::wire::Wire;

/// What a message promises of its connection: `None` if it asked for no upgrade, or somebody has taken the promise.
///
/// A server has it on requests with `Connection: upgrade`, an `Upgrade` field and no body, over HTTP/1.1; a client on
/// responses of status 101.
pub fn on<M: Upgradable>(message: &mut M) -> Option<OnUpgrade> {
    let promise = message.extensions_mut().remove::<Promise>()?;
    let receiver = promise
        .0
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take()?;
    Some(OnUpgrade(Box::pin(async move {
        receiver
            .await
            .map_err(|_| io::Error::new(ErrorKind::NotConnected, "the connection was not upgraded"))
    })))
}

/// A request or a response.
pub trait Upgradable: sealed::Sealed {
    #[doc(hidden)]
    fn extensions_mut(&mut self) -> &mut http::Extensions;
}

impl<B> Upgradable for http::Request<B> {
    fn extensions_mut(&mut self) -> &mut http::Extensions {
        self.extensions_mut()
    }
}

impl<B> Upgradable for http::Response<B> {
    fn extensions_mut(&mut self) -> &mut http::Extensions {
        self.extensions_mut()
    }
}

impl Upgradable for crate::client::Response {
    fn extensions_mut(&mut self) -> &mut http::Extensions {
        self.extensions_mut()
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::client::Response {}
    impl<B> Sealed for http::Request<B> {}
    impl<B> Sealed for http::Response<B> {}
}

/// Waits until the connection has been handed over.
///
/// Its result is an error when the handler answered with another status, or the connection was lost before. Dropping it
/// closes the connection that it would have got.
pub struct OnUpgrade(Pin<Box<dyn Future<Output = io::Result<Upgraded>> + Send>>);

impl Future for OnUpgrade {
    type Output = io::Result<Upgraded>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl std::fmt::Debug for OnUpgrade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnUpgrade").finish_non_exhaustive()
    }
}

/// The side that keeps the promise, and the promise as it lies in a message's extensions.
pub(crate) fn promise() -> (oneshot::Sender<Upgraded>, Promise) {
    let (sender, receiver) = oneshot::channel();
    (sender, Promise(Arc::new(Mutex::new(Some(receiver)))))
}

#[derive(Clone)]
pub(crate) struct Promise(Arc<Mutex<Option<oneshot::Receiver<Upgraded>>>>);

/// A connection after its upgrade, a stream of bytes both ways with the `futures-io` traits. Limits and timeouts of HTTP
/// are over for it; a server that ends cuts it off when the grace time is over. Dropping it closes the connection.
pub struct Upgraded {
    /// What the peer sent right behind the head.
    ahead: Bytes,
    wire: Wire,
    /// The server's entry, if this is a server's connection.
    _open: Option<Open>,
}

impl Upgraded {
    pub(crate) fn new(wire: Wire, ahead: Bytes, open: Option<Open>) -> Self {
        Self {
            ahead,
            wire,
            _open: open,
        }
    }
}

impl AsyncRead for Upgraded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if self.ahead.is_empty() || buffer.is_empty() {
            return Pin::new(&mut self.wire).poll_read(cx, buffer);
        }
        let count = buffer.len().min(self.ahead.len());
        self.ahead.copy_to_slice(&mut buffer[..count]);
        Poll::Ready(Ok(count))
    }
}

impl AsyncWrite for Upgraded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.wire).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.wire).poll_write_vectored(cx, buffers)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        AsyncWrite::poll_flush(Pin::new(&mut self.wire), cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_close(cx)
    }
}

impl std::fmt::Debug for Upgraded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upgraded")
            .field("wire", &self.wire)
            .finish_non_exhaustive()
    }
}
