//! Other people's I/O traits: what is written for tokio's or hyper's runs on thrum, and no other runtime with it.
//!
//! | feature | what it gives | for |
//! |---|---|---|
//! | `tokio-io` | [`Io`] has tokio's `AsyncRead` and `AsyncWrite`; `FromTokio` is the way back | h2, tokio-util's codecs |
//! | `hyper` | [`Io`] has hyper's `Read` and `Write`; `Executor`, `Timer` | hyper, and with it axum |
//!
//! A library that starts tokio's own tasks, timers or sockets still needs tokio's runtime: `axum::serve`, hyper-util's
//! `TokioExecutor`.
//!
//! # An axum router, served by hyper
//! With axum's feature `tokio` left out, hyper's features `http1` and `server`, and hyper-util's feature `service`:
//! ```ignore
//! let listener = TcpListener::bind("127.0.0.1:8080").await?;
//! loop {
//!     let (connection, _peer) = listener.accept().await?;
//!     let service = TowerToHyperService::new(router.clone());
//!     thrum_rt::spawn(
//!         hyper::server::conn::http1::Builder::new()
//!             .timer(Timer)
//!             .serve_connection(Io::new(connection), service),
//!     );
//! }
//! ```

#[cfg(feature = "hyper")]
mod hyper_rt;
#[cfg(feature = "tokio-io")]
mod tokio_io;

use pin_project_lite::pin_project;

#[cfg(feature = "hyper")]
pub use self::hyper_rt::{Executor, Timer};
#[cfg(feature = "tokio-io")]
pub use self::tokio_io::FromTokio;

/// At most so many bytes of a buffer are made ready for one read: enough for an HTTP/2 frame, and soon cleared.
const READ_AT_ONCE: usize = 16 * 1024;

pin_project! {
    /// Gives a stream with the `futures-io` traits, such as [`TcpStream`](crate::net::TcpStream), the I/O traits of tokio
    /// (feature `tokio-io`) and of hyper (feature `hyper`).
    ///
    /// Each call is passed on as one call, so what the stream says of its cancel safety holds. Shutting it down closes it
    /// in the sense of `futures-io`; for a socket that ends its sending half.
    ///
    /// It says of itself that it writes vectored, as sockets do. For a stream that takes only the first buffer of many, have
    /// hyper copy them into one: `http1::Builder::writev(false)`.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Io<T> {
        #[pin]
        inner: T,
    }
}

impl<T> Io<T> {
    /// Wraps a stream.
    pub fn new(inner: T) -> Self {
        Self { inner }
    }

    /// The stream inside.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// The stream inside, to change it.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Takes the stream out. Nothing is buffered here, so nothing is lost.
    pub fn into_inner(self) -> T {
        self.inner
    }
}
