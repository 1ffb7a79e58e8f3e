//! Servers and clients of others on thrum's tasks, sockets and timers.

mod adapters;
mod axum_router;
mod h2_streams;
mod http1;
mod http2;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Response;
use hyper::body::Body;
use thrum::compat::Io;
use thrum::net::{TcpListener, TcpStream};

/// Two ends of a connection on the loopback address: client, server.
async fn pair() -> (Io<TcpStream>, Io<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = TcpStream::connect(address).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    (Io::new(client), Io::new(server))
}

fn full(text: impl Into<Bytes>) -> Full<Bytes> {
    Full::new(text.into())
}

async fn text<B: Body<Error: std::fmt::Debug>>(response: Response<B>) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.into()).unwrap()
}
