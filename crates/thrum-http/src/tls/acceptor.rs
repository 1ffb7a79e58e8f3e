//! The server's side.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::Poll;

use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::server::{NoServerSessionStorage, UnbufferedServerConnection, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;

use super::certificates::{Certificates, take_asked};
use super::session::Session;
use super::{Error, HandshakeFailure, Identity, Info, Problem, Roots, provider};
use crate::wire::Wire;

/// What a server is asked to speak, if the client says anything of it: HTTP/2 rather than HTTP/1.1.
const PROTOCOLS: [&[u8]; 4] = [b"h2", b"http/1.1", b"http/1.0", CHALLENGE];

/// What an authority asks for that checks who has a name (RFC 8737).
pub(super) const CHALLENGE: &[u8] = b"acme-tls/1";

/// The alert to a client that asks for a name that is not here (RFC 6066 section 3). rustls would say `access_denied`.
const UNRECOGNIZED_NAME: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

/// What a server needs for TLS: its certificates, by the names that clients ask for, and whether clients show theirs.
///
/// It is cheap to clone, and clones are one and the same: [`reload`](Self::reload) of one is for all.
///
/// A client can resume an earlier session for half a day. The server keeps nothing for that: the session is in a ticket
/// that the client holds, encrypted with a key that is changed every six hours and known to this process only. Early data
/// (0-RTT) is not taken: it could be replayed.
///
/// ```no_run
/// use thrum_http::{Body, Request, Response, Server, service_fn, tls};
/// use thrum_rt::net::TcpListener;
///
/// # thrum_rt::block_on(async {
/// let tls = tls::Acceptor::builder()
///     .files("example.com.pem", "example.com.key")
///     .files("example.org.pem", "example.org.key")
///     .build()?;
/// let listener = TcpListener::bind("0.0.0.0:443").await?;
/// let pong = service_fn(async |_: Request<Body>| Response::new("Pong!\r\n"));
/// Server::new().tls(tls).serve(listener, pong).await
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Acceptor {
    config: Arc<ServerConfig>,
    certificates: Arc<Certificates>,
    sources: Arc<[Source]>,
}

/// Makes an [`Acceptor`].
#[derive(Debug, Default)]
pub struct AcceptorBuilder {
    sources: Vec<Source>,
    refuse_unknown: bool,
    clients: Option<(Roots, bool)>,
}

/// Where an identity comes from.
#[derive(Debug)]
enum Source {
    Given(Identity),
    Files { chain: PathBuf, key: PathBuf },
}

impl Acceptor {
    /// One that has a single certificate.
    pub fn new(identity: Identity) -> Self {
        Self::builder()
            .identity(identity)
            .build()
            .expect("there is a certificate, and it was checked")
    }

    /// One with more of them, or other settings.
    pub fn builder() -> AcceptorBuilder {
        AcceptorBuilder::default()
    }

    /// Reads the files again that it was made from, and takes what is in them for all handshakes from then on.
    /// Connections that are open go on as they are.
    ///
    /// It reads at once: where that may take long, the runtime moves other tasks on.
    ///
    /// # Errors
    /// Those of [`AcceptorBuilder::build`]. Then it goes on with what it has.
    pub fn reload(&self) -> Result<(), Error> {
        self.certificates.replace(&load(&self.sources)?)
    }

    /// Takes other certificates for all handshakes from then on, and none that it has now. The first is the default. A
    /// [`reload`](Self::reload) undoes it.
    ///
    /// # Errors
    /// When there are none. Then it goes on with what it has.
    pub fn replace(&self, identities: impl IntoIterator<Item = Identity>) -> Result<(), Error> {
        let identities: Vec<_> = identities.into_iter().collect();
        self.certificates.replace(&identities)
    }

    /// Answers an authority that checks whether this server is the one of a name: the challenge `tls-alpn-01` of ACME (RFC 8737).
    /// From then on whoever asks for the protocol `acme-tls/1` under that name gets this certificate, and nobody else does. Both
    /// are in DER form.
    ///
    /// # Errors
    /// When the key cannot be used.
    pub fn answer_challenge(
        &self,
        name: &str,
        certificate: &[u8],
        key: &[u8],
    ) -> Result<(), Error> {
        let key = PrivatePkcs8KeyDer::from(key.to_vec()).into();
        let key = provider().key_provider.load_private_key(key);
        let key = key.map_err(|error| Error::new(name, Problem::BadKey(error.to_string())))?;
        // Not by way of an identity: its extension is one that nobody else understands, and critical.
        let chain = vec![CertificateDer::from(certificate.to_vec())];
        let certified = Arc::new(CertifiedKey::new(chain, key));
        self.certificates.set_challenge(name, Some(certified));
        Ok(())
    }

    /// Answers no longer.
    pub fn end_challenge(&self, name: &str) {
        self.certificates.set_challenge(name, None);
    }

    /// Speaks TLS with a client over its connection. Dropping the future before it is done leaves the connection useless.
    pub(crate) async fn accept(
        &self,
        wire: Wire,
        ends: impl Fn() -> bool,
    ) -> Result<Wire, (Wire, HandshakeFailure, io::Error)> {
        let connection = match UnbufferedServerConnection::new(self.config.clone()) {
            Ok(connection) => connection,
            Err(error) => return Err((wire, HandshakeFailure::Other, io::Error::other(error))),
        };
        let mut session = Session::server(connection);
        let socket = wire.socket().clone();
        let mut asked = None;
        let done = poll_fn(|cx| {
            let polled = session.poll_handshake(&socket, cx);
            asked = take_asked().or(asked.take());
            // After the wait is registered, so that the end of the server wakes it.
            if polled.is_pending() && ends() {
                return Poll::Ready(Err(ErrorKind::ConnectionAborted.into()));
            }
            polled
        });
        let done = done.await;
        let asked = asked.unwrap_or_default();
        if let Err(error) = done {
            if asked.refused {
                session.say_instead(&UNRECOGNIZED_NAME);
            }
            let failure = match asked.refused {
                true => HandshakeFailure::UnknownName,
                false => HandshakeFailure::of(&error, session.unprocessed()),
            };
            if failure != HandshakeFailure::PlainHttp {
                session.say_why(&socket);
            }
            return Err((wire, failure, error));
        }
        session.set_info(Info::new(session.state(), asked.name));
        Ok(wire.with_session(session))
    }
}

impl AcceptorBuilder {
    /// Adds a chain of certificates and its key, in files in PEM form, for the names in the certificate. The first that is
    /// added is the default: for clients that name no server, or one that is not here.
    pub fn files(mut self, chain: impl AsRef<Path>, key: impl AsRef<Path>) -> Self {
        self.sources.push(Source::Files {
            chain: chain.as_ref().to_owned(),
            key: key.as_ref().to_owned(),
        });
        self
    }

    /// Adds a chain of certificates and its key, for the [names](Identity::names) that it has. As with
    /// [`files`](Self::files), the first is the default.
    pub fn identity(mut self, identity: Identity) -> Self {
        self.sources.push(Source::Given(identity));
        self
    }

    /// Ends the handshake of clients that ask for a name that is not here, with the alert `unrecognized_name`. Default: they
    /// get the default certificate.
    pub fn refuse_unknown_names(mut self) -> Self {
        self.refuse_unknown = true;
        self
    }

    /// Asks clients for a certificate that these authorities have signed. Those that have none are served too; one that does
    /// not hold ends the handshake. Default: they are not asked.
    ///
    /// Handlers find it in [`Info::peer_certificates`].
    pub fn ask_clients(mut self, roots: Roots) -> Self {
        self.clients = Some((roots, false));
        self
    }

    /// As [`ask_clients`](Self::ask_clients), and the handshake of those that have none ends.
    pub fn require_clients(mut self, roots: Roots) -> Self {
        self.clients = Some((roots, true));
        self
    }

    /// Makes it. It reads the files at once.
    ///
    /// # Errors
    /// When there is no certificate at all, a file cannot be read, or what it holds cannot be used.
    pub fn build(self) -> Result<Acceptor, Error> {
        let identities = load(&self.sources)?;
        let certificates = Arc::new(Certificates::new(&identities, self.refuse_unknown)?);
        let builder = ServerConfig::builder_with_provider(provider().clone())
            .with_safe_default_protocol_versions()
            .expect("the provider has suites of both versions");
        let builder = match self.clients {
            None => builder.with_no_client_auth(),
            Some((roots, required)) => {
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(roots.store, provider().clone());
                let verifier = match required {
                    true => verifier,
                    false => verifier.allow_unauthenticated(),
                };
                let verifier = verifier.build().map_err(|error| {
                    Error::new(
                        "the clients' authorities",
                        Problem::BadCertificate(error.to_string()),
                    )
                })?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let mut config = builder.with_cert_resolver(certificates.clone());
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.ticketer =
            rustls::crypto::aws_lc_rs::Ticketer::new().expect("the system has random numbers");
        Ok(Acceptor {
            config: Arc::new(config),
            certificates,
            sources: self.sources.into(),
        })
    }
}

fn load(sources: &[Source]) -> Result<Vec<Identity>, Error> {
    let load = |source: &Source| match source {
        Source::Given(identity) => Ok(identity.clone()),
        Source::Files { chain, key } => Identity::from_files(chain, key),
    };
    sources.iter().map(load).collect()
}
