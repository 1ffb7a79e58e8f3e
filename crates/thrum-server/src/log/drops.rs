//! Lines that were dropped: counted always, reported once in a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::stamp;

/// Least time between two warnings, in seconds.
const INTERVAL: u64 = 60;

/// The count of one log's dropped lines.
pub(super) struct Drops {
    /// What the warnings call the log: its path, or `standard output`.
    name: String,
    count: AtomicU64,
    /// When the last warning was given, in seconds since 1970.
    last_warning: AtomicU64,
    /// Whether a thread is giving one now. If standard error is stuck as well there is one such thread, not many.
    warning: AtomicBool,
}

impl Drops {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            count: AtomicU64::new(0),
            last_warning: AtomicU64::new(0),
            warning: AtomicBool::new(false),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Counts lines without a word; for what happens after the log was closed.
    pub(super) fn add(&self, lines: u64) {
        self.count.fetch_add(lines, Ordering::Relaxed);
    }

    /// Counts a line for which there was no buffer, because the target takes none. Never blocks: whoever reads
    /// standard error may be stuck too, so the warning is given by a thread of its own.
    pub(super) fn stuck(self: &Arc<Self>) {
        self.add(1);
        if !self.may_warn() || self.warning.swap(true, Ordering::Acquire) {
            return;
        }
        let drops = Arc::clone(self);
        let warn = move || {
            tracing::warn!(
                target: "thrum::log",
                dropped = drops.count(),
                "{} is full or takes lines too slowly: lines are dropped, requests go on",
                drops.name
            );
            drops.warning.store(false, Ordering::Release);
        };
        let started = std::thread::Builder::new()
            .name("thrum-log-warn".into())
            .spawn(warn);
        if started.is_err() {
            self.warning.store(false, Ordering::Release);
        }
    }

    /// Counts lines that the target refused. For the writer thread, which may wait for standard error.
    pub(super) fn refused(&self, lines: u64, error: &std::io::Error) {
        self.add(lines);
        if self.may_warn() {
            tracing::warn!(
                target: "thrum::log",
                dropped = self.count(),
                "cannot write to {}: {error}; lines are dropped, requests go on",
                self.name
            );
        }
    }

    /// True once in an interval, for one caller.
    fn may_warn(&self) -> bool {
        let now = stamp::now().second;
        let last = self.last_warning.load(Ordering::Relaxed);
        // The difference either way: a clock that was set back must not silence the log.
        now.abs_diff(last) >= INTERVAL
            && self
                .last_warning
                .compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_warning_in_an_interval() {
        let drops = Drops::new("x".into());
        assert!(drops.may_warn());
        assert!(!drops.may_warn());
        for other in [0, u64::MAX] {
            drops.last_warning.store(other, Ordering::Relaxed);
            assert!(drops.may_warn());
        }
        assert_eq!(drops.count(), 0);
    }
}
