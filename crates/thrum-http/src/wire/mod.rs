//! A connection's bytes: a socket, or TLS over one. Servers and clients of every protocol stand on it.

#[cfg(not(feature = "tls"))]
mod no_tls;
mod socket;

use std::fs::File;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncRead, AsyncWrite};

#[cfg(not(feature = "tls"))]
use self::no_tls::Session;
pub(crate) use self::socket::sealed::Accept;
pub(crate) use self::socket::{Accepted, Socket};
pub use self::socket::{Connection, Listener};
#[cfg(feature = "tls")]
use crate::tls::{self, Session};

/// A connection's bytes. What is tried here may say `WouldBlock`: then wait for the socket, and try again.
#[derive(Debug)]
pub(crate) struct Wire {
    /// Shared with the server, which wakes it and cuts it off when it ends.
    socket: Arc<Socket>,
    /// TLS over it. Boxed, as a plain connection is to be small.
    session: Option<Box<Session>>,
}

impl Wire {
    pub(crate) fn plain(socket: Arc<Socket>) -> Self {
        Self {
            socket,
            session: None,
        }
    }

    #[cfg(feature = "tls")]
    pub(crate) fn with_session(self, session: Session) -> Self {
        Self {
            socket: self.socket,
            session: Some(Box::new(session)),
        }
    }

    pub(crate) fn socket(&self) -> &Arc<Socket> {
        &self.socket
    }

    /// What was agreed on, if this is TLS.
    #[cfg(feature = "tls")]
    pub(crate) fn tls(&self) -> Option<&Arc<tls::Info>> {
        self.session.as_ref()?.info()
    }

    #[cfg(all(test, feature = "tls"))]
    pub(crate) fn session(&self) -> &Session {
        self.session.as_deref().expect("this is TLS")
    }

    /// Ready when reading would not block, as far as is known.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &self.session {
            Some(session) if session.has_read_ahead() => Poll::Ready(Ok(())),
            _ => self.socket.poll_readable(cx),
        }
    }

    /// Ready when writing would not block, as far as is known.
    pub(crate) fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.poll_writable(cx)
    }

    /// Reads what is there. 0: the peer has sent its last. Over TLS, an end that the peer has not signed is
    /// `UnexpectedEof`: harmless where HTTP says that nothing is missing.
    pub(crate) fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.session {
            None => self.socket.try_read(buffer),
            Some(session) => session.try_read(&self.socket, buffer),
        }
    }

    /// Writes as much as there is room for. Over TLS, what it took may be [held back](Self::holds_back).
    pub(crate) fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.session {
            None => self.socket.try_write(bytes),
            Some(session) => session.try_write(&self.socket, bytes, false),
        }
    }

    /// As [`try_write`](Self::try_write), and more follows at once.
    pub(crate) fn try_write_more(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.session {
            None => self.socket.try_write_more(bytes),
            Some(session) => session.try_write(&self.socket, bytes, true),
        }
    }

    pub(crate) fn try_write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.session {
            None => self.socket.try_write_vectored(buffers),
            Some(session) => session.try_write_vectored(&self.socket, buffers),
        }
    }

    /// Sends some of a file. 0: it has ended.
    pub(crate) fn try_send_file(
        &mut self,
        file: &File,
        offset: u64,
        length: usize,
    ) -> io::Result<usize> {
        match &mut self.session {
            None => self.socket.try_sendfile(file, offset, length),
            Some(session) => session.try_send_file(&self.socket, file, offset, length),
        }
    }

    /// Whether something that was written is not with the kernel yet.
    pub(crate) fn holds_back(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.holds_back())
    }

    /// Hands to the kernel what is held back. `WouldBlock` until all of it is there.
    pub(crate) fn try_flush(&mut self) -> io::Result<()> {
        match &mut self.session {
            None => Ok(()),
            Some(session) => session.try_flush(&self.socket),
        }
    }

    /// As [`try_flush`](Self::try_flush), and waits for it.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            match self.try_flush() {
                Err(error) if would_block(&error) => ready!(self.poll_writable(cx))?,
                result => return Poll::Ready(result),
            }
        }
    }

    /// Waits until the socket is `ready` and tries, until that does not block.
    fn poll_try<R>(
        &mut self,
        cx: &mut Context<'_>,
        ready: impl Fn(&Self, &mut Context<'_>) -> Poll<io::Result<()>>,
        mut attempt: impl FnMut(&mut Self) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        loop {
            ready!(ready(self, cx))?;
            match attempt(self) {
                Err(error) if would_block(&error) => {}
                result => return Poll::Ready(result),
            }
        }
    }

    /// Ends sending; the peer may send on. Over TLS it says so first: `WouldBlock` while that or anything before it is held
    /// back.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        if let Some(session) = &mut self.session {
            session.end(&self.socket)?;
        }
        self.socket.shutdown(std::net::Shutdown::Write)
    }

    /// For a connection that is closed now: over TLS, the peer is told that this was all, if it takes that at once. Without,
    /// closing says it.
    pub(crate) fn say_end(&mut self) {
        if let Some(session) = &mut self.session {
            let _ = session.end(&self.socket);
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_try(cx, Wire::poll_readable, |wire| wire.try_read(buffer))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_try(cx, Wire::poll_writable, |wire| wire.try_write(bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_try(cx, Wire::poll_writable, |wire| {
            wire.try_write_vectored(buffers)
        })
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Wire::poll_flush(&mut self, cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(Wire::poll_flush(&mut self, cx))?;
            match self.end() {
                Err(error) if would_block(&error) => ready!(self.poll_writable(cx))?,
                // The peer has reset it: there is nothing left to close.
                Err(error) if error.kind() == ErrorKind::NotConnected => {
                    return Poll::Ready(Ok(()));
                }
                result => return Poll::Ready(result),
            }
        }
    }
}

pub(crate) fn would_block(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
