//! Directories.

use std::fs::DirEntry;
use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::task::Poll;

use crate::{blocking, budget};

/// Makes a directory.
///
/// # Errors
/// Those of [`std::fs::create_dir`]; so if it is there.
pub async fn create_dir(path: impl AsRef<Path>) -> io::Result<()> {
    std::fs::create_dir(path)
}

/// Makes a directory and those above it that are not there.
///
/// # Errors
/// Those of [`std::fs::create_dir_all`].
pub async fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    blocking(|| std::fs::create_dir_all(path))
}

/// Removes an empty directory.
///
/// # Errors
/// Those of [`std::fs::remove_dir`].
pub async fn remove_dir(path: impl AsRef<Path>) -> io::Result<()> {
    std::fs::remove_dir(path)
}

/// Removes a directory and all that is in it. Symbolic links are removed, not followed.
///
/// # Errors
/// Those of [`std::fs::remove_dir_all`].
pub async fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    blocking(|| std::fs::remove_dir_all(path))
}

/// Opens a directory, to go through what is in it.
///
/// # Errors
/// Those of [`std::fs::read_dir`].
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    Ok(ReadDir(std::fs::read_dir(path)?))
}

/// What is in a directory, in no order.
#[derive(Debug)]
pub struct ReadDir(std::fs::ReadDir);

impl ReadDir {
    /// The next entry; `None` after the last. Never `.` or `..`.
    ///
    /// # Errors
    /// Those of readdir(3).
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        poll_fn(|cx| {
            if budget::exhausted(cx) {
                return Poll::Pending;
            }
            budget::spend(1);
            Poll::Ready(self.0.next().transpose())
        })
        .await
    }
}
