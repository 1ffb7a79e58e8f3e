//! A connection of the server that speaks HTTP/2 (RFC 9113), through the h2 crate.
//!
//! One task polls the connection; each request is a task of its own from the start, so that a handler that computes or blocks
//! stops no other stream. Answers to requests that came together leave in one write.
//!
//! | module | what is in it |
//! |---|---|
//! | `connection` | the connection: its turns, its deadlines, its end |
//! | `meter`, `link` | counting frames that cost more than they bring; the wire as the h2 crate sees it |
//! | `request`, `upload` | what RFC 9113 demands of a request beyond what the h2 crate checks; its body |
//! | `stream`, `response` | from a request to the end of its response |

mod connection;
mod link;
mod meter;
mod request;
mod response;
mod stream;
mod upload;

use thiserror::Error;

pub(crate) use self::connection::serve;
pub(crate) use self::upload::Upload;

/// Why an HTTP/2 connection was ended by the server.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Http2Error {
    /// Frames that RFC 9113 forbids, or header blocks that cannot be decoded.
    #[error("the frames are malformed")]
    Protocol,
    /// More than [`Http2Limits::resets`](crate::Http2Limits::resets).
    #[error("too many requests are taken back")]
    TooManyResets,
    /// More than [`Http2Limits::faults`](crate::Http2Limits::faults).
    #[error("too many streams had to be reset")]
    TooManyFaults,
    /// More than [`Http2Limits::control_frames`](crate::Http2Limits::control_frames).
    #[error("too many control frames")]
    TooManyFrames,
    /// More than [`Http2Limits::continuations`](crate::Http2Limits::continuations).
    #[error("too many CONTINUATION frames")]
    TooManyContinuations,
    /// More DATA frames of few bytes than half of
    /// [`Http2Limits::connection_window_bytes`](crate::Http2Limits::connection_window_bytes) has room for the keeping of.
    #[error("too many small DATA frames")]
    TooManySmallFrames,
    /// A head of more than four times [`Limits::head_bytes`](crate::Limits::head_bytes). Up to that: 431.
    #[error("the request head is far too large")]
    HeadTooLarge,
}

impl Http2Error {
    /// What the h2 crate found, if it was the client's fault. `last_words` is the end of what it sent.
    fn of(error: &h2::Error, last_words: &[u8]) -> Option<Self> {
        if !(error.is_go_away() && error.is_library()) {
            return None;
        }
        if error.reason() != Some(h2::Reason::ENHANCE_YOUR_CALM) {
            return Some(Http2Error::Protocol);
        }
        // It tells the client which of its limits that was, and nobody else.
        let told: [(&[u8], _); 5] = [
            (b"too_many_resets", Http2Error::TooManyResets),
            (b"too_many_internal_resets", Http2Error::TooManyFaults),
            (b"too_many_continuations", Http2Error::TooManyContinuations),
            (b"too_many_data_frames", Http2Error::TooManySmallFrames),
            (b"header_list_way_too_large", Http2Error::HeadTooLarge),
        ];
        let found = told
            .into_iter()
            .find(|(text, _)| last_words.ends_with(text));
        Some(found.map_or(Http2Error::Protocol, |(_, error)| error))
    }
}
