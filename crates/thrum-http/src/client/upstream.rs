//! One server that requests are sent to as they are: what gateways and balancers are made of.

use std::sync::{Arc, OnceLock};

use http::header::HOST;
use http::uri::{Authority, Scheme};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri};
use thrum_rt::RuntimeId;

use super::config::Versions;
use super::exchange::{Clock, attempt};
use super::http1::{Failure, Lost};
use super::origin::{Origin, make_fit, needs_encoding, of_server};
use super::pool::{Asked, Host, Pool};
use super::request::Options;
use super::{BadRequest, ClientBuilder, Error, Phase};
use crate::Body;

/// One server that requests are sent to as they are, over connections that are kept.
///
/// It is what a [`Client`](super::Client) is made of, without what a client does for its user: no cookies, no redirects, no
/// decoding, no proxies. Sending again after a connection that idled turned out to be closed remains.
///
/// ```no_run
/// use thrum_http::{Body, Client, Request};
///
/// # async fn example() -> Result<(), thrum_http::client::Error> {
/// let upstream = Client::builder().upstream("http://127.0.0.1:3000")?;
/// let mut request = Request::new(Body::empty());
/// let response = upstream.send(&mut request).await.map_err(|failed| failed.error)?;
/// # Ok(())
/// # }
/// ```
pub struct Upstream {
    pool: Arc<Pool>,
    scheme: Scheme,
    authority: Authority,
    host_field: HeaderValue,
    /// Its connections in the runtime that it was first used in.
    home: OnceLock<Arc<Host>>,
    options: Options,
}

/// Why a request to an [`Upstream`] has no response, and whether it may be sent again.
#[derive(Debug)]
#[non_exhaustive]
pub struct Failed {
    /// What went wrong. It does not name the URL.
    pub error: Error,
    /// Nothing of it has reached the server, or the server says that it has done nothing about it.
    pub is_unsent: bool,
    /// The request has all of its body still: it was not begun, or lies in memory.
    pub is_whole: bool,
}

impl ClientBuilder {
    /// A server of this scheme, host and port, to be asked with these settings. What they say of cookies, redirects,
    /// decoding, proxies and the request's whole time is of no use there.
    ///
    /// # Errors
    /// When the URL's scheme is neither `http` nor `https`, or it names no host.
    pub fn upstream<U>(mut self, url: U) -> Result<Upstream, Error>
    where
        U: TryInto<Uri>,
        U::Error: Into<http::Error>,
    {
        let (scheme, authority) = of_server(url)?;
        let host_field = HeaderValue::from_str(authority.as_str())
            .map_err(|error| Error::new(Phase::Request, error))?;
        self.config.proxies = super::Proxies::default();
        Ok(Upstream {
            pool: Pool::new(Arc::new(self.config)),
            scheme,
            authority,
            host_field,
            home: OnceLock::new(),
            options: Options::default(),
        })
    }
}

impl Upstream {
    /// Has `call` told of interim responses, as [`on_interim`](super::RequestBuilder::on_interim) does for one request. It is
    /// called in the task that sends the request.
    pub fn on_interim(
        mut self,
        call: impl Fn(StatusCode, &HeaderMap) + Send + Sync + 'static,
    ) -> Self {
        self.options.on_interim = Some(Arc::new(call));
        self
    }

    /// Sends a request and waits for the head of the response. Of the request's URI, path and query count; `Host` is set
    /// where it has none. How the body is framed follows from the body.
    ///
    /// A body in memory stays with the request, and one that was not begun when it failed is put back.
    ///
    /// Dropping the future before it is done closes the connection that the request was on; the server may have begun with
    /// it.
    ///
    /// # Errors
    /// See [`Failed`]. A status is none.
    pub async fn send(&self, request: &mut Request<Body>) -> Result<Response<Body>, Failed> {
        let clock = Clock::new(None);
        let sent = match self.prepare(request) {
            Ok(Some(host)) => {
                attempt(
                    &self.pool,
                    Asked::Known(host),
                    request,
                    &self.options,
                    &clock,
                )
                .await
            }
            Ok(None) => self.send_abroad(request, &clock).await,
            Err(error) => Err(Failure::unsent(error)),
        };
        sent.map_err(|failure| Failed {
            is_unsent: failure.error.is_connect()
                || failure.error.is_request()
                || matches!(failure.lost, Some(Lost::Unsent | Lost::Refused)),
            is_whole: failure.is_replayable,
            error: failure.error,
        })
    }

    /// The URL's scheme, host and port.
    pub fn authority(&self) -> &str {
        self.authority.as_str()
    }

    /// Makes the request fit to be sent; and where its connections are, if this is the runtime that they are in.
    fn prepare(&self, request: &mut Request<Body>) -> Result<Option<&Arc<Host>>, Error> {
        let runtime = runtime()?;
        if needs_encoding(request.uri()) {
            make_fit(request)?;
        }
        let may_be_http2 = match self.pool.config().versions {
            Versions::Negotiated => self.scheme == Scheme::HTTPS,
            Versions::Http1 => false,
            Versions::Http2 => true,
        };
        if may_be_http2 {
            let mut parts = std::mem::take(request.uri_mut()).into_parts();
            parts.scheme = Some(self.scheme.clone());
            parts.authority = Some(self.authority.clone());
            let uri = Uri::from_parts(parts);
            *request.uri_mut() = uri.map_err(|error| Error::new(Phase::Request, error))?;
        }
        if !request.headers().contains_key(HOST) {
            request.headers_mut().insert(HOST, self.host_field.clone());
        }
        let home = match self.home.get() {
            Some(home) => home,
            None => {
                let host = self.pool.host(&self.origin(runtime))?;
                self.home.get_or_init(|| host)
            }
        };
        Ok((Asked::Known(home).origin().runtime == runtime).then_some(home))
    }

    /// In another runtime than the first, the connections have to be looked up.
    #[cold]
    async fn send_abroad(
        &self,
        request: &mut Request<Body>,
        clock: &Clock,
    ) -> Result<Response<Body>, Failure> {
        let origin = self.origin(runtime().map_err(Failure::unsent)?);
        let asked = Asked::Named(&origin);
        Box::pin(attempt(&self.pool, asked, request, &self.options, clock)).await
    }

    fn origin(&self, runtime: RuntimeId) -> Origin {
        Origin {
            runtime,
            is_tls: self.scheme == Scheme::HTTPS,
            authority: self.authority.clone(),
        }
    }
}

fn runtime() -> Result<RuntimeId, Error> {
    let refuse = || Error::new(Phase::Request, BadRequest::NoRuntime);
    thrum_rt::runtime_id().ok_or_else(refuse)
}

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upstream")
            .field("scheme", &self.scheme)
            .field("authority", &self.authority)
            .finish_non_exhaustive()
    }
}
