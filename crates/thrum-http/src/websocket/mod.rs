//! WebSocket (RFC 6455): messages both ways over a connection that began as HTTP/1.1.
//!
//! * A server answers a request with [`upgrade`], or with [`Upgrade`] if subprotocols or limits matter.
//! * A client calls [`connect`] with a URL, or [`client`] with a stream and a request.
//! * Both then have a [`WebSocket`], which receives and sends [`Message`]s, or its two halves for two tasks.
//!
//! Sizes and times have limits: see [`Config`]. There are no extensions, so no compression.

mod adapter;
mod client;
mod config;
mod connection;
mod error;
mod handshake;
mod message;
mod server;
mod socket;
mod split;

pub use tungstenite::error::ProtocolError;
pub use tungstenite::protocol::CloseFrame;
pub use tungstenite::protocol::frame::Utf8Bytes;
pub use tungstenite::protocol::frame::coding::CloseCode;

#[cfg(all(test, feature = "tls"))]
pub(crate) use client::connect_by;
pub use client::{ConnectError, client, connect};
pub use config::{Config, KeepAlive};
pub use error::Error;
pub use message::Message;
pub use server::{Rejection, Upgrade, upgrade};
pub use socket::WebSocket;
pub use split::{Receiver, Sender};
