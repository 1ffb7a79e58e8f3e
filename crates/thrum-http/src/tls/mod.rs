//! TLS, by rustls: versions 1.3 and 1.2, with the suites that are sound today.

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
