//! Who is told of every exchange.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use thrum_parse::http::RequestHead;

/// Is told of every finished exchange, answered or refused. The access log is one. It is called on the connection's own
/// thread, so it must not wait for anything.
pub trait Observer: Send + Sync + 'static {
    /// An exchange is over: its response is written, or could not be.
    fn finished(&self, exchange: &Exchange<'_>);
}

/// A request and what became of it.
#[derive(Debug)]
pub struct Exchange<'a> {
    pub(crate) peer: SocketAddr,
    pub(crate) bytes: &'a Bytes,
    pub(crate) head: &'a RequestHead,
    pub(crate) status: StatusCode,
    pub(crate) body_bytes: u64,
    pub(crate) duration: Duration,
}

impl<'a> Exchange<'a> {
    /// The client's address.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// The method as it was sent; empty if the head could not be parsed.
    pub fn method(&self) -> &'a [u8] {
        self.head.method.of(self.bytes)
    }

    /// The request target as it was sent; empty if the head could not be parsed.
    pub fn target(&self) -> &'a [u8] {
        self.head.target.of(self.bytes)
    }

    /// The version, such as `HTTP/1.1`; empty if the head could not be parsed.
    pub fn version(&self) -> &'static [u8] {
        match self.head.version {
            _ if self.head.method.is_empty() => b"",
            thrum_parse::http::Version::Http10 => b"HTTP/1.0",
            thrum_parse::http::Version::Http11 => b"HTTP/1.1",
        }
    }

    /// The value of the first request field of that name, in any case.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        let named = |field: &&thrum_parse::http::Field| {
            field
                .name
                .of(self.bytes)
                .eq_ignore_ascii_case(name.as_bytes())
        };
        Some(self.head.headers().iter().find(named)?.value.of(self.bytes))
    }

    /// The status of the response.
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
