//! State that outlives a process: a key-value store behind one trait.
//!
//! | store | what it is | what an acknowledged write survives |
//! |---|---|---|
//! | [`Redb`] | a file of this process | the process and the machine going down: it is on the disk |
//! | [`Redis`] | a Redis or Valkey server, or a cluster of them | what the server's own settings say; with `replicas N`, also the loss of N nodes of a shard |
//! | [`Memory`] | for tests | nothing |
//!
//! Keys are in namespaces, each user of a store has its own. Every value has a [`Version`], which is another one with each
//! write, and writes can be made to depend on it; so what is read, changed and written back is never lost to somebody else's
//! change in between. Besides values there are counters, for limits of rates, which forget themselves.
//!
//! When values expire is a time of day, as it has to mean something to the next process and to other machines: if the wall
//! clock is set, they do so that much earlier or later. Counters are not touched by that.
//!
//! ```
//! use thrum_server::store::{Key, Memory, Put, Store, StoreError};
//!
//! # thrum_rt::block_on(async {
//! let store = Memory::new(64 << 20);
//! let key = Key::new("notes", "today")?;
//! let written = store.put(&key, "buy milk".into(), Put::default()).await?;
//!
//! let entry = store.get(&key).await?.unwrap();
//! assert_eq!(entry.version, written.version);
//! let conflict = store.put(&key, "buy tea".into(), Put::if_absent()).await;
//! assert_eq!(conflict, Err(StoreError::Conflict));
//! # Ok::<(), StoreError>(())
//! # }).unwrap();
//! ```

pub mod config;
mod counters;
mod error;
mod key;
mod memory;
mod observed;
mod record;
mod redb;
mod redis;

use std::fmt;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use bytes::Bytes;

pub use self::error::StoreError;
pub use self::key::{Key, MAX_KEY};
pub use self::memory::Memory;
pub use self::redb::{Redb, RedbOptions};
pub use self::redis::{Redis, RedisOptions};

/// A value's largest size, unless a store is told otherwise: 16 MiB.
pub const MAX_VALUE: usize = 16 << 20;

/// The most names in a page of a listing.
pub const MAX_PAGE: usize = 1_000;

/// What a store answers, when it does.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A key-value store.
///
/// What has expired is not there. Times are those of the machines' clocks.
///
/// # Errors
/// All methods: [`StoreError::Unavailable`]. It leaves open whether a change was made: it may have been, and its
/// acknowledgement lost. Changes that depend on a version or an absence can be tried again without harm.
///
/// # Cancellation
/// A change whose future is dropped may be made or not.
pub trait Store: Send + Sync + fmt::Debug + 'static {
    /// The value of a key.
    fn get<'a>(&'a self, key: &'a Key) -> Reply<'a, Option<Entry>>;

    /// Writes a value; in its whole or not at all.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the condition does not hold, [`StoreError::TooLarge`], [`StoreError::Full`].
    fn put<'a>(&'a self, key: &'a Key, value: Bytes, put: Put) -> Reply<'a, Written>;

    /// Deletes a value. False when there was none.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the condition does not hold.
    fn delete<'a>(&'a self, key: &'a Key, condition: Condition) -> Reply<'a, bool>;

    /// The names in the key's namespace that begin with its name, a page of about `limit` (at most [`MAX_PAGE`]) at a time.
    /// `after` is the cursor of the page before.
    ///
    /// Names come in the order of their bytes, except from Redis, which has none, may say a name twice, and may give a page
    /// without names that is not the last.
    ///
    /// # Errors
    /// [`StoreError::BadCursor`].
    fn list<'a>(&'a self, prefix: &'a Key, after: Option<&'a str>, limit: usize)
    -> Reply<'a, Page>;

    /// Adds to a counter and says what it has come to. A counter begins at 0 and ends a `window` after its first addition.
    ///
    /// Counters are apart from values. They need not outlive the store's process: those of [`Redb`] are in memory.
    ///
    /// # Errors
    /// [`StoreError::Full`].
    fn add<'a>(&'a self, counter: &'a Key, by: u32, window: Duration) -> Reply<'a, Count>;

    /// Finishes what is being written and lets go of files and connections, for a process that retires while another takes
    /// over. Whatever is asked later is [`StoreError::Unavailable`].
    fn close(&self);

    /// The largest value it takes, in bytes.
    fn max_value(&self) -> usize;
}

/// A value and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The value.
    pub value: Bytes,
    /// Which writing of the key it is.
    pub version: Version,
    /// When it was written, in milliseconds.
    pub modified: SystemTime,
    /// When it ends by itself, if it does, in milliseconds.
    pub expires: Option<SystemTime>,
}

/// Tells the writings of a key apart: no two have the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Version(pub(crate) u64);

/// How a value is to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Put {
    /// How long it is to be there. `None`: until it is deleted. Less than a millisecond is one.
    pub expires: Option<Duration>,
    /// What must hold.
    pub condition: Condition,
}

/// What must hold for a key's present value when it is changed, in the same step as the change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    #[default]
    Any,
    /// That there is none.
    Absent,
    /// That there is one.
    Present,
    /// That it is still this one.
    Is(Version),
}

/// What came of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The value's version.
    pub version: Version,
    /// When it was written.
    pub modified: SystemTime,
    /// Whether there was no value before.
    pub created: bool,
}

/// A part of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The names, without their namespace.
    pub names: Vec<String>,
    /// Where to go on; `None` when that was all.
    pub next: Option<String>,
}

/// What a counter has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// How many, with those just added.
    pub total: u64,
    /// When it begins at 0 again.
    pub ends_in: Duration,
}

impl Put {
    /// Written only where there is nothing.
    pub fn if_absent() -> Self {
        Self {
            condition: Condition::Absent,
            ..Self::default()
        }
    }

    /// Written only in the place of this version.
    pub fn in_place_of(version: Version) -> Self {
        Self {
            condition: Condition::Is(version),
            ..Self::default()
        }
    }

    /// Gone after that time.
    pub fn expires(mut self, after: Duration) -> Self {
        self.expires = Some(after);
        self
    }
}

impl Condition {
    /// Whether it holds when that is the present version.
    pub(crate) fn holds(self, present: Option<Version>) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => present.is_none(),
            Self::Present => present.is_some(),
            Self::Is(version) => present == Some(version),
        }
    }
}

impl Version {
    /// Has the first of them not wait for randomness to be gathered, which takes a while of computing.
    pub(crate) fn prepare() {
        let _ = Self::new();
    }

    /// A new one. They are random, so that a key that was deleted and written again has none it had before.
    pub(crate) fn new() -> Self {
        let mut bytes = [0; 8];
        // Fails only on a kernel without randomness.
        aws_lc_rs::rand::fill(&mut bytes).expect("the system's random numbers");
        Self(u64::from_be_bytes(bytes))
    }
}

/// 16 hexadecimal digits.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
