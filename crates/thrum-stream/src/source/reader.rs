//! Bytes from whatever can be read.

use bytes::{Bytes, BytesMut};
use futures_io::AsyncRead;
use futures_lite::AsyncReadExt;

use crate::{Error, Result, Source};

/// How much is asked for at a time, unless told otherwise.
const CHUNK: usize = 16 * 1024;

/// Bytes from whatever can be read: sockets, pipes, files, slices. They come in the pieces that the reads give.
///
/// Buffer: at most 16 KiB, see [`Reader::chunk`].
pub fn reader<R: AsyncRead + Send + Unpin>(reader: R) -> Reader<R> {
    Reader {
        reader,
        buffer: BytesMut::new(),
        chunk: CHUNK,
        ended: false,
    }
}

/// See [`reader`].
#[derive(Debug)]
pub struct Reader<R> {
    reader: R,
    /// Bytes to read into. What was read is split off its front, so that only as much is cleared as is read.
    buffer: BytesMut,
    chunk: usize,
    /// There are readers that have more after their end, such as a terminal.
    ended: bool,
}

impl<R> Reader<R> {
    /// At most `bytes` in a piece, and at least one. Default: 16 KiB.
    pub fn chunk(mut self, bytes: usize) -> Self {
        self.chunk = bytes.max(1);
        self
    }
}

impl<R: AsyncRead + Send + Unpin> Source for Reader<R> {
    type Item = Bytes;

    async fn next(&mut self) -> Result<Option<Bytes>> {
        if self.ended {
            return Ok(None);
        }
        // A small rest of the last chunk would make a small read.
        if self.buffer.len() < self.chunk.div_ceil(2) {
            self.buffer.resize(self.chunk, 0);
        }
        let read = self.reader.read(&mut self.buffer).await;
        match read.map_err(|error| Error::new("reader", error))? {
            0 => {
                self.ended = true;
                Ok(None)
            }
            read => Ok(Some(self.buffer.split_to(read).freeze())),
        }
    }
}
