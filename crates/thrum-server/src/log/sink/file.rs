//! A file that is appended to, that somebody may move away, and that is put aside when it is large or old.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::rotate::Shelf;
use crate::log::stamp;
use crate::log::target::{Every, Rotation};

/// A file that may have less would be put aside for each buffer of lines.
const LEAST: u64 = 64 * 1024;

pub(super) struct LogFile {
    file: File,
    path: PathBuf,
    /// Which file it is, if it is a regular one; others are neither visited again nor put aside.
    id: Option<FileId>,
    /// Bytes in it.
    size: u64,
    /// The hour, day or week of its last line.
    period: u64,
    limit: Option<u64>,
    every: Option<Every>,
    shelf: Shelf,
    /// It could not be opened again or put aside, and that was said.
    complained: bool,
}

/// Device and number.
#[derive(Clone, Copy, PartialEq)]
struct FileId(u64, u64);

impl LogFile {
    /// Appends to a file, which is created if need be. A named pipe need not have a reader yet.
    pub(super) fn open(path: &Path, rotation: &Rotation) -> io::Result<Self> {
        // Whatever folder the process moves to later, the file is where it was asked for.
        let path = std::path::absolute(path)?;
        let opened = Opened::open(&path)?;
        Ok(Self {
            period: rotation
                .every
                .map_or(0, |every| every.period(opened.modified)),
            file: opened.file,
            id: opened.id,
            size: opened.size,
            limit: rotation.bytes.map(|bytes| bytes.max(LEAST)),
            every: rotation.every,
            shelf: Shelf::new(&path, rotation),
            path,
            complained: false,
        })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.size += written as u64;
        Ok(written)
    }

    /// Puts the file aside if it is too old or too full for these lines. Says how many bytes of them may be written then, which
    /// are whole lines, and at least one.
    pub(super) fn make_room(&mut self, lines: &[u8], now: u64) -> usize {
        if self.id.is_none() {
            return lines.len();
        }
        let period = self.every.map_or(0, |every| every.period(now));
        if self.period != period {
            // Either way: a clock that was set back is no reason to put it aside again and again.
            if self.size > 0 && period > self.period {
                self.put_aside();
            }
            self.period = period;
        }
        let Some(limit) = self.limit else {
            return lines.len();
        };
        for _ in 0..2 {
            let room = usize::try_from(limit.saturating_sub(self.size)).unwrap_or(usize::MAX);
            if lines.len() <= room {
                return lines.len();
            }
            if let Some(last) = lines[..room].iter().rposition(|byte| *byte == b'\n') {
                return last + 1;
            }
            if !self.put_aside() {
                break;
            }
        }
        lines.len()
    }

    /// Opens the file anew if another one, or none, is in its place. Whether it did.
    pub(super) fn revisit(&mut self) -> bool {
        let Some(id) = self.id else { return false };
        if std::fs::metadata(&self.path).is_ok_and(|found| FileId::of(&found) == id) {
            return false;
        }
        self.reopen()
    }

    /// Opens the file anew; keeps the old one if that fails. Whether it did.
    pub(super) fn reopen(&mut self) -> bool {
        match Opened::open(&self.path) {
            Ok(opened) => {
                (self.file, self.id, self.size) = (opened.file, opened.id, opened.size);
                self.complained = false;
                true
            }
            Err(error) => {
                self.complain("was moved and cannot be opened anew", &error);
                false
            }
        }
    }

    /// Puts the file aside and begins a new one. Whether it did: not while the last one is still being compressed.
    fn put_aside(&mut self) -> bool {
        // Another process may have done it.
        if self.revisit() {
            return true;
        }
        match self.shelf.put(&self.path) {
            Ok(true) => self.reopen(),
            Ok(false) => false,
            Err(error) => {
                self.complain("cannot be put aside", &error);
                false
            }
        }
    }

    fn complain(&mut self, what: &str, error: &io::Error) {
        if !std::mem::replace(&mut self.complained, true) {
            tracing::warn!(
                target: "thrum::log",
                "{} {what}: {error}; lines go to where it is",
                self.path.display()
            );
        }
    }
}

