//! A fast route beside a slow one: `/square/N` and `/fib/N`, computed in the handler as it stands. `fibs [ADDRESS]`, default
//! 127.0.0.1:8080.
//!
//! With one worker the fast route goes on at nearly full speed while the slow one computes:
//! `THRUM_WORKERS=1 fibs & curl localhost:8080/fib/45 & curl localhost:8080/square/7`.

use thrum::http::{Body, Request, Response, StatusCode, serve, service_fn};
use thrum::net::TcpListener;
use thrum_examples::address;

const USAGE: &str = "usage: fibs [ADDRESS]    default 127.0.0.1:8080";

#[thrum::main]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind(address(USAGE, "127.0.0.1:8080")).await?;
    println!("http://{}/", listener.local_addr()?);
    serve(listener, service_fn(route)).await
}

async fn route(request: Request<Body>) -> Response<String> {
    let path = request.uri().path();
    let answer = match path.rsplit_once('/') {
        Some(("/square", n)) => n.parse().ok().and_then(|n: u64| n.checked_mul(n)),
        Some(("/fib", n)) => n.parse().ok().filter(|n| *n <= 60).map(fib),
        Some(("", "")) => return Response::new("Pong!\r\n".into()),
        _ => None,
    };
    match answer {
        Some(number) => Response::new(format!("{number}\n")),
        None => {
            let mut response = Response::new(format!("{path}: try /square/7 or /fib/30\n"));
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        }
    }
}

/// As slow as it looks.
fn fib(n: u64) -> u64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}
