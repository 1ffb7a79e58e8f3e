//! Where the lines go: a file that may be moved away, standard output, or any `Write`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait for a target that would not block, and is full.
const FULL_WAIT: Duration = Duration::from_millis(10);

/// The target, written to by one thread.
pub(super) struct Sink {
    out: Box<dyn Write + Send>,
    place: Option<Place>,
    /// The last write ended within a line.
    torn: bool,
}

/// Where a regular file was opened, to notice that it is no longer there.
struct Place {
    path: PathBuf,
    file: FileId,
    /// It could not be opened again, and that was said.
    lost: bool,
}

/// Device and number.
#[derive(Clone, Copy, PartialEq)]
struct FileId(u64, u64);

/// What was left of the bytes when the target refused them.
pub(super) struct Refused<'a> {
    pub(super) rest: &'a [u8],
    pub(super) error: io::Error,
}

impl Sink {
    pub(super) fn writer(out: Box<dyn Write + Send>) -> Self {
        Self {
            out,
            place: None,
            torn: false,
        }
    }

    /// Appends to a file, which is created if need be. A named pipe need not have a reader yet.
    pub(super) fn file(path: &Path) -> io::Result<Self> {
        // Whatever folder the process moves to later, the file is where it was asked for.
        let path = std::path::absolute(path)?;
        let (file, id) = open(&path)?;
        let place = id.map(|file| Place {
            path,
            file,
            lost: false,
        });
        Ok(Self {
            out: Box::new(file),
            place,
            torn: false,
        })
    }

    /// Writes to the standard output's descriptor. Not through [`io::stdout`]: its lock would be held while the
    /// target is stuck, and it would write each line by itself.
    pub(super) fn stdout() -> io::Result<Self> {
        let stdout = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Self::writer(Box::new(File::from(stdout))))
    }

    /// Writes whole lines. Blocks as long as the target does; `abandoned` ends the wait for a target that would
    /// rather be asked again.
    pub(super) fn write<'a>(
        &mut self,
        lines: &'a [u8],
        abandoned: impl Fn() -> bool + Copy,
    ) -> Result<(), Refused<'a>> {
        if self.torn {
            // What came before a refusal may be half a line. Close it rather than have the next one torn as well.
            match self.write_all(b"\n", abandoned) {
                Ok(()) => self.torn = false,
                Err(refused) => {
                    return Err(Refused {
                        rest: lines,
                        error: refused.error,
                    });
                }
            }
        }
        self.write_all(lines, abandoned).inspect_err(|refused| {
            let written = &lines[..lines.len() - refused.rest.len()];
            self.torn = written.last().is_some_and(|byte| *byte != b'\n');
        })
    }

    /// Hands on what the target itself buffers.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Opens the file anew if it was moved or deleted, as log rotation does. Keeps the old one if that fails.
    pub(super) fn revisit(&mut self) {
        let Some(place) = &mut self.place else { return };
        if std::fs::metadata(&place.path).is_ok_and(|found| FileId::of(&found) == place.file) {
            return;
        }
        match open(&place.path) {
            Ok((file, id)) => {
                self.out = Box::new(file);
                self.torn = false;
                match id {
                    Some(id) => (place.file, place.lost) = (id, false),
                    None => self.place = None,
                }
            }
            Err(error) if !place.lost => {
                place.lost = true;
                tracing::warn!(
                    target: "thrum::access_log",
                    "{} was moved and cannot be opened anew: {error}; lines go to where it was moved",
                    place.path.display()
                );
            }
            Err(_) => {}
        }
    }

    fn write_all<'a>(
        &mut self,
        bytes: &'a [u8],
        abandoned: impl Fn() -> bool + Copy,
    ) -> Result<(), Refused<'a>> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.out.write(rest) {
                Ok(0) => {
                    return Err(Refused {
                        rest,
                        error: io::ErrorKind::WriteZero.into(),
                    });
                }
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A pipe or terminal that some other process has set not to block.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && !abandoned() => {
                    std::thread::sleep(FULL_WAIT);
                }
                Err(error) => return Err(Refused { rest, error }),
            }
        }
        Ok(())
    }
}

impl FileId {
    fn of(metadata: &std::fs::Metadata) -> Self {
        Self(metadata.dev(), metadata.ino())
    }
}

/// The file, and its identity if it is a regular one.
fn open(path: &Path) -> io::Result<(File, Option<FileId>)> {
    let is_pipe = std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
    // To open a pipe for writing waits for a reader; to open it for both does not.
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .read(is_pipe)
        .open(path)?;
    let metadata = file.metadata()?;
    let id = metadata.is_file().then(|| FileId::of(&metadata));
    Ok((file, id))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: fn() -> bool = || false;

    #[test]
    fn appends_and_notices_a_moved_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.log");
        std::fs::write(&path, "before\n").unwrap();
        let mut sink = Sink::file(&path).unwrap();
        let write = |sink: &mut Sink, text: &str| {
            assert!(sink.write(text.as_bytes(), NEVER).is_ok());
        };

        write(&mut sink, "one\n");
        sink.revisit();
        write(&mut sink, "two\n");
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "before\none\ntwo\n"
        );

        let moved = folder.path().join("access.log.1");
        std::fs::rename(&path, &moved).unwrap();
        write(&mut sink, "three\n");
        sink.revisit();
        write(&mut sink, "four\n");
        assert_eq!(
            std::fs::read_to_string(&moved).unwrap(),
            "before\none\ntwo\nthree\n"
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "four\n");

        std::fs::remove_file(&path).unwrap();
        sink.revisit();
        write(&mut sink, "five\n");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "five\n");
    }

    #[test]
    fn a_moved_file_stays_in_use_if_there_can_be_no_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        std::fs::create_dir(&logs).unwrap();
        let mut sink = Sink::file(&logs.join("access.log")).unwrap();

        let moved = folder.path().join("moved");
        std::fs::rename(&logs, &moved).unwrap();
        sink.revisit();
        sink.revisit();
        assert!(sink.write(b"one\n", NEVER).is_ok());
        assert_eq!(
            std::fs::read_to_string(moved.join("access.log")).unwrap(),
            "one\n"
        );
    }

    /// Takes a number of bytes, then refuses `refusals` times, then takes all.
    struct Full {
        room: usize,
        refusals: usize,
        taken: std::sync::Arc<std::sync::Mutex<Vec<u8>>>,
    }

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.room == 0 {
                if self.refusals > 0 {
                    self.refusals -= 1;
                    return Err(io::ErrorKind::StorageFull.into());
                }
                self.room = usize::MAX;
            }
            let taken = bytes.len().min(self.room);
            self.room -= taken;
            self.taken
                .lock()
                .unwrap()
                .extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn half_a_line_does_not_tear_the_next() {
        let taken = std::sync::Arc::default();
        let full = Full {
            room: 6,
            refusals: 2,
            taken: std::sync::Arc::clone(&taken),
        };
        let mut sink = Sink::writer(Box::new(full));

        let refused = sink.write(b"one\ntwo\nthree\n", NEVER).err().unwrap();
        assert_eq!(refused.rest, b"o\nthree\n");
        let refused = sink.write(b"four\n", NEVER).err().unwrap();
        assert_eq!(refused.rest, b"four\n");
        assert!(sink.write(b"five\n", NEVER).is_ok());
        assert_eq!(*taken.lock().unwrap(), b"one\ntw\nfive\n");
    }
}
