//! Pong on tokio and hyper, on one OS thread. pong PORT http1|http2 [CERTIFICATE KEY]

use std::sync::Arc;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs::Ticketer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_twins::{Result, argument};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", argument(1))).await?;
    let protocol: String = argument(2);
    let http2 = protocol == "http2";
    let tls = match std::env::args().nth(3) {
        Some(certificate) => Some(acceptor(&certificate, &argument::<String>(4), http2)?),
        None => None,
    };
    loop {
        let (connection, _) = listener.accept().await?;
        connection.set_nodelay(true)?;
        match &tls {
            None => drop(tokio::spawn(serve(connection, http2))),
            Some(tls) => {
                let handshake = tls.accept(connection);
                tokio::spawn(async move {
                    if let Ok(connection) = handshake.await {
                        serve(connection, http2).await;
                    }
                });
            }
        }
    }
}

fn acceptor(certificate: &str, key: &str, http2: bool) -> Result<TlsAcceptor> {
    let certificate = vec![CertificateDer::from_pem_file(certificate)?];
    let key = PrivateKeyDer::from_pem_file(key)?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(certificate, key)?;
    config.alpn_protocols = vec![if http2 {
        b"h2".into()
    } else {
        b"http/1.1".into()
    }];
    config.ticketer = Ticketer::new()?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// One connection, until it is closed; a client that goes away is no error.
async fn serve(connection: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, http2: bool) {
    let connection = TokioIo::new(connection);
    let _ = if http2 {
        http2::Builder::new(TokioExecutor::new())
            .serve_connection(connection, service_fn(pong))
            .await
    } else {
        http1::Builder::new()
            .pipeline_flush(true)
            .serve_connection(connection, service_fn(pong))
            .await
    };
}

async fn pong(_request: Request<Incoming>) -> Result<Response<Full<Bytes>>> {
    let mut response = Response::new(Full::new(Bytes::from_static(b"Pong!\r\n")));
    let text = HeaderValue::from_static("text/plain");
    response.headers_mut().insert(CONTENT_TYPE, text);
    Ok(response)
}
