//! hyper's HTTP/1.1 server and client.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use futures_lite::AsyncReadExt;
use http_body_util::channel::Channel;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri, Version, header};
use hyper::{client, server};
use thrum::compat::{FromTokio, Io, Timer};
use thrum::net::TcpStream;

use crate::{full, pair, text};

async fn answer(
    request: Request<Incoming>,
) -> Result<Response<BoxBody<Bytes, hyper::Error>>, Infallible> {
    let path = request.uri().path().to_owned();
    Ok(Response::new(match path.as_str() {
        "/echo" => request.into_body().boxed(),
        _ => full(path).map_err(|never| match never {}).boxed(),
    }))
}

fn get(path: &'static str) -> Request<Empty<Bytes>> {
    let mut request = Request::new(Empty::new());
    *request.uri_mut() = Uri::from_static(path);
    let host = header::HeaderValue::from_static("localhost");
    request.headers_mut().insert(header::HOST, host);
    request
}

#[test]
fn a_connection_is_kept_alive() {
    thrum::block_on(async {
        let (near, far) = pair().await;
        let server = thrum::spawn(
            server::conn::http1::Builder::new()
                .timer(Timer)
                .serve_connection(far, service_fn(answer)),
        );
        let (mut sender, connection) = client::conn::http1::handshake(near).await.unwrap();
        let client = thrum::spawn(connection);
        for path in ["/one", "/two", "/three"] {
            sender.ready().await.unwrap();
            let response = sender.send_request(get(path)).await.unwrap();
            assert_eq!(response.version(), Version::HTTP_11);
            assert!(response.headers().contains_key(header::DATE));
            assert_eq!(text(response).await, path);
        }
        drop(sender);
        client.await.unwrap().unwrap();
        server.await.unwrap().unwrap();
    });
}

#[test]
fn chunked_bodies_go_both_ways() {
    thrum::block_on(async {
        let (near, far) = pair().await;
        let service = service_fn(answer);
        let server =
            thrum::spawn(server::conn::http1::Builder::new().serve_connection(far, service));
        let (mut sender, connection) = client::conn::http1::handshake(near).await.unwrap();
        thrum::spawn(connection);

        let (mut body, channel) = Channel::<Bytes>::new(1);
        let mut request = get("/echo").map(|_| channel);
        *request.method_mut() = Method::POST;
        let writer = thrum::spawn(async move {
            for i in 0..100_u8 {
                let chunk = Bytes::from(vec![i; 10_000]);
                body.send_data(chunk).await.unwrap();
            }
        });
        let response = sender.send_request(request).await.unwrap();
        assert_eq!(response.headers()[header::TRANSFER_ENCODING], "chunked");
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let expected: Vec<u8> = (0..100).flat_map(|i| [i; 10_000]).collect();
        assert!(bytes == expected, "{} bytes", bytes.len());
        writer.await.unwrap();
        drop(sender);
        server.await.unwrap().unwrap();
    });
}

/// In a simulation, where an hour passes at once.
#[test]
fn a_client_that_says_nothing_is_timed_out() {
    thrum::test::run(async {
        let (mut near, far) = pair().await;
        let begin = thrum::time::Instant::now();
        let patience = Duration::from_secs(3600);
        let server = thrum::spawn(
            server::conn::http1::Builder::new()
                .timer(Timer)
                .header_read_timeout(patience)
                .serve_connection(far, service_fn(answer)),
        );
        let client = near.get_mut();
        thrum::time::sleep(patience / 2).await;
        client
            .write_all(b"GET /one HTTP/1.1\r\nhost: a\r\n\r\n")
            .await
            .unwrap();
        let mut buffer = [0; 1024];
        let read = client.read(&mut buffer).await.unwrap();
        assert!(buffer[..read].starts_with(b"HTTP/1.1 200"));
        thrum::time::sleep(patience / 2).await;
        client.write_all(b"GET /two HTT").await.unwrap();
        let error = server.await.unwrap().unwrap_err();
        assert!(error.is_timeout(), "{error:?}");
        // It began anew with the second request.
        assert!(begin.elapsed() > patience * 5 / 4, "{:?}", begin.elapsed());
    });
}

#[test]
fn an_upgraded_connection_is_the_socket_again() {
    thrum::block_on(async {
        let (near, far) = pair().await;
        let upgrade = service_fn(async |mut request: Request<Incoming>| {
            let upgraded = hyper::upgrade::on(&mut request);
            thrum::spawn(async move {
                let parts = upgraded.await.unwrap();
                let parts = parts.downcast::<Io<TcpStream>>().unwrap();
                let socket = parts.io.into_inner();
                socket.write_all(&parts.read_buf).await.unwrap();
                let mut buffer = [0; 64];
                while let Ok(read @ 1..) = socket.read(&mut buffer).await {
                    socket.write_all(&buffer[..read]).await.unwrap();
                }
            });
            let mut response = Response::new(Empty::<Bytes>::new());
            *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
            let echo = header::HeaderValue::from_static("echo");
            response.headers_mut().insert(header::UPGRADE, echo);
            Ok::<_, Infallible>(response)
        });
        thrum::spawn(
            server::conn::http1::Builder::new()
                .serve_connection(far, upgrade)
                .with_upgrades(),
        );
        let mut near = near.into_inner();
        let request =
            b"GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nhello";
        near.write_all(request).await.unwrap();
        near.shutdown(thrum::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        AsyncReadExt::read_to_string(&mut near, &mut answer)
            .await
            .unwrap();
        assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nhello"), "{answer}");
    });
}

#[test]
fn hyper_speaks_over_a_stream_of_tokio() {
    thrum::block_on(async {
        let (near, far) = tokio::io::duplex(64);
        let (near, far) = (Io::new(FromTokio::new(near)), Io::new(FromTokio::new(far)));
        let service = service_fn(answer);
        thrum::spawn(server::conn::http1::Builder::new().serve_connection(far, service));
        let (mut sender, connection) = client::conn::http1::handshake(near).await.unwrap();
        thrum::spawn(connection);
        let response = sender.send_request(get("/through")).await.unwrap();
        assert_eq!(text(response).await, "/through");
    });
}
