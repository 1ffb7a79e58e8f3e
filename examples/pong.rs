//! An HTTP server that says Pong. `pong [ADDRESS]`, default 127.0.0.1:8080.

use thrum::http::{Body, Request, Response, header, serve, service_fn};
use thrum::net::TcpListener;
use thrum_examples::address;

const USAGE: &str = "usage: pong [ADDRESS]    default 127.0.0.1:8080";

#[thrum::main]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind(address(USAGE, "127.0.0.1:8080")).await?;
    println!("http://{}/", listener.local_addr()?);
    serve(listener, service_fn(pong)).await
}

async fn pong(_request: Request<Body>) -> Response<&'static str> {
    let mut response = Response::new("Pong!\r\n");
    let text = header::HeaderValue::from_static("text/plain");
    response.headers_mut().insert(header::CONTENT_TYPE, text);
    response
}
