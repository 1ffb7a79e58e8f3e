//! Bytes to whatever can be written.

use futures_io::AsyncWrite;
use futures_lite::AsyncWriteExt;

use crate::{Error, Result, Sink};

/// How much is gathered before it is written.
const GATHER: usize = 16 * 1024;

/// Bytes to whatever can be written: sockets, pipes, files. Its result is how many there were.
///
/// Small items are gathered and written together when 16 KiB have come, or when the source has nothing ready. Its close
/// closes the writer: a socket sends its end.
///
/// Buffer: 16 KiB and one item.
pub fn writer<W: AsyncWrite + Send + Unpin>(writer: W) -> Writer<W> {
    Writer {
        writer,
        gathered: Vec::new(),
        written: 0,
    }
}

/// See [`writer`].
#[derive(Debug)]
pub struct Writer<W> {
    writer: W,
    gathered: Vec<u8>,
    written: u64,
}

impl<W: AsyncWrite + Send + Unpin> Writer<W> {
    async fn write_gathered(&mut self) -> Result<()> {
        let written = self.writer.write_all(&self.gathered).await;
        self.gathered.clear();
        written.map_err(failed)
    }
}

impl<W: AsyncWrite + Send + Unpin, I: AsRef<[u8]> + Send> Sink<I> for Writer<W> {
    type Output = u64;

    async fn push(&mut self, item: I) -> Result<()> {
        let bytes = item.as_ref();
        self.written += bytes.len() as u64;
        if self.gathered.len() + bytes.len() > GATHER {
            self.write_gathered().await?;
        }
        if item.as_ref().len() >= GATHER {
            self.writer.write_all(item.as_ref()).await.map_err(failed)
        } else {
            self.gathered.extend_from_slice(item.as_ref());
            Ok(())
        }
    }

    async fn flush(&mut self) -> Result<()> {
        if !self.gathered.is_empty() {
            self.write_gathered().await?;
        }
        self.writer.flush().await.map_err(failed)
    }

    async fn close(mut self) -> Result<u64> {
        self.write_gathered().await?;
        self.writer.close().await.map_err(failed)?;
        Ok(self.written)
    }
}

fn failed(error: std::io::Error) -> Error {
    Error::new("writer", error)
}
