//! TLS, by rustls: versions 1.3 and 1.2, with the suites that are sound today (forward secret, authenticated encryption),
//! and key exchange that is safe from quantum computers where the peer has it too.
//!
//! A server gets an [`Acceptor`] by [`Server::tls`](crate::Server::tls), a client a [`Connector`]. Both are made from
//! certificates and keys in PEM form, and say of those that do not fit which file it is and what is wrong.
//!
//! A connection has a deadline for its handshake, [`Timeouts::handshake`](crate::Timeouts::handshake), and
//! [`Stats`](crate::Stats) counts those that fail, by [`HandshakeFailure`]. What a peer makes us hold is bounded: 64 KiB
//! received and not understood yet, 64 KiB encrypted and not sent yet. An idle connection has no buffers, and costs about
//! 4 KiB more than a plain one.
//!
//! Files are read and encrypted in pieces of 64 KiB, in memory that a thread keeps. Kernel TLS would spare their way through
//! this process (`sendfile` on an encrypted socket), where the kernel has it and the network card does the encrypting; most
//! have neither, so it is not used.
//!
//! ```
//! use thrum_http::tls::{Connector, Identity, Roots};
//!
//! # fn connectors() -> Result<(), thrum_http::tls::Error> {
//! // Trusts whom the system trusts.
//! let usual = Connector::new()?;
//! // Trusts one authority, and shows who it is itself.
//! let inside = Connector::builder()
//!     .roots(Roots::from_file("authority.pem")?)
//!     .identity(Identity::from_files("client.pem", "client.key")?)
//!     .build()?;
//! # Ok(())
//! # }
//! ```

mod acceptor;
mod certificates;
mod connector;
mod error;
mod failure;
mod identity;
mod info;
mod serve;
mod session;
#[cfg(test)]
mod tests;
mod validity;

use std::sync::{Arc, LazyLock};

use rustls::crypto::CryptoProvider;

pub use self::acceptor::{Acceptor, AcceptorBuilder};
pub use self::connector::{Connector, ConnectorBuilder};
pub use self::error::{Error, Problem};
pub use self::failure::HandshakeFailure;
pub use self::identity::{Identity, Roots};
pub use self::info::Info;
pub(crate) use self::serve::serve;
pub(crate) use self::session::Session;

/// What does the arithmetic.
fn provider() -> &'static Arc<CryptoProvider> {
    static PROVIDER: LazyLock<Arc<CryptoProvider>> =
        LazyLock::new(|| Arc::new(rustls::crypto::aws_lc_rs::default_provider()));
    &PROVIDER
}
