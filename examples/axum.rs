//! An axum router on thrum: extractors, state and middleware as they are. `axum [ADDRESS]`, default 127.0.0.1:8080.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;
use thrum::net::TcpListener;
use thrum_examples::address;

const USAGE: &str = "usage: axum [ADDRESS]    default 127.0.0.1:8080";

type Visits = Arc<AtomicU64>;

#[thrum::main]
async fn main() -> std::io::Result<()> {
    let router = Router::new()
        .route("/", get("Pong!\r\n"))
        .route("/hello/{name}", get(hello))
        .route("/slow", get(slow))
        .layer(from_fn(timed))
        .with_state(Visits::default());
    let listener = TcpListener::bind(address(USAGE, "127.0.0.1:8080")).await?;
    println!("http://{}/", listener.local_addr()?);
    thrum::http::serve(listener, router).await
}

async fn hello(Path(name): Path<String>, State(visits): State<Visits>) -> String {
    let visit = visits.fetch_add(1, Ordering::Relaxed) + 1;
    format!("Hello, {name}! You are visitor {visit}.\r\n")
}

/// It blocks its thread, and nobody waits for it but its own client.
async fn slow() -> &'static str {
    std::thread::sleep(std::time::Duration::from_secs(2));
    "That took a while.\r\n"
}

async fn timed(request: Request, next: Next) -> Response {
    let (path, begin) = (request.uri().path().to_owned(), Instant::now());
    let response = next.run(request).await;
    eprintln!("{} {path} in {:?}", response.status(), begin.elapsed());
    response
}
