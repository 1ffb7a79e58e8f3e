//! The exchange that is being handled: what a handler, or middleware around it, can ask without being handed anything.
//!
//! It is put in place for each poll and each call of the application, so a request costs no allocation for it. A task that
//! a handler spawns is not part of the exchange.

use std::any::Any;
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
    notes: Notes,
}

/// What was left for the observer: one of a type. They are few, so they are searched in order.
#[derive(Debug, Default)]
pub(crate) struct Notes(Vec<Note>);

type Note = Arc<dyn Any + Send + Sync>;

impl Notes {
    fn put(&mut self, note: Note) {
        let kind = (*note).type_id();
        match self.0.iter_mut().find(|held| (***held).type_id() == kind) {
            Some(held) => *held = note,
            None => self.0.push(note),
        }
    }

    pub(crate) fn find<T: 'static>(&self) -> Option<&T> {
        self.0.iter().find_map(|note| note.downcast_ref())
    }
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

/// What an observer is told of the connection, and by those who answered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told<'a> {
    pub(crate) connection: Option<&'a ConnectionInfo>,
    pub(crate) notes: Option<&'a Notes>,
}

/// Leaves something for the server's [`Observer`](crate::Observer), which finds it by its type in the
/// [`Exchange`](crate::Exchange::note): the route that was taken, who the user is. It takes the place of what was left of that
/// type before. False, and nothing is left, if there is no exchange.
///
/// What is made once and left often costs no allocation for a request.
///
/// ```
/// use std::sync::Arc;
/// use thrum_http::{Body, Exchange, Observer, Request, Response, Server, note, service_fn};
///
/// struct Route(&'static str);
///
/// struct Print;
/// impl Observer for Print {
///     fn finished(&self, exchange: &Exchange<'_>) {
///         let route = exchange.note::<Route>().map_or("-", |route| route.0);
///         println!("{route} {}", exchange.status());
///     }
/// }
///
/// let route = Arc::new(Route("/users/{id}"));
/// let user = service_fn(move |_: Request<Body>| {
///     note(route.clone());
///     async { Response::new("you") }
/// });
/// let server = Server::new().observer(Arc::new(Print));
/// # let _ = (user, server);
/// ```
pub fn note<T: Any + Send + Sync>(note: Arc<T>) -> bool {
    CURRENT.with_borrow_mut(|current| match current {
        Some(exchange) => {
            exchange.notes.put(note);
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
            notes: Notes::default(),
        }))
    }

    /// What the observer is told besides, while the application is not being polled.
    pub(crate) fn told(&self) -> Told<'_> {
        Told {
            connection: self.0.as_ref().map(|exchange| &exchange.connection),
            notes: self.0.as_ref().map(|exchange| &exchange.notes),
        }
    }

    /// Forgets what was left for the observer: the next request begins without.
    pub(crate) fn clear_notes(&mut self) {
        if let Some(exchange) = &mut self.0 {
            exchange.notes.0.clear();
        }
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
