//! The open file: who has it, why it is not open, and opening it anew.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ::redb::{Builder, Database, DatabaseError, Error, StorageError};
use rustix::io::Errno;

use super::super::StoreError;
use super::holder::holder;
use super::tables;

/// How long readers of a failed file are waited for before it is tried to open it anew.
const LEAVE: Duration = Duration::from_secs(5);

/// A database file.
pub(super) struct DatabaseFile {
    path: PathBuf,
    cache: usize,
    state: Mutex<State>,
}

enum State {
    New,
    Open(Arc<Database>),
    Failed(StoreError),
    Closed,
}

impl DatabaseFile {
    pub(super) fn new(path: PathBuf, cache: usize) -> Self {
        Self {
            path,
            cache,
            state: Mutex::new(State::New),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The database, if it is open.
    pub(super) fn database(&self) -> Result<Arc<Database>, StoreError> {
        match &*self.state() {
            State::Open(database) => Ok(database.clone()),
            State::Failed(error) => Err(error.clone()),
            State::New => Err(StoreError::unavailable("it is not open yet")),
            State::Closed => Err(StoreError::unavailable("it was closed")),
        }
    }

    pub(super) fn is_new(&self) -> bool {
        matches!(*self.state(), State::New)
    }

    /// Opens it unless it is open.
    pub(super) fn open(&self) -> Result<(), StoreError> {
        let mut state = self.state();
        if matches!(*state, State::Open(_)) {
            return Ok(());
        }
        let opened = Builder::new()
            .set_cache_size(self.cache)
            .create(&self.path)
            .map_err(|error| self.why_not(error))
            .and_then(|database| tables::create(&database).map(|()| database));
        match opened {
            Ok(database) => {
                *state = State::Open(Arc::new(database));
                Ok(())
            }
            Err(error) => {
                *state = State::Failed(error.clone());
                Err(error)
            }
        }
    }

    /// Lets go of it after an error; readers get that error until it is open again.
    pub(super) fn fail(&self, error: StoreError) {
        self.leave(State::Failed(error));
    }

    pub(super) fn close(&self) {
        self.leave(State::Closed);
    }

    /// Only when the last reader has gone is the file really closed.
    fn leave(&self, next: State) {
        let before = std::mem::replace(&mut *self.state(), next);
        let State::Open(mut database) = before else {
            return;
        };
        let until = Instant::now() + LEAVE;
        while Instant::now() < until {
            match Arc::try_unwrap(database) {
                Ok(alone) => return drop(alone),
                Err(shared) => database = shared,
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn why_not(&self, error: DatabaseError) -> StoreError {
        let path = self.path.display();
        match error {
            DatabaseError::DatabaseAlreadyOpen => {
                let holder = holder(&self.path).unwrap_or_else(|| "another process".into());
                StoreError::Unavailable(format!("{path} is in use by {holder}"))
            }
            DatabaseError::Storage(error) => match fault(error.into()) {
                StoreError::Unavailable(reason) => {
                    StoreError::Unavailable(format!("{path}: {reason}"))
                }
                other => other,
            },
            error => StoreError::Unavailable(format!("{path}: {error}")),
        }
    }
}

/// What an error of redb is to a store.
pub(super) fn fault(error: Error) -> StoreError {
    match error {
        Error::Io(error) if is_full(&error) => StoreError::Full(error.to_string()),
        error => StoreError::unavailable(error),
    }
}

pub(super) fn storage_fault(error: StorageError) -> StoreError {
    fault(error.into())
}

fn is_full(error: &io::Error) -> bool {
    let full = [Errno::NOSPC, Errno::DQUOT, Errno::FBIG];
    Errno::from_io_error(error).is_some_and(|errno| full.contains(&errno))
}
