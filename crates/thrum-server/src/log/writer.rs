//! The thread that writes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use super::pool::Buffer;
use super::shared::Shared;
use super::sink::{Refused, Sink};

pub(super) struct Writer {
    pub(super) shared: Arc<Shared>,
    pub(super) sink: Sink,
    /// How long a line may wait for others before it is written.
    pub(super) every: Duration,
}

impl Writer {
    /// Writes until the log is closed and all is written.
    pub(super) fn run(mut self) {
        let mut collect_at: Option<Instant> = None;
        loop {
            // Before the collection: what is logged after it may be missed only if it was dropped.
            let closing = self.shared.is_closing();
            if self.shared.takes_reopening() {
                // What was taken before belongs to the old one, and so does what is in the shards.
                self.shared.collect();
                self.write_filled();
                collect_at = None;
                self.sink.reopen();
            }
            if collect_at.is_none() && self.shared.is_armed() {
                collect_at = Some(Instant::now() + self.every);
            }
            if closing || collect_at.is_some_and(|at| at <= Instant::now()) {
                collect_at = None;
                self.sink.revisit();
                self.shared.collect();
            }
            self.write_filled();
            if closing {
                return;
            }
            match collect_at {
                Some(at) => thread::park_timeout(at.saturating_duration_since(Instant::now())),
                None if self.shared.is_armed() => {}
                None => {
                    self.shared.pool.shrink();
                    thread::park();
                }
            }
        }
    }

    fn write_filled(&mut self) {
        let mut wrote = false;
        while let Some(buffer) = self.shared.pool.pop_filled() {
            self.write(&buffer);
            self.shared.pool.give_back(buffer);
            wrote = true;
        }
        if wrote && let Err(error) = self.sink.flush() {
            self.shared.drops.refused(0, &error);
        }
    }

    fn write(&mut self, buffer: &Buffer) {
        self.shared.in_hand.store(buffer.lines, Ordering::Relaxed);
        let result = self
            .sink
            .write(&buffer.bytes, || self.shared.is_abandoned());
        // Zero if they were given up in the meantime, and counted.
        let lines = self.shared.in_hand.swap(0, Ordering::Relaxed);
        if let Err(Refused { rest, error }) = result {
            let ends = self.sink.lines_in(rest);
            self.shared.drops.refused(ends.min(lines), &error);
        }
    }
}
