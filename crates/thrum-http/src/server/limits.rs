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
    /// What is only of HTTP/2.
    pub http2: Http2Limits,
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
            http2: Http2Limits::default(),
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

/// Sizes and counts of one HTTP/2 connection, besides those of [`Limits`]. Who goes beyond a count of frames is told
/// `ENHANCE_YOUR_CALM` and loses the connection; [`Stats::rejects`](crate::Stats::rejects) has it as an
/// [`Http2Error`](crate::Http2Error).
///
/// With the defaults, a connection holds at most 1 MiB of bodies that no handler has read, 80 KiB of output, and for each of
/// its 128 streams 64 KiB of the response, 64 KiB of a file that is being sent, and 16 KiB of the request's head: 19 MiB in
/// all, of which an honest client uses next to nothing. What handlers hold themselves comes on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Http2Limits {
    /// Requests at once. Default: 128. Beyond it: the stream is refused, which the client may repeat.
    pub streams: u32,
    /// Bytes of one request body that the client may send before the handler reads. Default: 256 KiB. At most 2 GiB - 1.
    pub stream_window_bytes: u32,
    /// The same for all request bodies of the connection. Default: 1 MiB. At least 64 KiB - 1, at most 2 GiB - 1.
    pub connection_window_bytes: u32,
    /// Bytes of a frame's payload. Default: 16 KiB, which is the least there is; the most is 16 MiB - 1.
    pub frame_bytes: u32,
    /// Bytes of one response that are taken from the handler before the client takes them. Default: 64 KiB.
    pub send_bytes: usize,
    /// Requests that the client takes back, a second (CVE-2023-44487). Default: 200; a burst may be of twice as many.
    pub resets: u32,
    /// Streams that the server had to reset for what the client did wrong, in all (CVE-2025-8671). Default: 100.
    pub faults: usize,
    /// Frames a second that are no request and no body: SETTINGS, PING, PRIORITY, WINDOW_UPDATE, empty DATA, unknown
    /// ones. Each KiB of bodies that was received or of output that was sent pays for one more. Default: 1000; a burst may
    /// be of twice as many.
    pub control_frames: u32,
    /// CONTINUATION frames of one head (RUSTSEC-2024-0332). Default: 5, which is also the most unless
    /// [`Limits::head_bytes`] is above 64 KiB.
    pub continuations: u32,
}

impl Default for Http2Limits {
    fn default() -> Self {
        Self {
            streams: 128,
            stream_window_bytes: 256 * 1024,
            connection_window_bytes: 1024 * 1024,
            frame_bytes: 16 * 1024,
            send_bytes: 64 * 1024,
            resets: 200,
            faults: 100,
            control_frames: 1000,
            continuations: 5,
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
