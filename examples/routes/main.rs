//! Fifty routes of an axum router on thrum. `routes [ADDRESS]`, default 127.0.0.1:8080.

mod router;

use thrum::net::TcpListener;
use thrum_examples::address;

const USAGE: &str = "usage: routes [ADDRESS]    default 127.0.0.1:8080";

#[thrum::main]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind(address(USAGE, "127.0.0.1:8080")).await?;
    println!("http://{}/", listener.local_addr()?);
    thrum::http::serve(listener, router::router()).await
}
