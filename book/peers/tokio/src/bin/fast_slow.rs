//! A fast route and a slow one, on tokio and hyper. fast_slow PORT

use std::convert::Infallible;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let [port] = tokio_twins::numbers();
    let listener = TcpListener::bind(("127.0.0.1", port as u16)).await?;
    loop {
        let (connection, _) = listener.accept().await?;
        connection.set_nodelay(true)?;
        tokio::spawn(
            http1::Builder::new().serve_connection(TokioIo::new(connection), service_fn(route)),
        );
    }
}

async fn route(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let n = request
        .uri()
        .path()
        .strip_prefix("/fib/")
        .and_then(|n| n.parse().ok());
    let body = match n {
        Some(n) => format!("{}\n", fib(n)).into(),
        None => Bytes::from_static(b"Pong!\r\n"),
    };
    let mut response = Response::new(Full::new(body));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response)
}

fn fib(n: u64) -> u64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}
