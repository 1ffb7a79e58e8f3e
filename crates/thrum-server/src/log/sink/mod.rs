//! How lines get to where they go: a stream of bytes, a file that is rotated, or a message for each line.

mod datagram;
mod file;
mod rotate;
mod tcp;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use super::stamp;
use super::target::{Rotation, Target};
use datagram::Datagrams;
use file::LogFile;
use tcp::Tcp;

/// How long to wait for a target that would not block, and is full.
const FULL_WAIT: Duration = Duration::from_millis(10);
/// How long a socket may block before it is asked whether it is still worth it.
const SOCKET_WAIT: Duration = Duration::from_millis(100);

/// The target, written to by one thread.
pub(crate) struct Sink {
    out: Out,
    /// The last write ended within a line.
    torn: bool,
}

enum Out {
    Stream(Box<dyn Write + Send>),
    File(LogFile),
    Datagrams(Datagrams),
}

/// What was left of the bytes when the target refused them.
pub(super) struct Refused<'a> {
    pub(super) rest: &'a [u8],
    pub(super) error: io::Error,
}

impl Sink {
    /// Opens a target. Sockets are connected when there is something to send, so a syslog may start later.
    pub(crate) fn open(target: &Target) -> io::Result<Self> {
        match target {
            Target::Stdout => Self::duplicate(io::stdout().as_fd()),
            Target::Stderr => Self::duplicate(io::stderr().as_fd()),
            Target::File(path, rotation) => Self::file(path, rotation),
            Target::Syslog(path, _) => Ok(Self::of(Out::Datagrams(Datagrams::unix(path, b"\n")))),
            Target::Journald(path) => Ok(Self::of(Out::Datagrams(Datagrams::unix(path, b"\n\n")))),
            Target::SyslogUdp(host, _) => Ok(Self::of(Out::Datagrams(Datagrams::udp(host)))),
            Target::SyslogTcp(host, _) => Ok(Self::writer(Box::new(Tcp::new(host)))),
        }
    }

    /// Writes to anything. It is given whole lines, and flushed after them.
    pub(crate) fn writer(out: Box<dyn Write + Send>) -> Self {
        Self::of(Out::Stream(out))
    }

    fn file(path: &Path, rotation: &Rotation) -> io::Result<Self> {
        Ok(Self::of(Out::File(LogFile::open(path, rotation)?)))
    }

    /// Writes to a standard descriptor. Not through [`io::stdout`]: its lock would be held while the target is stuck, and it
    /// would write each line by itself.
    fn duplicate(descriptor: std::os::fd::BorrowedFd<'_>) -> io::Result<Self> {
        let descriptor = descriptor.try_clone_to_owned()?;
        Ok(Self::writer(Box::new(File::from(descriptor))))
    }

    fn of(out: Out) -> Self {
        Self { out, torn: false }
    }

    /// Writes whole lines. Blocks as long as the target does; `abandoned` ends the wait for a target that would
    /// rather be asked again.
    pub(super) fn write<'a>(
        &mut self,
        lines: &'a [u8],
        abandoned: impl Fn() -> bool + Copy,
    ) -> Result<(), Refused<'a>> {
        if let Out::Datagrams(datagrams) = &mut self.out {
            return datagrams.send_all(lines, abandoned);
        }
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
        let mut rest = lines;
        while !rest.is_empty() {
            let part = match &mut self.out {
                Out::File(file) => file.make_room(rest, stamp::now().second),
                _ => rest.len(),
            };
            let (now, later) = rest.split_at(part);
            if let Err(refused) = self.write_all(now, abandoned) {
                let written = part - refused.rest.len();
                self.torn = written > 0 && now[written - 1] != b'\n';
                return Err(Refused {
                    rest: &rest[written..],
                    error: refused.error,
                });
            }
            rest = later;
        }
        Ok(())
    }

    /// How many lines end in what was refused.
    pub(super) fn lines_in(&self, rest: &[u8]) -> u64 {
        match &self.out {
            Out::Datagrams(datagrams) => datagrams.messages(rest).count() as u64,
            _ => rest.iter().filter(|byte| **byte == b'\n').count() as u64,
        }
    }

    /// Hands on what the target itself buffers.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match &mut self.out {
            Out::Stream(out) => out.flush(),
            Out::File(_) | Out::Datagrams(_) => Ok(()),
        }
    }

    /// Opens the file anew if it was moved or deleted, as log rotation does. Keeps the old one if that fails.
    pub(super) fn revisit(&mut self) {
        if let Out::File(file) = &mut self.out
            && file.revisit()
        {
            self.torn = false;
        }
    }

    /// Opens the file anew in any case, and connects anew.
    pub(super) fn reopen(&mut self) {
        match &mut self.out {
            Out::File(file) => {
                if file.reopen() {
                    self.torn = false;
                }
            }
            Out::Datagrams(datagrams) => datagrams.disconnect(),
            Out::Stream(_) => {}
        }
    }

    fn write_all<'a>(
        &mut self,
        bytes: &'a [u8],
        abandoned: impl Fn() -> bool + Copy,
    ) -> Result<(), Refused<'a>> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = match &mut self.out {
                Out::Stream(out) => out.write(rest),
                Out::File(file) => file.write(rest),
                Out::Datagrams(_) => Ok(rest.len()), // are not written to
            };
            match written {
                Ok(0) => {
                    return Err(Refused {
                        rest,
                        error: io::ErrorKind::WriteZero.into(),
                    });
                }
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A pipe or terminal that some other process has set not to block, or a socket that was long enough in vain.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && !abandoned() => {
                    std::thread::sleep(FULL_WAIT);
                }
                Err(error) => return Err(Refused { rest, error }),
            }
        }
        Ok(())
    }
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
        let mut sink = Sink::file(&path, &Rotation::default()).unwrap();
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
        let mut sink = Sink::file(&logs.join("access.log"), &Rotation::default()).unwrap();

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

    #[test]
    fn a_file_is_opened_anew_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.log");
        let mut sink = Sink::file(&path, &Rotation::default()).unwrap();
        assert!(sink.write(b"one\n", NEVER).is_ok());
        let moved = folder.path().join("moved");
        std::fs::rename(&path, &moved).unwrap();
        sink.reopen();
        assert!(sink.write(b"two\n", NEVER).is_ok());
        assert_eq!(std::fs::read_to_string(&moved).unwrap(), "one\n");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two\n");
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
