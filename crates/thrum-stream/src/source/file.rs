//! Bytes of a file.

use std::io::{self, SeekFrom};
use std::ops::{Bound, RangeBounds};
use std::path::PathBuf;

use bytes::Bytes;
use thrum_rt::fs;

use super::buffers::Buffers;
use crate::{Error, Result, Source};

/// How much is read at a time, unless told otherwise.
const CHUNK: usize = 128 * 1024;

/// The bytes of a file, up to where it ends when that is reached. It is opened when the first item is asked for.
///
/// Buffer: one piece, 128 KiB, see [`File::chunk`], and a few that are used again. A part of a piece that is kept keeps the
/// whole of it in memory: copy what is to stay.
///
/// # Errors
/// Those of open(2) and read(2), with the path.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let users = source::file("/etc/passwd").pipe(stage::lines(1024));
/// assert!(users.run(sink::count()).await? > 0);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub fn file(path: impl Into<PathBuf>) -> File {
    file_range(path, ..)
}

/// The bytes of a part of a file. `100..` goes on to where the file ends; `100..200` are these hundred bytes and no fewer.
/// An empty range has none.
///
/// Buffer: as [`file()`].
///
/// # Errors
/// Those of [`file()`]; [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the file ends before the range does.
///
/// ```
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let path = std::env::temp_dir().join("thrum-stream-file-range");
/// source::iter(["0123456789"]).run(sink::file(&path)).await?;
/// let part = source::file_range(&path, 3..6);
/// assert_eq!(part.run(sink::concat(10)).await?, b"345");
/// let more = source::file_range(&path, 6..99).run(sink::concat(99)).await;
/// assert!(more.unwrap_err().to_string().ends_with("ends at 10, before 99"));
/// # std::fs::remove_file(&path).unwrap();
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub fn file_range(path: impl Into<PathBuf>, range: impl RangeBounds<u64>) -> File {
    File {
        path: path.into(),
        at: match range.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        },
        end: match range.end_bound() {
            Bound::Included(last) => last.checked_add(1),
            Bound::Excluded(end) => Some(*end),
            Bound::Unbounded => None,
        },
        file: None,
        buffer: Vec::new(),
        buffers: Buffers::new(CHUNK),
    }
}

/// See [`file()`] and [`file_range`].
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    at: u64,
    end: Option<u64>,
    file: Option<fs::File>,
    /// What is read into; empty when it is lent.
    buffer: Vec<u8>,
    buffers: Buffers,
}

impl File {
    /// At most `bytes` in a piece, and at least one. Default: 128 KiB; from there on, larger ones are little faster.
    pub fn chunk(mut self, bytes: usize) -> Self {
        self.buffer = Vec::new();
        self.buffers = Buffers::new(bytes.max(1));
        self
    }

    async fn open(&self) -> io::Result<fs::File> {
        let file = fs::File::open(&self.path).await?;
        // What has no positions, such as a pipe, is read from its start.
        if self.at > 0 {
            file.seek(SeekFrom::Start(self.at)).await?;
        }
        Ok(file)
    }

    async fn read(&mut self) -> io::Result<usize> {
        if self.file.is_none() {
            self.file = Some(self.open().await?);
        }
        let file = self.file.as_ref().expect("it was opened");
        if self.buffer.is_empty() {
            self.buffer = self.buffers.take();
        }
        let left = self.end.map_or(u64::MAX, |end| end.saturating_sub(self.at));
        let chunk = self.buffer.len();
        let wanted = usize::try_from(left).map_or(chunk, |left| left.min(chunk));
        let read = file.read(&mut self.buffer[..wanted]).await?;
        if read == 0 {
            if wanted > 0
                && let Some(end) = self.end
            {
                let early = format!("ends at {}, before {end}", file.metadata().await?.len());
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, early));
            }
            // Though it may grow, this was its end.
            self.end = Some(self.at);
        }
        self.at += read as u64;
        Ok(read)
    }
}

impl Source for File {
    type Item = Bytes;

    async fn next(&mut self) -> Result<Option<Bytes>> {
        let read = self.read().await;
        match read.map_err(|error| Error::about("file", self.path.display(), error))? {
            0 => Ok(None),
            read => {
                let buffer = std::mem::take(&mut self.buffer);
                Ok(Some(self.buffers.lend(buffer, read)))
            }
        }
    }
}
