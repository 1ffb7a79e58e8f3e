//! Why handshakes fail, for those who count.

use std::io::{self, ErrorKind};

use rustls::InvalidMessage;
use thiserror::Error;

/// Why a client's TLS handshake failed.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HandshakeFailure {
    /// It took longer than [`Timeouts::handshake`](crate::Timeouts::handshake).
    #[error("it took too long")]
    Timeout,
    /// The client closed the connection, or lost it.
    #[error("the client closed the connection")]
    Closed,
    /// The server was ending.
    #[error("the server is ending")]
    Ending,
    /// The client sent a plain HTTP request. It was told so.
    #[error("the client sent plain HTTP")]
    PlainHttp,
    /// What the client sent is no TLS.
    #[error("the client does not speak TLS")]
    NotTls,
    /// There is no version, suite, group or protocol that both sides have: the client is old, mostly.
    #[error("client and server have nothing in common")]
    NothingInCommon,
    /// The client asked for a name that is not here.
    #[error("the client asked for a name that is not here")]
    UnknownName,
    /// The client's certificate does not hold, or it has none and must.
    #[error("the client's certificate was not accepted")]
    ClientCertificate,
    /// The client ended it with an alert: it does not trust the server's certificate, mostly.
    #[error("the client refused")]
    Refused,
    /// The client broke the protocol in another way.
    #[error("the client broke the protocol")]
    Other,
}

impl HandshakeFailure {
    /// What an error of a handshake comes to. `unprocessed` is what had been received and was not understood.
    pub(super) fn of(error: &io::Error, unprocessed: &[u8]) -> Self {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
        match inner {
            Some(rustls::Error::InvalidMessage(
                InvalidMessage::InvalidContentType
                | InvalidMessage::UnknownProtocolVersion
                | InvalidMessage::MessageTooLarge,
            )) => match is_http(unprocessed) {
                true => Self::PlainHttp,
                false => Self::NotTls,
            },
            Some(rustls::Error::PeerIncompatible(_) | rustls::Error::NoApplicationProtocol) => {
                Self::NothingInCommon
            }
            Some(rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented) => {
                Self::ClientCertificate
            }
            Some(rustls::Error::AlertReceived(_)) => Self::Refused,
            Some(_) => Self::Other,
            None if error.kind() == ErrorKind::ConnectionAborted => Self::Ending,
            None if error.kind() == ErrorKind::InvalidData => Self::Other,
            None => Self::Closed,
        }
    }
}

/// Whether this begins like a request: with a method.
fn is_http(bytes: &[u8]) -> bool {
    let method = bytes.split(|&byte| byte == b' ').next().unwrap_or_default();
    (3..20).contains(&method.len()) && method.iter().all(u8::is_ascii_uppercase)
}
