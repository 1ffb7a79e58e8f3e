//! Why a connection ended, or would not take a message.

use std::io;

use thiserror::Error;
use tungstenite::error::{CapacityError, ProtocolError};
use tungstenite::protocol::frame::coding::CloseCode;

/// Why a message was not received or not sent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// The connection ended without a close frame, perhaps in the middle of a message.
    #[error("the connection ended without a close frame")]
    Lost,
    /// The peer broke the protocol. It has been told so with code 1002.
    #[error("the peer broke the protocol: {0}")]
    Protocol(ProtocolError),
    /// The peer sent a text that is not UTF-8. It has been told so with code 1007.
    #[error("the peer sent a text that is not UTF-8")]
    NotUtf8,
    /// The peer sent a message or a frame beyond [`Config::message_bytes`](super::Config::message_bytes) or
    /// [`frame_bytes`](super::Config::frame_bytes). It has been told so with code 1009.
    #[error("a message of {bytes} bytes or more, where {limit} are allowed")]
    TooLong {
        /// The bytes that were seen or announced.
        bytes: usize,
        /// The bytes that were allowed.
        limit: usize,
    },
    /// The peer answered no ping in time: see [`KeepAlive`](super::KeepAlive).
    #[error("the peer did not answer a ping in time")]
    PongTimeout,
    /// The peer took nothing for [`Config::write_timeout`](super::Config::write_timeout).
    #[error("the peer took nothing for too long")]
    WriteTimeout,
    /// Nothing can be sent any more: a close frame was sent or received, or the connection failed.
    #[error("the connection is closed")]
    Closed,
    /// The message cannot be sent: a ping or pong of more than 125 bytes, a close reason of more than 123, or a code that
    /// may not be sent, such as 1005 or 1006. The connection is as it was.
    #[error("a control frame that cannot be sent: {0}")]
    InvalidControl(&'static str),
}

impl Error {
    /// What a peer is told that caused this; none where there is nobody to tell.
    pub(super) fn close_code(&self) -> Option<CloseCode> {
        match self {
            Self::Protocol(_) => Some(CloseCode::Protocol),
            Self::NotUtf8 => Some(CloseCode::Invalid),
            Self::TooLong { .. } => Some(CloseCode::Size),
            _ => None,
        }
    }
}

impl From<tungstenite::Error> for Error {
    fn from(error: tungstenite::Error) -> Self {
        use tungstenite::Error as E;
        match error {
            E::Io(error) => Self::Io(error),
            E::Capacity(CapacityError::MessageTooLong { size, max_size }) => Self::TooLong {
                bytes: size,
                limit: max_size,
            },
            E::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Self::Lost,
            E::Protocol(ProtocolError::SendAfterClosing) => Self::Closed,
            E::Protocol(error) => Self::Protocol(error),
            E::Utf8(_) => Self::NotUtf8,
            E::ConnectionClosed | E::AlreadyClosed => Self::Closed,
            // What is left belongs to handshakes that are not done by tungstenite.
            other => Self::Io(io::Error::other(other)),
        }
    }
}
