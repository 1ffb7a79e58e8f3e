//! A store in a Redis or Valkey server, or a cluster of them.
//!
//! Each change is one script over one key, so that its condition holds where it is made; what is known of a value lies
//! before it (see `record`). The client's connections are blocking ones: a call holds one of them, and a thread, for as long
//! as it takes, with [`thrum_rt::blocking`], which other tasks do not notice.
//!
//! # What is promised
//! A server acknowledges what it has in memory. Whether that survives its end is a matter of its own settings (`appendonly`,
//! `appendfsync always`), and of its replicas: with [`RedisOptions::replicas`] a write is acknowledged when so many of them
//! have it too, so that no acknowledged write is lost with the loss of one node fewer than have it, provided that a replica
//! that has it is made the new master, which is what Redis tries. A write that too few replicas got in time is
//! [`StoreError::Unavailable`], and may be there nevertheless.
//!
//! A change is tried once more when its connection breaks. A value's version is made before it is sent, so one that arrived
//! twice is known; an addition to a counter may count twice.

mod pool;
mod scan;
mod scripts;

use std::time::Duration;

use ::redis::{ErrorKind, IntoConnectionInfo, RedisError, ServerErrorKind};
use bytes::Bytes;

use self::pool::Pool;
use super::error::check_size;
use super::record::{Head, entry};
use super::{
    Condition, Count, Entry, Key, MAX_PAGE, MAX_VALUE, Page, Put, Reply, Store, StoreError, Written,
};

/// How a [`Redis`] is reached, and how long it is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedisOptions {
    /// What all keys there begin with, so that others can use the same server. Default: `thrum:`.
    pub prefix: String,
    /// The most connections, and calls at a time; the next wait. Default: 32.
    pub connections: usize,
    /// How long a connection may take. Default: 1 s.
    pub connect_timeout: Duration,
    /// How long a free connection, and an answer, may take, each. Default: 3 s.
    pub timeout: Duration,
    /// How many replicas must have a write before it is acknowledged. Default: 0.
    pub replicas: u32,
    /// The largest value, in bytes. Default: 16 MiB.
    pub max_value: usize,
    /// The certificates to trust, as PEM, in place of the system's.
    pub certificates: Option<Vec<u8>>,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self {
            prefix: "thrum:".into(),
            connections: 32,
            connect_timeout: Duration::from_secs(1),
            timeout: Duration::from_secs(3),
            replicas: 0,
            max_value: MAX_VALUE,
            certificates: None,
        }
    }
}

/// A store in a Redis or Valkey server or cluster.
#[derive(Debug)]
pub struct Redis {
    pool: Pool,
    options: RedisOptions,
}

impl Redis {
    /// A store at a URL: `redis://user:password@host:6379/0`, `unix:///run/redis.sock`, and for a cluster
    /// `redis+cluster://user:password@a:7000,b:7001`, some of whose nodes are enough. `rediss` and `rediss+cluster` are
    /// those with TLS. It is connected to when it is used.
    ///
    /// # Errors
    /// When that is no such URL.
    pub fn new(url: &str, options: RedisOptions) -> Result<Self, StoreError> {
        let pool = Pool::new(url, &options)?;
        Ok(Self { pool, options })
    }

    /// Checks that it is there.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.pool
            .call(|connection| connection.query::<()>(&::redis::cmd("PING")))
            .await
    }

    fn key(&self, key: &Key) -> String {
        format!("{}{key}", self.options.prefix)
    }
}

/// Whether that is a URL of a store.
pub(super) fn check_url(url: &str) -> Result<(), StoreError> {
    pool::nodes(url)?
        .into_iter()
        .try_for_each(|node| node.into_connection_info().map(drop))
        .map_err(fault)
}

impl Store for Redis {
    fn get<'a>(&'a self, key: &'a Key) -> Reply<'a, Option<Entry>> {
        Box::pin(async move {
            let get = ::redis::cmd("GET").arg(self.key(key)).take();
            let record: Option<Vec<u8>> = self.pool.call(|at| at.query(&get)).await?;
            record.map_or(Ok(None), |record| entry(record.into()))
        })
    }

    fn put<'a>(&'a self, key: &'a Key, value: Bytes, put: Put) -> Reply<'a, Written> {
        Box::pin(async move {
            check_size(value.len(), self.options.max_value)?;
            let head = Head::new(&put);
            let script = scripts::put(&self.key(key), &head, &value, put.condition);
            let created = self.write(&script).await?;
            Ok(head.written(created))
        })
    }

    fn delete<'a>(&'a self, key: &'a Key, condition: Condition) -> Reply<'a, bool> {
        Box::pin(async move {
            let script = scripts::delete(&self.key(key), condition);
            self.write(&script).await
        })
    }

    fn list<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a str>,
        limit: usize,
    ) -> Reply<'a, Page> {
        Box::pin(async move {
            let cursor = scan::Cursor::read(after)?;
            let limit = limit.clamp(1, MAX_PAGE);
            let scan = scan::Scan::new(&self.options.prefix, prefix, limit);
            self.pool.call(|at| scan.run(at, cursor)).await
        })
    }

    fn add<'a>(&'a self, counter: &'a Key, by: u32, window: Duration) -> Reply<'a, Count> {
        Box::pin(async move {
            // No namespace begins with '#'.
            let key = format!("{}#{counter}", self.options.prefix);
            let script = scripts::add(&key, by, window);
            let (total, ends_in): (u64, u64) = self.pool.call(|at| at.query(&script)).await?;
            Ok(Count {
                total,
                ends_in: Duration::from_millis(ends_in),
            })
        })
    }

    fn close(&self) {
        self.pool.close();
    }

    fn max_value(&self) -> usize {
        self.options.max_value
    }
}

impl Redis {
    async fn write(&self, script: &::redis::Cmd) -> Result<bool, StoreError> {
        let (needed, timeout) = (self.options.replicas, self.options.timeout / 2);
        let (outcome, have) = self
            .pool
            .call(|at| at.write(script, needed, timeout))
            .await?;
        if outcome < 0 {
            return Err(StoreError::Conflict);
        }
        if have < needed {
            let few = format!("a write has reached {have} of {needed} replicas");
            return Err(StoreError::Unavailable(few));
        }
        Ok(outcome == 1)
    }
}

/// What an error of the client is to a store.
fn fault(error: RedisError) -> StoreError {
    if error.code() == Some("OOM") {
        return StoreError::Full(error.to_string());
    }
    StoreError::unavailable(error)
}

/// Whether it is worth trying again over another connection.
fn is_broken(error: &RedisError) -> bool {
    use ServerErrorKind::{BusyLoading, MasterDown, Moved, ReadOnly};
    error.is_io_error()
        || error.is_cluster_error()
        || matches!(
            error.kind(),
            ErrorKind::Parse
                | ErrorKind::ClusterConnectionNotFound
                | ErrorKind::Server(BusyLoading | MasterDown | Moved | ReadOnly)
        )
}
