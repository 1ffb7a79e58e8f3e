//! Files and directories.
//!
//! The system has no readiness for files: a call works until it is done. So here it goes straight to the system, without a
//! detour over a pool of threads: most are answered from memory within microseconds. When the disk is slow the watchdog
//! notices, and after about a millisecond the worker's other tasks move on without the one that waits. What is known to be
//! slow ([`File::sync_all`], [`copy`], and what goes through whole trees) lets them move on at once, as
//! [`blocking`] does. Only what runs beside it in the same task waits.
//!
//! Cancel safety is simple for that reason: a call is done within one poll. Dropping the future of any function here has
//! either done nothing yet, or has nothing left to do.
//!
//! The functions are those of [`std::fs`], with the same errors.
//!
//! ```
//! # thrum_rt::block_on(async {
//! use thrum_rt::fs;
//!
//! let path = std::env::temp_dir().join("thrum-fs-example");
//! fs::write(&path, "hello").await?;
//! assert_eq!(fs::read_to_string(&path).await?, "hello");
//! fs::remove_file(&path).await?;
//! # std::io::Result::Ok(())
//! # }).unwrap();
//! ```

mod directory;
mod file;

use std::io;
use std::path::{Path, PathBuf};

pub use std::fs::{DirEntry, FileTimes, FileType, Metadata, Permissions};

pub use self::directory::{
    ReadDir, create_dir, create_dir_all, read_dir, remove_dir, remove_dir_all,
};
pub use self::file::{File, OpenOptions};
use crate::blocking;

/// Reads a whole file, however large it is; [`io::read_to_end`](crate::io::read_to_end) has a limit.
///
/// # Errors
/// Those of [`std::fs::read`].
pub async fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    std::fs::read(path)
}

/// Reads a whole file of text.
///
/// # Errors
/// `InvalidData` if it is not UTF-8; those of [`read`].
pub async fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    std::fs::read_to_string(path)
}

/// Makes a file of these bytes, in place of what it was.
///
/// # Errors
/// Those of [`std::fs::write`].
pub async fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    std::fs::write(path, bytes)
}

/// Copies a file's bytes and permissions, in place of what `to` was. Returns the number of bytes.
///
/// # Errors
/// Those of [`std::fs::copy`].
pub async fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    blocking(|| std::fs::copy(from, to))
}

/// What the system knows of a file. Symbolic links are followed.
///
/// # Errors
/// Those of [`std::fs::metadata`].
pub async fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    std::fs::metadata(path)
}

/// What the system knows of a file, or of the symbolic link that stands in its place.
///
/// # Errors
/// Those of [`std::fs::symlink_metadata`].
pub async fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    std::fs::symlink_metadata(path)
}

/// Whether there is such a file. A symbolic link to nothing is none.
///
/// # Errors
/// When that cannot be found out, as in [`std::fs::exists`].
pub async fn exists(path: impl AsRef<Path>) -> io::Result<bool> {
    std::fs::exists(path)
}

/// Sets a file's permissions.
///
/// # Errors
/// Those of [`std::fs::set_permissions`].
pub async fn set_permissions(path: impl AsRef<Path>, permissions: Permissions) -> io::Result<()> {
    std::fs::set_permissions(path, permissions)
}

/// Removes a file. Who has it open can go on using it.
///
/// # Errors
/// Those of [`std::fs::remove_file`].
pub async fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    std::fs::remove_file(path)
}

/// Gives a file another name, in place of what had that name.
///
/// # Errors
/// Those of [`std::fs::rename`]; so if the two are on different file systems.
pub async fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    std::fs::rename(from, to)
}

/// Gives a file a further name.
///
/// # Errors
/// Those of [`std::fs::hard_link`].
pub async fn hard_link(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    std::fs::hard_link(original, link)
}

/// Makes a symbolic link.
///
/// # Errors
/// Those of [`std::os::unix::fs::symlink`].
pub async fn symlink(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    std::os::unix::fs::symlink(original, link)
}

/// Where a symbolic link leads.
///
/// # Errors
/// Those of [`std::fs::read_link`].
pub async fn read_link(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    std::fs::read_link(path)
}

/// The absolute path of a file, without symbolic links in it.
///
/// # Errors
/// Those of [`std::fs::canonicalize`].
pub async fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}
