//! Pong over HTTPS, with HTTP/2 for those who ask for it. `pong_tls CHAIN KEY [ADDRESS]`: a chain of certificates and its
//! private key, both in PEM form, which are read again on SIGHUP.

use thrum::http::{Body, Request, Response, Server, service_fn, tls};
use thrum::net::TcpListener;
use thrum::signal::{SignalKind, signal};
use thrum_examples::{arguments, socket_address, wrong};

const USAGE: &str = "usage: pong_tls CHAIN KEY [ADDRESS]    default 127.0.0.1:8443";

#[thrum::main]
async fn main() -> std::io::Result<()> {
    let arguments = arguments(USAGE, 3);
    let [chain, key, rest @ ..] = &arguments[..] else {
        wrong(USAGE, "it needs a certificate chain and a private key");
    };
    let address = rest.first().map_or("127.0.0.1:8443", String::as_str);
    let listener = TcpListener::bind(socket_address(USAGE, address)).await?;

    let acceptor = tls::Acceptor::builder().files(chain, key).build()?;
    let reloaded = acceptor.clone();
    let mut hangups = signal(SignalKind::Hangup)?;
    thrum::spawn(async move {
        while hangups.recv().await.is_ok() {
            if let Err(error) = reloaded.reload() {
                eprintln!("going on with the old certificate: {error}");
            }
        }
    });

    println!("https://{}/", listener.local_addr()?);
    let pong = service_fn(async |_: Request<Body>| Response::new("Pong!\r\n"));
    Server::new().tls(acceptor).serve(listener, pong).await
}
