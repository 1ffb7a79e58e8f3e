//! Both sides, against each other and through the server.

mod handshakes;
mod identities;
mod transfers;
#[cfg(feature = "websocket")]
mod websocket;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_lite::{AsyncReadExt, AsyncWriteExt};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use thrum_rt::net::{TcpListener, TcpStream};
use thrum_rt::time::timeout;

use super::{Acceptor, AcceptorBuilder, Connector, ConnectorBuilder, Identity, Roots};
use crate::wire::Wire;
use crate::{Application, Body, Request, Response, Server, Timeouts, connection, service_fn};

/// Nothing here takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// An authority that signs what it is asked to.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("authority {}", COUNT.fetch_add(1, Ordering::Relaxed));
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    fn roots(&self) -> Roots {
        Roots::from_pem(self.0.pem().as_bytes()).unwrap()
    }

    /// A certificate and a key in PEM form.
    fn pem(&self, names: &[&str]) -> (String, String) {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(names).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    fn identity(&self, names: &[&str]) -> Identity {
        let (certificate, key) = self.pem(names);
        Identity::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap()
    }

    fn acceptor(&self, names: &[&str]) -> AcceptorBuilder {
        Acceptor::builder().identity(self.identity(names))
    }

    fn connector(&self) -> ConnectorBuilder {
        Connector::builder().roots(self.roots())
    }
}

/// Runs a test against a server that speaks TLS, and ends both.
fn with_server<F: Future<Output = ()>>(
    acceptor: AcceptorBuilder,
    test: impl FnOnce(SocketAddr, Server) -> F,
) {
    with_application(acceptor.build().unwrap(), service_fn(tell), test);
}

fn with_application<F: Future<Output = ()>>(
    acceptor: Acceptor,
    application: impl Application,
    test: impl FnOnce(SocketAddr, Server) -> F,
) {
    let timeouts = Timeouts {
        handshake: Duration::from_millis(500),
        idle: Duration::from_secs(5),
        ..Timeouts::default()
    };
    let server = Server::new().timeouts(timeouts).tls(acceptor);
    let runtime = thrum_rt::Runtime::builder().workers(2).build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = thrum_rt::spawn({
            let server = server.clone();
            async move { server.serve(listener, application).await }
        });
        timeout(PATIENCE, test(address, server.clone()))
            .await
            .expect("the test takes too long");
        server.shutdown(Duration::from_millis(100)).await;
        serving.await.unwrap().unwrap();
    });
}

/// Answers with what a handler can know of the connection.
async fn tell(_: Request<Body>) -> Response<Body> {
    let tls = connection().unwrap().tls.expect("the connection is TLS");
    let text = format!(
        "{} {} {:?} {:?} {} {}",
        tls.version(),
        tls.cipher_suite(),
        tls.protocol().map(String::from_utf8_lossy),
        tls.server_name(),
        tls.peer_certificates().count(),
        tls.is_resumed(),
    );
    Response::new(text.into())
}

/// A plain connection to the server.
async fn plain(address: SocketAddr) -> Wire {
    let stream = TcpStream::connect(address).await.unwrap();
    Wire::plain(Arc::new(stream.into()))
}

async fn connect(connector: &Connector, address: SocketAddr, name: &str) -> io::Result<Wire> {
    connector
        .connect(plain(address).await, name, &[b"http/1.1"])
        .await
}

/// Sends a request, and reads all that comes until the server says that this is all.
async fn get(wire: &mut Wire) -> io::Result<String> {
    wire.write_all(b"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n")
        .await?;
    let mut answer = String::new();
    wire.read_to_string(&mut answer).await?;
    Ok(answer)
}

/// What the server says of a connection of its own.
async fn told(connector: &Connector, address: SocketAddr, name: &str) -> io::Result<String> {
    let mut wire = connect(connector, address, name).await?;
    let answer = get(&mut wire).await?;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    Ok(answer.split("\r\n\r\n").nth(1).unwrap().to_owned())
}

/// The names in the certificate that the server shows.
async fn shown(connector: &Connector, address: SocketAddr, name: &str) -> Vec<String> {
    let wire = connect(connector, address, name).await.unwrap();
    let tls = wire.tls().unwrap();
    let certificate = tls.peer_certificates().next().unwrap().to_vec();
    let certificate = rustls::pki_types::CertificateDer::from(certificate);
    let certificate = webpki::EndEntityCert::try_from(&certificate).unwrap();
    certificate.valid_dns_names().map(str::to_owned).collect()
}

/// The two ends of a TLS connection in one process: the client's and the server's.
async fn pair() -> (Wire, Wire) {
    let authority = Authority::new();
    let acceptor = authority.acceptor(&["a.test"]).build().unwrap();
    let connector = authority.connector().build().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let accepting = thrum_rt::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let wire = Wire::plain(Arc::new(stream.into()));
        acceptor
            .accept(wire, || false)
            .await
            .map_err(|failed| failed.2)
            .unwrap()
    });
    let client = connect(&connector, address, "a.test").await.unwrap();
    (client, accepting.await.unwrap())
}
