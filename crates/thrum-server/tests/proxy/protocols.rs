//! What is spoken to upstreams: HTTP/2, TLS, Unix sockets, and other protocols by upgrade.

use std::time::Duration;

use http::{Request, Response};
use thrum_http::tls::{Acceptor, Identity};
use thrum_http::websocket::{self, Message};
use thrum_http::{Body, Server, service_fn, upgrade};
use thrum_rt::net::UnixListener;

use super::support::*;

/// Answers with the version that it was asked in, and the body.
async fn version(request: Request<Body>) -> Response<Body> {
    let version = format!("{:?} ", request.version());
    let host = request.headers()["host"].to_str().unwrap().to_owned();
    let body = request.into_body().bytes(10_000_000).await.unwrap();
    Response::new(
        [version.as_bytes(), host.as_bytes(), b" ", &body]
            .concat()
            .into(),
    )
}

async fn post(front: &Front, path: &str, body: &'static str) -> String {
    let request = thrum_http::Client::new().post(front.url(path)).body(body);
    let response = request.header("host", "a.example").send().await.unwrap();
    response.text().await.unwrap()
}

#[test]
fn http2_without_tls() {
    run(async {
        let upstream = serve(service_fn(version)).await;
        let front = front(&format!(
            "/ >> h2c://{upstream} {{ request-header set X-A b }}"
        ))
        .await;
        for _ in 0..3 {
            assert_eq!(post(&front, "/", "hello").await, "HTTP/2.0 a.example hello");
        }
    });
}

#[test]
fn tls_with_roots_and_a_name_of_its_own() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let key = rcgen::generate_simple_self_signed(["app.internal".to_owned()]).unwrap();
        let roots = folder.path().join("roots.pem");
        std::fs::write(&roots, key.cert.pem()).unwrap();
        let identity = Identity::from_pem(
            key.cert.pem().as_bytes(),
            key.signing_key.serialize_pem().as_bytes(),
        )
        .unwrap();
        let server = Server::new().tls(Acceptor::new(identity));
        let upstream = serve_on("127.0.0.1:0", server, service_fn(version)).await;
        let roots = roots.display();
        let front = front(&format!(
            "/good/ >> https://{upstream}/ {{ tls-roots {roots}; tls-name app.internal }}
             /name/ >> https://{upstream}/ {{ tls-roots {roots} }}
             /roots/ >> https://{upstream}/ {{ tls-name app.internal }}"
        ))
        .await;
        assert_eq!(post(&front, "/good/", "hi").await, "HTTP/2.0 a.example hi");
        for path in ["/name/", "/roots/"] {
            assert_eq!(front.get(path).await.0, 502, "{path}");
        }
    });
}

#[test]
fn a_unix_socket() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.sock");
        let listener = UnixListener::bind(&path).unwrap();
        thrum_rt::spawn(thrum_http::serve(listener, service_fn(version)));
        let front = front(&format!("/ >> unix:{}", path.display())).await;
        assert_eq!(post(&front, "/", "hi").await, "HTTP/1.1 a.example hi");
    });
}

async fn echo(mut request: Request<Body>) -> Response<Body> {
    let answer = websocket::upgrade(&mut request, async |mut socket| {
        while let Some(Ok(message)) = socket.receive().await {
            if socket.send(message).await.is_err() {
                return;
            }
        }
    });
    answer.map(Body::wrap)
}

