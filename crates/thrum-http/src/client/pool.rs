//! The connections to each origin: how many there may be, those that idle, and who waits for one.
//!
//! A [`Lease`] is the right to have one connection open, mostly with that connection. Dropped, it closes the connection and
//! passes the right on; given back, the connection goes to whoever waits, or idles. The one that idled last is taken first,
//! so that those that are not needed grow old. A task closes what is too old; it runs while something idles, and when it
//! ends with its runtime, what idles there is closed.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;

use thrum_rt::RuntimeId;
use thrum_rt::sync::oneshot;
use thrum_rt::time::{Instant, sleep, timeout};

use super::http1::Connection;
use super::http2::Slot;
use super::origin::Origin;
use super::{Config, Error, Phase};

pub(crate) struct Pool {
    config: Arc<Config>,
    hosts: Mutex<HashMap<Origin, Arc<Host>>>,
    /// Connections that idle, of all hosts.
    idle: AtomicUsize,
    /// The runtimes in which a task closes what is too old. Locked before the hosts.
    reapers: Mutex<HashSet<RuntimeId>>,
}

/// An origin and its connections.
pub(crate) struct Host {
    origin: Origin,
    state: Mutex<State>,
    /// The connection that requests share, if the server speaks HTTP/2.
    shared: Arc<Slot>,
}

/// Whom a request asks.
#[derive(Clone, Copy)]
pub(crate) enum Asked<'a> {
    /// One that is to be looked up.
    Named(&'a Origin),
    /// One that somebody has in hand.
    Known(&'a Arc<Host>),
}

impl<'a> Asked<'a> {
    pub(crate) fn origin(self) -> &'a Origin {
        match self {
            Self::Named(origin) => origin,
            Self::Known(host) => &host.origin,
        }
    }
}

#[derive(Default)]
struct State {
    /// Connections that are open or being opened, and those that idle.
    open: usize,
    /// The one that was used last is at the end.
    idle: Vec<Idle>,
    waiting: VecDeque<oneshot::Sender<Lease>>,
    /// A task closes what idles too long.
    is_reaped: bool,
}

struct Idle {
    connection: Box<Connection>,
    since: Instant,
}

/// The right to have one connection open.
pub(crate) struct Lease {
    pool: Arc<Pool>,
    /// `None` once the right has been passed on.
    host: Option<Arc<Host>>,
    /// `None` if there is none yet.
    pub(crate) connection: Option<Box<Connection>>,
}

impl Pool {
    pub(crate) fn new(config: Arc<Config>) -> Arc<Self> {
        Arc::new(Self {
            config,
            hosts: Mutex::default(),
            idle: AtomicUsize::new(0),
            reapers: Mutex::default(),
        })
    }

    pub(crate) fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// A connection that idled, or the right to open one; unless `fresh`, then always the latter. Waits where there are as
    /// many as there may be, but no longer than `patience`.
    pub(crate) async fn lease(
        self: &Arc<Self>,
        asked: Asked<'_>,
        fresh: bool,
        patience: Duration,
    ) -> Result<Lease, Error> {
        let host = self.find(asked)?;
        while let Some(Idle {
            mut connection,
            since,
        }) = self.take_idle(&host)
        {
            let mut lease = Lease {
                pool: self.clone(),
                host: Some(host.clone()),
                connection: None,
            };
            if fresh {
                return Ok(lease); // in the place of one that idled
            }
            let is_due = since.elapsed() >= self.config.timeouts.idle;
            if !is_due && poll_fn(|cx| Poll::Ready(connection.is_usable(cx))).await {
                lease.connection = Some(connection);
                return Ok(lease);
            }
        }
        let receiver = {
            let mut state = lock(&host.state);
            if state.open < self.config.limits.connections_per_host.max(1) {
                state.open += 1;
                drop(state);
                return Ok(Lease {
                    pool: self.clone(),
                    host: Some(host),
                    connection: None,
                });
            }
            // Those at the front have given up first.
            while state
                .waiting
                .front()
                .is_some_and(oneshot::Sender::is_closed)
            {
                state.waiting.pop_front();
            }
            let (sender, receiver) = oneshot::channel();
            state.waiting.push_back(sender);
            receiver
        };
        // Boxed, as it is rare.
        match Box::pin(timeout(patience, receiver)).await {
            Ok(Ok(mut lease)) => {
                if fresh {
                    lease.connection = None;
                }
                Ok(lease)
            }
            // The pool keeps its senders until it uses them; should it not, then there is no connection either.
            Ok(Err(_)) | Err(_) => Err(Error::timeout(Phase::Queue, patience)),
        }
    }

    /// Where the connection is that an origin's requests share.
    pub(crate) fn slot(&self, asked: Asked<'_>) -> Result<Arc<Slot>, Error> {
        Ok(self.find(asked)?.shared.clone())
    }

    fn find(&self, asked: Asked<'_>) -> Result<Arc<Host>, Error> {
        match asked {
            Asked::Named(origin) => self.host(origin),
            Asked::Known(host) => Ok(host.clone()),
        }
    }

    /// An origin's connections. Whoever keeps this keeps them from being forgotten.
    pub(crate) fn host(&self, origin: &Origin) -> Result<Arc<Host>, Error> {
        let mut hosts = lock(&self.hosts);
        if let Some(host) = hosts.get(origin) {
            return Ok(host.clone());
        }
        origin
            .check()
            .map_err(|why| Error::new(Phase::Request, why))?;
        let host = Arc::new(Host {
            origin: origin.clone(),
            state: Mutex::default(),
            shared: Arc::default(),
        });
        hosts.insert(origin.clone(), host.clone());
        Ok(host)
    }

