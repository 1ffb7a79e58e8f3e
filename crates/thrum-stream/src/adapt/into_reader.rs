//! A source of bytes as something to read from.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use futures_core::Stream;
use futures_io::{AsyncBufRead, AsyncRead};

use crate::{Result, Source};

/// Reads what a source of bytes gives: [`Source::into_reader`].
pub struct IntoReader<'a> {
    stream: Pin<Box<dyn Stream<Item = Result<Bytes>> + Send + 'a>>,
    piece: Bytes,
}

impl<'a> IntoReader<'a> {
    pub(crate) fn new(source: impl Source<Item = Bytes> + 'a) -> Self {
        IntoReader {
            stream: Box::pin(super::into_stream(source)),
            piece: Bytes::new(),
        }
    }
}

impl AsyncBufRead for IntoReader<'_> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        while this.piece.is_empty() {
            match ready!(this.stream.as_mut().poll_next(cx)) {
                Some(piece) => this.piece = piece?,
                None => break,
            }
        }
        Poll::Ready(Ok(&this.piece))
    }

    fn consume(self: Pin<&mut Self>, count: usize) {
        self.get_mut().piece.advance(count);
    }
}

impl AsyncRead for IntoReader<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let piece = ready!(self.as_mut().poll_fill_buf(cx))?;
        let count = piece.len().min(buffer.len());
        buffer[..count].copy_from_slice(&piece[..count]);
        self.consume(count);
        Poll::Ready(Ok(count))
    }
}

impl std::fmt::Debug for IntoReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IntoReader")
            .field("piece", &self.piece)
            .finish_non_exhaustive()
    }
}