struct Opened {
    file: File,
    id: Option<FileId>,
    size: u64,
    modified: u64,
}

impl Opened {
    fn open(path: &Path) -> io::Result<Self> {
        let is_pipe = std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
        // To open a pipe for writing waits for a reader; to open it for both does not.
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .read(is_pipe)
            .open(path)?;
        let metadata = file.metadata()?;
        let modified = metadata.modified().ok();
        let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Ok(Self {
            id: metadata.is_file().then(|| FileId::of(&metadata)),
            size: metadata.len(),
            modified: match modified {
                Some(since) if metadata.len() > 0 => since.as_secs(),
                _ => stamp::now().second,
            },
            file,
        })
    }
}

impl FileId {
    fn of(metadata: &std::fs::Metadata) -> Self {
        Self(metadata.dev(), metadata.ino())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    fn write(file: &mut LogFile, mut lines: &[u8], now: u64) {
        while !lines.is_empty() {
            let part = file.make_room(lines, now);
            assert_eq!(lines[part - 1], b'\n');
            assert_eq!(file.write(&lines[..part]).unwrap(), part);
            lines = &lines[part..];
        }
    }

    #[test]
    fn by_size_in_whole_lines_and_so_many_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let rotation = Rotation {
            bytes: Some(1), // taken as 64 KiB
            keep: 2,
            ..Rotation::default()
        };
        let mut file = LogFile::open(&path, &rotation).unwrap();
        let line = |number: usize| format!("{number:04}{}\n", "x".repeat(995));
        let all: String = (0..300).map(line).collect();
        write(&mut file, all.as_bytes(), 0);

        // 65 lines go into 64 KiB, so the fifth file has the last 40.
        assert_eq!(read(&path), (260..300).map(line).collect::<String>());
        for (number, first) in [(0, 195), (1, 130)] {
            let old = read(&folder.path().join(format!("log.{number}")));
            assert_eq!(old, (first..first + 65).map(line).collect::<String>());
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);

        // What is there counts when it is opened again.
        let mut file = LogFile::open(&path, &rotation).unwrap();
        write(
            &mut file,
            (300..330).map(line).collect::<String>().as_bytes(),
            0,
        );
        assert_eq!(read(&path), (325..330).map(line).collect::<String>());
    }

    #[test]
    fn by_time_and_what_is_left_of_a_day_before() {
        const DAY: u64 = 86_400;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "before\n").unwrap();
        let rotation = Rotation {
            every: Some(Every::Day),
            ..Rotation::default()
        };
        let mut file = LogFile::open(&path, &rotation).unwrap();
        let today = stamp::now().second / DAY * DAY;
        write(&mut file, b"one\n", today + 1);
        write(&mut file, b"two\n", today + DAY);
        write(&mut file, b"three\n", today + DAY + 5);
        // A clock that was set back changes nothing.
        write(&mut file, b"four\n", today);
        write(&mut file, b"five\n", today + 3 * DAY);
        assert_eq!(read(&path), "five\n");
        assert_eq!(read(&folder.path().join("log.0")), "two\nthree\nfour\n");
        assert_eq!(read(&folder.path().join("log.1")), "before\none\n");
    }

    #[test]
    fn none_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let rotation = Rotation {
            bytes: Some(LEAST),
            keep: 0,
            ..Rotation::default()
        };
        let mut file = LogFile::open(&path, &rotation).unwrap();
        let line = format!("{}\n", "x".repeat(40_000));
        for _ in 0..3 {
            write(&mut file, line.as_bytes(), 0);
        }
        assert_eq!(read(&path), line);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_put_aside_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        // A folder that is not empty is in the way.
        std::fs::create_dir_all(folder.path().join("log.0/x")).unwrap();
        let rotation = Rotation {
            bytes: Some(LEAST),
            keep: 1,
            ..Rotation::default()
        };
        let mut file = LogFile::open(&path, &rotation).unwrap();
        let line = format!("{}\n", "x".repeat(40_000));
        for _ in 0..3 {
            write(&mut file, line.as_bytes(), 0);
        }
        assert_eq!(read(&path), line.repeat(3));
    }
}
