//! What the two sides agreed on.

use rustls::pki_types::CertificateDer;
use rustls::{CommonState, HandshakeKind, ProtocolVersion, SupportedCipherSuite};

/// What the two sides of a TLS connection agreed on. A handler gets it by
/// [`connection`](crate::connection)`()?.tls`.
#[derive(Debug)]
pub struct Info {
    version: Option<ProtocolVersion>,
    suite: Option<SupportedCipherSuite>,
    protocol: Option<Box<[u8]>>,
    server_name: Option<Box<str>>,
    peer_certificates: Vec<CertificateDer<'static>>,
    resumed: bool,
}

impl Info {
    pub(super) fn new(state: &CommonState, server_name: Option<Box<str>>) -> Self {
        Self {
            version: state.protocol_version(),
            suite: state.negotiated_cipher_suite(),
            protocol: state.alpn_protocol().map(Box::from),
            server_name,
            peer_certificates: state.peer_certificates().unwrap_or_default().to_vec(),
            resumed: state.handshake_kind() == Some(HandshakeKind::Resumed),
        }
    }

    /// The protocol version: `TLSv1.3` or `TLSv1.2`.
    pub fn version(&self) -> &'static str {
        match self.version {
            Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
            _ => "TLSv1.2",
        }
    }

    /// The cipher suite, by its registered name, such as `TLS_AES_128_GCM_SHA256`.
    pub fn cipher_suite(&self) -> &'static str {
        let name = self.suite.and_then(|suite| suite.suite().as_str());
        // rustls has its own prefix for the suites of version 1.3.
        match name {
            Some("TLS13_AES_128_GCM_SHA256") => "TLS_AES_128_GCM_SHA256",
            Some("TLS13_AES_256_GCM_SHA384") => "TLS_AES_256_GCM_SHA384",
            Some("TLS13_CHACHA20_POLY1305_SHA256") => "TLS_CHACHA20_POLY1305_SHA256",
            name => name.unwrap_or_default(),
        }
    }

    /// The protocol that is spoken inside (ALPN), such as `h2`. `None`: nothing was said of it.
    pub fn protocol(&self) -> Option<&[u8]> {
        self.protocol.as_deref()
    }

    /// The name of the server that the client asked for (SNI), in lower case. `None`: it did not say.
    pub fn server_name(&self) -> Option<&str> {
        self.server_name.as_deref()
    }

    /// The certificates of the peer, each in DER, its own first. They were checked. A client has sent none unless it was
    /// asked to.
    pub fn peer_certificates(&self) -> impl Iterator<Item = &[u8]> {
        self.peer_certificates
            .iter()
            .map(|certificate| certificate.as_ref())
    }

    /// Whether the connection goes on with the keys of an earlier one. Then certificates were checked at that time.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }
}
