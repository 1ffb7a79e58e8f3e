//! Answers after the milliseconds that the path says: `/250` waits a quarter of a second. For those who want to know whether
//! their load generator tells the truth.
//!
//! `delays [ADDRESS]`, default 127.0.0.1:8080.

use std::io;
use std::time::Duration;

use thrum::http::{Body, Request, Response, StatusCode, serve, service_fn};
use thrum::net::TcpListener;
use thrum::time::sleep;

#[thrum::main]
async fn main() -> io::Result<()> {
    let address = std::env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:8080")).await?;
    serve(listener, service_fn(answer)).await
}

async fn answer(request: Request<Body>) -> Response<Body> {
    let Ok(milliseconds) = request.uri().path()[1..].parse() else {
        let mut wrong = Response::new(Body::from("ask for /MILLISECONDS\r\n"));
        *wrong.status_mut() = StatusCode::BAD_REQUEST;
        return wrong;
    };
    sleep(Duration::from_millis(milliseconds)).await;
    Response::new(Body::from("Pong!\r\n"))
}
