//! An axum router on thrum, served by hyper. `axum [ADDRESS]`, default 127.0.0.1:8080.

use axum::{Router, extract::Path, routing::get};
use hyper::server::conn::http1;
use hyper_util::service::TowerToHyperService;
use thrum::compat::{Io, Timer};
use thrum::net::TcpListener;

#[thrum::main]
async fn main() -> std::io::Result<()> {
    let router = Router::new()
        .route("/", get("Pong!\r\n"))
        .route("/hello/{name}", get(hello));
    let address = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:8080".into());
    let listener = TcpListener::bind(address.as_str()).await?;
    println!("http://{}/", listener.local_addr()?);
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

async fn hello(Path(name): Path<String>) -> String {
    format!("Hello, {name}!\r\n")
}