#[test]
fn websocket_messages_go_through_and_the_end_does_too() {
    run(async {
        let upstream = serve(service_fn(echo)).await;
        let front = front(&format!("/ >> {upstream} {{ limit 2; queue 0 }}")).await;
        let url = format!("ws://{}/chat", front.address);
        let mut sockets = Vec::new();
        for _ in 0..2 {
            sockets.push(websocket::connect(&url).await.unwrap());
        }
        let large = "x".repeat(1 << 20);
        for socket in &mut sockets {
            for text in ["hello", "", &large] {
                socket.send(text).await.unwrap();
                let message = socket.receive().await.unwrap().unwrap();
                assert_eq!(message.as_text(), Some(text));
            }
        }
        assert_eq!(front.status(upstream).active, 2, "they count");
        assert!(websocket::connect(&url).await.is_err(), "there may be two");
        for socket in sockets {
            let closed = socket.close(websocket::CloseCode::Normal, "bye").await;
            closed.unwrap();
        }
        until("both are over", || front.status(upstream).active == 0).await;
        let mut socket = websocket::connect(&url).await.unwrap();
        socket
            .send(Message::Binary(vec![1, 2].into()))
            .await
            .unwrap();
        assert_eq!(socket.receive().await.unwrap().unwrap().as_bytes(), [1, 2]);
    });
}

#[test]
fn a_silent_tunnel_is_closed() {
    run(async {
        let upstream = serve(service_fn(echo)).await;
        let front = front(&format!("/ >> {upstream} {{ tunnel-timeout 100ms }}")).await;
        let url = format!("ws://{}/chat", front.address);
        let mut socket = websocket::connect(&url).await.unwrap();
        socket.send("x").await.unwrap();
        assert!(socket.receive().await.unwrap().is_ok());
        assert!(
            !matches!(socket.receive().await, Some(Ok(_))),
            "it is closed"
        );
        until("the place is free", || front.status(upstream).active == 0).await;
    });
}

/// One end may be done while the other goes on.
#[test]
fn half_of_a_tunnel_may_end_first() {
    run(async {
        let upstream = serve(service_fn(async |mut request: Request<Body>| {
            let upgraded = upgrade::on(&mut request).expect("it is asked for");
            thrum_rt::spawn(async move {
                use futures_lite::{AsyncReadExt, AsyncWriteExt};
                let mut connection = upgraded.await.unwrap();
                let mut all = Vec::new();
                connection.read_to_end(&mut all).await.unwrap();
                connection.write_all(&all.repeat(1000)).await.unwrap();
                connection.close().await.unwrap();
            });
            let mut response = Response::new("");
            *response.status_mut() = http::StatusCode::SWITCHING_PROTOCOLS;
            response
                .headers_mut()
                .insert("upgrade", "shout".parse().unwrap());
            response
        }))
        .await;
        let front = front(&format!("/ >> {upstream}")).await;
        let client = front
            .say("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: shout\r\n\r\nearly ")
            .await;
        let head = read_until(&client, "\r\n\r\n").await;
        assert!(
            head.starts_with("HTTP/1.1 101") && head.contains("upgrade: shout\r\n"),
            "{head}"
        );
        client.write_all(b"and late;").await.unwrap();
        client.shutdown(thrum_rt::net::Shutdown::Write).unwrap();
        let text = read_to_end(&client).await;
        assert_eq!(text, "early and late;".repeat(1000));
    });
}

/// Whoever could have HTTP/2 without TLS by an upgrade would speak past everything that is checked here.
#[test]
fn an_upgrade_to_http2_is_not_passed_on_nor_one_that_was_not_asked_for() {
    run(async {
        let upstream = mirror().await;
        let switches = by_hand(async |stream| {
            read_until(&stream, "\r\n\r\n").await;
            let answer = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nowned";
            stream.write_all(answer.as_bytes()).await.unwrap();
            thrum_rt::time::sleep(Duration::from_millis(500)).await;
        })
        .await;
        let front = front(&format!(
            "/mirror >> {upstream}\n/ >> {switches} {{ retries 0 }}"
        ))
        .await;
        let client = front
            .say("GET /mirror HTTP/1.1\r\nhost: a\r\nconnection: upgrade, http2-settings, close\r\nupgrade: h2c\r\nhttp2-settings: AA\r\n\r\n")
            .await;
        let text = read_to_end(&client).await;
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        assert!(
            !text.contains("upgrade") && !text.contains("settings"),
            "{text}"
        );
        assert_eq!(front.get("/").await.0, 502);
    });
}
