//! What answers a request.

use std::fmt;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use http::{Request, Response};
use thrum_http::Body;

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
}

/// What is known of a request besides itself.
#[derive(Clone, Debug)]
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
        }
    }

    /// Waits for the response.
    pub async fn response(self) -> Response<Body> {
        match self {
            Self::Now(response) => response,
            Self::Later(response) => response.await,
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
        }
    }
}
