//! What the two ends of a connection say to each other.

use bytes::Bytes;
use tungstenite::protocol::{CloseFrame, frame::Utf8Bytes};

/// A message, or a control frame.
///
/// Its bytes are counted references: a clone for each of many receivers costs no copy.
///
/// ```
/// use thrum_http::websocket::Message;
///
/// assert_eq!(Message::from("hello").as_text(), Some("hello"));
/// assert_eq!(Message::from(vec![1, 2]).as_text(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Text. It has been checked to be UTF-8.
    Text(Utf8Bytes),
    /// Bytes.
    Binary(Bytes),
    /// A ping, of at most 125 bytes. It has been answered, or is about to be: nothing is left to do about it.
    Ping(Bytes),
    /// The answer to a ping, of at most 125 bytes; or one to no ping, which some peers send to be seen alive.
    Pong(Bytes),
    /// The end, with a code and a reason of at most 123 bytes if there is one. What was received has been answered; what is
    /// sent ends the messages of this side.
    Close(Option<CloseFrame>),
}

impl Message {
    /// The text of a text message.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// The payload's bytes; none of a close frame.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_str().as_bytes(),
            Self::Binary(bytes) | Self::Ping(bytes) | Self::Pong(bytes) => bytes,
            Self::Close(_) => &[],
        }
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<Utf8Bytes> for Message {
    fn from(text: Utf8Bytes) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<u8>> for Message {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Binary(bytes.into())
    }
}

impl From<Bytes> for Message {
    fn from(bytes: Bytes) -> Self {
        Self::Binary(bytes)
    }
}

impl From<Message> for tungstenite::Message {
    fn from(message: Message) -> Self {
        match message {
            Message::Text(text) => Self::Text(text),
            Message::Binary(bytes) => Self::Binary(bytes),
            Message::Ping(bytes) => Self::Ping(bytes),
            Message::Pong(bytes) => Self::Pong(bytes),
            Message::Close(frame) => Self::Close(frame),
        }
    }
}

/// What was read; `None` for a bare frame, which reading never gives.
pub(super) fn received(message: tungstenite::Message) -> Option<Message> {
    Some(match message {
        tungstenite::Message::Text(text) => Message::Text(text),
        tungstenite::Message::Binary(bytes) => Message::Binary(bytes),
        tungstenite::Message::Ping(bytes) => Message::Ping(bytes),
        tungstenite::Message::Pong(bytes) => Message::Pong(bytes),
        tungstenite::Message::Close(frame) => Message::Close(frame),
        tungstenite::Message::Frame(_) => return None,
    })
}
