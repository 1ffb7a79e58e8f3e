//! hyper's HTTP/2 server and client: each stream is a task.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, Version, client, server};
use thrum::compat::{Executor, Timer};

use crate::pair;

/// All that a client must say, RFC 9113, 3.4; its settings are the default ones.
const PREFACE_AND_SETTINGS: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

async fn echo(request: Request<Incoming>) -> Result<Response<Incoming>, Infallible> {
    Ok(Response::new(request.into_body()))
}

#[test]
fn many_streams_share_a_connection() {
    thrum::block_on(async {
        let (near, far) = pair().await;
        let server = thrum::spawn(
            server::conn::http2::Builder::new(Executor)
                .timer(Timer)
                .keep_alive_interval(Duration::from_secs(1))
                .serve_connection(far, service_fn(echo)),
        );
        let (sender, connection) = client::conn::http2::Builder::new(Executor)
            .timer(Timer)
            .keep_alive_interval(Duration::from_secs(1))
            .handshake(near)
            .await
            .unwrap();
        let client = thrum::spawn(connection);
        // More than the windows hold, so the streams wait for each other's room.
        let streams: Vec<_> = (0..64_u8)
            .map(|i| {
                let mut sender = sender.clone();
                thrum::spawn(async move {
                    let body = Bytes::from(vec![i; 100_000]);
                    let request = Request::post("http://localhost/echo")
                        .body(Full::new(body.clone()))
                        .unwrap();
                    let response = sender.send_request(request).await.unwrap();
                    assert_eq!(response.version(), Version::HTTP_2);
                    let echoed = response.into_body().collect().await.unwrap().to_bytes();
                    assert!(echoed == body, "stream {i}: {} bytes", echoed.len());
                })
            })
            .collect();
        for stream in streams {
            stream.await.unwrap();
        }
        drop(sender);
        client.await.unwrap().unwrap();
        server.await.unwrap().unwrap();
    });
}

/// In a simulation, where an hour passes at once.
#[test]
fn a_peer_that_answers_no_ping_is_given_up() {
    thrum::test::run(async {
        let (near, far) = pair().await;
        let server = thrum::spawn(
            server::conn::http2::Builder::new(Executor)
                .timer(Timer)
                .keep_alive_interval(Duration::from_secs(3600))
                .keep_alive_timeout(Duration::from_secs(600))
                .serve_connection(far, service_fn(echo)),
        );
        let silent = near.into_inner();
        silent.write_all(PREFACE_AND_SETTINGS).await.unwrap();
        let begin = thrum::time::Instant::now();
        let error = server.await.unwrap().unwrap_err();
        assert!(error.is_timeout(), "{error:?}");
        assert!(begin.elapsed() >= Duration::from_secs(4200));
    });
}
