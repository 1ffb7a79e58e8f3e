//! Bytes to a file.

use std::path::PathBuf;

use futures_lite::AsyncWriteExt;
use futures_lite::io::BufWriter;
use thrum_rt::fs;

use super::writer::GATHER;
use crate::{Error, Result, Sink};

/// Bytes to a file, which is made or emptied before the first item is asked for. Its result is how many there were.
///
/// Small items are gathered as [`writer`](super::writer()) does. After an error and when it is dropped, the file stays with
/// what was written by then; [`file_atomic`](super::file_atomic) leaves nothing half made.
///
/// Buffer: 16 KiB and one item.
///
/// # Errors
/// Those of open(2), write(2) and fsync(2), with the path.
pub fn file(path: impl Into<PathBuf>) -> File {
    File {
        path: path.into(),
        sync: false,
        file: None,
        written: 0,
    }
}

/// See [`file()`].
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    sync: bool,
    file: Option<BufWriter<fs::File>>,
    written: u64,
}

impl File {
    /// Whether its close waits until the file is on the disk (fsync(2)). Default: no, the system writes it when it likes.
    pub fn sync(mut self, sync: bool) -> Self {
        self.sync = sync;
        self
    }

    async fn open(&mut self) -> Result<&mut BufWriter<fs::File>> {
        if self.file.is_none() {
            let file = fs::File::create(&self.path).await;
            let file = file.map_err(|error| self.failed(error))?;
            self.file = Some(BufWriter::with_capacity(GATHER, file));
        }
        Ok(self.file.as_mut().expect("it was opened"))
    }

    fn failed(&self, error: std::io::Error) -> Error {
        Error::about("file", self.path.display(), error)
    }
}

impl<I: AsRef<[u8]> + Send> Sink<I> for File {
    type Output = u64;

    async fn wants(&mut self) -> Result<bool> {
        self.open().await?;
        Ok(true)
    }

    async fn push(&mut self, item: I) -> Result<()> {
        let written = self.open().await?.write_all(item.as_ref()).await;
        self.written += item.as_ref().len() as u64;
        written.map_err(|error| self.failed(error))
    }

    async fn flush(&mut self) -> Result<()> {
        let flushed = self.open().await?.flush().await;
        flushed.map_err(|error| self.failed(error))
    }

    async fn close(mut self) -> Result<u64> {
        let sync = self.sync;
        let file = self.open().await?;
        let mut closed = file.flush().await;
        if closed.is_ok() && sync {
            closed = file.get_ref().sync_all().await;
        }
        closed.map_err(|error| self.failed(error))?;
        Ok(self.written)
    }
}
