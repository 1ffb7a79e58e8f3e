//! A client: requests over connections that are kept, HTTP/1.1 and HTTP/2, TLS.
//!
//! ```no_run
//! # async fn example() -> Result<(), thrum_http::client::Error> {
//! let text = thrum_http::get("http://example.com/").await?.text().await?;
//! # Ok(())
//! # }
//! ```
//!
//! A request goes through these, top to bottom:
//!
//! | module | what is in it |
//! |---|---|
//! | `request` | [`RequestBuilder`] |
//! | `content` | forms and JSON, feature `json` |
//! | `follow` | cookies, redirects, responses that come compressed |
//! | [`redirect`] | which redirects are followed, and to what |
//! | `cookies` | the jar, feature `cookies` |
//! | `decompress` | codings of bodies undone, features `gzip`, `brotli`, `zstd` |
//! | `exchange` | one request and its response: a connection out of the pool, the retries |
//! | `origin` | whom a URL asks, and whether it may be sent |
//! | `pool` | the connections to each origin, how many there may be, and who waits for one |
//! | `connect` | names, addresses, sockets, TLS |
//! | `proxy` | [`Proxies`]: which is for what, and the tunnels through them |
//! | `http1` | one connection that speaks HTTP/1.1 |
//! | `http2` | one connection that speaks HTTP/2, shared |
//! | `response` | [`Response`] |
//! | `upstream` | [`Upstream`]: one server, for gateways |
//! | `direct` | [`Dialer`]: connections in the caller's own hand |
//! | `config` | [`ClientBuilder`], [`Limits`], [`Timeouts`] |
//! | `error` | [`Error`]: phase, cause, URL |
//!
//! Over HTTP/1.1 a request is written and its response read by the task that asks, straight on the connection: there is no
//! task for each connection, and none at all while nothing idles. Which protocol it is, TLS agrees on (ALPN); without TLS it
//! is HTTP/1.1, unless HTTP/2 is [known](ClientBuilder::http2_prior_knowledge) to be spoken.

mod config;
mod connect;
mod content;
#[cfg(feature = "cookies")]
mod cookies;
#[cfg(any(feature = "brotli", feature = "gzip", feature = "zstd"))]
mod decompress;
mod direct;
mod error;
mod exchange;
mod follow;
mod http1;
mod http2;
mod origin;
mod pool;
mod proxy;
pub mod redirect;
mod request;
mod response;
mod upstream;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use http::{Method, Request, Uri};
use tower_service::Service;

pub(crate) use self::config::Config;
pub use self::config::{ClientBuilder, Limits, Timeouts};
#[cfg(feature = "cookies")]
pub use self::cookies::CookieJar;
pub use self::direct::{Dialed, Dialer, Multiplexed};
pub use self::error::{BadRequest, BadResponse, Error, Phase};
pub use self::http1::{Fields, Part, Pipeline};
use self::pool::Pool;
pub use self::proxy::{Proxies, ProxyError, TunnelError};
pub use self::request::RequestBuilder;
pub use self::response::Response;
pub use self::upstream::{Failed, Upstream};
use crate::Body;

/// Begins a GET by a client that all of the program shares, with every setting at its default.
///
/// ```no_run
/// # async fn example() -> Result<(), thrum_http::client::Error> {
/// let response = thrum_http::get("http://example.com/").await?;
/// println!("{} {}", response.status(), response.text().await?);
/// # Ok(())
/// # }
/// ```
pub fn get<U>(url: U) -> RequestBuilder
where
    U: TryInto<Uri>,
    U::Error: Into<http::Error>,
{
    static SHARED: OnceLock<Client> = OnceLock::new();
    SHARED.get_or_init(Client::new).get(url)
}

/// Sends requests, over connections that it keeps. Clones share them.
///
/// * Connections that idle belong to the runtime that they were made in and end with it; a client that lives longer makes
///   new ones in the next.
/// * A request is sent again, a limited number of times, when the connection was one that had idled, the server closed it
///   before any byte of a response, and one of these holds: nothing of the request had been written; or its method is
///   idempotent (RFC 9110 section 9.2.2) or it has an `Idempotency-Key`, and its body was not begun or lies in memory.
/// * A status is no error: see [`Response::error_for_status`].
///
/// It is a [`Service`] too, and so takes the layers of `tower`.
///
/// ```no_run
/// use thrum_http::Client;
///
/// # async fn example() -> Result<(), thrum_http::client::Error> {
/// let client = Client::new();
/// let response = client.post("http://example.com/notes").bearer_auth("token").body("hello").send().await?;
/// let note = response.error_for_status()?.text().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    pool: Arc<Pool>,
}

impl Client {
    /// A client with every setting at its default.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Makes a client with other settings.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    pub(crate) fn with_config(config: Arc<Config>) -> Self {
        Self {
            pool: Pool::new(config),
        }
    }

    /// Begins a GET.
    pub fn get<U>(&self, url: U) -> RequestBuilder
    where
        U: TryInto<Uri>,
        U::Error: Into<http::Error>,
    {
        self.request(Method::GET, url)
    }

    /// Begins a HEAD.
    pub fn head<U>(&self, url: U) -> RequestBuilder
    where
        U: TryInto<Uri>,
        U::Error: Into<http::Error>,
    {
        self.request(Method::HEAD, url)
    }

    /// Begins a POST.
    pub fn post<U>(&self, url: U) -> RequestBuilder
    where
        U: TryInto<Uri>,
        U::Error: Into<http::Error>,
    {
        self.request(Method::POST, url)
    }

    /// Begins a PUT.
    pub fn put<U>(&self, url: U) -> RequestBuilder
    where
        U: TryInto<Uri>,
        U::Error: Into<http::Error>,
    {
        self.request(Method::PUT, url)
    }

    /// Begins a DELETE.
    pub fn delete<U>(&self, url: U) -> RequestBuilder
    where
        U: TryInto<Uri>,
        U::Error: Into<http::Error>,
    {
        self.request(Method::DELETE, url)
    }

    /// Begins a request of any method. What is wrong with the URL is said when it is sent.
    pub fn request<U>(&self, method: Method, url: U) -> RequestBuilder
    where
        U: TryInto<Uri>,
        U::Error: Into<http::Error>,
    {
        let url = url.try_into().map_err(Into::into);
        RequestBuilder::new(self.clone(), method, url)
    }

    /// Sends a request. Its URI is absolute. `Content-Length` and how the body is framed follow from the body.
    ///
    /// Dropping the future before it is done closes the connection that the request was on; the server may have begun with
    /// it.
    ///
    /// # Errors
    /// See [`Error`]. A status is none.
    pub async fn execute(&self, request: Request<Body>) -> Result<Response, Error> {
        follow::follow(&self.pool, request).await
    }
}

impl Default for Client {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

impl Service<Request<Body>> for Client {
    type Response = http::Response<Body>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Error>> + Send>>;

    /// Always ready: whether there is a connection depends on the request.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let client = self.clone();
        Box::pin(async move { Ok(client.execute(request).await?.into()) })
    }
}
