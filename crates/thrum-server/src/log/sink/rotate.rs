//! Old files: `access.log.0` is the latest, and each moves up by one when another comes. As Mighttpd names them.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::log::target::Rotation;

/// The old files of one log.
pub(super) struct Shelf {
    path: PathBuf,
    keep: u32,
    gzip: bool,
    /// The thread that compresses the latest.
    compressing: Option<JoinHandle<()>>,
}

impl Shelf {
    pub(super) fn new(path: &Path, rotation: &Rotation) -> Self {
        Self {
            path: path.to_owned(),
            keep: rotation.keep,
            gzip: rotation.gzip,
            compressing: None,
        }
    }

    /// Moves a file to the place of the latest, and the others up; those that are too many are deleted. False, and nothing is
    /// done, while the latest is still being compressed.
    pub(super) fn put(&mut self, file: &Path) -> io::Result<bool> {
        if let Some(thread) = self.compressing.take_if(|thread| !thread.is_finished()) {
            self.compressing = Some(thread);
            return Ok(false);
        }
        self.compressing = None;
        // Also those that a larger number was kept of once.
        let mut last = self.keep.saturating_sub(1);
        while self.remove(last)? {
            last += 1;
        }
        for number in (0..self.keep.saturating_sub(1)).rev() {
            for compressed in [false, true] {
                let (from, to) = (
                    self.name(number, compressed),
                    self.name(number + 1, compressed),
                );
                unless_missing(fs::rename(from, to))?;
            }
        }
        if self.keep == 0 {
            fs::remove_file(file)?;
            return Ok(true);
        }
        let latest = self.name(0, false);
        fs::rename(file, &latest)?;
        if self.gzip {
            let target = self.name(0, true);
            let work = move || {
                if let Err(error) = compress(&latest, &target) {
                    tracing::warn!(
                        target: "thrum::log",
                        "cannot compress {}: {error}; it stays as it is",
                        latest.display()
                    );
                }
            };
            // Without a thread it stays as it is.
            self.compressing = thread::Builder::new()
                .name("thrum-log-gzip".into())
                .spawn(work)
                .ok();
        }
        Ok(true)
    }

    /// Deletes a file, compressed or not. Whether there was one.
    fn remove(&self, number: u32) -> io::Result<bool> {
        let plain = unless_missing(fs::remove_file(self.name(number, false)))?;
        let compressed = unless_missing(fs::remove_file(self.name(number, true)))?;
        Ok(plain || compressed)
    }

    fn name(&self, number: u32, compressed: bool) -> PathBuf {
        let mut name = OsString::from(&self.path);
        name.push(format!(".{number}{}", if compressed { ".gz" } else { "" }));
        name.into()
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        if let Some(thread) = self.compressing.take() {
            let _ = thread.join();
        }
    }
}

fn unless_missing(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Puts a compressed file into the place of another, or leaves all as it was.
fn compress(from: &Path, to: &Path) -> io::Result<()> {
    let mut unfinished = OsString::from(to);
    unfinished.push(".tmp");
    let unfinished = PathBuf::from(unfinished);
    let written = || {
        let mut source = File::open(from)?;
        let mut encoder = GzEncoder::new(File::create(&unfinished)?, Compression::default());
        io::copy(&mut source, &mut encoder)?;
        let target = encoder.finish()?;
        target.set_permissions(source.metadata()?.permissions())?;
        target.sync_all()?;
        fs::rename(&unfinished, to)
    };
    written().inspect_err(|_| {
        let _ = fs::remove_file(&unfinished);
    })?;
    fs::remove_file(from)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn compressed_ones_move_up_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let rotation = Rotation {
            keep: 2,
            gzip: true,
            ..Rotation::default()
        };
        // One that was put aside before, and some that are too many.
        for old in ["log.0", "log.1", "log.2.gz"] {
            fs::write(folder.path().join(old), old).unwrap();
        }
        for text in ["first", "second"] {
            fs::write(&path, text).unwrap();
            let mut shelf = Shelf::new(&path, &rotation);
            assert!(shelf.put(&path).unwrap());
            drop(shelf); // waits until it is compressed
        }
        let unpacked = |name: &str| {
            let file = File::open(folder.path().join(name)).unwrap();
            let mut text = String::new();
            let mut decoder = flate2::read::GzDecoder::new(file);
            decoder.read_to_string(&mut text).unwrap();
            text
        };
        assert_eq!(unpacked("log.0.gz"), "second");
        assert_eq!(unpacked("log.1.gz"), "first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_cannot_be_compressed_stays() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("log.0");
        fs::write(&from, "text").unwrap();
        fs::create_dir(folder.path().join("log.0.gz")).unwrap();
        assert!(compress(&from, &folder.path().join("log.0.gz")).is_err());
        assert_eq!(fs::read_to_string(&from).unwrap(), "text");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
