//! The server's opening handshake.

use std::future::Future;

use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version};
use thiserror::Error;
use tungstenite::protocol::Role;

use super::handshake::{VERSION, accept_key, has_token, is_key, list};
use super::{Config, Error, WebSocket};
use crate::Body;
use crate::upgrade::{self, OnUpgrade, Upgraded};

/// Answers a request for a WebSocket and runs `talk` with it, in a task of its own, once the answer is written. A request
/// that asks for anything else is refused. For subprotocols and limits there is [`Upgrade`].
///
/// Browsers let any page open a WebSocket to any host, with that host's cookies: who relies on those has to look at the
/// request's `Origin` first.
///
/// ```no_run
/// use thrum_http::{Body, Request, serve, service_fn, websocket};
///
/// # thrum_rt::block_on(async {
/// let listener = thrum_rt::net::TcpListener::bind("127.0.0.1:8080").await?;
/// let echo = service_fn(async |mut request: Request<Body>| {
///     websocket::upgrade(&mut request, async |mut socket| {
///         while let Some(Ok(message)) = socket.receive().await {
///             if let websocket::Message::Text(_) = message {
///                 let _ = socket.send(message).await;
///             }
///         }
///     })
/// });
/// serve(listener, echo).await
/// # }).unwrap();
/// ```
pub fn upgrade<B, F>(
    request: &mut Request<B>,
    talk: impl FnOnce(WebSocket<Upgraded>) -> F + Send + 'static,
) -> Response<Body>
where
    F: Future<Output = ()> + Send + 'static,
{
    match Upgrade::new(request) {
        Ok(upgrade) => upgrade.run(talk),
        Err(rejection) => rejection.into(),
    }
}

/// A request for a WebSocket that has been found in order, and is to be answered.
///
/// ```
/// use thrum_http::websocket::{Config, Upgrade};
/// use thrum_http::{Body, Request, Response};
///
/// fn chat(mut request: Request<Body>) -> Response<Body> {
///     let upgrade = match Upgrade::new(&mut request) {
///         Ok(upgrade) => upgrade.protocols(&["chat.2", "chat.1"]),
///         Err(rejection) => return rejection.into(),
///     };
///     let newest = upgrade.protocol() == Some("chat.2");
///     let mut config = Config::default();
///     config.message_bytes = 4096;
///     upgrade.config(config).run(async move |mut socket| {
///         let _ = socket.send(if newest { "hello" } else { "HELLO" }).await;
///     })
/// }
/// ```
#[derive(Debug)]
pub struct Upgrade {
    connection: OnUpgrade,
    accept: String,
    offered: Vec<String>,
    protocol: Option<String>,
    config: Config,
}

impl Upgrade {
    /// Looks at a request, and takes its connection if it asks for a WebSocket.
    ///
    /// # Errors
    /// What is wrong with the request. It turns into a response.
    pub fn new<B>(request: &mut Request<B>) -> Result<Self, Rejection> {
        let accept = accept(request)?;
        Ok(Self {
            connection: upgrade::on(request).ok_or(Rejection::NotUpgradable)?,
            accept,
            offered: list(request.headers(), SEC_WEBSOCKET_PROTOCOL)
                .map(str::to_owned)
                .collect(),
            protocol: None,
            config: Config::default(),
        })
    }

    /// Sets limits and times.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Chooses the first of `protocols` that the client would speak; none if it would speak none of them. A client that
    /// needs one then ends the connection.
    pub fn protocols(mut self, protocols: &[&str]) -> Self {
        self.protocol = protocols
            .iter()
            .find(|&&ours| self.offered.iter().any(|offered| offered == ours))
            .map(|&ours| ours.to_owned());
        self
    }

    /// The subprotocol that was chosen.
    pub fn protocol(&self) -> Option<&str> {
        self.protocol.as_deref()
    }

    /// The answer for the handler to give, and `talk` run in a task of its own once that is written. If it cannot be written,
    /// `talk` is not called.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn run<F>(
        self,
        talk: impl FnOnce(WebSocket<Upgraded>) -> F + Send + 'static,
    ) -> Response<Body>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (response, socket) = self.accept();
        drop(thrum_rt::spawn(async move {
            if let Ok(socket) = socket.await {
                talk(socket).await;
            }
        }));
        response
    }

    /// The answer for the handler to give, and the connection, which is there once the answer is written: not before
    /// the handler has returned.
    ///
    /// Dropping the future closes the connection. Its error is [`Error::Io`]: the answer could not be written, or was not given.
    pub fn accept(
        self,
    ) -> (
        Response<Body>,
        impl Future<Output = Result<WebSocket<Upgraded>, Error>> + Send + 'static,
    ) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let fields = response.headers_mut();
        fields.insert(UPGRADE, HeaderValue::from_static("websocket"));
        let mut insert = |name, value: &str| {
            // Base64, and what the client itself sent in a field.
            if let Ok(value) = HeaderValue::from_str(value) {
                fields.insert(name, value);
            }
        };
        insert(SEC_WEBSOCKET_ACCEPT, &self.accept);
        if let Some(protocol) = &self.protocol {
            insert(SEC_WEBSOCKET_PROTOCOL, protocol);
        }
        let (connection, config) = (self.connection, self.config);
        let socket = async move {
            Ok(WebSocket::new(
                connection.await?,
                Vec::new(),
                Role::Server,
                config,
            ))
        };
        (response, socket)
    }
}

