//! A stream in two halves, each owned by whoever reads or writes.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};

use super::stream_socket::{StreamSocket, sealed};

pub(super) fn split<T: sealed::Stream>(
    stream: StreamSocket<T>,
) -> (OwnedReadHalf<T>, OwnedWriteHalf<T>) {
    let stream = Arc::new(stream);
    let writer = OwnedWriteHalf {
        stream: Some(stream.clone()),
    };
    (OwnedReadHalf { stream }, writer)
}

/// The half that reads, from [`StreamSocket::into_split`].
pub struct OwnedReadHalf<T: AsFd> {
    stream: Arc<StreamSocket<T>>,
}

/// The half that writes, from [`StreamSocket::into_split`].
///
/// Dropping it ends the direction to the peer, which then reads the end after what was written.
pub struct OwnedWriteHalf<T: sealed::Stream> {
    /// Taken only when the half is consumed.
    stream: Option<Arc<StreamSocket<T>>>,
}

impl<T: sealed::Stream> OwnedReadHalf<T> {
    /// Puts the two halves of one stream together again.
    ///
    /// # Errors
    /// Gives both back if they are not of one stream.
    pub fn reunite(self, writer: OwnedWriteHalf<T>) -> Result<StreamSocket<T>, ReuniteError<T>> {
        if !Arc::ptr_eq(&self.stream, writer.get()) {
            return Err(ReuniteError(self, writer));
        }
        drop(writer.without_shutdown());
        Ok(Arc::into_inner(self.stream).expect("the halves are all that holds the stream"))
    }

    /// See [`StreamSocket::read`].
    ///
    /// Dropping the future before it is done reads nothing.
    ///
    /// # Errors
    /// Those of recv(2).
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer).await
    }

    /// See [`StreamSocket::read_vectored`].
    ///
    /// Dropping the future before it is done reads nothing.
    ///
    /// # Errors
    /// Those of readv(2).
    pub async fn read_vectored(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.stream.read_vectored(buffers).await
    }

    /// See [`StreamSocket::peek`].
    ///
    /// Dropping the future before it is done changes nothing.
    ///
    /// # Errors
    /// Those of recv(2).
    pub async fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.peek(buffer).await
    }
}

impl<T: sealed::Stream> OwnedWriteHalf<T> {
    fn get(&self) -> &Arc<StreamSocket<T>> {
        self.stream
            .as_ref()
            .expect("the stream is taken only by without_shutdown, which consumes self")
    }

    fn without_shutdown(mut self) -> Option<Arc<StreamSocket<T>>> {
        self.stream.take()
    }

    /// Lets go of the half and leaves the direction to the peer open, until the other half is dropped.
    pub fn forget(self) {
        drop(self.without_shutdown());
    }

    /// See [`StreamSocket::write`].
    ///
    /// Dropping the future before it is done writes nothing.
    ///
    /// # Errors
    /// Those of send(2).
    pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.get().write(bytes).await
    }

    /// See [`StreamSocket::write_vectored`].
    ///
    /// Dropping the future before it is done writes nothing.
    ///
    /// # Errors
    /// Those of sendmsg(2).
    pub async fn write_vectored(&self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        self.get().write_vectored(buffers).await
    }

    /// See [`StreamSocket::write_all`].
    ///
    /// Dropping the future before it is done leaves open how many bytes were written.
    ///
    /// # Errors
    /// Those of send(2).
    pub async fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        self.get().write_all(bytes).await
    }

    /// See [`StreamSocket::write_all_vectored`].
    ///
    /// Dropping the future before it is done leaves open how many bytes were written.
    ///
    /// # Errors
    /// Those of sendmsg(2).
    pub async fn write_all_vectored(&self, buffers: &mut [IoSlice<'_>]) -> io::Result<()> {
        self.get().write_all_vectored(buffers).await
    }
}

impl<T: sealed::Stream> Drop for OwnedWriteHalf<T> {
    fn drop(&mut self) {
        if let Some(stream) = &self.stream {
            // It fails only if the connection is gone already.
            let _ = stream.shutdown(Shutdown::Write);
        }
    }
}

/// The whole stream, for its options and addresses.
impl<T: sealed::Stream> AsRef<StreamSocket<T>> for OwnedReadHalf<T> {
    fn as_ref(&self) -> &StreamSocket<T> {
        &self.stream
    }
}

/// The whole stream, for its options and addresses.
impl<T: sealed::Stream> AsRef<StreamSocket<T>> for OwnedWriteHalf<T> {
    fn as_ref(&self) -> &StreamSocket<T> {
        self.get()
    }
}

impl<T: sealed::Stream> AsyncRead for OwnedReadHalf<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut &*self.stream).poll_read(cx, buffer)
    }

    fn poll_read_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut &*self.stream).poll_read_vectored(cx, buffers)
    }
}

impl<T: sealed::Stream> AsyncWrite for OwnedWriteHalf<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut &**self.get()).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut &**self.get()).poll_write_vectored(cx, buffers)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &**self.get()).poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &**self.get()).poll_close(cx)
    }
}

impl<T: AsFd + fmt::Debug> fmt::Debug for OwnedReadHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedReadHalf").field(&self.stream).finish()
    }
}

impl<T: sealed::Stream + fmt::Debug> fmt::Debug for OwnedWriteHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedWriteHalf").field(self.get()).finish()
    }
}

/// Two halves that are not of one stream, given back.
pub struct ReuniteError<T: sealed::Stream>(pub OwnedReadHalf<T>, pub OwnedWriteHalf<T>);

impl<T: sealed::Stream> fmt::Debug for ReuniteError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReuniteError(..)")
    }
}

impl<T: sealed::Stream> fmt::Display for ReuniteError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the halves are of two different streams")
    }
}

impl<T: sealed::Stream> std::error::Error for ReuniteError<T> {}