    /// Takes the connection that idled last. Its right goes with it.
    fn take_idle(&self, host: &Host) -> Option<Idle> {
        let idle = lock(&host.state).idle.pop()?;
        self.idle.fetch_sub(1, Ordering::Relaxed);
        Some(idle)
    }

    /// Puts a connection where the next request finds it, with the right that it has.
    fn put_idle(self: &Arc<Self>, host: &Arc<Host>, connection: Box<Connection>) {
        self.idle.fetch_add(1, Ordering::Relaxed);
        let mut state = lock(&host.state);
        state.idle.push(Idle {
            connection,
            since: Instant::now(),
        });
        if !std::mem::replace(&mut state.is_reaped, true) {
            drop(state);
            let runtime = host.origin.runtime;
            if lock(&self.reapers).insert(runtime) {
                let reaper = Reaper {
                    pool: Arc::downgrade(self),
                    runtime,
                };
                thrum_rt::spawn_named("http client: idle connections", reaper.run());
            }
        }
    }

    /// Passes a right on that is no longer used.
    fn release(self: &Arc<Self>, host: Arc<Host>) {
        loop {
            let mut state = lock(&host.state);
            let Some(waiter) = state.waiting.pop_front() else {
                state.open -= 1;
                let is_unused = state.open == 0;
                drop(state);
                if is_unused {
                    self.forget(&host);
                }
                return;
            };
            drop(state);
            let lease = Lease {
                pool: self.clone(),
                host: Some(host.clone()),
                connection: None,
            };
            match waiter.send(lease) {
                Ok(()) => return,
                Err(mut lease) => lease.host = None, // it has given up
            }
        }
    }

    /// Forgets a host that nobody uses.
    fn forget(&self, host: &Host) {
        let mut hosts = lock(&self.hosts);
        if let Entry::Occupied(entry) = hosts.entry(host.origin.clone()) {
            // One is in the map, one is the caller's; nobody can get another while the map is locked.
            let is_unused =
                Arc::strong_count(entry.get()) <= 2 && lock(&entry.get().state).open == 0;
            if is_unused && std::ptr::eq(&**entry.get(), host) {
                entry.remove();
            }
        }
    }

    /// Closes what idles too long in a runtime, or all that idles there; and how long the next one has. `None`: nothing
    /// idles there any more.
    fn sweep(self: &Arc<Self>, runtime: RuntimeId, all: bool) -> Option<Duration> {
        let mut next: Option<Duration> = None;
        let limit = self.config.timeouts.idle;
        let hosts: Vec<_> = lock(&self.hosts)
            .values()
            .filter(|host| host.origin.runtime == runtime)
            .cloned()
            .collect();
        for host in hosts {
            let mut closed = Vec::new();
            let mut state = lock(&host.state);
            let is_due = |idle: &Idle| all || idle.since.elapsed() >= limit;
            // The oldest are in front.
            let due = state.idle.iter().take_while(|idle| is_due(idle)).count();
            closed.extend(state.idle.drain(..due));
            match state.idle.first() {
                Some(idle) => {
                    let left = limit.saturating_sub(idle.since.elapsed());
                    next = Some(next.map_or(left, |next| next.min(left)));
                }
                None => state.is_reaped = false,
            }
            drop(state);
            self.idle.fetch_sub(closed.len(), Ordering::Relaxed);
            for idle in closed {
                drop(idle);
                self.release(host.clone());
            }
            self.forget(&host);
        }
        next
    }
}

/// Closes what idles too long in a runtime.
struct Reaper {
    pool: Weak<Pool>,
    runtime: RuntimeId,
}

impl Reaper {
    async fn run(self) {
        let mut next = Duration::ZERO;
        loop {
            sleep(next.max(Duration::from_millis(10))).await;
            let Some(pool) = self.pool.upgrade() else {
                return;
            };
            let mut reapers = lock(&pool.reapers);
            match pool.sweep(self.runtime, false) {
                Some(left) => next = left,
                None => {
                    reapers.remove(&self.runtime);
                    return;
                }
            }
        }
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.upgrade() {
            let cut_short = lock(&pool.reapers).remove(&self.runtime);
            if cut_short {
                pool.sweep(self.runtime, true); // the runtime ends
            }
        }
    }
}

impl Lease {
    /// Gives the connection back, to be used again.
    pub(crate) fn give_back(mut self) {
        let (Some(mut connection), Some(host)) = (self.connection.take(), self.host.take()) else {
            return;
        };
        let config = &self.pool.config;
        let is_home = thrum_rt::runtime_id() == Some(host.origin.runtime);
        if !is_home || connection.age() >= config.timeouts.lifetime {
            self.host = Some(host);
            return;
        }
        connection.rest();
        let mut state = lock(&host.state);
        while let Some(waiter) = state.waiting.pop_front() {
            drop(state);
            let lease = Lease {
                pool: self.pool.clone(),
                host: Some(host.clone()),
                connection: Some(connection),
            };
            match waiter.send(lease) {
                Ok(()) => return,
                Err(mut lease) => {
                    lease.host = None;
                    match lease.connection.take() {
                        Some(back) => connection = back,
                        None => return,
                    }
                }
            }
            state = lock(&host.state);
        }
        let is_full = state.idle.len() >= config.limits.idle_per_host
            || self.pool.idle.load(Ordering::Relaxed) >= config.limits.idle;
        drop(state);
        if is_full {
            drop(connection);
            self.host = Some(host);
        } else {
            self.pool.put_idle(&host, connection);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // First closed, then another may be opened.
        self.connection = None;
        if let Some(host) = self.host.take() {
            self.pool.release(host);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
