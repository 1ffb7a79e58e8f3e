//! Copying from a reader to a writer, one way or both ways at once.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncRead, AsyncWrite};

use crate::budget;

const BUFFER: usize = 16 * 1024;

/// Copies all that comes from `reader` to `writer`, and flushes that. Returns the number of bytes.
///
/// Either may be a reference: `copy(&stream, &mut buffer)`. The writer is not closed. While the reader keeps us waiting, the
/// writer is flushed.
///
/// Dropping the future before it is done loses up to 16 KiB that were read and not yet written.
///
/// # Errors
/// Those of the reader and the writer; `WriteZero` if the writer takes no more.
pub async fn copy<R, W>(mut reader: R, mut writer: W) -> io::Result<u64>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut copy = Copy::new();
    poll_fn(|cx| copy.poll(cx, Pin::new(&mut reader), Pin::new(&mut writer))).await
}

/// Copies from `a` to `b` and from `b` to `a` at once, until both have ended. Returns the number of bytes of each way.
///
/// When one side has sent its last, the other is closed for writing, and still sends what it has: a half-closed connection
/// stays half-closed. Either may be a reference, as in `copy_bidirectional(&client, &server)`.
///
/// Dropping the future before it is done loses up to 16 KiB each way that were read and not yet written.
///
/// # Errors
/// The first error of either side; the other way is given up then.
pub async fn copy_bidirectional<A, B>(mut a: A, mut b: B) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin,
    B: AsyncRead + AsyncWrite + Unpin,
{
    let (mut there, mut back) = (Way::new(), Way::new());
    poll_fn(|cx| {
        let there = there.poll(cx, Pin::new(&mut a), Pin::new(&mut b))?;
        let back = back.poll(cx, Pin::new(&mut b), Pin::new(&mut a))?;
        Poll::Ready(Ok((ready!(there), ready!(back))))
    })
    .await
}

/// One way of two: when all is copied the writer is closed.
enum Way {
    Copying(Copy),
    Closing(u64),
    Done(u64),
}

impl Way {
    fn new() -> Self {
        Self::Copying(Copy::new())
    }

    fn poll<R: AsyncRead, W: AsyncWrite>(
        &mut self,
        cx: &mut Context<'_>,
        reader: Pin<&mut R>,
        mut writer: Pin<&mut W>,
    ) -> Poll<io::Result<u64>> {
        if let Way::Copying(copy) = self {
            let copied = ready!(copy.poll(cx, reader, writer.as_mut()))?;
            *self = Way::Closing(copied);
        }
        if let Way::Closing(copied) = *self {
            match ready!(writer.poll_close(cx)) {
                // It is closed already, for all that the other side may still send.
                Err(error) if error.kind() != io::ErrorKind::NotConnected => {
                    return Poll::Ready(Err(error));
                }
                _ => *self = Way::Done(copied),
            }
        }
        match *self {
            Way::Done(copied) => Poll::Ready(Ok(copied)),
            Way::Copying(_) | Way::Closing(_) => unreachable!("either has gone on or returned"),
        }
    }
}

struct Copy {
    buffer: Box<[u8]>,
    /// What of the buffer is still to be written.
    start: usize,
    end: usize,
    copied: u64,
    ended: bool,
    flushed: bool,
}

impl Copy {
    fn new() -> Self {
        Self {
            buffer: vec![0; BUFFER].into(),
            start: 0,
            end: 0,
            copied: 0,
            ended: false,
            flushed: true,
        }
    }

    fn poll<R: AsyncRead, W: AsyncWrite>(
        &mut self,
        cx: &mut Context<'_>,
        mut reader: Pin<&mut R>,
        mut writer: Pin<&mut W>,
    ) -> Poll<io::Result<u64>> {
        loop {
            // Readers and writers in memory have no budget of their own.
            if budget::exhausted(cx) {
                return Poll::Pending;
            }
            while self.start < self.end {
                let bytes = &self.buffer[self.start..self.end];
                let written = ready!(writer.as_mut().poll_write(cx, bytes))?;
                if written == 0 {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
                self.start += written;
                self.copied += written as u64;
                self.flushed = false;
            }
            if self.ended {
                ready!(writer.as_mut().poll_flush(cx))?;
                return Poll::Ready(Ok(self.copied));
            }
            let Poll::Ready(read) = reader.as_mut().poll_read(cx, &mut self.buffer) else {
                if !self.flushed {
                    self.flushed = writer.as_mut().poll_flush(cx)?.is_ready();
                }
                return Poll::Pending;
            };
            let read = read?;
            budget::spend_bytes(read);
            (self.start, self.end, self.ended) = (0, read, read == 0);
        }
    }
}
