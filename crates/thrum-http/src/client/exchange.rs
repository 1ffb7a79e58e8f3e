//! One request and its response: a connection out of the pool, and another try where that is safe.

use std::sync::Arc;
use std::time::Duration;

use http::header::UPGRADE;
use http::{Method, Request, Response};
use thrum_rt::time::{Instant, sleep, timeout};

#[cfg(not(feature = "tls"))]
use super::BadRequest;
use super::config::Versions;
use super::http1::{self, Connection, Failure, Lost};
use super::origin::Origin;
use super::pool::{Asked, Pool};
use super::request::Options;
use super::{Config, Error, Phase, connect, http2};
use crate::Body;
use crate::wire::Wire;

/// How many times as often a request is sent again that the server says it has done nothing about: with many on a connection
/// that ends, one may be unlucky with the next connection too.
const REFUSALS: u32 = 4;

/// Sends a request, and waits for the head of its response.
pub(crate) async fn exchange(
    pool: &Arc<Pool>,
    request: &mut Request<Body>,
    options: &Options,
    clock: Clock,
) -> Result<Response<Body>, Error> {
    let origin = Origin::of(request)?;
    let response = attempt(pool, Asked::Named(&origin), request, options, &clock).await;
    response.map_err(|failure| failure.error.with_url(request.uri()))
}

/// Tries, and tries again where that is safe.
pub(crate) async fn attempt(
    pool: &Arc<Pool>,
    asked: Asked<'_>,
    request: &mut Request<Body>,
    options: &Options,
    clock: &Clock,
) -> Result<Response<Body>, Failure> {
    let config = pool.config();
    let origin = asked.origin();
    let mut begun = None;
    let mut tries = 0;
    loop {
        tries += 1;
        if may_share(origin, config, request)
            && let Some(connection) = Box::pin(http2::shared(pool, asked, *clock))
                .await
                .map_err(Failure::unsent)?
        {
            let begun = *begun.get_or_insert_with(Instant::now);
            // Boxed, as it would make the future of every request over HTTP/1.1 larger.
            match Box::pin(connection.send(request, options, *clock)).await {
                Ok(response) => return Ok(response),
                // The connection ended while the request waited for its turn: it still waits.
                Err(failure)
                    if failure.lost == Some(Lost::Unsent)
                        && begun.elapsed() < config.timeouts.queue =>
                {
                    tries -= 1;
                    continue;
                }
                // What was refused is sent again even if the connection is new, after ever longer.
                Err(failure) => {
                    let is_refused = failure.lost == Some(Lost::Refused);
                    let times = if is_refused { REFUSALS } else { 1 };
                    if !is_safe(&failure, request)
                        || tries > config.limits.retries.saturating_mul(times)
                    {
                        return Err(failure);
                    }
                    tracing::debug!(error = %failure.error, "a request is sent again");
                    if is_refused && tries > 1 {
                        let pause = Duration::from_millis(1 << tries.min(7));
                        let pause = clock.at_most(pause, Phase::Head);
                        Box::pin(sleep(pause.map_err(Failure::unsent)?)).await;
                    }
                    continue;
                }
            }
        }
        // What idled with one that was closed is probably closed too.
        let fresh = tries > 1;
        let patience = clock.at_most(config.timeouts.queue, Phase::Queue);
        let patience = patience.map_err(Failure::unsent)?;
        let lease = pool.lease(asked, fresh, patience).await;
        let mut lease = lease.map_err(Failure::unsent)?;
        let reused = lease.connection.is_some();
        let connection = match &mut lease.connection {
            Some(connection) => connection,
            None => {
                // Boxed, as it is rare and would make every request's future larger.
                let connected = Box::pin(open(origin, config, *clock)).await;
                lease.connection.insert(connected.map_err(Failure::unsent)?)
            }
        };
        match connection.send(request, options, clock).await {
            Ok(answer) => return Ok(http1::respond(answer, lease, *clock)),
            Err(failure) => {
                drop(lease); // and the connection with it
                let again = reused && is_safe(&failure, request) && tries <= config.limits.retries;
                if !again {
                    return Err(failure);
                }
                tracing::debug!(error = %failure.error, "a request is sent again");
            }
        }
    }
}

/// Opens a connection for HTTP/1.1.
async fn open(
    origin: &Origin,
    config: &Arc<Config>,
    clock: Clock,
) -> Result<Box<Connection>, Error> {
    let Opened { wire, .. } = connect(origin, config, clock, &[HTTP1]).await?;
    let whole_urls = config.sends_whole_urls(origin);
    Ok(Box::new(Connection::new(wire, config.clone(), whole_urls)))
}

/// The names of protocols in the TLS handshake (RFC 7301, RFC 9113 section 3.1).
const HTTP1: &[u8] = b"http/1.1";
const HTTP2: &[u8] = b"h2";

/// A connection that was opened, and what that took.
pub(crate) struct Opened {
    pub(crate) wire: Wire,
    pub(crate) is_http2: bool,
    pub(crate) connect: Duration,
    /// `None` without TLS.
    pub(crate) handshake: Option<Duration>,
}

