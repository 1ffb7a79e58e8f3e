//! The server: accepts connections, counts, and ends without cutting anyone off.

use std::collections::HashMap;
use std::io;
use std::net::{self, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{Request, Response};
use slab::Slab;
use thrum_rt::net::{TcpListener, TcpStream};
use thrum_rt::shutdown::Guard;
use thrum_rt::{Shutdown, TaskSet, select};
use tower_service::Service;

use crate::connection::{self, Context};
use crate::{Body, Limits, Observer, Reject, Timeouts};

/// The answer to a connection above the limit.
const OVERLOADED: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\nretry-after: 1\r\n\r\n";

/// Serves an application over HTTP/1.1 with the default limits, until the future is dropped. See [`Server::serve`].
///
/// # Errors
/// Those of [`Server::serve`].
pub async fn serve<S, B>(listener: TcpListener, service: S) -> io::Result<()>
where
    S: Service<Request<Body>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: std::fmt::Display,
    B: Into<Body> + 'static,
{
    Server::new().serve(listener, service).await
}

/// An HTTP server: limits, who observes it, and the connections that are open.
///
/// It is cheap to clone, and clones share their connections: one server may serve many listeners, and one
/// [`shutdown`](Self::shutdown) ends them all.
#[derive(Clone, Default)]
pub struct Server {
    limits: Limits,
    timeouts: Timeouts,
    observer: Option<Arc<dyn Observer>>,
    state: Arc<State>,
}

/// What the clones of a server share.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) shutdown: Shutdown,
    connections: Mutex<Slab<Arc<Open>>>,
    pub(crate) counters: Counters,
}

/// An open connection, as the server knows it.
pub(crate) struct Open {
    pub(crate) stream: TcpStream,
    pub(crate) peer: SocketAddr,
    state: Arc<State>,
}

impl Open {
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.state.counters
    }
}

#[derive(Default)]
pub(crate) struct Counters {
    accepted: AtomicU64,
    refused: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) body_timeouts: AtomicU64,
    pub(crate) write_timeouts: AtomicU64,
    pub(crate) panics: AtomicU64,
    pub(crate) errors: AtomicU64,
    rejects: Mutex<HashMap<Reject, u64>>,
}

impl Counters {
    pub(crate) fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn reject(&self, reject: Reject) {
        *lock(&self.rejects).entry(reject).or_default() += 1;
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
    /// Connections refused because of [`Limits::connections`].
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
}

/// How a server ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// Connections that ended by themselves.
    pub finished: usize,
    /// Connections that were cut off when the grace time was over.
    pub cut: usize,
}

impl Server {
    /// A server with the default limits and timeouts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what clients may do.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how long clients may take.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets who is told of every exchange.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Serves an application until [`shutdown`](Self::shutdown) is called or the future is dropped. Then it accepts no more
    /// connections; those that are open go on.
    ///
    /// The service is cloned for each connection.
    ///
    /// # Errors
    /// When accepting ends for a reason that waiting does not mend.
    ///
    /// # Panics
    /// Outside a runtime.
    pub async fn serve<S, B>(&self, listener: TcpListener, service: S) -> io::Result<()>
    where
        S: Service<Request<Body>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: std::fmt::Display,
        B: Into<Body> + 'static,
    {
        // In a task of its own: the caller may be a thread that is no worker.
        let server = self.clone();
        let mut accepting = TaskSet::new();
        accepting.spawn(async move { server.accept(listener, service).await });
        select! {
            () = self.state.shutdown.begun() => Ok(()),
            ended = accepting.join_next() => ended.and_then(Result::ok).unwrap_or(Ok(())),
        }
    }

    async fn accept<S, B>(&self, listener: TcpListener, service: S) -> io::Result<()>
    where
        S: Service<Request<Body>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: std::fmt::Display,
        B: Into<Body> + 'static,
    {
        let context = Arc::new(Context {
            limits: self.limits,
            timeouts: self.timeouts,
            observer: self.observer.clone(),
        });
        loop {
            let (stream, peer) = listener.accept().await?;
            Counters::count(&self.state.counters.accepted);
            match self.state.enter(stream, peer, self.limits.connections) {
                Ok(entry) => {
                    let (context, service) = (context.clone(), service.clone());
                    thrum_rt::spawn(async move {
                        connection::serve(entry.open.clone(), context, service).await;
                        drop(entry);
                    });
                }
                Err(stream) => {
                    Counters::count(&self.state.counters.refused);
                    let _ = stream.try_write(OVERLOADED);
                }
            }
        }
    }

    /// What it has done so far.
    pub fn stats(&self) -> Stats {
        let counters = &self.state.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            open: self.state.open(),
            accepted: read(&counters.accepted),
            refused: read(&counters.refused),
            accept_errors: thrum_rt::net::accept_errors(),
            requests: read(&counters.requests),
            rejects: lock(&counters.rejects).clone(),
            body_timeouts: read(&counters.body_timeouts),
            write_timeouts: read(&counters.write_timeouts),
            panics: read(&counters.panics),
            errors: read(&counters.errors),
        }
    }

    /// Ends it: accepts no more connections, closes the idle ones, lets the others finish the request that they are at, and
    /// cuts off what is left after `grace`.
    pub async fn shutdown(&self, grace: Duration) -> Drained {
        let state = &self.state;
        let before = state.open();
        state.shutdown.begin();
        for open in state.snapshot() {
            open.stream.wake_reader();
        }
        state.shutdown.drain(grace).await;
        let left = state.snapshot();
        for open in &left {
            let _ = open.stream.shutdown(net::Shutdown::Both);
        }
        Drained {
            finished: before.saturating_sub(left.len()),
            cut: left.len(),
        }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("limits", &self.limits)
            .field("timeouts", &self.timeouts)
            .field("open", &self.state.open())
            .finish_non_exhaustive()
    }
}

impl State {
    /// Notes a connection, unless there are as many as there may be.
    fn enter(
        self: &Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        limit: usize,
    ) -> Result<Entry, TcpStream> {
        let mut connections = lock(&self.connections);
        if connections.len() >= limit {
            return Err(stream);
        }
        let open = Arc::new(Open {
            stream,
            peer,
            state: self.clone(),
        });
        let key = connections.insert(open.clone());
        Ok(Entry {
            open,
            key,
            _guard: self.shutdown.guard(),
        })
    }

    fn open(&self) -> usize {
        lock(&self.connections).len()
    }

    fn snapshot(&self) -> Vec<Arc<Open>> {
        lock(&self.connections)
            .iter()
            .map(|(_, open)| open.clone())
            .collect()
    }
}

/// A connection's entry in the list. It goes with the connection, however that ends.
struct Entry {
    open: Arc<Open>,
    key: usize,
    /// Dropped after the connection has left the list.
    _guard: Guard,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let state = self.open.state();
        let removed = lock(&state.connections).remove(self.key);
        drop(removed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
