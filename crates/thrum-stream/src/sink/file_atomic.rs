//! Bytes to a file that is whole or not there.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use futures_lite::AsyncWriteExt;
use futures_lite::io::BufWriter;
use tempfile::TempPath;
use thrum_rt::fs;

use super::writer::GATHER;
use crate::{Error, Result, Sink};

/// Bytes to a file that is seen when it is whole, and not before: they go to a file with a temporary name in the same
/// folder, which gets its name at the close, in place of the file that had it. Its result is how many there were.
///
/// After an error, and when it is dropped, the temporary file is removed, and the old one is as it was. (One is left over,
/// `.tmp` and six letters, only if this process is killed.) By its close the new file is on the disk before it gets its
/// name, so that after a power failure there is the old or the new one, see [`FileAtomic::sync`].
///
/// The new file has the permission bits (0o777) of the one that it replaces; where there was none, 0o666 less the process's
/// umask. It belongs to the user of this process. A symbolic link is replaced, not followed.
///
/// Small items are gathered as [`writer`](super::writer()) does. Buffer: 16 KiB and one item.
///
/// # Errors
/// Those of open(2), write(2), fsync(2) and rename(2), with the path.
///
/// ```
/// use thrum_stream::{Cause, Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let path = std::env::temp_dir().join("thrum-stream-file-atomic");
/// source::once("old").run(sink::file_atomic(&path)).await?;
/// let broken = source::try_iter([Ok("new"), Err(Cause::Truncated("a header"))]);
/// assert!(broken.run(sink::file_atomic(&path)).await.is_err());
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
/// # std::fs::remove_file(&path).unwrap();
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub fn file_atomic(path: impl Into<PathBuf>) -> FileAtomic {
    FileAtomic {
        path: path.into(),
        sync: true,
        temporary: None,
        written: 0,
    }
}

/// See [`file_atomic`].
#[derive(Debug)]
pub struct FileAtomic {
    path: PathBuf,
    sync: bool,
    temporary: Option<Temporary>,
    written: u64,
}

#[derive(Debug)]
struct Temporary {
    file: BufWriter<fs::File>,
    /// Dropping it removes the file.
    path: TempPath,
}

impl FileAtomic {
    /// Whether its close waits until the file is on the disk (fsync(2)) before it gives it its name. Default: yes. Without,
    /// a power failure soon after may leave an empty file. The name itself is on the disk when the system likes.
    pub fn sync(mut self, sync: bool) -> Self {
        self.sync = sync;
        self
    }

    fn open(&mut self) -> Result<&mut BufWriter<fs::File>> {
        if self.temporary.is_none() {
            let temporary = Temporary::beside(&self.path);
            self.temporary = Some(temporary.map_err(|error| self.failed(error))?);
        }
        let temporary = self.temporary.as_mut();
        Ok(&mut temporary.expect("it was opened").file)
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::about("file_atomic", self.path.display(), error)
    }

    async fn finish(&mut self) -> Result<()> {
        self.open()?;
        let temporary = self.temporary.take().expect("it was opened");
        let finished = temporary.finish(&self.path, self.sync).await;
        finished.map_err(|error| self.failed(error))
    }
}

impl Temporary {
    fn beside(path: &Path) -> io::Result<Self> {
        let replaced = match std::fs::metadata(path) {
            Ok(replaced) => Some(Permissions::from_mode(
                replaced.permissions().mode() & 0o777,
            )),
            Err(_) => None,
        };
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let temporary = tempfile::Builder::new()
            .permissions(replaced.clone().unwrap_or(Permissions::from_mode(0o666)))
            .tempfile_in(folder.unwrap_or(Path::new(".")))?;
        if let Some(permissions) = replaced {
            // The umask is for files that are new.
            temporary.as_file().set_permissions(permissions)?;
        }
        let (file, path) = temporary.into_parts();
        Ok(Temporary {
            file: BufWriter::with_capacity(GATHER, file.into()),
            path,
        })
    }

    async fn finish(mut self, path: &Path, sync: bool) -> io::Result<()> {
        self.file.flush().await?;
        if sync {
            self.file.get_ref().sync_all().await?;
        }
        self.path.persist(path)?;
        Ok(())
    }
}

impl<I: AsRef<[u8]> + Send> Sink<I> for FileAtomic {
    type Output = u64;

    async fn wants(&mut self) -> Result<bool> {
        self.open()?;
        Ok(true)
    }

    async fn push(&mut self, item: I) -> Result<()> {
        let written = self.open()?.write_all(item.as_ref()).await;
        self.written += item.as_ref().len() as u64;
        written.map_err(|error| self.failed(error))
    }

    async fn flush(&mut self) -> Result<()> {
        let flushed = self.open()?.flush().await;
        flushed.map_err(|error| self.failed(error))
    }

    async fn close(mut self) -> Result<u64> {
        self.finish().await?;
        Ok(self.written)
    }
}
