//! The exchange that is being handled: what a handler, or middleware around it, can ask without being handed anything.
//!
//! It is put in place for each poll and each call of the application, so a request costs no allocation for it. A task that
//! a handler spawns is not part of the exchange.

use std::cell::RefCell;
use std::mem::swap;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};

use http::HeaderMap;

use super::Open;
use crate::wire::{Socket, Wire};

thread_local! {
    static CURRENT: RefCell<Option<Exchanging>> = const { RefCell::new(None) };
}

/// What is known of the connection, and what the handler has said besides its response.
#[derive(Debug)]
pub(crate) struct Exchanging {
    connection: ConnectionInfo,
    /// Early hints that are not sent yet.
    hints: Vec<HeaderMap>,
}

/// The connection that a request came over.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ConnectionInfo {
    /// The client's address. `None` over a Unix socket.
    pub peer: Option<SocketAddr>,
    /// What client and server agreed on. `None` without TLS.
    #[cfg(feature = "tls")]
    pub tls: Option<Arc<crate::tls::Info>>,
    /// Asked only when somebody wants to know.
    socket: Weak<Socket>,
}

impl ConnectionInfo {
    pub(crate) fn new(open: &Open, wire: &Wire) -> Self {
        Self {
            peer: open.peer,
            socket: Arc::downgrade(wire.socket()),
            #[cfg(feature = "tls")]
            tls: wire.tls().cloned(),
        }
    }

    /// The address that the client connected to. `None` over a Unix socket, and once the connection is closed. It asks the
    /// system each time.
    pub fn local(&self) -> Option<SocketAddr> {
        self.socket.upgrade()?.local_addr()
    }
}

/// The connection that the calling handler serves. `None` outside of a handler and the middleware around it.
///
/// ```
/// use thrum_http::{Body, Request, Response, connection, service_fn};
///
/// let who = service_fn(async |_: Request<Body>| {
///     let peer = connection().and_then(|connection| connection.peer);
///     Response::new(format!("you are {peer:?}\n"))
/// });
/// # let _ = who;
/// ```
pub fn connection() -> Option<ConnectionInfo> {
    CURRENT.with_borrow(|current| Some(current.as_ref()?.connection.clone()))
}

/// Sends fields ahead of the response, in a `103 Early Hints` (RFC 8297): mostly `Link` fields of what the page will need.
///
/// They go out when the handler next waits for something, or with its response. False if there is no exchange, or if the
/// client is too old to understand: then nothing is sent.
///
/// ```
/// use thrum_http::{Body, HeaderMap, Request, Response, early_hints, header, service_fn};
///
/// let page = service_fn(async |_: Request<Body>| {
///     let style = header::HeaderValue::from_static("</style.css>; rel=preload; as=style");
///     early_hints(HeaderMap::from_iter([(header::LINK, style)]));
///     Response::new("the page, which takes its time")
/// });
/// # let _ = page;
/// ```
pub fn early_hints(fields: HeaderMap) -> bool {
    CURRENT.with_borrow_mut(|current| match current {
        Some(exchange) => {
            exchange.hints.push(fields);
            true
        }
        None => false,
    })
}

/// An exchange's place: in the thread while the application is polled, and here otherwise.
pub(crate) struct Current(Option<Exchanging>);

impl Current {
    pub(crate) fn new(connection: ConnectionInfo) -> Self {
        Self(Some(Exchanging {
            connection,
            hints: Vec::new(),
        }))
    }

    /// Calls into the application.
    pub(crate) fn enter<R>(&mut self, call: impl FnOnce() -> R) -> R {
        CURRENT.with_borrow_mut(|current| swap(current, &mut self.0));
        let _guard = Leave(self);
        call()
    }

    /// The early hints that the application gave since this was asked last.
    pub(crate) fn take_hints(&mut self) -> Vec<HeaderMap> {
        match &mut self.0 {
            Some(exchange) => std::mem::take(&mut exchange.hints),
            None => Vec::new(),
        }
    }

    pub(crate) fn has_hints(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|exchange| !exchange.hints.is_empty())
    }
}

/// Puts things back, also when the application panics.
struct Leave<'a>(&'a mut Current);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(|current| swap(current, &mut self.0.0));
    }
}
