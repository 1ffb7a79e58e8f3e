//! Requests that are refused before a handler sees them: always the client's fault, and the connection is closed.

use http::StatusCode;
use thiserror::Error;
use thrum_parse::http::{ChunkError, HeadError};

use crate::Http2Error;

/// Why a request was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reject {
    /// The head is malformed or too large.
    #[error("{0}")]
    Head(#[from] HeadError),
    /// The head did not come in time.
    #[error("the request head did not come in time")]
    HeadTimeout,
    /// HTTP/1.1 without a Host field (RFC 9112 section 3.2).
    #[error("the request has no Host field")]
    MissingHost,
    /// More than one Host field.
    #[error("the request has more than one Host field")]
    DuplicateHost,
    /// A Host that names no host, or another than the target does.
    #[error("the Host field is malformed or contradicts the target")]
    BadHost,
    /// The target is in none of the forms that its method may have.
    #[error("the request target is malformed")]
    BadTarget,
    /// CONNECT: this is no proxy.
    #[error("CONNECT is not supported")]
    Connect,
    /// A Content-Length that is no number.
    #[error("the Content-Length is no number")]
    BadContentLength,
    /// More than one Content-Length, even if they agree.
    #[error("the request has more than one Content-Length")]
    DuplicateContentLength,
    /// Both Content-Length and Transfer-Encoding: the two ends could disagree on where the body ends.
    #[error("the request has both a Content-Length and a Transfer-Encoding")]
    AmbiguousLength,
    /// A Transfer-Encoding that does not end the body, or in an HTTP/1.0 request.
    #[error("the Transfer-Encoding is malformed")]
    BadTransferEncoding,
    /// A Transfer-Encoding other than chunked.
    #[error("the Transfer-Encoding is not supported")]
    UnsupportedTransferEncoding,
    /// An expectation other than 100-continue.
    #[error("the expectation is not supported")]
    UnsupportedExpectation,
    /// The body is larger than the limit.
    #[error("the request body is too large")]
    BodyTooLarge,
    /// The chunks are malformed.
    #[error("{0}")]
    Chunk(#[from] ChunkError),
    /// The trailers after the last chunk are malformed or too large.
    #[error("after the body: {0}")]
    Trailers(HeadError),
    /// The connection was ended for what its frames are, or how many. Nobody is told a status.
    #[error("{0}")]
    Http2(#[from] Http2Error),
}

impl Reject {
    /// The status that says so.
    pub fn status(self) -> StatusCode {
        match self {
            Reject::Head(HeadError::HeadTooLarge | HeadError::TooManyFields) => {
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
            }
            Reject::Head(HeadError::TargetTooLong) => StatusCode::URI_TOO_LONG,
            Reject::Head(HeadError::UnsupportedVersion) => StatusCode::HTTP_VERSION_NOT_SUPPORTED,
            Reject::HeadTimeout => StatusCode::REQUEST_TIMEOUT,
            // RFC 9112 section 3: a method longer than any that is implemented.
            Reject::Head(HeadError::MethodTooLong) => StatusCode::NOT_IMPLEMENTED,
            Reject::Connect | Reject::UnsupportedTransferEncoding => StatusCode::NOT_IMPLEMENTED,
            Reject::UnsupportedExpectation => StatusCode::EXPECTATION_FAILED,
            Reject::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            _ => StatusCode::BAD_REQUEST,
        }
    }
}
