//! Bytes to whatever can be written.

use futures_io::AsyncWrite;
use futures_lite::AsyncWriteExt;

use crate::{Error, Result, Sink};

/// How much is gathered before it is written.
pub(super) const GATHER: usize = 16 * 1024;

/// Bytes to whatever can be written: sockets, pipes, files. Its result is how many there were.
///
/// Small items are gathered and written together when 16 KiB have come, or when the source has nothing ready. Its close
/// closes the writer: a socket sends its end, unless it is to be [kept open](Writer::keep_open).
///
/// Buffer: 16 KiB and one item.
pub fn writer<W: AsyncWrite + Send + Unpin>(writer: W) -> Writer<W> {
    Writer {
        writer,
        gathered: Vec::new(),
        written: 0,
        keep_open: false,
    }
}

/// See [`writer`].
#[derive(Debug)]
pub struct Writer<W> {
    writer: W,
    /// It grows with what is gathered: many connections with little to say cost little.
    gathered: Vec<u8>,
    written: u64,
    keep_open: bool,
}

impl<W> Writer<W> {
    /// Has the close only write what was gathered, and not close the writer: it is to be written to again.
    ///
    /// ```
    /// use thrum_rt::net::{TcpListener, TcpStream};
    /// use thrum_stream::{Source, sink, source};
    ///
    /// # thrum_rt::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// for request in ["one", "two"] {
    ///     let words = source::iter([request, "\n"]);
    ///     words.run(sink::writer(&stream).keep_open()).await?;
    /// }
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    pub fn keep_open(mut self) -> Self {
        self.keep_open = true;
        self
    }
}

impl<W: AsyncWrite + Send + Unpin, I: AsRef<[u8]> + Send> Sink<I> for Writer<W> {
    type Output = u64;

    async fn push(&mut self, item: I) -> Result<()> {
        let length = item.as_ref().len();
        self.written += length as u64;
        if self.gathered.len() + length > GATHER {
            self.write_gathered().await?;
        }
        if length < GATHER {
            self.gathered.extend_from_slice(item.as_ref());
            return Ok(());
        }
        self.writer.write_all(item.as_ref()).await.map_err(failed)
    }

    async fn flush(&mut self) -> Result<()> {
        self.write_gathered().await?;
        self.writer.flush().await.map_err(failed)
    }

    async fn close(mut self) -> Result<u64> {
        self.write_gathered().await?;
        let closed = if self.keep_open {
            self.writer.flush().await
        } else {
            self.writer.close().await
        };
        closed.map_err(failed)?;
        Ok(self.written)
    }
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    async fn write_gathered(&mut self) -> Result<()> {
        if !self.gathered.is_empty() {
            let written = self.writer.write_all(&self.gathered).await;
            self.gathered.clear();
            written.map_err(failed)?;
        }
        Ok(())
    }
}

fn failed(error: std::io::Error) -> Error {
    Error::new("writer", error)
}
