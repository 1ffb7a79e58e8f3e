//! What a client may do, in bytes, counts and time. Every limit has a default.

use std::time::Duration;

use thrum_parse::http::HeadLimits;

/// Sizes and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a request head. Default: 16 KiB. Beyond it: 431.
    pub head_bytes: usize,
    /// Fields of a request head. Default: 100. Beyond it: 431.
    pub fields: usize,
    /// Bytes of a request target. Default: 8 KiB. Beyond it: 414.
    pub target_bytes: usize,
    /// Bytes of a request body. Default: 10 MiB. Beyond it: 413.
    pub body_bytes: u64,
    /// Bytes of a chunk line, of the chunk extensions of a whole body, and of a trailer section. Default: 4 KiB. Beyond it: 400.
    pub chunk_line_bytes: usize,
    /// Bytes of a body that the handler left unread which are read to keep the connection. Default: 64 KiB. Beyond it the
    /// connection is closed.
    pub drain_bytes: u64,
    /// Requests of one connection; the last response says so. Default: none.
    pub requests: Option<u64>,
    /// Connections open at once. Default: 100,000. Beyond it: 503 and closed.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let head = HeadLimits::default();
        Self {
            head_bytes: head.head_bytes,
            fields: head.fields,
            target_bytes: head.target_bytes,
            body_bytes: 10 * 1024 * 1024,
            chunk_line_bytes: 4 * 1024,
            drain_bytes: 64 * 1024,
            requests: None,
            connections: 100_000,
        }
    }
}

impl Limits {
    pub(crate) fn head(&self) -> HeadLimits {
        HeadLimits {
            head_bytes: self.head_bytes,
            fields: self.fields,
            target_bytes: self.target_bytes,
        }
    }
}

/// Times. Limits follow progress, not totals: a slow upload that moves is welcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// From accepting a connection to the end of its TLS handshake. Default: 10 s. Beyond it: closed.
    pub handshake: Duration,
    /// From the first byte of a head to its last. Default: 10 s. Beyond it: 408.
    pub head: Duration,
    /// Between two requests of a connection, and before the first. Default: 60 s.
    pub idle: Duration,
    /// Without a byte of a body that the handler waits for. Default: 30 s.
    pub body: Duration,
    /// Bytes a second that a body must come at, after [`body_grace`](Self::body_grace). Default: 500.
    pub body_rate: u64,
    /// How long a body may be slower. Default: 10 s.
    pub body_grace: Duration,
    /// Without a byte of a response that the client takes. Default: 60 s.
    pub write: Duration,
    /// How long a connection that was refused is read on, so that the client sees why. Default: 1 s.
    pub linger: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(10),
            idle: Duration::from_secs(60),
            body: Duration::from_secs(30),
            body_rate: 500,
            body_grace: Duration::from_secs(10),
            write: Duration::from_secs(60),
            linger: Duration::from_secs(1),
        }
    }
}
