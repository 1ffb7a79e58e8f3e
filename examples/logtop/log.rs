//! What is counted of the lines of access logs.

use thrum::parse::log_line::{BadLine, Entries, Entry};
use thrum::stream::stage::Tally;

use crate::top::Top;

/// Room for so many paths, and for so many bytes of them: 4 MB in all.
const PATHS: usize = 32 * 1024;
const PATHS_BYTES: usize = 2 * 1024 * 1024;

pub(crate) struct Log {
    pub(crate) top: Top,
    /// Lines that say what was requested.
    pub(crate) requests: u64,
    /// Other lines.
    pub(crate) bad: u64,
    /// Which was the first of these, and what is wrong with it.
    pub(crate) first_bad: Option<String>,
    /// Lines that are so long that they were left out. The pipeline counts them.
    pub(crate) too_long: Tally,
    /// Bytes of the lines. The pipeline counts them.
    pub(crate) bytes: Tally,
    /// Bytes sent.
    pub(crate) sent: u64,
    file: String,
    /// How many lines the files before this one had.
    lines_before: u64,
}

impl Log {
    pub(crate) fn new() -> Self {
        Log {
            top: Top::new(PATHS, PATHS_BYTES),
            requests: 0,
            bad: 0,
            first_bad: None,
            too_long: Tally::new(),
            bytes: Tally::new(),
            sent: 0,
            file: String::new(),
            lines_before: 0,
        }
    }

    /// The lines that follow are those of this file.
    pub(crate) fn file(&mut self, name: &str) {
        name.clone_into(&mut self.file);
        self.lines_before = self.lines();
    }

    /// Counts the lines of a block, all of which are whole.
    pub(crate) fn add(&mut self, block: &[u8]) {
        for line in Entries::new(block, true) {
            match line {
                Ok(entry) => {
                    let bytes = entry.bytes.unwrap_or(0);
                    self.requests += 1;
                    self.sent = self.sent.saturating_add(bytes);
                    self.top.hit(path(&entry), bytes);
                }
                Err(bad) => self.bad_line(bad),
            }
        }
    }

    pub(crate) fn lines(&self) -> u64 {
        self.requests + self.bad + self.too_long.total()
    }

    #[cold]
    fn bad_line(&mut self, bad: BadLine<'_>) {
        self.bad += 1;
        if self.first_bad.is_none() {
            let number = self.lines() - self.lines_before;
            self.first_bad = Some(format!("{}, line {number}:\n{bad}", self.file));
        }
    }
}

/// What was requested, without its query. Clients send other things than requests, too.
#[inline]
fn path<'a>(entry: &Entry<'a>) -> &'a [u8] {
    let target = entry.request_line().map_or(&b"-"[..], |line| line.target);
    &target[..memchr::memchr(b'?', target).unwrap_or(target.len())]
}
