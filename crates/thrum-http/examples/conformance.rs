//! What suites that check a server are run against: it reads the whole body of a request and answers with it, or with a short
//! text if there is none. `conformance [ADDRESS]`, default 127.0.0.1:8080.

use thrum_http::{Body, Request, Response, StatusCode, serve, service_fn};
use thrum_rt::net::TcpListener;

/// Bytes of a body.
const LIMIT: usize = 1024 * 1024;

fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:8080");
    thrum_rt::block_on(async {
        let listener = TcpListener::bind(address).await?;
        println!("http://{}/", listener.local_addr()?);
        serve(listener, service_fn(echo)).await
    })
}

async fn echo(request: Request<Body>) -> Response<Body> {
    match request.into_body().bytes(LIMIT).await {
        Ok(bytes) if bytes.is_empty() => Response::new("nothing was sent\n".into()),
        Ok(bytes) => Response::new(bytes.into()),
        Err(error) => {
            let mut response = Response::new(format!("{error}\n").into());
            *response.status_mut() = StatusCode::BAD_REQUEST;
            response
        }
    }
}
