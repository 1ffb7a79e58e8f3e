//! The client's side.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use rustls::client::UnbufferedClientConnection;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, SignatureScheme};

use super::session::Session;
use super::{Error, Identity, Info, Roots, provider};
use crate::wire::Wire;

/// What a client needs for TLS: whom it trusts, who it is itself, and the sessions that it can resume, 256 at most.
///
/// It is cheap to clone, and clones share their sessions.
#[derive(Clone, Debug)]
pub struct Connector {
    config: Arc<ClientConfig>,
}

/// Makes a [`Connector`].
#[derive(Debug, Default)]
pub struct ConnectorBuilder {
    roots: Option<Roots>,
    identity: Option<Identity>,
    accept_any: bool,
}

impl Connector {
    /// One that trusts whom the system trusts.
    ///
    /// # Errors
    /// When the system trusts nobody.
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// One with other settings.
    pub fn builder() -> ConnectorBuilder {
        ConnectorBuilder::default()
    }

    /// Speaks TLS with a server over a connection to it, and agrees with it on one of the protocols (ALPN), if on any. A name
    /// that is an address is fine, without brackets.
    pub(crate) async fn connect(
        &self,
        wire: Wire,
        server_name: &str,
        protocols: &[&[u8]],
    ) -> io::Result<Wire> {
        let name = ServerName::try_from(server_name.to_owned()).map_err(|_| {
            let text = format!("{server_name:?} is no name that a certificate could have");
            io::Error::new(ErrorKind::InvalidInput, text)
        })?;
        let protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let connection =
            UnbufferedClientConnection::new_with_alpn(self.config.clone(), name, protocols)
                .map_err(io::Error::other)?;
        let mut session = Session::client(connection);
        let socket = wire.socket();
        let done = poll_fn(|cx| session.poll_handshake(socket, cx)).await;
        if let Err(error) = done {
            session.say_why(socket);
            return Err(explain(server_name, error));
        }
        let info = Info::new(
            session.state(),
            Some(server_name.to_ascii_lowercase().into()),
        );
        session.set_info(info);
        Ok(wire.with_session(session))
    }
}

impl ConnectorBuilder {
    /// Sets whom it trusts. Default: [`Roots::from_system`].
    pub fn roots(mut self, roots: Roots) -> Self {
        self.roots = Some(roots);
        self
    }

    /// Sets who it says that it is, to servers that ask. Default: nobody.
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Has it take any certificate for any name. Then whoever is on the path can read and change everything: it is for
    /// tests and measurements.
    pub fn danger_accept_any_certificate(mut self) -> Self {
        self.accept_any = true;
        self
    }

    /// Makes it. It reads the system's certificates, if no roots were given.
    ///
    /// # Errors
    /// When no roots were given and the system trusts nobody.
    pub fn build(self) -> Result<Connector, Error> {
        let builder = ClientConfig::builder_with_provider(provider().clone())
            .with_safe_default_protocol_versions()
            .expect("the provider has suites of both versions");
        let builder = match self.accept_any {
            true => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider().clone()))),
            false => {
                let roots = self.roots.map_or_else(Roots::from_system, Ok)?;
                builder.with_root_certificates(roots.store)
            }
        };
        let config = match self.identity {
            Some(identity) => builder.with_client_cert_resolver(Arc::new(
                rustls::sign::SingleCertAndKey::from(identity.certified),
            )),
            None => builder.with_no_client_auth(),
        };
        Ok(Connector {
            config: Arc::new(config),
        })
    }
}

/// Says in words what a handshake failed with.
fn explain(name: &str, error: io::Error) -> io::Error {
    let reason = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let text = match reason {
        Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            "nobody that is trusted here has signed its certificate".to_owned()
        }
        Some(rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType)) => {
            "it does not speak TLS".to_owned()
        }
        Some(reason) => reason.to_string(),
        None if error.kind() == ErrorKind::UnexpectedEof => {
            "it closed the connection during the handshake".to_owned()
        }
        None => return error,
    };
    io::Error::new(error.kind(), format!("TLS with {name} failed: {text}"))
}

/// Takes any certificate; that the server has its key is checked still.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
