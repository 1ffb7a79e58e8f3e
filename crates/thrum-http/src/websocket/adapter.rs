//! A stream of the asynchronous traits as tungstenite wants it: `Read + Write` that say `WouldBlock`.

use std::io::{self, ErrorKind, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};

/// A stream for the time of one poll. It notes whether anything moved.
pub(super) struct Adapter<'a, 'cx, S> {
    stream: &'a mut S,
    cx: &'a mut Context<'cx>,
    pub(super) read_any: bool,
    pub(super) wrote_any: bool,
}

impl<'a, 'cx, S> Adapter<'a, 'cx, S> {
    pub(super) fn new(stream: &'a mut S, cx: &'a mut Context<'cx>) -> Self {
        Self {
            stream,
            cx,
            read_any: false,
            wrote_any: false,
        }
    }
}

impl<S: AsyncRead + Unpin> Read for Adapter<'_, '_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = ready(Pin::new(&mut *self.stream).poll_read(self.cx, buffer))?;
        self.read_any |= read > 0;
        Ok(read)
    }
}

impl<S: AsyncWrite + Unpin> Write for Adapter<'_, '_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = ready(Pin::new(&mut *self.stream).poll_write(self.cx, bytes))?;
        self.wrote_any |= written > 0;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        ready(Pin::new(&mut *self.stream).poll_flush(self.cx))
    }
}

fn ready<T>(poll: Poll<io::Result<T>>) -> io::Result<T> {
    match poll {
        Poll::Ready(result) => result,
        Poll::Pending => Err(ErrorKind::WouldBlock.into()),
    }
}
