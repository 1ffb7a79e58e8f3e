//! The folder that is served, and the opening of what is beneath it: the kernel sees to it that nothing else is reached.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

use super::FilesError;
use super::cache::Clock;

/// How a file is opened: never waiting for a writer, should it be a pipe.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

/// How a file is looked at that is not to be read.
const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);

/// A folder. Its path is resolved anew now and then, so that a deploy that swaps a symbolic link is seen.
pub(crate) struct Root {
    path: PathBuf,
    current: Mutex<Current>,
    /// The kernel is older than 5.6, or forbids openat2(2).
    walks: AtomicBool,
}

struct Current {
    directory: Arc<OwnedFd>,
    resolved_at: u64,
}

impl Root {
    pub(crate) fn open(path: &Path) -> Result<Self, FilesError> {
        let fail = |source| FilesError::Root {
            path: path.to_owned(),
            source,
        };
        let directory = open_directory(path).map_err(fail)?;
        // That it can be read is found out now, not at the first request.
        openat(&directory, ".", READ | OFlags::DIRECTORY, Mode::empty())
            .map_err(|error| fail(error.into()))?;
        let current = Current {
            directory: Arc::new(directory),
            resolved_at: Clock::now(),
        };
        Ok(Self {
            path: path.to_owned(),
            current: Mutex::new(current),
            walks: AtomicBool::new(false),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens what is beneath the root, which is believed for `recheck` milliseconds. Symbolic links are followed as long as
    /// they stay there.
    pub(crate) fn open_beneath(&self, relative: &str, recheck: u64) -> io::Result<File> {
        self.open_as(relative, READ, recheck)
    }

    /// Looks at what is beneath the root, which need not be readable.
    pub(crate) fn look_beneath(&self, relative: &str, recheck: u64) -> io::Result<Metadata> {
        self.open_as(relative, LOOK, recheck)?.metadata()
    }

    fn open_as(&self, relative: &str, flags: OFlags, recheck: u64) -> io::Result<File> {
        let directory = self.directory(recheck);
        let relative = if relative.is_empty() { "." } else { relative };
        if !self.walks.load(Ordering::Relaxed) {
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            // EAGAIN: a rename crossed the look-up. It is rare, so a few tries do.
            for _ in 0..8 {
                match openat2(&directory, relative, flags, Mode::empty(), resolve) {
                    Ok(file) => return Ok(file.into()),
                    Err(Errno::AGAIN) => {}
                    Err(Errno::NOSYS | Errno::PERM) => {
                        self.walks.store(true, Ordering::Relaxed);
                        return walk(&*directory, relative, flags);
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            return Err(Errno::AGAIN.into());
        }
        walk(&*directory, relative, flags)
    }

    fn directory(&self, recheck: u64) -> Arc<OwnedFd> {
        let now = Clock::now();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_sub(current.resolved_at) > recheck {
            // While it is away, in the middle of a deploy, the old one is better than none.
            if let Ok(directory) = open_directory(&self.path) {
                current.directory = Arc::new(directory);
            }
            current.resolved_at = now;
        }
        current.directory.clone()
    }
}

fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(CWD, path, DIRECTORY, Mode::empty())?)
}

/// Opens one segment after the other, and follows no symbolic link at all: for kernels without openat2(2).
fn walk(directory: impl AsFd, relative: &str, last: OFlags) -> io::Result<File> {
    let mut segments = relative.split('/').peekable();
    let mut current: Option<OwnedFd> = None;
    while let Some(segment) = segments.next() {
        if matches!(segment, "" | "..") {
            return Err(io::ErrorKind::NotFound.into());
        }
        let at = current
            .as_ref()
            .map_or(directory.as_fd(), |current| current.as_fd());
        let flags = if segments.peek().is_some() {
            DIRECTORY
        } else {
            last
        };
        current = Some(openat(
            at,
            segment,
            flags | OFlags::NOFOLLOW,
            Mode::empty(),
        )?);
    }
    current
        .map(File::from)
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_within_are_followed_and_links_out_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let (root_path, secret) = (folder.path().join("root"), folder.path().join("secret"));
        std::fs::create_dir_all(root_path.join("a/b")).unwrap();
        std::fs::write(root_path.join("a/b/file"), "inside").unwrap();
        std::fs::write(&secret, "outside").unwrap();
        symlink("a/b/file", root_path.join("within")).unwrap();
        symlink("../secret", root_path.join("out")).unwrap();
        symlink(&secret, root_path.join("absolute")).unwrap();
        symlink("..", root_path.join("up")).unwrap();
        symlink("/proc/self/root", root_path.join("magic")).unwrap();
        let root = Root::open(&root_path).unwrap();
        for walks in [false, true] {
            root.walks.store(walks, Ordering::Relaxed);
            let read = |path: &str| {
                let mut text = String::new();
                root.open_beneath(path, 900)?
                    .read_to_string(&mut text)
                    .map(|_| text)
            };
            assert_eq!(read("a/b/file").unwrap(), "inside");
            assert_eq!(read("within").is_ok(), !walks, "the walk follows none");
            for path in [
                "out",
                "absolute",
                "up/secret",
                "magic/etc/hosts",
                "../secret",
                "/etc/hosts",
            ] {
                assert!(read(path).is_err(), "{path}");
            }
        }
    }
}
