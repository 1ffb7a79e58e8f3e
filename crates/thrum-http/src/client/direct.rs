//! Connections in the caller's own hand: no pool, no retries, no redirects.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::uri::{Authority, Scheme};
use http::{Request, Response, Uri};

use super::exchange::{Clock, Opened, open_any};
use super::origin::Origin;
use super::request::Options;
use super::{BadRequest, ClientBuilder, Config, Error, Phase, http2};
use crate::Body;
use crate::upgrade::Upgraded;
use crate::wire::Wire;

/// Opens connections to one server, as many as it is asked for.
///
/// ```no_run
/// # async fn example() -> Result<(), thrum_http::client::Error> {
/// let dialer = thrum_http::Client::builder().dialer("https://example.com")?;
/// let dialed = dialer.dial().await?;
/// println!("connected in {:?}, then TLS in {:?}", dialed.connect_time(), dialed.handshake_time());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Dialer {
    authority: Authority,
    is_tls: bool,
    config: Arc<Config>,
}

/// A new connection, on which nothing has been said yet beyond TLS.
pub struct Dialed {
    pub(crate) wire: Wire,
    pub(crate) config: Arc<Config>,
    is_http2: bool,
    connect: Duration,
    handshake: Option<Duration>,
}

impl ClientBuilder {
    /// Who opens connections to this scheme, host and port with these settings. Of the settings, those of pools, cookies,
    /// redirects, decoding and proxies are of no use there.
    ///
    /// # Errors
    /// When the URL's scheme is neither `http` nor `https`, or it names no host.
    pub fn dialer<U>(mut self, url: U) -> Result<Dialer, Error>
    where
        U: TryInto<Uri>,
        U::Error: Into<http::Error>,
    {
        self.config.proxies = super::Proxies::default();
        let (scheme, authority) = super::origin::of_server(url)?;
        Ok(Dialer {
            authority,
            is_tls: scheme == Scheme::HTTPS,
            config: Arc::new(self.config),
        })
    }
}

impl Dialer {
    /// Opens a connection: looks the host up, connects, and agrees on TLS where the URL is of `https`.
    ///
    /// Dropping the future closes what was begun.
    ///
    /// # Errors
    /// See [`Error`]: its phase says how far it came.
    pub async fn dial(&self) -> Result<Dialed, Error> {
        let runtime = thrum_rt::runtime_id();
        let origin = Origin {
            runtime: runtime.ok_or_else(|| Error::new(Phase::Request, BadRequest::NoRuntime))?,
            is_tls: self.is_tls,
            authority: self.authority.clone(),
        };
        let Opened {
            wire,
            is_http2,
            connect,
            handshake,
        } = open_any(&origin, &self.config, Clock::new(None)).await?;
        Ok(Dialed {
            wire,
            config: self.config.clone(),
            is_http2,
            connect,
            handshake,
        })
    }
}

impl Dialed {
    /// Whether HTTP/2 is to be spoken: TLS has agreed on it, or it is known.
    pub fn is_http2(&self) -> bool {
        self.is_http2
    }

    /// How long it took until there was a connection, without TLS.
    pub fn connect_time(&self) -> Duration {
        self.connect
    }

    /// How long TLS took then, where it is spoken.
    pub fn handshake_time(&self) -> Option<Duration> {
        self.handshake
    }

    /// Speaks HTTP/2.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn http2(self) -> Result<Multiplexed, Error> {
        let begun = http2::Connection::begin(self.wire, self.config, ()).await;
        let connection = begun.map_err(|error| Error::new(Phase::Handshake, error))?;
        Ok(Multiplexed { connection })
    }

    /// Speaks whatever the caller says.
    pub fn into_stream(self) -> Upgraded {
        Upgraded::new(self.wire, Bytes::new(), None)
    }
}

impl std::fmt::Debug for Dialer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { authority, .. } = self;
        f.debug_struct("Dialer")
            .field("authority", authority)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Dialed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { is_http2, .. } = self;
        f.debug_struct("Dialed")
            .field("is_http2", is_http2)
            .finish_non_exhaustive()
    }
}

/// One connection that speaks HTTP/2, for any number of requests at once. Clones share it. It is made by [`Dialed::http2`].
#[derive(Clone)]
pub struct Multiplexed {
    connection: http2::Connection,
}

impl Multiplexed {
    /// Sends a request and waits for the head of the response. It is not sent again if that fails.
    ///
    /// Dropping the future resets the stream.
    ///
    /// # Errors
    /// See [`Error`]. A status is none.
    pub async fn send(&self, request: &mut Request<Body>) -> Result<Response<Body>, Error> {
        let options = Options::default();
        let sent = self.connection.send(request, &options, Clock::new(None));
        sent.await.map_err(|failure| failure.error)
    }

    /// Whether it takes requests: the server has not ended it.
    pub fn is_usable(&self) -> bool {
        self.connection.is_usable()
    }
}

impl std::fmt::Debug for Multiplexed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Multiplexed").finish_non_exhaustive()
    }
}