/// Opens a connection that may be for HTTP/2, unless that is not to be spoken.
pub(crate) async fn open_any(
    origin: &Origin,
    config: &Config,
    clock: Clock,
) -> Result<Opened, Error> {
    let protocols: &[&[u8]] = match config.versions {
        Versions::Negotiated => &[HTTP2, HTTP1],
        Versions::Http1 => &[HTTP1],
        Versions::Http2 => &[HTTP2],
    };
    let mut opened = connect(origin, config, clock, protocols).await?;
    opened.is_http2 |= config.versions == Versions::Http2;
    Ok(opened)
}

/// Connects, within the time that there is for each step.
async fn connect(
    origin: &Origin,
    config: &Config,
    clock: Clock,
    protocols: &[&[u8]],
) -> Result<Opened, Error> {
    let begin = Instant::now();
    let patience = clock.at_most(config.timeouts.connect, Phase::Connect)?;
    let wire = match timeout(patience, connect::connect(origin, config)).await {
        Ok(Ok(wire)) => wire,
        Ok(Err(error)) => return Err(Error::new(Phase::Connect, error)),
        Err(_) => return Err(clock.expired(Phase::Connect, patience)),
    };
    let opened = Opened {
        wire,
        is_http2: false,
        connect: begin.elapsed(),
        handshake: None,
    };
    match origin.is_tls {
        false => Ok(opened),
        true => secure(opened, origin, config, clock, protocols).await,
    }
}

/// Speaks TLS on it.
#[cfg(feature = "tls")]
async fn secure(
    opened: Opened,
    origin: &Origin,
    config: &Config,
    clock: Clock,
    protocols: &[&[u8]],
) -> Result<Opened, Error> {
    let begin = Instant::now();
    let patience = clock.at_most(config.timeouts.handshake, Phase::Handshake)?;
    let handshake = connect::handshake(opened.wire, origin, config, protocols);
    let wire = match timeout(patience, handshake).await {
        Ok(done) => done.map_err(|error| Error::new(Phase::Handshake, error))?,
        Err(_) => return Err(clock.expired(Phase::Handshake, patience)),
    };
    let info = wire.tls();
    Ok(Opened {
        is_http2: info.is_some_and(|info| info.protocol() == Some(HTTP2)),
        handshake: Some(begin.elapsed()),
        connect: opened.connect,
        wire,
    })
}

/// No origin is asked by `https` without the feature.
#[cfg(not(feature = "tls"))]
async fn secure(_: Opened, _: &Origin, _: &Config, _: Clock, _: &[&[u8]]) -> Result<Opened, Error> {
    Err(Error::new(Phase::Handshake, BadRequest::NoTls))
}

/// Whether a request may go over a connection that is shared. Other protocols are for HTTP/1.1.
fn may_share(origin: &Origin, config: &Config, request: &Request<Body>) -> bool {
    let may_be_http2 = match config.versions {
        Versions::Negotiated => origin.is_tls,
        Versions::Http1 => false,
        Versions::Http2 => true,
    };
    may_be_http2 && !request.headers().contains_key(UPGRADE)
}

/// Whether a request that failed may be sent again.
fn is_safe(failure: &Failure, request: &Request<Body>) -> bool {
    failure.is_replayable
        && match failure.lost {
            Some(Lost::Unsent | Lost::Refused) => true,
            Some(Lost::Unanswered) => is_repeatable(request),
            None => false,
        }
}

/// Whether it does no harm if the server gets the request twice (RFC 9110 section 9.2.2).
fn is_repeatable(request: &Request<Body>) -> bool {
    let method = request.method();
    method.is_idempotent()
        || *method != Method::CONNECT && request.headers().contains_key("idempotency-key")
}

/// When a request must be done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    total: Option<(Instant, Duration)>,
}

impl Clock {
    /// One that begins now.
    pub(crate) fn new(total: Option<Duration>) -> Self {
        Self {
            total: total.map(|total| (Instant::now(), total)),
        }
    }

    /// The time that a phase may take, if it has not passed.
    pub(crate) fn at_most(self, patience: Duration, phase: Phase) -> Result<Duration, Error> {
        match self.left() {
            Some(Duration::ZERO) => Err(self.expired(phase, patience)),
            Some(left) => Ok(patience.min(left)),
            None => Ok(patience),
        }
    }

    /// What is left of the whole request's time.
    pub(crate) fn left(self) -> Option<Duration> {
        let (begin, total) = self.total?;
        Some(total.saturating_sub(begin.elapsed()))
    }

    /// A time limit has passed: which one?
    pub(crate) fn expired(self, phase: Phase, patience: Duration) -> Error {
        match self.total {
            // Timers are never early, so whoever's time was cut short by the total finds nothing left.
            Some((begin, total)) if begin.elapsed() >= total => Error::total(phase, total),
            _ => Error::timeout(phase, patience),
        }
    }
}
