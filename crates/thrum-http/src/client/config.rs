//! What a client is made of: limits, times, and where it connects to.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
#[cfg(feature = "tls")]
use std::sync::OnceLock;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use thrum_parse::http::HeadLimits;

#[cfg(feature = "cookies")]
use super::CookieJar;
use super::origin::Origin;
use super::proxy::Proxy;
use super::redirect::Policy;
use super::{Client, Proxies};
#[cfg(feature = "tls")]
use crate::tls;

/// Sizes and counts. Every one is per client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Connections to one host at once, those that idle included; requests beyond it wait for
    /// [`Timeouts::queue`]. Default: 1,000.
    pub connections_per_host: usize,
    /// Connections to one host that are kept while they idle. Default: 100.
    pub idle_per_host: usize,
    /// Connections that are kept while they idle, to all hosts together. Default: 1,000.
    pub idle: usize,
    /// Times that a request is sent again where that is safe: see [`Client`]. Over HTTP/2, four times as often if the server
    /// says that it has not begun with it. Default: 2.
    pub retries: u32,
    /// Bytes of a response head. Default: 64 KiB.
    pub head_bytes: usize,
    /// Fields of a response head. Default: 200.
    pub fields: usize,
    /// Interim responses (status 1xx) before a response. Default: 32.
    pub interim_responses: u32,
    /// Bytes of a chunk line, of the chunk extensions of a whole body, and of a trailer section. Default: 4 KiB.
    pub chunk_line_bytes: usize,
    /// Bytes of a body that are collected by [`text`](super::Response::text) and the like. Default: 64 MiB. A body that
    /// is read in chunks has no limit.
    pub body_bytes: usize,
    /// Bytes that come out of a body that is compressed. More are an error, so that a few bytes cannot become any number of
    /// them. Default: 1 GiB.
    pub decoded_bytes: u64,
    /// Bytes of a body that was dropped unread which are read, if they are there, to keep the connection. Default: 64 KiB.
    pub drain_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_per_host: 1000,
            idle_per_host: 100,
            idle: 1000,
            retries: 2,
            head_bytes: 64 * 1024,
            fields: 200,
            interim_responses: 32,
            chunk_line_bytes: 4 * 1024,
            body_bytes: 64 * 1024 * 1024,
            decoded_bytes: 1024 * 1024 * 1024,
            drain_bytes: 64 * 1024,
        }
    }
}

impl Limits {
    pub(crate) fn head(&self) -> HeadLimits {
        HeadLimits {
            head_bytes: self.head_bytes,
            fields: self.fields,
            ..HeadLimits::default()
        }
    }
}

/// Times. Those of a response follow its progress: a slow download that moves is welcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// Waiting for one of the connections that there may be to a host. Default: 30 s.
    pub queue: Duration,
    /// Looking up a host and connecting to it. Default: 10 s.
    pub connect: Duration,
    /// The TLS handshake. Default: 10 s.
    pub handshake: Duration,
    /// Without a byte of the request that the server takes. Time that the request's body takes to come does not count.
    /// Default: 60 s.
    pub write: Duration,
    /// From the end of the request to the head of the response; each interim response begins it anew. Default: 60 s.
    pub head: Duration,
    /// Without a byte of a response body that is waited for. Default: 60 s.
    pub body: Duration,
    /// From the beginning of a request to the last byte of its response, redirects and retries included. Default: none.
    pub total: Option<Duration>,
    /// How long a body waits for the 100 that its request expects before it is sent regardless. Default: 1 s.
    pub expect_continue: Duration,
    /// How long a connection is kept while it idles. Default: 50 s, as most servers close after 60 s and some after 5 s.
    pub idle: Duration,
    /// The age from which a connection is not used again, so that a change of a name's addresses is seen. Default: 15 min.
    pub lifetime: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            queue: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            handshake: Duration::from_secs(10),
            write: Duration::from_secs(60),
            head: Duration::from_secs(60),
            body: Duration::from_secs(60),
            total: None,
            expect_continue: Duration::from_secs(1),
            idle: Duration::from_secs(50),
            lifetime: Duration::from_secs(15 * 60),
        }
    }
}

/// What a client is made of. A feature with a setting has one field here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    /// Fields of every request that does not have them itself.
    pub(crate) headers: HeaderMap,
    pub(crate) local_address: Option<IpAddr>,
    pub(crate) unix_socket: Option<PathBuf>,
    /// Made when it is first needed, unless it was given.
    #[cfg(feature = "tls")]
    pub(crate) tls: OnceLock<tls::Connector>,
    /// The name that a server's certificate must have, if it is not the URL's host.
    #[cfg(feature = "tls")]
    pub(crate) server_name: Option<String>,
    pub(crate) redirects: Policy,
    #[cfg(feature = "cookies")]
    pub(crate) cookies: Option<CookieJar>,
    #[cfg(any(feature = "brotli", feature = "gzip", feature = "zstd"))]
    pub(crate) keeps_compressed: bool,
    pub(crate) proxies: Proxies,
    pub(crate) versions: Versions,
}

