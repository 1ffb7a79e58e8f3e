//! Bytes from whatever can be read.

use std::mem;

use bytes::Bytes;
use futures_io::AsyncRead;
use futures_lite::AsyncReadExt;

use super::buffers::Buffers;
use crate::{Error, Result, Source};

/// How much is asked for at a time at most, unless told otherwise.
const CHUNK: usize = 16 * 1024;

/// How much is asked for at first.
const FIRST: usize = 1024;

/// Bytes from whatever can be read: sockets, pipes, files, slices. They come in the pieces that the reads give.
///
/// Buffer: at most 16 KiB, see [`Reader::chunk`]. It starts with 1 KiB and grows when that is filled, so that many
/// connections with little to say cost little.
pub fn reader<R: AsyncRead + Send + Unpin>(reader: R) -> Reader<R> {
    Reader {
        reader,
        buffers: Buffers::new(FIRST),
        buffer: Vec::new(),
        chunk: CHUNK,
        ended: false,
    }
}

/// See [`reader`].
#[derive(Debug)]
pub struct Reader<R> {
    reader: R,
    buffers: Buffers,
    /// What is read into, if it has been taken.
    buffer: Vec<u8>,
    chunk: usize,
    /// There are readers that have more after their end, such as a terminal.
    ended: bool,
}

impl<R> Reader<R> {
    /// At most `bytes` in a piece, and at least one. Default: 16 KiB.
    pub fn chunk(mut self, bytes: usize) -> Self {
        self.chunk = bytes.max(1);
        self.buffers = Buffers::new(self.chunk.min(FIRST));
        self
    }
}

impl<R: AsyncRead + Send + Unpin> Source for Reader<R> {
    type Item = Bytes;

    async fn next(&mut self) -> Result<Option<Bytes>> {
        if self.ended {
            return Ok(None);
        }
        if self.buffer.is_empty() {
            self.buffer = self.buffers.take();
        }
        let read = self.reader.read(&mut self.buffer).await;
        match read.map_err(|error| Error::new("reader", error))? {
            0 => {
                self.ended = true;
                Ok(None)
            }
            read => {
                let size = self.buffer.len();
                let piece = self.buffers.lend(mem::take(&mut self.buffer), read);
                if read == size && size < self.chunk {
                    self.buffers = Buffers::new(size.saturating_mul(2).min(self.chunk));
                }
                Ok(Some(piece))
            }
        }
    }
}