/// Why a request is not answered with a WebSocket.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// It is not a GET: 405.
    #[error("a WebSocket begins with GET")]
    Method,
    /// It asks for no upgrade to a WebSocket, or over another version than HTTP/1.1: 426.
    #[error("this is a WebSocket: ask for it with Upgrade: websocket over HTTP/1.1")]
    NoUpgrade,
    /// Its `Sec-WebSocket-Version` is not 13: 426.
    #[error("the version of WebSocket here is 13")]
    Version,
    /// Its `Sec-WebSocket-Key` is missing or not 16 bytes in base64: 400.
    #[error("Sec-WebSocket-Key is not 16 bytes in base64")]
    Key,
    /// It has a body, or its connection is already taken, or cannot be handed over: 400.
    #[error("this connection cannot be upgraded")]
    NotUpgradable,
}

impl From<Rejection> for Response<Body> {
    fn from(rejection: Rejection) -> Self {
        let mut response = Self::new(format!("{rejection}\n").into());
        let fields = response.headers_mut();
        let status = match rejection {
            Rejection::Method => {
                fields.insert(http::header::ALLOW, HeaderValue::from_static("GET"));
                StatusCode::METHOD_NOT_ALLOWED
            }
            Rejection::NoUpgrade | Rejection::Version => {
                // RFC 9110, 15.5.22: the answer says what to upgrade to.
                fields.insert(UPGRADE, HeaderValue::from_static("websocket"));
                fields.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION));
                StatusCode::UPGRADE_REQUIRED
            }
            Rejection::Key | Rejection::NotUpgradable => StatusCode::BAD_REQUEST,
        };
        *response.status_mut() = status;
        response
    }
}

/// RFC 6455, 4.2.1: what a server has to check. Gives the proof for its answer.
fn accept<B>(request: &Request<B>) -> Result<String, Rejection> {
    let fields = request.headers();
    if request.method() != Method::GET {
        return Err(Rejection::Method);
    }
    if request.version() != Version::HTTP_11
        || !has_token(fields, CONNECTION, "upgrade")
        || !has_token(fields, UPGRADE, "websocket")
    {
        return Err(Rejection::NoUpgrade);
    }
    if only(fields, SEC_WEBSOCKET_VERSION) != Some(VERSION.as_bytes()) {
        return Err(Rejection::Version);
    }
    match only(fields, SEC_WEBSOCKET_KEY) {
        Some(key) if is_key(key) => Ok(accept_key(key)),
        _ => Err(Rejection::Key),
    }
}

/// The value of a field that may come once only.
fn only(fields: &HeaderMap, name: http::HeaderName) -> Option<&[u8]> {
    let mut values = fields.get_all(name).iter();
    values
        .next()
        .filter(|_| values.next().is_none())
        .map(HeaderValue::as_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> http::request::Builder {
        Request::get("/chat")
            .header(CONNECTION, "keep-alive, Upgrade")
            .header(UPGRADE, "WebSocket")
            .header(SEC_WEBSOCKET_VERSION, "13")
            .header(SEC_WEBSOCKET_KEY, "dGhlIHNhbXBsZSBub25jZQ==")
    }

    #[test]
    fn a_request_in_order_is_accepted() {
        let request = request().body(()).unwrap();
        assert_eq!(
            accept(&request).as_deref(),
            Ok("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        );
    }

    #[test]
    fn each_fault_is_refused_for_what_it_is() {
        fn without(name: http::HeaderName) -> Request<()> {
            let mut request = request().body(()).unwrap();
            request.headers_mut().remove(name);
            request
        }
        fn with(name: http::HeaderName, value: &'static str) -> Request<()> {
            request().header(name, value).body(()).unwrap()
        }
        let post = request().method(Method::POST).body(()).unwrap();
        let old = request().version(Version::HTTP_10).body(()).unwrap();
        let mut short_key = request().body(()).unwrap();
        let short = HeaderValue::from_static("AAAA");
        short_key.headers_mut().insert(SEC_WEBSOCKET_KEY, short);
        for (request, rejection) in [
            (post, Rejection::Method),
            (old, Rejection::NoUpgrade),
            (without(CONNECTION), Rejection::NoUpgrade),
            (without(UPGRADE), Rejection::NoUpgrade),
            (without(SEC_WEBSOCKET_VERSION), Rejection::Version),
            (with(SEC_WEBSOCKET_VERSION, "8"), Rejection::Version),
            (without(SEC_WEBSOCKET_KEY), Rejection::Key),
            (
                with(SEC_WEBSOCKET_KEY, "dGhlIHNhbXBsZSBub25jZQ=="),
                Rejection::Key,
            ),
            (short_key, Rejection::Key),
        ] {
            assert_eq!(accept(&request), Err(rejection), "{request:?}");
        }
    }

    #[test]
    fn a_refusal_for_the_version_says_which_one_there_is() {
        let response: Response<Body> = Rejection::Version.into();
        assert_eq!(response.status(), StatusCode::UPGRADE_REQUIRED);
        assert_eq!(response.headers()[SEC_WEBSOCKET_VERSION], "13");
        let response: Response<Body> = Rejection::Method.into();
        assert_eq!(response.headers()["allow"], "GET");
    }
}
