//! A source and a sink that take their time and note what happens to them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use thrum_rt::time::{Duration, Instant, sleep, sleep_until};
use thrum_rt::yield_now;
use thrum_stream::{Cause, Error, Result, Sink, Source, sink};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// What was done, and how many items were read.
#[derive(Clone, Default)]
pub(crate) struct Journal {
    pub(crate) entries: Arc<Mutex<Vec<String>>>,
    pub(crate) reads: Arc<AtomicU32>,
}

impl Journal {
    pub(crate) fn note(&self, what: impl ToString) {
        self.entries.lock().unwrap().push(what.to_string());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.entries.lock().unwrap())
    }

    pub(crate) fn reads(&self) -> u32 {
        self.reads.load(Ordering::Relaxed)
    }
}

/// Gives items at a pace, with errors and panics in between, and notes what happens to it.
pub(crate) struct Paced {
    items: VecDeque<u32>,
    pace: Duration,
    due: Option<Instant>,
    journal: Journal,
}

/// Items that stand for something else.
pub(crate) const FAILS: u32 = 1000;
pub(crate) const PANICS: u32 = 1001;
pub(crate) const NEVER: u32 = 1002;

pub(crate) fn paced(
    pace: Duration,
    items: impl IntoIterator<Item = u32>,
    journal: &Journal,
) -> Paced {
    Paced {
        items: items.into_iter().collect(),
        pace,
        due: None,
        journal: journal.clone(),
    }
}

pub(crate) fn ready(items: impl IntoIterator<Item = u32>, journal: &Journal) -> Paced {
    paced(Duration::ZERO, items, journal)
}

impl Source for Paced {
    type Item = u32;

    async fn next(&mut self) -> Result<Option<u32>> {
        if !self.pace.is_zero() && !self.items.is_empty() {
            let due = *self.due.get_or_insert_with(|| Instant::now() + self.pace);
            sleep_until(due).await;
            self.due = None;
        }
        match self.items.front() {
            Some(&FAILS) => Err(Error::new("paced", Cause::Malformed("item".into()))),
            Some(&PANICS) => panic!("paced panics"),
            Some(&NEVER) => std::future::pending().await,
            Some(_) => {
                self.journal.reads.fetch_add(1, Ordering::Relaxed);
                Ok(self.items.pop_front())
            }
            None => Ok(None),
        }
    }

    async fn close(self) -> Result<()> {
        // Closing takes a while, and is to be waited for.
        yield_now().await;
        self.journal.note("source closed");
        Ok(())
    }
}

/// Takes items at a pace, fails at 13, and notes what happens to it.
pub(crate) struct PacedSink {
    pace: Duration,
    journal: Journal,
}

pub(crate) fn paced_sink(pace: Duration, journal: &Journal) -> PacedSink {
    PacedSink {
        pace,
        journal: journal.clone(),
    }
}

impl Sink<u32> for PacedSink {
    type Output = &'static str;

    async fn push(&mut self, item: u32) -> Result<()> {
        if item == 13 {
            return Err(Error::new("side", Cause::Other("unlucky".into())));
        }
        if !self.pace.is_zero() {
            sleep(self.pace).await;
        }
        self.journal.note(item);
        Ok(())
    }

    async fn flush(&mut self) -> Result<()> {
        self.journal.note("flushed");
        Ok(())
    }

    async fn close(self) -> Result<&'static str> {
        yield_now().await;
        self.journal.note("sink closed");
        Ok("result")
    }

    async fn abort(self, error: &Error) {
        self.journal.note(format!("sink aborted: {error}"));
    }
}

pub(crate) async fn all<S: Source>(source: S) -> Vec<S::Item> {
    source.run(sink::collect(9999)).await.unwrap()
}
