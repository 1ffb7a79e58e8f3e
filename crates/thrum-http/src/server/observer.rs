//! Who is told of every exchange.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, Uri};
use thrum_parse::http::RequestHead;

use super::current::{ConnectionInfo, Told};

/// Is told of every finished exchange, answered or refused. The access log is one. It is called on the connection's own
/// thread, so it must not wait for anything.
pub trait Observer: Send + Sync + 'static {
    /// An exchange is over: its response is written, or could not be.
    fn finished(&self, exchange: &Exchange<'_>);
}

/// A request and what became of it.
#[derive(Debug)]
pub struct Exchange<'a> {
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) asked: Asked<'a>,
    pub(crate) status: StatusCode,
    pub(crate) body_bytes: u64,
    pub(crate) duration: Duration,
    pub(crate) told: Told<'a>,
}

/// A request, as its protocol has it.
#[derive(Debug)]
pub(crate) enum Asked<'a> {
    /// HTTP/1: a head that was parsed, with its bytes.
    Head {
        head: &'a RequestHead,
        bytes: &'a Bytes,
    },
    /// HTTP/2: what was decoded.
    Decoded {
        method: &'a Method,
        uri: &'a Uri,
        headers: &'a HeaderMap,
    },
}

impl<'a> Exchange<'a> {
    /// The client's address. `None` over a Unix socket.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// The connection that it came over, with what was agreed on if that has TLS.
    pub fn connection(&self) -> Option<&'a ConnectionInfo> {
        self.told.connection
    }

    /// What was left of that type by [`note`](crate::note()). A request that was refused before the application saw it has
    /// none.
    pub fn note<T: 'static>(&self) -> Option<&'a T> {
        self.told.notes?.find()
    }

    /// The method as it was sent; empty if the head could not be parsed.
    pub fn method(&self) -> &'a [u8] {
        match self.asked {
            Asked::Head { head, bytes } => head.method.of(bytes),
            Asked::Decoded { method, .. } => method.as_str().as_bytes(),
        }
    }

    /// The request target as it was sent; empty if the head could not be parsed. In HTTP/2: the path and query.
    pub fn target(&self) -> &'a [u8] {
        match self.asked {
            Asked::Head { head, bytes } => head.target.of(bytes),
            Asked::Decoded { uri, .. } => uri
                .path_and_query()
                .map_or(b"", |target| target.as_str().as_bytes()),
        }
    }

    /// The version, such as `HTTP/1.1`; empty if the head could not be parsed.
    pub fn version(&self) -> &'static [u8] {
        match self.asked {
            Asked::Head { head, .. } if head.method.is_empty() => b"",
            Asked::Head { head, .. } => match head.version {
                thrum_parse::http::Version::Http10 => b"HTTP/1.0",
                thrum_parse::http::Version::Http11 => b"HTTP/1.1",
            },
            Asked::Decoded { .. } => b"HTTP/2.0",
        }
    }

    /// The value of the first request field of that name, in any case.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        match self.asked {
            Asked::Head { head, bytes } => {
                let named = |field: &&thrum_parse::http::Field| {
                    let field = field.name.of(bytes);
                    field.eq_ignore_ascii_case(name.as_bytes())
                };
                Some(head.headers().iter().find(named)?.value.of(bytes))
            }
            Asked::Decoded { headers, .. } => Some(headers.get(name)?.as_bytes()),
        }
    }

    /// The status of the response. 499 if an HTTP/2 client took the request back before there was one.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Bytes of the response's body that were sent, without chunk lines.
    pub fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// From the complete request head to the last byte of the response.
    pub fn duration(&self) -> Duration {
        self.duration
    }
}
