//! A request in the making.

use std::fmt::Display;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, StatusCode, Uri};

use super::{Client, Error, Phase, Response};
use crate::Body;

/// A request in the making. Awaiting it sends it, as [`send`](Self::send) does.
///
/// What is wrong with what it was given is said when it is sent.
#[must_use = "a request does nothing until it is sent or awaited"]
pub struct RequestBuilder {
    client: Client,
    request: Result<Request<Body>, Error>,
}

/// What is wanted of one request beyond what it says itself. It lies in the request's extensions.
#[derive(Clone, Default)]
pub(crate) struct Options {
    pub(crate) total: Option<Duration>,
    pub(crate) on_interim: Option<Arc<OnInterim>>,
}

pub(crate) type OnInterim = dyn Fn(StatusCode, &HeaderMap) + Send + Sync;

impl RequestBuilder {
    pub(crate) fn new(client: Client, method: Method, url: Result<Uri, http::Error>) -> Self {
        let request = url
            .map(|url| {
                let mut request = Request::new(Body::empty());
                *request.method_mut() = method;
                *request.uri_mut() = url;
                request
            })
            .map_err(|error| Error::new(Phase::Request, error));
        Self { client, request }
    }

    /// Adds a field. Several of one name are sent in the order in which they were added.
    pub fn header<N, V>(self, name: N, value: V) -> Self
    where
        N: TryInto<HeaderName>,
        N::Error: Into<http::Error>,
        V: TryInto<HeaderValue>,
        V::Error: Into<http::Error>,
    {
        self.change(|request| {
            let name = name.try_into().map_err(Into::into)?;
            let value = value.try_into().map_err(Into::into)?;
            request.headers_mut().append(name, value);
            Ok(())
        })
    }

    /// Adds fields, to those that it has.
    pub fn headers(self, headers: HeaderMap) -> Self {
        self.change(|request| {
            let mut last = None;
            for (name, value) in headers {
                last = name.or(last);
                if let Some(name) = &last {
                    request.headers_mut().append(name, value);
                }
            }
            Ok(())
        })
    }

    /// Appends a name and a value to the query, both percent-encoded.
    pub fn query(self, name: &str, value: impl Display) -> Self {
        self.change(|request| {
            let uri = super::origin::with_query(request.uri(), name, &value.to_string())?;
            *request.uri_mut() = uri;
            Ok(())
        })
    }

    /// Says who asks, with a password (RFC 7617). `user` holds no colon.
    pub fn basic_auth(self, user: impl Display, password: impl Display) -> Self {
        let value = super::origin::basic(format!("{user}:{password}").as_bytes());
        self.authorization(value)
    }

    /// Says who asks, with a token (RFC 6750).
    pub fn bearer_auth(self, token: impl Display) -> Self {
        self.authorization(format!("Bearer {token}"))
    }

    fn authorization(self, value: String) -> Self {
        self.change(|request| {
            let mut value = HeaderValue::try_from(value)?;
            value.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, value);
            Ok(())
        })
    }

    /// Sets the body. Its `Content-Length` follows from it; where its size is not known it is sent in chunks.
    ///
    /// With a field `Expect: 100-continue` the body is sent only when the server asks for it, or after
    /// [`Timeouts::expect_continue`](super::Timeouts::expect_continue).
    pub fn body(self, body: impl Into<Body>) -> Self {
        self.change(|request| {
            *request.body_mut() = body.into();
            Ok(())
        })
    }

    /// Sets the time from now to the last byte of the response, redirects and retries included. Default:
    /// [`Timeouts::total`](super::Timeouts::total).
    pub fn timeout(self, total: Duration) -> Self {
        self.option(|options| options.total = Some(total))
    }

    /// Has `call` told of interim responses, such as `103 Early Hints` (RFC 8297). It must not block. The 101 of an upgrade
    /// is none of them.
    pub fn on_interim(self, call: impl Fn(StatusCode, &HeaderMap) + Send + Sync + 'static) -> Self {
        self.option(|options| options.on_interim = Some(Arc::new(call)))
    }

    /// Sends it, and waits for the head of the response.
    ///
    /// Dropping the future before it is done closes the connection that the request was on; the server may have begun with
    /// it.
    ///
    /// # Errors
    /// See [`Error`]. A status is none.
    pub async fn send(self) -> Result<Response, Error> {
        self.client.execute(self.request?).await
    }

    /// The request, not sent.
    ///
    /// # Errors
    /// What is wrong with what it was given.
    pub fn build(self) -> Result<Request<Body>, Error> {
        self.request
    }

    fn option(self, set: impl FnOnce(&mut Options)) -> Self {
        self.change(|request| {
            set(request.extensions_mut().get_or_insert_default());
            Ok(())
        })
    }

    /// Says why it cannot be sent, unless something else was wrong before.
    #[cfg(feature = "json")]
    pub(crate) fn fail(
        mut self,
        error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        if let Ok(request) = &self.request {
            self.request = Err(Error::new(Phase::Request, error).with_url(request.uri()));
        }
        self
    }

    /// Changes the request, unless it has failed already.
    pub(crate) fn change(
        mut self,
        change: impl FnOnce(&mut Request<Body>) -> Result<(), http::Error>,
    ) -> Self {
        if let Ok(request) = &mut self.request
            && let Err(error) = change(request)
        {
            let error = Error::new(Phase::Request, error).with_url(request.uri());
            self.request = Err(error);
        }
        self
    }
}

impl IntoFuture for RequestBuilder {
    type Output = Result<Response, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl std::fmt::Debug for RequestBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RequestBuilder")
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}