/// Which versions of HTTP are spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Versions {
    /// HTTP/2 where the server chooses it in the TLS handshake, else HTTP/1.1.
    #[default]
    Negotiated,
    Http1,
    Http2,
}

impl Config {
    /// The proxy to a host, an IPv6 address without brackets.
    pub(crate) fn proxy(&self, is_tls: bool, host: &str, port: u16) -> Option<&Arc<Proxy>> {
        match self.unix_socket {
            Some(_) => None,
            None => self.proxies.find(is_tls, host, port),
        }
    }

    /// Whether requests are sent to a proxy as they are, by their whole URL. Where HTTP/2 is known, there is a tunnel.
    pub(crate) fn sends_whole_urls(&self, origin: &Origin) -> bool {
        let proxy = self.proxy(origin.is_tls, origin.host(), origin.port());
        !origin.is_tls
            && self.versions != Versions::Http2
            && proxy.is_some_and(|proxy| proxy.takes_whole_urls())
    }
}

/// Makes a [`Client`].
///
/// ```
/// use std::time::Duration;
/// use thrum_http::Client;
/// use thrum_http::client::Timeouts;
///
/// let mut timeouts = Timeouts::default();
/// timeouts.connect = Duration::from_secs(3);
/// timeouts.total = Some(Duration::from_secs(30));
/// let client = Client::builder().timeouts(timeouts).build();
/// # drop(client);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until it builds"]
pub struct ClientBuilder {
    pub(crate) config: Config,
}

impl ClientBuilder {
    /// Sets the sizes and counts.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Sets the times.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.config.timeouts = timeouts;
        self
    }

    /// Adds a field to every request that does not have one of that name itself. There are none by default, not even a
    /// `User-Agent`.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.config.headers.append(name, value);
        self
    }

    /// Sets the address of this machine that connections are made from. Default: the system's choice. Of a host's
    /// addresses, those of the same family are used.
    pub fn local_address(mut self, address: IpAddr) -> Self {
        self.config.local_address = Some(address);
        self
    }

    /// Connects to this Unix socket, whatever host the URLs name; that host is still the one that is asked for.
    pub fn unix_socket(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.unix_socket = Some(path.into());
        self
    }

    /// Sets which redirects are followed. Default: ten for one request, none that leads from `https` to `http`.
    pub fn redirects(mut self, policy: Policy) -> Self {
        self.config.redirects = policy;
        self
    }

    /// Keeps cookies in a jar of its own, and sends them. Default: false. A request that has a `Cookie` field itself is
    /// sent with that alone.
    #[cfg(feature = "cookies")]
    pub fn cookies(mut self, keep: bool) -> Self {
        self.config.cookies = keep.then(CookieJar::new);
        self
    }

    /// Keeps cookies in this jar, as [`cookies`](Self::cookies) does in its own.
    #[cfg(feature = "cookies")]
    pub fn cookie_jar(mut self, jar: CookieJar) -> Self {
        self.config.cookies = Some(jar);
        self
    }

    /// Asks for compressed responses and makes their bodies plain, in the codings whose features are on: `gzip`, `brotli`,
    /// `zstd`. `Content-Encoding` and `Content-Length` are gone then. Default: true.
    ///
    /// A request that has an `Accept-Encoding` or a `Range` itself gets its response as it comes.
    #[cfg(any(feature = "brotli", feature = "gzip", feature = "zstd"))]
    pub fn decompress(mut self, decompress: bool) -> Self {
        self.config.keeps_compressed = !decompress;
        self
    }

    /// Sets the proxies. Default: none, whatever the environment says; see [`Proxies::from_env`]. They are not for a client
    /// that connects to a [Unix socket](Self::unix_socket).
    pub fn proxies(mut self, proxies: Proxies) -> Self {
        self.config.proxies = proxies;
        self
    }

    /// Speaks HTTP/1.1 only. By default HTTP/2 is spoken to servers that choose it in the TLS handshake.
    pub fn http1_only(mut self) -> Self {
        self.config.versions = Versions::Http1;
        self
    }

    /// Speaks HTTP/2 to every server, over TLS or not, without asking whether it does (RFC 9113, 3.3).
    pub fn http2_prior_knowledge(mut self) -> Self {
        self.config.versions = Versions::Http2;
        self
    }

    /// Sets whom it trusts and who it is over TLS. Default: it trusts whom the system trusts, and is nobody.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, connector: tls::Connector) -> Self {
        self.config.tls = OnceLock::from(connector);
        self
    }

    /// Sets the name that servers are asked for in the TLS handshake, and that their certificates must have. Default: the
    /// URL's host.
    #[cfg(feature = "tls")]
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.config.server_name = Some(name.into());
        self
    }

    /// The client.
    pub fn build(self) -> Client {
        Client::with_config(Arc::new(self.config))
    }
}
