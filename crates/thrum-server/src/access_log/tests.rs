//! The log as a whole: nothing is lost or torn, nothing waits, what is dropped is counted.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::line::Line;
use super::line::tests::get_x;
use super::*;
use crate::log::CLOSE_WAIT;
use crate::log::pool::BUFFER_BYTES;
use crate::slot::SLOTS;

fn log(log: &AccessLog, target: &str) {
    log.write(&Line {
        target: target.as_bytes(),
        headers: &|name| (name == "user-agent").then_some(b"test".as_slice()),
        ..get_x()
    });
}

/// The targets of all lines, each of which must be whole.
fn targets(text: &str) -> Vec<&str> {
    assert!(
        text.is_empty() || text.ends_with('\n'),
        "the last line is torn"
    );
    let target_of = |line: &'_ str| -> Option<(usize, usize)> {
        line.strip_prefix("192.0.2.7 - - [")?;
        let start = line.find("] \"GET ")? + 7;
        let end = line
            .strip_suffix(" HTTP/1.1\" 200 612 \"-\" \"test\"")?
            .len();
        Some((start, end))
    };
    text.lines()
        .map(|line| {
            let (start, end) = target_of(line).unwrap_or_else(|| panic!("torn: {line}"));
            &line[start..end]
        })
        .collect()
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{what} did not happen"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

/// Keeps what is written.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Blocks until the sender is dropped, then keeps what is written.
struct Stuck(Receiver<()>, Kept);

impl Stuck {
    fn new() -> (Self, Sender<()>, Kept) {
        let (release, stuck) = channel();
        let kept = Kept::default();
        (Self(stuck, kept.clone()), release, kept)
    }
}

impl Write for Stuck {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.recv();
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_line_is_written_within_a_moment_and_without_another() {
    let kept = Kept::default();
    let access = AccessLog::to_writer(kept.clone()).unwrap();
    // Twice, so that the second finds the writer asleep again.
    for (target, lines) in [("/one", 1), ("/two", 2)] {
        let start = Instant::now();
        log(&access, target);
        wait_until("the line", || kept.text().lines().count() == lines);
        assert!(start.elapsed() < 3 * EVERY);
    }
    assert_eq!(targets(&kept.text()), ["/one", "/two"]);
    assert_eq!(access.dropped(), 0);
}

#[test]
fn close_writes_what_is_left_and_later_lines_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log");
    let access = AccessLog::to_file(&path).unwrap();
    log(&access, "/before");
    access.close();
    assert_eq!(targets(&fs::read_to_string(&path).unwrap()), ["/before"]);

    log(&access, "/after");
    access.close();
    assert_eq!(access.dropped(), 1);
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1);
}

#[test]
fn dropping_the_log_writes_what_is_left() {
    let kept = Kept::default();
    let access = AccessLog::to_writer(kept.clone()).unwrap();
    log(&access, "/x");
    drop(access);
    assert_eq!(targets(&kept.text()), ["/x"]);
}

/// Each thread's lines are numbered: they must be there once, whole and in order.
fn many_threads(threads: usize, lines: usize) -> (usize, u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log");
    let access = AccessLog::to_file(&path).unwrap();
    thread::scope(|scope| {
        for thread in 0..threads {
            let access = &access;
            scope.spawn(move || {
                for number in 0..lines {
                    log(access, &format!("/{thread}/{number}"));
                }
            });
        }
    });
    access.close();

    let text = fs::read_to_string(&path).unwrap();
    let targets = targets(&text);
    let mut last: HashMap<&str, i64> = HashMap::new();
    for target in &targets {
        let (thread, number) = target[1..].split_once('/').unwrap();
        let number = number.parse().unwrap();
        let before = last.insert(thread, number).unwrap_or(-1);
        assert!(before < number, "thread {thread}: {number} after {before}");
    }
    (targets.len(), access.dropped())
}

#[test]
fn no_line_is_lost_or_torn() {
    // As much as fits in the buffers, so that none may be dropped however slow the writer is.
    let (written, dropped) = many_threads(8, 4000);
    assert_eq!((written, dropped), (8 * 4000, 0));
}

