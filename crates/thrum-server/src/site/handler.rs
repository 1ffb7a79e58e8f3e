//! What answers a request.

use std::fmt;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Weak};

use http::{Request, Response, StatusCode};
use thrum_http::{Body, note};

use super::reply;
use super::sites::{HOPS, Site};
use crate::observe::User;

/// Answers the requests of a route: the route's verb, or something around it that lets requests through, answers in its
/// stead, or changes its responses.
///
/// It is called in the task of the connection (HTTP/2: of the stream). [`thrum_http::connection`] tells of the connection
/// there, and in the future of an [`Answer::Later`]. It may block: the runtime moves the others on.
pub trait Handler: Send + Sync + 'static {
    /// Answers a request.
    ///
    /// # Cancellation
    /// An [`Answer::Later`] is dropped when the client leaves before the response's head. Once there is a response, its body
    /// is dropped.
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer;
}

/// A response, or one to come.
pub enum Answer {
    /// It is there. Costs nothing.
    Now(Response<Body>),
    /// It comes.
    Later(Pin<Box<dyn Future<Output = Response<Body>> + Send>>),
    /// The request, with another path: the site's routes after this one are to answer it.
    Onward(Request<Body>),
}

/// What is known of a request besides itself.
#[derive(Clone)]
pub struct Visit {
    /// The route that was found.
    pub route: Arc<Route>,
    /// The client's address, as a trusted proxy in between says, if there is one. `None` over a Unix socket.
    pub client: Option<IpAddr>,
    /// Whether the client's connection has TLS, here or at a trusted proxy in between.
    pub secure: bool,
    /// What the `{names}` of the route's path stand for in this request, percent-decoded.
    pub captures: Vec<(Arc<str>, String)>,
    /// Who has been authenticated by a guard.
    pub user: Option<Arc<str>>,
    /// Who answers requests that a handler makes of this one.
    pub(super) site: Weak<Site>,
    /// The place of the route after this one.
    pub(super) next: usize,
    /// How often the request was passed on.
    pub(super) hops: u8,
}

/// A route, as its handlers see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The first name of its site, for logs and metrics.
    pub site: String,
    /// Its path as it was written.
    pub pattern: String,
    /// The part of the path that all its requests begin with: `/api/` of `/api/` and `/api/{id}`. A handler that replaces
    /// the route's path by a folder or another path cuts so much off.
    pub mount: String,
}

impl Visit {
    /// A visit of a client, before it is known to which route.
    pub fn new(client: Option<IpAddr>, secure: bool) -> Self {
        Self {
            route: Arc::default(),
            client,
            secure,
            captures: Vec::new(),
            user: None,
            site: Weak::new(),
            next: 0,
            hops: 0,
        }
    }

    /// What a name of the route's path stands for; nothing when the path has no such name.
    pub fn capture(&self, name: &str) -> &str {
        let mut captures = self.captures.iter();
        let found = captures.find(|(known, _)| **known == *name);
        found.map_or("", |(_, value)| value)
    }

    /// Says who the user is, to the handlers that come next and to the logs.
    pub fn authenticated(&mut self, user: Arc<str>) {
        note(Arc::new(User(user.clone())));
        self.user = Some(user);
    }

    /// Answers another request in this one's stead, from the first route of the site on: what a script asks for by a local
    /// redirect. A request that goes on and on is ended with status 500.
    pub fn redispatch(self, request: Request<Body>) -> Answer {
        self.dispatch(0, request)
    }

    /// The response to a request that this visit's route has answered: where it has passed it on, that of the site's routes
    /// after it. For a handler around others that has to wait before it asks them.
    ///
    /// # Cancellation
    /// Dropping it drops the answer.
    pub async fn settle(self, answer: Answer) -> Response<Body> {
        match answer {
            Answer::Onward(request) => {
                let next = self.next;
                self.dispatch(next, request).response().await
            }
            answer => answer.response().await,
        }
    }

    fn dispatch(mut self, from: usize, request: Request<Body>) -> Answer {
        self.hops += 1;
        match self.site.upgrade() {
            Some(site) if self.hops <= HOPS => site.answer_from(from, request, self),
            _ => {
                let path = request.uri().path();
                tracing::warn!(path, "a request was redirected in circles within its site");
                reply::status(StatusCode::INTERNAL_SERVER_ERROR).into()
            }
        }
    }
}

impl fmt::Debug for Visit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visit")
            .field("route", &self.route)
            .field("client", &self.client)
            .field("secure", &self.secure)
            .field("captures", &self.captures)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl Answer {
    /// A response that comes.
    pub fn later(response: impl Future<Output = Response<Body>> + Send + 'static) -> Self {
        Self::Later(Box::pin(response))
    }

    /// Changes the response, now or when it comes.
    pub fn map(self, change: impl FnOnce(&mut Response<Body>) + Send + 'static) -> Self {
        match self {
            Self::Now(mut response) => {
                change(&mut response);
                Self::Now(response)
            }
            Self::Later(response) => Self::later(async move {
                let mut response = response.await;
                change(&mut response);
                response
            }),
            Self::Onward(request) => Self::Onward(request),
        }
    }

    /// Waits for the response. A request that is to be answered by other routes has none here: 404.
    pub async fn response(self) -> Response<Body> {
        match self {
            Self::Now(response) => response,
            Self::Later(response) => response.await,
            Self::Onward(_) => reply::status(StatusCode::NOT_FOUND),
        }
    }
}

impl From<Response<Body>> for Answer {
    fn from(response: Response<Body>) -> Self {
        Self::Now(response)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Now(response) => f.debug_tuple("Now").field(&response.status()).finish(),
            Self::Later(_) => f.write_str("Later"),
            Self::Onward(request) => f.debug_tuple("Onward").field(request.uri()).finish(),
        }
    }
}
