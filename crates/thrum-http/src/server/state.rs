//! What a server knows of itself while it runs: its connections and its counters.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use slab::Slab;
use thrum_rt::shutdown::Guard;
use thrum_rt::{AbortHandle, JoinHandle, Shutdown};

use super::refusal::Refusals;
use crate::Reject;
#[cfg(feature = "tls")]
use crate::tls::HandshakeFailure;
use crate::wire::{Accepted, Socket};

/// What the clones of a server share.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) shutdown: Shutdown,
    /// Milliseconds that connections may rest on once the end has begun.
    last_call: AtomicU64,
    connections: Mutex<Slab<Entry>>,
    pub(crate) refusals: Refusals,
    pub(crate) counters: Counters,
}

impl State {
    /// Notes a connection, unless there are as many as there may be.
    pub(crate) fn enter(
        self: &Arc<Self>,
        accepted: Accepted,
        limit: usize,
    ) -> Result<(Open, Arc<Socket>), Accepted> {
        let mut connections = lock(&self.connections);
        if connections.len() >= limit {
            return Err(accepted);
        }
        let socket = Arc::new(accepted.socket);
        let key = connections.insert(Entry {
            socket: socket.clone(),
            task: None,
        });
        let open = Open {
            peer: accepted.peer,
            key,
            state: self.clone(),
            _guard: self.shutdown.guard(),
        };
        Ok((open, socket))
    }

    /// Notes the task that serves a connection, unless it is over already.
    pub(crate) fn serves(&self, ticket: &Ticket, task: &JoinHandle<()>) {
        if let Some(entry) = lock(&self.connections).get_mut(ticket.key)
            && Arc::ptr_eq(&entry.socket, &ticket.socket)
        {
            entry.task = Some(task.abort_handle());
        }
    }

    pub(crate) fn open(&self) -> usize {
        lock(&self.connections).len()
    }

    /// Set before the end begins.
    pub(crate) fn set_last_call(&self, last_call: Duration) {
        let milliseconds = last_call.as_millis().try_into().unwrap_or(u64::MAX);
        self.last_call.store(milliseconds, Ordering::Release);
    }

    pub(crate) fn snapshot(&self) -> Vec<Entry> {
        lock(&self.connections)
            .iter()
            .map(|(_, entry)| entry.clone())
            .collect()
    }
}

/// What a server knows of an open connection.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) socket: Arc<Socket>,
    /// What serves it. It may be over, with the connection in other hands.
    task: Option<AbortHandle>,
}

impl Entry {
    /// Ends it at once: whoever waits for the client sees the connection end, and a handler is dropped.
    pub(crate) fn cut(&self) {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// Which entry is a connection's. While this is there, no other connection has the same socket.
pub(crate) struct Ticket {
    socket: Arc<Socket>,
    key: usize,
}

/// An open connection's entry with its server. It leaves the list when it is dropped, however the connection ends.
pub(crate) struct Open {
    pub(crate) peer: Option<SocketAddr>,
    key: usize,
    state: Arc<State>,
    /// Dropped after the connection has left the list.
    _guard: Guard,
}

impl Open {
    pub(crate) fn ticket(&self, socket: &Arc<Socket>) -> Ticket {
        Ticket {
            socket: socket.clone(),
            key: self.key,
        }
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.state.counters
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.state.shutdown.has_begun()
    }

    /// Once the end has begun: how long a connection may rest on, for a request that is on its way.
    pub(crate) fn last_call(&self) -> Option<Duration> {
        let milliseconds = || self.state.last_call.load(Ordering::Acquire);
        self.is_ending()
            .then(|| Duration::from_millis(milliseconds()))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let removed = lock(&self.state.connections).remove(self.key);
        drop(removed);
    }
}

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) accepted: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) body_timeouts: AtomicU64,
    pub(crate) write_timeouts: AtomicU64,
    pub(crate) panics: AtomicU64,
    pub(crate) errors: AtomicU64,
    rejects: Mutex<HashMap<Reject, u64>>,
    #[cfg(feature = "tls")]
    pub(crate) handshakes: AtomicU64,
    #[cfg(feature = "tls")]
    handshake_failures: Mutex<HashMap<HandshakeFailure, u64>>,
}

impl Counters {
    pub(crate) fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn reject(&self, reject: Reject) {
        *lock(&self.rejects).entry(reject).or_default() += 1;
    }

    #[cfg(feature = "tls")]
    pub(crate) fn handshake_failed(&self, failure: HandshakeFailure) {
        *lock(&self.handshake_failures).entry(failure).or_default() += 1;
    }
}

/// What a server has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Connections open now.
    pub open: usize,
    /// Connections accepted.
    pub accepted: u64,
    /// Connections refused because of [`Limits::connections`](crate::Limits::connections).
    pub refused: u64,
    /// Times that accepting failed and was tried again, by any listener of this process: out of descriptors, mostly.
    pub accept_errors: u64,
    /// Requests that reached the handler.
    pub requests: u64,
    /// Requests refused before that, by the reason.
    pub rejects: HashMap<Reject, u64>,
    /// Bodies that came too slowly.
    pub body_timeouts: u64,
    /// Responses that the client did not take.
    pub write_timeouts: u64,
    /// Handlers that panicked.
    pub panics: u64,
    /// Handlers that failed.
    pub errors: u64,
    /// TLS handshakes that succeeded.
    #[cfg(feature = "tls")]
    pub handshakes: u64,
    /// TLS handshakes that failed, by the reason.
    #[cfg(feature = "tls")]
    pub handshake_failures: HashMap<HandshakeFailure, u64>,
}

impl Stats {
    pub(crate) fn of(state: &State) -> Self {
        let counters = &state.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Self {
            open: state.open(),
            accepted: read(&counters.accepted),
            refused: read(&counters.refused),
            accept_errors: thrum_rt::net::accept_errors(),
            requests: read(&counters.requests),
            rejects: lock(&counters.rejects).clone(),
            body_timeouts: read(&counters.body_timeouts),
            write_timeouts: read(&counters.write_timeouts),
            panics: read(&counters.panics),
            errors: read(&counters.errors),
            #[cfg(feature = "tls")]
            handshakes: read(&counters.handshakes),
            #[cfg(feature = "tls")]
            handshake_failures: lock(&counters.handshake_failures).clone(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
