//! What a peer may send and how long it may take. Every limit has a default.

use std::time::Duration;

use tungstenite::protocol::WebSocketConfig;

/// Bytes that a pong or another control frame may take in the write buffer next to what [`Config::write_buffer`] allows.
const CONTROL_ROOM: usize = 256;

/// Sizes and times of a connection.
///
/// ```
/// use thrum_http::websocket::Config;
///
/// let mut config = Config::default();
/// config.message_bytes = 64 * 1024;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// Bytes of a message that the peer sends, over all of its frames. Default: 1 MiB, which is what each connection can
    /// make this process hold. Beyond it: closed with 1009, [`Error::TooLong`](super::Error::TooLong).
    pub message_bytes: usize,
    /// Bytes of a single frame that the peer sends. Default: 1 MiB, because most peers send a message as one frame. Beyond
    /// it: closed with 1009, [`Error::TooLong`](super::Error::TooLong).
    pub frame_bytes: usize,
    /// Bytes that a connection holds to read into, even while it is idle, and reads at once. Default: 8 KiB. More is worth
    /// it where messages are large.
    pub read_buffer: usize,
    /// Bytes of small messages that [`feed`](super::WebSocket::feed) gathers before they are written. Default: 16 KiB. One
    /// message more, however long, can be waiting for the peer to take it; then `feed` and `send` wait.
    pub write_buffer: usize,
    /// Without a byte that the peer takes while there is something to write. Default: 60 s. Beyond it:
    /// [`Error::WriteTimeout`](super::Error::WriteTimeout).
    pub write_timeout: Duration,
    /// For the rest of the closing handshake once a close frame has been sent or received. Default: 5 s. Beyond it the
    /// connection is given up.
    pub close_timeout: Duration,
    /// From the first byte of the opening handshake to its last; for a client, which reads the answer. Default: 10 s. Beyond it:
    /// [`ConnectError::Timeout`](super::ConnectError::Timeout).
    pub handshake_timeout: Duration,
    /// Pings to a peer that is silent. Default: after 30 s, to be answered within 30 s.
    pub keep_alive: Option<KeepAlive>,
}

/// Pings to a peer that is silent, which find out whether it is still there and keep routers on the way from forgetting the
/// connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Without a byte from the peer: a ping is sent.
    pub after: Duration,
    /// Without a byte from the peer after the ping: [`Error::PongTimeout`](super::Error::PongTimeout).
    pub pong_within: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            message_bytes: 1024 * 1024,
            frame_bytes: 1024 * 1024,
            read_buffer: 8 * 1024,
            write_buffer: 16 * 1024,
            write_timeout: Duration::from_secs(60),
            close_timeout: Duration::from_secs(5),
            handshake_timeout: Duration::from_secs(10),
            keep_alive: Some(KeepAlive {
                after: Duration::from_secs(30),
                pong_within: Duration::from_secs(30),
            }),
        }
    }
}

impl Config {
    pub(super) fn for_tungstenite(&self) -> WebSocketConfig {
        WebSocketConfig::default()
            .read_buffer_size(self.read_buffer)
            .write_buffer_size(self.write_buffer)
            .max_write_buffer_size(self.write_buffer_with(0))
            .max_message_size(Some(self.message_bytes))
            .max_frame_size(Some(self.frame_bytes))
    }

    /// The write buffer with a message of so many bytes added to it, and a control frame.
    pub(super) fn write_buffer_with(&self, message: usize) -> usize {
        self.write_buffer
            .saturating_add(message)
            .saturating_add(CONTROL_ROOM)
    }
}
