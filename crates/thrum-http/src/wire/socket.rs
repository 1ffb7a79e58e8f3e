//! A connected socket of either kind, TCP or Unix, and what accepts them.

use std::future::Future;
use std::io::{self, IoSlice};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::task::{Context, Poll};

use thrum_rt::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// A connected socket.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

macro_rules! each {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket {
            Socket::Tcp($stream) => $call,
            Socket::Unix($stream) => $call,
        }
    };
}

impl Socket {
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => stream.poll_readable(cx))
    }

    pub(crate) fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => stream.poll_writable(cx))
    }

    pub(crate) fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        each!(self, stream => stream.try_read(buffer))
    }

    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        each!(self, stream => stream.try_write(bytes))
    }

    /// The kernel may keep the last of it back, as more follows at once.
    pub(crate) fn try_write_more(&self, bytes: &[u8]) -> io::Result<usize> {
        each!(self, stream => stream.try_write_more(bytes))
    }

    pub(crate) fn try_write_vectored(&self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        each!(self, stream => stream.try_write_vectored(buffers))
    }

    pub(crate) fn try_sendfile(
        &self,
        file: impl AsFd,
        offset: u64,
        length: usize,
    ) -> io::Result<usize> {
        each!(self, stream => stream.try_sendfile(file, offset, length))
    }

    pub(crate) fn wake_reader(&self) {
        each!(self, stream => stream.wake_reader());
    }

    /// `None` for a Unix socket.
    pub(crate) fn local_addr(&self) -> Option<SocketAddr> {
        match self {
            Socket::Tcp(stream) => stream.local_addr().ok(),
            Socket::Unix(_) => None,
        }
    }

    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        each!(self, stream => stream.shutdown(how))
    }
}

impl From<TcpStream> for Socket {
    fn from(stream: TcpStream) -> Self {
        Socket::Tcp(stream)
    }
}

impl From<UnixStream> for Socket {
    fn from(stream: UnixStream) -> Self {
        Socket::Unix(stream)
    }
}

/// What a server can listen with: [`TcpListener`] and [`UnixListener`], or one of them in an `Arc`, for servers that take turns
/// at it.
pub trait Listener: sealed::Accept {}

impl Listener for TcpListener {}
impl Listener for UnixListener {}
impl<L: Listener> Listener for Arc<L> {}

/// What a server can serve that was accepted elsewhere: [`TcpStream`] and [`UnixStream`].
pub trait Connection: Into<Accepted> {}

impl Connection for TcpStream {}
impl Connection for UnixStream {}

/// A connection that was accepted, and who is at its other end: nobody that has an address, over a Unix socket.
#[derive(Debug)]
pub struct Accepted {
    pub(crate) socket: Socket,
    pub(crate) peer: Option<SocketAddr>,
}

impl From<TcpStream> for Accepted {
    fn from(stream: TcpStream) -> Self {
        Self {
            peer: stream.peer_addr().ok(),
            socket: stream.into(),
        }
    }
}

impl From<UnixStream> for Accepted {
    fn from(stream: UnixStream) -> Self {
        Self {
            peer: None,
            socket: stream.into(),
        }
    }
}

pub(crate) mod sealed {
    use super::*;

    pub trait Accept: Send + Sync + 'static {
        fn accept(&self) -> impl Future<Output = io::Result<Accepted>> + Send;
    }

    impl Accept for TcpListener {
        async fn accept(&self) -> io::Result<Accepted> {
            let (stream, peer) = self.accept().await?;
            Ok(Accepted {
                socket: stream.into(),
                peer: Some(peer),
            })
        }
    }

    impl<L: Accept> Accept for Arc<L> {
        async fn accept(&self) -> io::Result<Accepted> {
            Accept::accept(&**self).await
        }
    }

    impl Accept for UnixListener {
        async fn accept(&self) -> io::Result<Accepted> {
            let (stream, _) = self.accept().await?;
            Ok(Accepted {
                socket: stream.into(),
                peer: None,
            })
        }
    }
}
