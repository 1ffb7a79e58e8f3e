//! An open file.

use std::future::poll_fn;
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncSeek, AsyncWrite};

use super::{Metadata, Permissions};
use crate::io::{async_read_by_reference, async_write_by_reference};
use crate::{blocking, budget};

/// An open file.
///
/// All methods take `&self`. [`read`](Self::read), [`write`](Self::write) and [`seek`](Self::seek) share one position;
/// [`read_at`](Self::read_at) and [`write_at`](Self::write_at) leave it alone, so that many tasks may use them at once.
///
/// What is written is with the system at once, and on the disk when the system likes or after [`sync_all`](Self::sync_all).
///
/// ```
/// # thrum_rt::block_on(async {
/// use thrum_rt::fs::File;
///
/// let file = File::open("/etc/passwd").await?;
/// let mut start = [0; 4];
/// file.read_exact_at(&mut start, 0).await?;
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct File(std::fs::File);

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// Those of [`std::fs::File::open`].
    pub async fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        std::fs::File::open(path).map(Self)
    }

    /// Opens a file for writing, and makes it or empties it.
    ///
    /// # Errors
    /// Those of [`std::fs::File::create`].
    pub async fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        std::fs::File::create(path).map(Self)
    }

    /// Reads some bytes from where the file's position is. 0: it is at the end.
    ///
    /// # Errors
    /// Those of read(2).
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        poll_fn(|cx| transfer(cx, || (&self.0).read(buffer))).await
    }

    /// Reads some bytes from `offset`. 0: the file ends before it.
    ///
    /// # Errors
    /// Those of pread(2).
    pub async fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        poll_fn(|cx| transfer(cx, || self.0.read_at(buffer, offset))).await
    }

    /// Fills the buffer from `offset`.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends before that; those of pread(2).
    pub async fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let length = buffer.len();
        poll_fn(|cx| transfer(cx, || self.0.read_exact_at(buffer, offset).map(|()| length)))
            .await
            .map(|_| ())
    }

    /// Writes some bytes to where the file's position is.
    ///
    /// # Errors
    /// Those of write(2).
    pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        poll_fn(|cx| transfer(cx, || (&self.0).write(bytes))).await
    }

    /// Writes all of the bytes to where the file's position is.
    ///
    /// # Errors
    /// Those of write(2); how many were written is open then.
    pub async fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        poll_fn(|cx| transfer(cx, || (&self.0).write_all(bytes).map(|()| bytes.len())))
            .await
            .map(|_| ())
    }

    /// Writes some bytes to `offset`.
    ///
    /// # Errors
    /// Those of pwrite(2).
    pub async fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        poll_fn(|cx| transfer(cx, || self.0.write_at(bytes, offset))).await
    }

    /// Writes all of the bytes to `offset`.
    ///
    /// # Errors
    /// Those of pwrite(2); how many were written is open then.
    pub async fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        poll_fn(|cx| {
            transfer(cx, || {
                self.0.write_all_at(bytes, offset).map(|()| bytes.len())
            })
        })
        .await
        .map(|_| ())
    }

    /// Moves the file's position. Returns the new one, from the start.
    ///
    /// # Errors
    /// `InvalidInput` for a position before the start; those of lseek(2).
    pub async fn seek(&self, to: SeekFrom) -> io::Result<u64> {
        (&self.0).seek(to)
    }

    /// Waits until all that was written is on the disk, with the file's metadata.
    ///
    /// # Errors
    /// Those of fsync(2). What was written may be lost then, even if a second call says nothing.
    pub async fn sync_all(&self) -> io::Result<()> {
        blocking(|| self.0.sync_all())
    }

    /// Waits until all that was written is on the disk, with no more metadata than it takes to read it.
    ///
    /// # Errors
    /// Those of [`sync_all`](Self::sync_all).
    pub async fn sync_data(&self) -> io::Result<()> {
        blocking(|| self.0.sync_data())
    }

    /// Cuts the file, or extends it with zeros, to `length` bytes.
    ///
    /// # Errors
    /// Those of ftruncate(2).
    pub async fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    /// What the system knows of the file.
    ///
    /// # Errors
    /// Those of fstat(2).
    pub async fn metadata(&self) -> io::Result<Metadata> {
        self.0.metadata()
    }

    /// Sets the file's permissions.
    ///
    /// # Errors
    /// Those of fchmod(2).
    pub async fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        self.0.set_permissions(permissions)
    }

    /// The standard library's file, for what has no method here.
    pub fn into_std(self) -> std::fs::File {
        self.0
    }
}