#[test]
fn more_threads_than_slots() {
    let (written, dropped) = many_threads(SLOTS + 20, 100);
    assert_eq!((written, dropped), ((SLOTS + 20) * 100, 0));
}

#[test]
fn faster_than_the_target_every_line_is_written_or_counted() {
    let (written, dropped) = many_threads(4, 100_000);
    assert_eq!(written as u64 + dropped, 400_000);
}

#[test]
fn a_stuck_target_costs_lines_never_time_or_memory() {
    const LINES: u64 = 200_000;
    let (stuck, release, kept) = Stuck::new();
    let access = AccessLog::to_writer(stuck).unwrap();
    let start = Instant::now();
    for number in 0..LINES {
        log(&access, &format!("/{number}"));
    }
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "took {:?}",
        start.elapsed()
    );
    let dropped = access.dropped();
    assert!(dropped > 0);

    // What was not dropped waits in the buffers, of which there are so many.
    drop(release);
    access.close();
    let text = kept.text();
    assert_eq!(access.dropped(), dropped);
    assert_eq!(targets(&text).len() as u64, LINES - dropped);
    assert!(text.len() <= 2 * SLOTS * BUFFER_BYTES);
}

#[test]
fn after_a_stall_lines_are_written_again() {
    let (stuck, release, kept) = Stuck::new();
    let access = AccessLog::to_writer(stuck).unwrap();
    while access.dropped() == 0 {
        log(&access, "/while-stuck");
    }
    drop(release);
    wait_until("a free buffer", || {
        log(&access, "/again");
        kept.text().contains("/again")
    });
}

#[test]
fn close_does_not_wait_for_a_stuck_target_for_long() {
    let (stuck, release, _) = Stuck::new();
    let access = AccessLog::to_writer(stuck).unwrap();
    for _ in 0..2000 {
        log(&access, "/x");
    }
    let start = Instant::now();
    access.close();
    access.close();
    assert!(start.elapsed() < CLOSE_WAIT + Duration::from_secs(1));
    assert_eq!(access.dropped(), 2000);
    drop(release);
}

#[test]
fn a_pipe_without_a_reader_does_not_block_and_may_get_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &path,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
    )
    .unwrap();
    let access = AccessLog::to_file(&path).unwrap();
    while access.dropped() == 0 {
        log(&access, "/x");
    }
    let mut reader = fs::File::open(&path).unwrap();
    let mut first = [0; 9];
    reader.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"192.0.2.7");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_costs_lines() {
    let access = AccessLog::to_file("/dev/full").unwrap();
    for _ in 0..2000 {
        log(&access, "/x");
    }
    access.close();
    assert_eq!(access.dropped(), 2000);
}

/// A disk that is full costs lines, and when there is room again the log goes on, with whole lines.
#[test]
#[cfg(target_os = "linux")]
fn after_a_full_disk_lines_are_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let mount = |arguments: &[&str]| {
        let mut command = std::process::Command::new(arguments[0]);
        command.args(&arguments[1..]).arg(folder.path());
        let quiet = command.stderr(std::process::Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=16m", "none"]) {
        skipped("the access log on a full disk (mount is not permitted)");
        return;
    }
    let unmounted = Unmount(&|| mount(&["umount", "-l"]));
    let filler = folder.path().join("filler");
    fs::write(&filler, vec![0; (16 << 20) - 40 * 1024]).unwrap();
    let path = folder.path().join("access.log");
    let access = AccessLog::to_file(&path).unwrap();
    wait_until("a dropped line", || {
        (0..1000).for_each(|_| log(&access, "/while-full"));
        access.dropped() > 0
    });
    let before = access.dropped();
    // More room than all lines take that still wait.
    fs::remove_file(&filler).unwrap();
    wait_until("a line after it", || {
        log(&access, "/again");
        fs::read_to_string(&path).unwrap().contains("/again HTTP")
    });
    access.close();
    assert!(access.dropped() >= before);
    let text = fs::read_to_string(&path).unwrap();
    // The one line that was torn when the disk was full has been ended; all others are whole.
    let torn = text
        .lines()
        .filter(|line| !line.ends_with("\"test\""))
        .count();
    assert!(torn <= 1, "{torn} torn lines");
    drop(unmounted);
}

