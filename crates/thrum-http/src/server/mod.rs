//! The server: accepts connections, counts, and ends without cutting anyone off.

mod application;
mod current;
mod handled;
mod limits;
mod observer;
mod refusal;
mod reject;
mod service_fn;
mod state;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use thrum_rt::{JoinHandle, TaskSet, select};

pub use self::application::Application;
pub use self::current::{ConnectionInfo, connection, early_hints, note};
pub(crate) use self::current::{Current, Told};
pub(crate) use self::handled::{Handled, internal_error, poll_call};
pub use self::limits::{Http2Limits, Limits, Timeouts};
pub(crate) use self::observer::Asked;
pub use self::observer::{Exchange, Observer};
pub use self::reject::Reject;
pub use self::service_fn::{ServiceFn, service_fn};
use self::state::Entry;
pub(crate) use self::state::State;
pub use self::state::Stats;
pub(crate) use self::state::{Counters, Open};
use crate::h1;
#[cfg(feature = "tls")]
use crate::tls;
use crate::wire::{Accept, Accepted, Connection, Listener, Socket, Wire};

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
        let context = self.context();
        loop {
            let accepted = Accept::accept(&listener).await?;
            if let Some(open) = self.enter(accepted) {
                self.start(open, context.clone(), application.clone());
            }
        }
    }

    /// Serves a connection that was accepted elsewhere, until it ends: a [`TcpStream`](thrum_rt::net::TcpStream) or a
    /// [`UnixStream`](thrum_rt::net::UnixStream). It counts as one of the server's: beyond [`Limits::connections`] it is
    /// refused, and [`shutdown`](Self::shutdown) ends it. One that is upgraded goes on afterwards.
    ///
    /// Dropping the future before it is done cuts the connection off, and drops the handler that is at work for it.
    ///
    /// ```
    /// use thrum_http::{Body, Request, Response, Server, service_fn};
    /// use thrum_rt::net::{Shutdown, UnixStream};
    ///
    /// # thrum_rt::block_on(async {
    /// let (client, connection) = UnixStream::pair()?;
    /// client.write_all(b"GET / HTTP/1.0\r\n\r\n").await?;
    /// client.shutdown(Shutdown::Write)?;
    /// let pong = service_fn(async |_: Request<Body>| Response::new("Pong!"));
    /// Server::new().serve_connection(connection, pong).await;
    /// let mut answer = [0; 200];
    /// let length = client.read(&mut answer).await?;
    /// assert!(answer[..length].ends_with(b"\r\n\r\nPong!"));
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Panics
    /// Outside a runtime.
    pub async fn serve_connection(
        &self,
        connection: impl Connection,
        application: impl Application,
    ) {
        if let Some(open) = self.enter(connection.into()) {
            // In a task of its own, as every connection: the caller may be a thread that is no worker.
            let mut serving = Aborting(self.start(open, self.context(), application));
            let _ = (&mut serving.0).await;
        }
    }

    fn context(&self) -> Arc<Context> {
        Arc::new(Context {
            limits: self.limits,
            timeouts: self.timeouts,
            observer: self.observer.clone(),
        })
    }

    /// Takes a connection, unless there are too many.
    fn enter(&self, accepted: Accepted) -> Option<(Open, Arc<Socket>)> {
        Counters::count(&self.state.counters.accepted);
        let entered = self.state.enter(accepted, self.limits.connections);
        entered
            .map_err(|Accepted { socket, .. }| {
                Counters::count(&self.state.counters.refused);
                // A client that begins with a handshake could not read it.
                if !self.speaks_tls() {
                    self.state.refusals.refuse(socket, self.timeouts.linger);
                }
            })
            .ok()
    }

    /// Has a task serve a connection.
    fn start(
        &self,
        (open, socket): (Open, Arc<Socket>),
        context: Arc<Context>,
        application: impl Application,
    ) -> JoinHandle<()> {
        let ticket = open.ticket(&socket);
        let wire = Wire::plain(socket);
        #[cfg(feature = "tls")]
        let task = match self.tls.clone() {
            Some(tls) => thrum_rt::spawn(tls::serve(tls, open, wire, context, application)),
            None => thrum_rt::spawn(h1::serve(open, wire, context, application)),
        };
        #[cfg(not(feature = "tls"))]
        let task = thrum_rt::spawn(h1::serve(open, wire, context, application));
        self.state.serves(&ticket, &task);
        task
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
    /// cuts off what is left after `grace`: handlers are dropped where they wait.
    pub async fn shutdown(&self, grace: Duration) -> Drained {
        self.retire(Duration::ZERO, grace).await
    }

    /// Ends it as [`shutdown`](Self::shutdown) does, but leaves idle connections open for `last_call`: for a request that is on
    /// its way when the end begins, and would be lost. Its response says that the connection ends. So a server whose listener
    /// others have too, such as its successor, leaves without any client noticing.
    ///
    /// `grace` begins at the same time, and should be longer.
    pub async fn retire(&self, last_call: Duration, grace: Duration) -> Drained {
        self.state.set_last_call(last_call);
        let state = &self.state;
        let before = state.open();
        state.shutdown.begin();
        for open in state.snapshot() {
            open.socket.wake_reader();
        }
        state.shutdown.drain(grace).await;
        let left = state.snapshot();
        left.iter().for_each(Entry::cut);
        Drained {
            finished: before.saturating_sub(left.len()),
            cut: left.len(),
        }
    }
}

/// A task that ends with its owner.
struct Aborting(JoinHandle<()>);

impl Drop for Aborting {
    fn drop(&mut self) {
        self.0.abort();
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
