//! Between `futures-io` and tokio's I/O traits, both ways.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncBufRead, AsyncRead, AsyncWrite};
use pin_project_lite::pin_project;
use tokio::io::ReadBuf;

use super::{Io, READ_AT_ONCE};

impl<T: AsyncRead> tokio::io::AsyncRead for Io<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // `futures-io` reads into initialised bytes only. Those that are go as they are; of others, not more are cleared
        // than are soon read.
        let initialised = buffer.initialized().len() - buffer.filled().len();
        let length = initialised.max(buffer.remaining().min(READ_AT_ONCE));
        let unfilled = buffer.initialize_unfilled_to(length);
        let read = ready!(self.project().inner.poll_read(cx, unfilled))?;
        buffer.advance(read);
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncBufRead> tokio::io::AsyncBufRead for Io<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.project().inner.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        self.project().inner.consume(amount);
    }
}

impl<T: AsyncWrite> tokio::io::AsyncWrite for Io<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write_vectored(cx, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_close(cx)
    }
}

pin_project! {
    /// Gives a stream with tokio's I/O traits those of `futures-io`, the other way round than [`Io`].
    ///
    /// For streams that wrap others or are made of memory, such as `tokio::io::DuplexStream` or a tokio-rustls stream over
    /// an [`Io`]. Sockets of tokio still need tokio's runtime.
    ///
    /// Each call is passed on as one call. Closing it shuts the stream down in the sense of tokio.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct FromTokio<T> {
        #[pin]
        inner: T,
    }
}

impl<T> FromTokio<T> {
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

impl<T: tokio::io::AsyncRead> AsyncRead for FromTokio<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        ready!(self.project().inner.poll_read(cx, &mut buffer))?;
        Poll::Ready(Ok(buffer.filled().len()))
    }
}

impl<T: tokio::io::AsyncBufRead> AsyncBufRead for FromTokio<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.project().inner.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        self.project().inner.consume(amount);
    }
}

impl<T: tokio::io::AsyncWrite> AsyncWrite for FromTokio<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write_vectored(cx, buffers)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_shutdown(cx)
    }
}
