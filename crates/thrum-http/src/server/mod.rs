//! The server: accepts connections, counts, and ends without cutting anyone off.

mod application;
mod current;
mod handled;
mod limits;
mod observer;
mod reject;
mod service_fn;
mod state;

use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use std::time::Duration;

use thrum_rt::{TaskSet, select};

pub use self::application::Application;
pub(crate) use self::current::Current;
pub use self::current::{ConnectionInfo, connection, early_hints};
pub(crate) use self::handled::{Handled, internal_error, poll_call};
pub use self::limits::{Http2Limits, Limits, Timeouts};
pub(crate) use self::observer::Asked;
pub use self::observer::{Exchange, Observer};
pub use self::reject::Reject;
pub use self::service_fn::{ServiceFn, service_fn};
pub(crate) use self::state::State;
pub use self::state::Stats;
pub(crate) use self::state::{Counters, Open};
use crate::h1;
#[cfg(feature = "tls")]
use crate::tls;
use crate::wire::{Accept, Accepted, Listener, Wire};

/// The answer to a connection above the limit.
const OVERLOADED: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\nretry-after: 1\r\n\r\n";

/// Serves an application over HTTP/1.1 and HTTP/2 with the default limits, until the future is dropped. See [`Server::serve`].
///
/// # Errors
/// Those of [`Server::serve`].
pub async fn serve(listener: impl Listener, application: impl Application) -> io::Result<()> {
    Server::new().serve(listener, application).await
}

/// An HTTP server: limits, who observes it, and the connections that are open.
///
/// A connection speaks HTTP/1.1, or HTTP/2 if the client begins with that (prior knowledge). Applications need not know
/// which: over HTTP/2 too a request has its `Host` field and its cookies in one.
///
/// It is cheap to clone, and clones share their connections: one server may serve many listeners, and one
/// [`shutdown`](Self::shutdown) ends them all.
#[derive(Clone, Default)]
pub struct Server {
    limits: Limits,
    timeouts: Timeouts,
    observer: Option<Arc<dyn Observer>>,
    #[cfg(feature = "tls")]
    tls: Option<Arc<tls::Acceptor>>,
    state: Arc<State>,
}

/// What the connections of a server share.
pub(crate) struct Context {
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    pub(crate) observer: Option<Arc<dyn Observer>>,
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

    /// Has it speak TLS: HTTPS. Each connection begins with a handshake, and goes on with the protocol that was agreed on.
    ///
    /// A connection counts from accepting on, and one that ends in its handshake is told of in [`Stats`] only. For plain HTTP
    /// next to it, clone the server before.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, acceptor: tls::Acceptor) -> Self {
        self.tls = Some(Arc::new(acceptor));
        self
    }

    /// Serves an application until [`shutdown`](Self::shutdown) is called or the future is dropped. Then it accepts no more
    /// connections; those that are open go on.
    ///
    /// The application is cloned for each connection.
    ///
    /// # Errors
    /// When accepting ends for a reason that waiting does not mend.
    ///
    /// # Panics
    /// Outside a runtime.
    pub async fn serve(
        &self,
        listener: impl Listener,
        application: impl Application,
    ) -> io::Result<()> {
        // In a task of its own: the caller may be a thread that is no worker.
        let server = self.clone();
        let mut accepting = TaskSet::new();
        accepting.spawn(async move { server.accept(listener, application).await });
        select! {
            () = self.state.shutdown.begun() => Ok(()),
            ended = accepting.join_next() => ended.and_then(Result::ok).unwrap_or(Ok(())),
        }
    }

    async fn accept(
        &self,
        listener: impl Listener,
        application: impl Application,
    ) -> io::Result<()> {
        let context = Arc::new(Context {
            limits: self.limits,
            timeouts: self.timeouts,
            observer: self.observer.clone(),
        });
        loop {
            let accepted = Accept::accept(&listener).await?;
            Counters::count(&self.state.counters.accepted);
            match self.state.enter(accepted, self.limits.connections) {
                Ok(open) => {
                    let (context, application) = (context.clone(), application.clone());
                    let wire = Wire::plain(open.socket.clone());
                    #[cfg(feature = "tls")]
                    if let Some(acceptor) = &self.tls {
                        let acceptor = acceptor.clone();
                        thrum_rt::spawn(tls::serve(acceptor, open, wire, context, application));
                        continue;
                    }
                    thrum_rt::spawn(h1::serve(open, wire, context, application));
                }
                Err(Accepted { socket, .. }) => {
                    Counters::count(&self.state.counters.refused);
                    // A client that begins with a handshake could not read it.
                    if !self.speaks_tls() {
                        let _ = socket.try_write(OVERLOADED);
                    }
                }
            }
        }
    }

    fn speaks_tls(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        return false;
    }

    /// What it has done so far.
    pub fn stats(&self) -> Stats {
        Stats::of(&self.state)
    }

    /// Ends it: accepts no more connections, closes the idle ones, lets the others finish the request that they are at, and
    /// cuts off what is left after `grace`.
    pub async fn shutdown(&self, grace: Duration) -> Drained {
        let state = &self.state;
        let before = state.open();
        state.shutdown.begin();
        for socket in state.snapshot() {
            socket.wake_reader();
        }
        state.shutdown.drain(grace).await;
        let left = state.snapshot();
        for socket in &left {
            let _ = socket.shutdown(Shutdown::Both);
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
