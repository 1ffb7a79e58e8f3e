//! Why a request came to nothing.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::time::Duration;

use http::{StatusCode, Uri};
use thiserror::Error as ThisError;
use thrum_parse::http::HeadError;

use crate::BodyError;

/// Why a request came to nothing: what was being done, for which URL, and what went wrong.
///
/// It is displayed with all three; the URL without user name and password. What lies beneath is its
/// [`source`](StdError::source).
pub struct Error(Box<Inner>);

struct Inner {
    phase: Phase,
    cause: Cause,
    url: Option<Uri>,
}

/// What was being done when a request failed, in the order in which it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Making the request: the URL or a field is not one that can be sent.
    Request,
    /// Waiting for one of the connections that there may be to a host.
    Queue,
    /// Looking up the host's addresses and connecting to one of them.
    Connect,
    /// Agreeing on keys and protocol: TLS, or the beginning of HTTP/2.
    Handshake,
    /// Sending the request.
    Send,
    /// Waiting for the head of the response.
    Head,
    /// Reading the body of the response.
    Body,
    /// Judging the response: it came in full, but is not what was wanted.
    Response,
}

enum Cause {
    /// A time limit of the phase.
    Timeout(Duration),
    /// The time that the whole request was given.
    Total(Duration),
    Status(StatusCode),
    Other(Box<dyn StdError + Send + Sync>),
}

/// What a server says that is not a response, or not one to what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ThisError)]
#[non_exhaustive]
pub enum BadResponse {
    /// The head is malformed or too large.
    #[error("{0}")]
    Head(#[from] HeadError),
    /// A Content-Length that is no number, or several that differ.
    #[error("the Content-Length is no number, or contradicts itself")]
    BadContentLength,
    /// Both Content-Length and Transfer-Encoding: the two ends could disagree on where the body ends.
    #[error("the response has both a Content-Length and a Transfer-Encoding")]
    AmbiguousLength,
    /// A Transfer-Encoding other than `chunked`, or in a response of HTTP/1.0.
    #[error("the Transfer-Encoding is not chunked, or in a response of HTTP/1.0")]
    BadTransferEncoding,
    /// More interim responses than [`Limits::interim_responses`](super::Limits::interim_responses).
    #[error("there are too many interim responses")]
    TooManyInterim,
    /// It switches to another protocol, which was not asked for.
    #[error("the server switches protocols without being asked to")]
    UnexpectedUpgrade,
}

/// Why a request is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ThisError)]
#[non_exhaustive]
pub enum BadRequest {
    /// The URL has no scheme, or another than `http` and `https`.
    #[error("the URL's scheme is neither http nor https")]
    Scheme,
    /// The URL names no host, or none that can be one.
    #[error("the URL names no valid host")]
    Host,
    /// A Host field that names no host, or more than one of them.
    #[error("the Host field is malformed")]
    HostField,
    /// A Content-Length that is not the body's.
    #[error("the Content-Length given is not that of the body")]
    ContentLength,
    /// A Transfer-Encoding: how a body is framed is the client's to say.
    #[error("the Transfer-Encoding is not for the caller to set")]
    TransferEncoding,
    /// A Connection field with an option other than `close`, `keep-alive`, `te` and `upgrade`.
    #[error("the Connection field has an option that is not for the caller to set")]
    Connection,
    /// An expectation other than `100-continue`.
    #[error("the expectation is not supported")]
    Expectation,
    /// CONNECT or TRACE with a body.
    #[error("a request of this method has no body")]
    UnexpectedBody,
    /// The URL's scheme is `https`, and this is built without the feature `tls`.
    #[error("this is built without TLS")]
    NoTls,
    /// The client is used outside a runtime.
    #[error("there is no thrum runtime to run on")]
    NoRuntime,
}

impl Error {
    pub(crate) fn new(phase: Phase, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::of(phase, Cause::Other(source.into()))
    }

    pub(crate) fn timeout(phase: Phase, after: Duration) -> Self {
        Self::of(phase, Cause::Timeout(after))
    }

    /// The time for the whole request is over.
    pub(crate) fn total(phase: Phase, after: Duration) -> Self {
        Self::of(phase, Cause::Total(after))
    }

    pub(crate) fn status_of(status: StatusCode) -> Self {
        Self::of(Phase::Response, Cause::Status(status))
    }

    fn of(phase: Phase, cause: Cause) -> Self {
        Self(Box::new(Inner {
            phase,
            cause,
            url: None,
        }))
    }

    /// Says which URL it was, unless that is known.
    pub(crate) fn with_url(mut self, url: &Uri) -> Self {
        self.0.url.get_or_insert_with(|| url.clone());
        self
    }

    /// What was being done.
    pub fn phase(&self) -> Phase {
        self.0.phase
    }

    /// The URL of the request that failed; after redirects, the last. It has no user name and password.
    pub fn url(&self) -> Option<&Uri> {
        self.0.url.as_ref()
    }

    /// Whether a time limit passed: the request's own, or that of a phase.
    pub fn is_timeout(&self) -> bool {
        match &self.0.cause {
            Cause::Timeout(_) | Cause::Total(_) => true,
            Cause::Status(_) => false,
            Cause::Other(source) => {
                if let Some(error) = source.downcast_ref::<BodyError>() {
                    matches!(error, BodyError::TooSlow)
                } else if let Some(error) = source.downcast_ref::<io::Error>() {
                    error.kind() == io::ErrorKind::TimedOut
                } else {
                    false
                }
            }
        }
    }

    /// Whether there was no connection to send it on: then nothing of the request was sent.
    pub fn is_connect(&self) -> bool {
        matches!(
            self.0.phase,
            Phase::Queue | Phase::Connect | Phase::Handshake
        )
    }

    /// Whether the request itself is at fault, and would be refused every time.
    pub fn is_request(&self) -> bool {
        self.0.phase == Phase::Request
    }

    /// Whether the response's body broke off or is not what it should be.
    pub fn is_body(&self) -> bool {
        self.0.phase == Phase::Body
    }

    /// The status, if that is what is wrong: see [`error_for_status`](super::Response::error_for_status).
    pub fn status(&self) -> Option<StatusCode> {
        match self.0.cause {
            Cause::Status(status) => Some(status),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(url) = &self.0.url {
            write!(f, "{url}: ")?;
        }
        let doing = match self.0.phase {
            Phase::Request => "the request cannot be sent",
            Phase::Queue => "waiting for a connection",
            Phase::Connect => "connecting",
            Phase::Handshake => "agreeing on a protocol",
            Phase::Send => "sending the request",
            Phase::Head => "waiting for the response",
            Phase::Body => "reading the response's body",
            Phase::Response => "the response",
        };
        match &self.0.cause {
            Cause::Timeout(after) => write!(f, "{doing}: timed out after {after:?}"),
            Cause::Total(after) => write!(f, "{doing}: the request's time of {after:?} is over"),
            Cause::Status(status) => write!(f, "the server answered {status}"),
            Cause::Other(source) => write!(f, "{doing}: {source}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("phase", &self.0.phase)
            .field("url", &self.0.url)
            .field("text", &self.to_string())
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.cause {
            Cause::Other(source) => Some(&**source),
            _ => None,
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error.0.cause {
            _ if error.is_timeout() => io::ErrorKind::TimedOut,
            Cause::Other(source) => match source.downcast_ref::<io::Error>() {
                Some(source) => source.kind(),
                None if error.is_request() => io::ErrorKind::InvalidInput,
                None => io::ErrorKind::Other,
            },
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}
