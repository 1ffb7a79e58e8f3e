//! A server and a client of the crate with each other, over TCP.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use futures_lite::AsyncReadExt;
use thrum_http::websocket::{CloseCode, Config, Message, Upgrade, client, connect, upgrade};
use thrum_http::{Body, Request, Response, Server, service_fn};
use thrum_rt::net::{TcpListener, TcpStream};

/// Runs a test against a server whose `/echo` says everything again, and `/chat` chooses a subprotocol.
fn with_server<F: Future<Output = ()>>(test: impl FnOnce(SocketAddr) -> F) {
    thrum_rt::block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::new();
        let serving = thrum_rt::spawn({
            let server = server.clone();
            async move { server.serve(listener, service_fn(application)).await }
        });
        test(address).await;
        server.shutdown(Duration::from_secs(1)).await;
        serving.await.unwrap().unwrap();
    });
}

async fn application(mut request: Request<Body>) -> Response<Body> {
    match request.uri().path() {
        "/echo" => upgrade(&mut request, async |mut socket| {
            while let Some(Ok(message)) = socket.receive().await {
                if let Message::Text(_) | Message::Binary(_) = message {
                    socket.send(message).await.unwrap();
                }
            }
        }),
        "/chat" => match Upgrade::new(&mut request) {
            Ok(upgrade) => {
                let upgrade = upgrade.protocols(&["chat.3", "chat.2", "chat.1"]);
                let protocol = upgrade.protocol().unwrap_or("none").to_owned();
                upgrade.run(async move |mut socket| {
                    socket.send(protocol).await.unwrap();
                    socket.close(CloseCode::Normal, "").await.unwrap();
                })
            }
            Err(rejection) => rejection.into(),
        },
        _ => Response::new(Body::empty()),
    }
}

#[test]
fn an_echo_comes_back_and_the_end_is_in_order() {
    with_server(async |address| {
        let mut socket = connect(&format!("ws://{address}/echo")).await.unwrap();
        for length in [0, 10, 1000, 100_000, 1_000_000] {
            let text = "x".repeat(length);
            socket.send(text.as_str()).await.unwrap();
            let message = socket.receive().await.unwrap().unwrap();
            assert_eq!(message.as_text(), Some(text.as_str()));
        }
        socket.close(CloseCode::Normal, "done").await.unwrap();
    });
}

#[test]
fn the_server_chooses_what_it_likes_best_of_what_was_offered() {
    with_server(async |address| {
        for (offered, chosen) in [
            (Some("chat.1, chat.2"), Some("chat.2")),
            (Some("other"), None),
            (None, None),
        ] {
            let mut request = Request::get(format!("ws://{address}/chat"));
            if let Some(offered) = offered {
                request = request.header("Sec-WebSocket-Protocol", offered);
            }
            let stream = TcpStream::connect(address).await.unwrap();
            let request = request.body(()).unwrap();
            let (mut socket, answer) = client(stream, request, Config::default()).await.unwrap();
            let named = answer.headers().get("sec-websocket-protocol");
            assert_eq!(named.map(|name| name.to_str().unwrap()), chosen);
            let message = socket.receive().await.unwrap().unwrap();
            assert_eq!(message.as_text(), Some(chosen.unwrap_or("none")));
            assert!(matches!(
                socket.receive().await,
                Some(Ok(Message::Close(_)))
            ));
            assert!(socket.receive().await.is_none());
        }
    });
}

#[test]
fn frames_right_behind_the_request_are_not_lost() {
    with_server(async |address| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = "GET /echo HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        let mut bytes = request.as_bytes().to_vec();
        bytes.extend(super::support::masked(0x81, b"early"));
        bytes.extend(super::support::masked(0x88, b""));
        stream.write_all(&bytes).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let (head, frames) =
            answer.split_at(answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4);
        let head = String::from_utf8(head.to_vec()).unwrap().to_lowercase();
        assert!(head.starts_with("http/1.1 101 "), "{head}");
        assert!(head.contains("\r\nconnection: upgrade\r\n"), "{head}");
        assert!(head.contains("\r\nupgrade: websocket\r\n"), "{head}");
        assert!(
            head.contains("\r\nsec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=\r\n"),
            "{head}"
        );
        assert_eq!(frames, b"\x81\x05early\x88\x00");
    });
}

#[test]
fn what_asks_for_no_websocket_is_refused_and_the_connection_goes_on() {
    with_server(async |address| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let fields = "Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
        let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let requests = [
            "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(),
            format!("GET /echo HTTP/1.1\r\n{fields}{key}Sec-WebSocket-Version: 12\r\n\r\n"),
            format!("GET /echo HTTP/1.1\r\n{fields}Sec-WebSocket-Version: 13\r\n\r\n"),
            format!("POST /echo HTTP/1.1\r\n{fields}{key}Content-Length: 2\r\n\r\nhi"),
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".to_owned(),
        ];
        stream
            .write_all(requests.concat().as_bytes())
            .await
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let statuses: Vec<&str> = answer
            .match_indices("HTTP/1.1 ")
            .map(|(at, _)| &answer[at + 9..at + 12])
            .collect();
        assert_eq!(statuses, ["426", "426", "400", "405", "200"], "{answer}");
        assert!(answer.contains("sec-websocket-version: 13\r\n"), "{answer}");
    });
}
