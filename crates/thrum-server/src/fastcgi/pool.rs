//! Connections that are kept between requests.
//!
//! An application such as PHP-FPM has one process for each connection. So a connection that rests keeps others from being
//! answered, and one is kept only while no request of ours waits for an answer, and not for long.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use thrum_rt::time::{Instant, sleep};

use super::connection::{Address, Connection};

/// Connections that rest at the same time, at most.
const KEPT: usize = 64;

/// The connections to one application.
#[derive(Debug)]
pub struct Pool {
    address: Address,
    keep: Option<Duration>,
    resting: Mutex<Resting>,
    /// Requests that were sent and have no answer yet.
    unanswered: AtomicUsize,
}

#[derive(Debug, Default)]
struct Resting {
    /// The one that was used last is at the end.
    connections: Vec<(Connection, Instant)>,
    /// A task closes those that have rested for long.
    is_swept: bool,
}

/// A connection for a request.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) connection: Connection,
    /// It has been used before: the application may have closed it at the same time.
    pub(super) used: bool,
}

impl Pool {
    /// Connections to that address, each kept for five seconds after its last request.
    pub fn new(address: Address) -> Self {
        Self::keeping(address, Some(Duration::from_secs(5)))
    }

    /// Connections to that address, kept for so long; `None`: each is closed after its request.
    pub fn keeping(address: Address, keep: Option<Duration>) -> Self {
        Self {
            address,
            keep,
            resting: Mutex::default(),
            unanswered: AtomicUsize::new(0),
        }
    }

    /// Where the application listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// A connection that rests, else a new one.
    pub(super) async fn take(&self) -> io::Result<Taken> {
        while let Some((connection, _)) = { self.lock().connections.pop() } {
            if connection.is_quiet() {
                return Ok(Taken {
                    connection,
                    used: true,
                });
            }
        }
        Ok(Taken {
            connection: Connection::to(&self.address).await?,
            used: false,
        })
    }

    /// Keeps a connection whose request is over.
    pub(super) fn put(self: &Arc<Self>, connection: Connection) {
        let Some(keep) = self.keep else { return };
        // Who waits may wait for the process behind this very connection.
        if self.unanswered.load(Ordering::Relaxed) > 0 {
            return;
        }
        let mut resting = self.lock();
        if resting.connections.len() >= KEPT {
            return;
        }
        resting.connections.push((connection, Instant::now()));
        if !std::mem::replace(&mut resting.is_swept, true) {
            drop(resting);
            thrum_rt::spawn(self.clone().sweep(keep));
        }
    }

    async fn sweep(self: Arc<Self>, keep: Duration) {
        loop {
            sleep(keep / 2).await;
            let mut resting = self.lock();
            resting
                .connections
                .retain(|(_, since)| since.elapsed() < keep);
            if resting.connections.is_empty() {
                resting.is_swept = false;
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Resting> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that waits for its answer.
#[derive(Debug)]
pub(super) struct Unanswered(Arc<Pool>);

impl Unanswered {
    pub(super) fn new(pool: &Arc<Pool>) -> Self {
        pool.unanswered.fetch_add(1, Ordering::Relaxed);
        Self(pool.clone())
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        self.0.unanswered.fetch_sub(1, Ordering::Relaxed);
    }
}
