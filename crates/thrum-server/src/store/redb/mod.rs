//! A store in a file of this process: redb.
//!
//! One OS thread writes. It takes what has queued up while the disk was busy and commits it as one transaction, so many
//! writers share one `fsync`; it acknowledges after that. Readers go to the last committed state and wait for nobody.
//!
//! After an error of the disk redb wants its file opened anew. The writer does so, again and again with growing pauses,
//! until it succeeds. Meanwhile the store is unavailable, and says why.

mod file;
mod holder;
mod tables;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use thrum_rt::sync::oneshot;

use self::file::DatabaseFile;
use self::writer::{Change, Done, Writer};
use super::counters::Counters;
use super::error::check_size;
use super::record::{Head, entry};
use super::{
    Condition, Count, Entry, Key, MAX_PAGE, MAX_VALUE, Page, Put, Reply, Store, StoreError, Written,
};

/// How large a [`Redb`] may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedbOptions {
    /// The most bytes of keys and values. Default: 1 GiB. The file is larger by what its trees take, and does not shrink.
    pub max: u64,
    /// The largest value, in bytes. Default: 16 MiB.
    pub max_value: usize,
    /// Memory for parts of the file, in bytes. Default: 32 MiB.
    pub cache: usize,
    /// Memory for counters, in bytes. Default: 32 MiB.
    pub counters: usize,
}

impl Default for RedbOptions {
    fn default() -> Self {
        Self {
            max: 1 << 30,
            max_value: MAX_VALUE,
            cache: 32 << 20,
            counters: 32 << 20,
        }
    }
}

/// A store in a file.
///
/// What it acknowledged is on the disk. Only one process can have the file open.
pub struct Redb {
    file: Arc<DatabaseFile>,
    options: RedbOptions,
    counters: Counters,
    writer: Mutex<State>,
}

enum State {
    Idle,
    Running(Writer),
    Closed,
}

impl Redb {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], with the process that has it open if that is the reason.
    pub fn open(path: impl AsRef<Path>, options: RedbOptions) -> Result<Self, StoreError> {
        let store = Self::at(path, options);
        store.start()?;
        Ok(store)
    }

    /// A store that opens its file when it is started, or else first used.
    pub fn at(path: impl AsRef<Path>, options: RedbOptions) -> Self {
        Self {
            file: Arc::new(DatabaseFile::new(path.as_ref().into(), options.cache)),
            options,
            counters: Counters::new(options.counters),
            writer: Mutex::new(State::Idle),
        }
    }

    /// Opens the file now. When that fails, it is tried again in the background.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn start(&self) -> Result<(), StoreError> {
        self.submit(None)?;
        self.file.database().map(drop)
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.file.path().to_owned()
    }

    /// Starts the writer unless it runs, and gives it a change to make.
    fn submit(&self, job: Option<writer::Job>) -> Result<(), StoreError> {
        let mut state = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Idle) {
            // The first to come opens the file, so that a fault shows at once.
            let _ = self.file.open();
            *state = State::Running(Writer::start(self.file.clone(), self.options.max)?);
        }
        match (&*state, job) {
            (State::Running(writer), Some(job)) => writer.submit(job),
            (State::Running(_), None) => Ok(()),
            _ => Err(StoreError::unavailable("it was closed")),
        }
    }

    async fn change(&self, change: Change) -> Result<Done, StoreError> {
        let (answer, answered) = oneshot::channel();
        self.submit(Some(writer::Job { change, answer }))?;
        let gone = |_| StoreError::unavailable("its writer has ended");
        answered.await.map_err(gone)?
    }

    fn read(&self, key: &Key) -> Result<Option<Entry>, StoreError> {
        let database = self.started()?;
        let record = tables::read(&database, key.text())?;
        record.map_or(Ok(None), entry)
    }

    fn names(&self, prefix: &Key, after: Option<&str>, limit: usize) -> Result<Page, StoreError> {
        let after = after.map(|name| Key::new(prefix.namespace(), name));
        let after = after.transpose().map_err(|_| StoreError::BadCursor)?;
        let from = after.as_ref().filter(|after| *after >= prefix);
        let database = self.started()?;
        let limit = limit.clamp(1, MAX_PAGE);
        tables::names(&database, prefix, from, limit)
    }

    fn started(&self) -> Result<Arc<::redb::Database>, StoreError> {
        if self.file.is_new() {
            self.submit(None)?;
        }
        self.file.database()
    }
}

impl Store for Redb {
    fn get<'a>(&'a self, key: &'a Key) -> Reply<'a, Option<Entry>> {
        let found = self.read(key);
        Box::pin(async { found })
    }

    fn put<'a>(&'a self, key: &'a Key, value: Bytes, put: Put) -> Reply<'a, Written> {
        Box::pin(async move {
            check_size(value.len(), self.options.max_value)?;
            let head = Head::new(&put);
            let change = Change::Put {
                key: key.text().to_owned(),
                head,
                record: head.record(&value),
                condition: put.condition,
            };
            let done = self.change(change).await?;
            Ok(head.written(!done.was_there))
        })
    }

    fn delete<'a>(&'a self, key: &'a Key, condition: Condition) -> Reply<'a, bool> {
        Box::pin(async move {
            let key = key.text().to_owned();
            let done = self.change(Change::Delete { key, condition }).await?;
            Ok(done.was_there)
        })
    }

    fn list<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a str>,
        limit: usize,
    ) -> Reply<'a, Page> {
        Box::pin(async move { self.names(prefix, after, limit) })
    }

    fn add<'a>(&'a self, counter: &'a Key, by: u32, window: Duration) -> Reply<'a, Count> {
        Box::pin(async move { self.counters.add(counter, by, window, Instant::now()) })
    }

    fn close(&self) {
        let mut state = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *state, State::Closed);
        drop(state);
        if let State::Running(writer) = before {
            writer.finish();
        }
        self.file.close();
    }

    fn max_value(&self) -> usize {
        self.options.max_value
    }
}

/// Finishes what is being written.
impl Drop for Redb {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Redb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redb")
            .field("path", &self.file.path())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
