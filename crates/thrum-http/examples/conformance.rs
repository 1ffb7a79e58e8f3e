//! What suites that check a server are run against: it reads the whole body of a request and answers with it, or with a short
//! text if there is none. `conformance [ADDRESS [CHAIN KEY]]`, default 127.0.0.1:8080; with the files of a certificate's chain
//! and its key it speaks TLS.

use thrum_http::{Body, Request, Response, Server, StatusCode, service_fn, tls};
use thrum_rt::net::TcpListener;

/// Bytes of a body.
const LIMIT: usize = 1024 * 1024;

fn main() -> std::io::Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let address = arguments.first().map_or("127.0.0.1:8080", String::as_str);
    thrum_rt::block_on(async {
        let mut server = Server::new();
        if let [_, chain, key] = &arguments[..] {
            server = server.tls(tls::Acceptor::builder().files(chain, key).build()?);
        }
        let listener = TcpListener::bind(address).await?;
        println!("{}", listener.local_addr()?);
        server.serve(listener, service_fn(echo)).await
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
