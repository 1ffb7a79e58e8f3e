//! Fifty routes of an axum router on thrum. `routes [ADDRESS]`, default 127.0.0.1:8080.

mod router;

use hyper::server::conn::http1;
use hyper_util::service::TowerToHyperService;
use thrum::compat::{Io, Timer};
use thrum::net::TcpListener;
use thrum_examples::address;

const USAGE: &str = "usage: routes [ADDRESS]    default 127.0.0.1:8080";

#[thrum::main]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind(address(USAGE, "127.0.0.1:8080")).await?;
    println!("http://{}/", listener.local_addr()?);
    let router = router::router();
    loop {
        let (connection, _peer) = listener.accept().await?;
        let service = TowerToHyperService::new(router.clone());
        thrum::spawn(
            http1::Builder::new()
                .timer(Timer)
                .serve_connection(Io::new(connection), service),
        );
    }
}
