//! The process's number in a file, which only one process can hold.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// A file with the number of the process that holds it. It is locked for as long as the process lives, so that a number that
/// a dead process left there is known to be stale. Dropping it removes the file, unless a successor has put its own there.
#[derive(Debug)]
pub struct PidFile {
    path: PathBuf,
    file: File,
}

/// Why a process cannot have a PID file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PidFileError {
    /// It runs already.
    #[error("process {pid} runs already: it holds {}", path.display())]
    Running {
        /// The number in the file.
        pid: u32,
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("the PID file {} cannot be written: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl PidFile {
    /// Writes this process's number, unless another process that lives holds the file.
    ///
    /// # Errors
    /// When it is held, or cannot be written.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, PidFileError> {
        let path = path.into();
        let file = lock(&path).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => PidFileError::Running {
                pid: Self::read(&path).unwrap_or(0),
                path: path.clone(),
            },
            _ => io_error(&path, error),
        })?;
        let mut held = Self { path, file };
        if let Ok(Some(stale)) = number(&mut held.file) {
            tracing::warn!(pid = stale, path = %held.path.display(), "the PID file was left by a process that has died");
        }
        held.write()?;
        Ok(held)
    }

    /// Takes the place of the process that holds it: puts a new file over the old one.
    ///
    /// # Errors
    /// When it cannot be written. Then the old one is as it was.
    pub fn take_over(path: impl Into<PathBuf>) -> Result<Self, PidFileError> {
        let path = path.into();
        let mut name = path.clone().into_os_string();
        name.push(format!(".{}", std::process::id()));
        let next = PathBuf::from(name);
        let file = lock(&next).map_err(|error| io_error(&next, error))?;
        let mut held = Self { path: next, file };
        held.write()?;
        std::fs::rename(&held.path, &path).map_err(|error| io_error(&path, error))?;
        held.path = path;
        Ok(held)
    }

    /// The number in a file, be its process alive or not.
    ///
    /// # Errors
    /// Those of reading; `InvalidData` when there is no number.
    pub fn read(path: &Path) -> io::Result<u32> {
        let number = number(&mut File::open(path)?)?;
        number.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// The number of the living process that holds a file, if there is one.
    pub fn holder(path: &Path) -> Option<u32> {
        let mut file = File::open(path).ok()?;
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Err(Errno::WOULDBLOCK) => number(&mut file).ok().flatten(),
            _ => None,
        }
    }

    fn write(&mut self) -> Result<(), PidFileError> {
        let mut write = || {
            self.file.set_len(0)?;
            self.file.rewind()?;
            self.file
                .write_all(format!("{}\n", std::process::id()).as_bytes())
        };
        write().map_err(|error| io_error(&self.path, error))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        if is_at(&self.file, &self.path)
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::debug!(%error, path = %self.path.display(), "the PID file stays; its lock goes");
        }
    }
}

/// Opens and locks what is at a path. Another process may remove it in between, so it is looked at again.
fn lock(path: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o644)
            .open(path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        if is_at(&file, path) {
            return Ok(file);
        }
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let identity = |data: std::fs::Metadata| (data.dev(), data.ino());
    let there = std::fs::symlink_metadata(path).map(identity).ok();
    there.is_some() && there == file.metadata().map(identity).ok()
}

/// The number that a file begins with. Whatever else may be in it is not read.
fn number(file: &mut File) -> io::Result<Option<u32>> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text)?;
    Ok(text.trim().parse().ok())
}

fn io_error(path: &Path, source: io::Error) -> PidFileError {
    PidFileError::Io {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_holds_it_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("thrum.pid");
        let held = PidFile::create(&path).unwrap();
        let this = std::process::id();
        assert_eq!(PidFile::read(&path).unwrap(), this);
        assert_eq!(PidFile::holder(&path), Some(this));
        let error = PidFile::create(&path).unwrap_err();
        assert!(matches!(error, PidFileError::Running { pid, .. } if pid == this));
        drop(held);
        assert!(!path.exists());
    }

    #[test]
    fn a_stale_one_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("thrum.pid");
        std::fs::write(&path, "1\nand much more").unwrap();
        assert_eq!(PidFile::holder(&path), None, "its process does not hold it");
        let held = PidFile::create(&path).unwrap();
        assert_eq!(PidFile::read(&path).unwrap(), std::process::id());
        drop(held);
    }

    #[test]
    fn a_successor_keeps_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("thrum.pid");
        let old = PidFile::create(&path).unwrap();
        let new = PidFile::take_over(&path).unwrap();
        drop(old);
        assert_eq!(PidFile::holder(&path), Some(std::process::id()));
        drop(new);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_wrong_names_the_file() {
        let error = PidFile::create("/no/such/folder/thrum.pid").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("/no/such/folder/thrum.pid"), "{text}");
    }
}