/// A call that moves bytes counts towards what a poll may do, as it does for sockets.
fn transfer(
    cx: &mut Context<'_>,
    mut operation: impl FnMut() -> io::Result<usize>,
) -> Poll<io::Result<usize>> {
    if budget::exhausted(cx) {
        return Poll::Pending;
    }
    loop {
        match operation() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => {
                budget::spend_bytes(result.as_ref().map_or(0, |moved| *moved));
                return Poll::Ready(result);
            }
        }
    }
}

impl From<std::fs::File> for File {
    fn from(file: std::fs::File) -> Self {
        Self(file)
    }
}

impl From<File> for OwnedFd {
    fn from(file: File) -> Self {
        file.0.into()
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsyncRead for &File {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        transfer(cx, || (&self.0).read(buffer))
    }

    fn poll_read_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        transfer(cx, || (&self.0).read_vectored(buffers))
    }
}

impl AsyncWrite for &File {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        transfer(cx, || (&self.0).write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        transfer(cx, || (&self.0).write_vectored(buffers))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncSeek for &File {
    fn poll_seek(self: Pin<&mut Self>, _: &mut Context<'_>, to: SeekFrom) -> Poll<io::Result<u64>> {
        Poll::Ready((&self.0).seek(to))
    }
}

async_read_by_reference! { impl AsyncRead for File }

async_write_by_reference! { impl AsyncWrite for File }

impl AsyncSeek for File {
    fn poll_seek(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: SeekFrom,
    ) -> Poll<io::Result<u64>> {
        Pin::new(&mut &*self).poll_seek(cx, to)
    }
}

/// How to open a [`File`]. As in [`std::fs::OpenOptions`], nothing is set at first.
#[derive(Clone, Debug)]
pub struct OpenOptions(std::fs::OpenOptions);

impl OpenOptions {
    /// Nothing is set.
    #[expect(clippy::new_without_default, reason = "no file opens with nothing set")]
    pub fn new() -> Self {
        Self(std::fs::OpenOptions::new())
    }

    /// For reading.
    pub fn read(&mut self, read: bool) -> &mut Self {
        self.0.read(read);
        self
    }

    /// For writing.
    pub fn write(&mut self, write: bool) -> &mut Self {
        self.0.write(write);
        self
    }

    /// For writing, always to the end, wherever that is by then.
    pub fn append(&mut self, append: bool) -> &mut Self {
        self.0.append(append);
        self
    }

    /// Empties the file.
    pub fn truncate(&mut self, truncate: bool) -> &mut Self {
        self.0.truncate(truncate);
        self
    }

    /// Makes the file if there is none.
    pub fn create(&mut self, create: bool) -> &mut Self {
        self.0.create(create);
        self
    }

    /// Makes the file, and fails if there is one.
    pub fn create_new(&mut self, create_new: bool) -> &mut Self {
        self.0.create_new(create_new);
        self
    }

    /// The permissions of a file that is made, less the process's umask. Default: 0o666.
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.0.mode(mode);
        self
    }

    /// Further flags of open(2).
    pub fn custom_flags(&mut self, flags: i32) -> &mut Self {
        self.0.custom_flags(flags);
        self
    }

    /// Opens the file.
    ///
    /// # Errors
    /// Those of [`std::fs::OpenOptions::open`].
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        self.0.open(path).map(File)
    }
}
