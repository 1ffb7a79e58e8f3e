//! A connection's bytes: a socket, or TLS over one. Servers and clients of every protocol stand on it.

mod socket;

use std::fs::File;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncRead, AsyncWrite};

pub use self::socket::Listener;
pub(crate) use self::socket::sealed::Accept;
pub(crate) use self::socket::{Accepted, Socket};

/// A connection's bytes. What is tried here may say `WouldBlock`: then wait for the socket, and try again.
#[derive(Debug)]
pub(crate) struct Wire {
    /// Shared with the server, which wakes it and cuts it off when it ends.
    socket: Arc<Socket>,
}

impl Wire {
    pub(crate) fn plain(socket: Arc<Socket>) -> Self {
        Self { socket }
    }

    pub(crate) fn socket(&self) -> &Arc<Socket> {
        &self.socket
    }

    /// Ready when reading would not block, as far as is known.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.poll_readable(cx)
    }

    /// Ready when writing would not block, as far as is known.
    pub(crate) fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.poll_writable(cx)
    }

    /// Reads what is there. 0: the peer has sent its last.
    pub(crate) fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.try_read(buffer)
    }

    /// Writes as much as there is room for.
    pub(crate) fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.try_write(bytes)
    }

    /// As [`try_write`](Self::try_write), and more follows at once.
    pub(crate) fn try_write_more(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.try_write_more(bytes)
    }

    pub(crate) fn try_write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        self.socket.try_write_vectored(buffers)
    }

    /// Sends some of a file. 0: it has ended.
    pub(crate) fn try_send_file(
        &mut self,
        file: &File,
        offset: u64,
        length: usize,
    ) -> io::Result<usize> {
        self.socket.try_sendfile(file, offset, length)
    }

    /// Whether something that was written is not with the kernel yet.
    pub(crate) fn holds_back(&self) -> bool {
        false
    }

    /// Hands to the kernel what is held back.
    pub(crate) fn poll_flush(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Ends sending; the peer may send on.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.socket.shutdown(std::net::Shutdown::Write)
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.poll_readable(cx))?;
            match self.try_read(buffer) {
                Err(error) if would_block(&error) => {}
                result => return Poll::Ready(result),
            }
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.poll_writable(cx))?;
            match self.try_write(bytes) {
                Err(error) if would_block(&error) => {}
                result => return Poll::Ready(result),
            }
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.poll_writable(cx))?;
            match self.try_write_vectored(buffers) {
                Err(error) if would_block(&error) => {}
                result => return Poll::Ready(result),
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Wire::poll_flush(&mut self, cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Wire::poll_flush(&mut self, cx))?;
        Poll::Ready(match self.end() {
            // The peer has reset it: there is nothing left to close.
            Err(error) if error.kind() == ErrorKind::NotConnected => Ok(()),
            result => result,
        })
    }
}

pub(crate) fn would_block(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