/// Undoes a mount, also when the test fails.
struct Unmount<'a>(&'a dyn Fn() -> bool);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn skipped(what: &str) {
    if let Some(list) = std::env::var_os("THRUM_SKIPPED") {
        let mut list = fs::OpenOptions::new().append(true).open(list).unwrap();
        writeln!(list, "{what}").unwrap();
    }
}

#[test]
fn a_log_that_is_opened_anew_writes_before_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log");
    let access = AccessLog::to_file(&path).unwrap();
    log(&access, "/before");
    let moved = folder.path().join("moved");
    fs::rename(&path, &moved).unwrap();
    access.reopen();
    wait_until("the new file", || path.exists());
    log(&access, "/after");
    access.close();
    assert_eq!(targets(&fs::read_to_string(&moved).unwrap()), ["/before"]);
    assert_eq!(targets(&fs::read_to_string(&path).unwrap()), ["/after"]);
}

#[test]
fn messages_to_syslog_and_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let message_to = |target: Target| {
        let access = AccessLog::open(&target, &Format::common()).unwrap();
        log(&access, "/x");
        access.close();
        assert_eq!(access.dropped(), 0);
        let mut buffer = [0; 2000];
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    };
    let syslog = message_to(Target::Syslog(path.clone(), Default::default()));
    assert!(syslog.starts_with("<30>1 2"), "{syslog}");
    assert!(syslog.ends_with("\"GET /x HTTP/1.1\" 200 612"), "{syslog}");
    let journal = message_to(Target::Journald(path.clone()));
    assert!(journal.starts_with("MESSAGE=192.0.2.7 - - ["), "{journal}");
    assert!(journal.ends_with("\nTHRUM_ROUTE=/"), "{journal}");
}

#[test]
fn a_file_that_cannot_be_opened_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = AccessLog::to_file(folder.path().join("no/such/folder")).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert!(AccessLog::to_file(folder.path()).is_err());
}

/// The nanoseconds that this thread has run, whatever else the machine does.
fn on_cpu() -> u64 {
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    times.split(' ').next().unwrap().parse().unwrap()
}

/// Prints what a line costs: `cargo test --release -p thrum-server access_log -- --ignored --nocapture cost`.
#[test]
#[ignore = "a measurement"]
fn cost() {
    const LINES: u32 = 2_000_000;
    fn fields(name: &str) -> Option<&'static [u8]> {
        match name {
            "referer" => Some(b"https://www.example.com/articles/"),
            "user-agent" => {
                Some(b"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
            }
            _ => None,
        }
    }
    let line = Line {
        target: b"/articles/2026/11/index.html",
        headers: &fields,
        ..get_x()
    };
    let measure = |what: &str, access: &AccessLog, line: &Line<'_>| {
        let start = on_cpu();
        for _ in 0..LINES {
            access.write(line);
        }
        let taken = (on_cpu() - start) / u64::from(LINES);
        println!("{what}: {taken} ns a line, {} dropped", access.dropped());
    };
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        measure(
            "file",
            &AccessLog::to_file(folder.path().join("log")).unwrap(),
            &line,
        );
        measure(
            "/dev/null",
            &AccessLog::to_file("/dev/null").unwrap(),
            &line,
        );
        let json = AccessLog::open(&Target::file("/dev/null"), &Format::json()).unwrap();
        measure("/dev/null, JSON", &json, &line);
        let over_ipv6 = Line {
            client: "2001:db8:85a3::8a2e:370:7334".parse().ok(),
            ..line
        };
        measure(
            "/dev/null, IPv6",
            &AccessLog::to_file("/dev/null").unwrap(),
            &over_ipv6,
        );
        let hostile = Line {
            headers: &|_| Some(&[0xff; 512]),
            ..line
        };
        measure(
            "/dev/null, 512 bytes to escape",
            &AccessLog::to_file("/dev/null").unwrap(),
            &hostile,
        );
    }
}
