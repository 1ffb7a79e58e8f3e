//! Other people's ends: Go's gorilla/websocket as client and server, and node's client.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use futures_lite::AsyncReadExt;
use tempfile::TempDir;
use thrum_http::websocket::{Config, KeepAlive, Message, Upgrade, client};
use thrum_http::{Body, Request, Response, Server, service_fn};
use thrum_rt::net::{TcpListener, TcpStream};
use thrum_rt::process::Command;
use thrum_rt::time::timeout;

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn go_as_a_client() {
    thrum_rt::block_on(async {
        let Some((_folder, peer)) = go_peer().await else {
            return;
        };
        echo_for(async |url| {
            let mut command = Command::new(&peer);
            command.args(["client", &url]);
            ends_well(command).await;
        })
        .await;
    });
}

#[test]
fn node_as_a_client() {
    thrum_rt::block_on(async {
        let mut version = Command::new("node");
        version.args(["--experimental-websocket", "--version"]);
        match version.output(1000).await {
            Ok(output) if output.status.success() => {}
            // Not noted as skipped: Debian's is older, and the Go library is a client as well.
            _ => return println!("left out: node has a WebSocket client from 20.10 on"),
        }
        echo_for(async |url| {
            let mut command = Command::new("node");
            command
                .arg("--experimental-websocket")
                .arg(folder().join("client.mjs"))
                .arg(&url);
            ends_well(command).await;
        })
        .await;
    });
}

#[test]
fn go_as_a_server() {
    thrum_rt::block_on(async {
        let Some((_folder, peer)) = go_peer().await else {
            return;
        };
        let mut server = Command::new(&peer)
            .arg("server")
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut address = [0; 64];
        let read = server
            .stdout
            .as_mut()
            .unwrap()
            .read(&mut address)
            .await
            .unwrap();
        let address = std::str::from_utf8(&address[..read]).unwrap().trim();
        let stream = TcpStream::connect(address).await.unwrap();
        let request = Request::get(format!("ws://{address}/"))
            .header("Sec-WebSocket-Protocol", "other, echo")
            .body(())
            .unwrap();
        let (mut socket, answer) = client(stream, request, pinging()).await.unwrap();
        assert_eq!(answer.headers()["sec-websocket-protocol"], "echo");
        let mut messages = Vec::new();
        for size in [0, 1, 125, 126, 65535, 65536, 1_000_000] {
            messages.push(Message::from("ä".repeat(size / 2)));
            messages.push(Message::from(vec![size as u8; size]));
        }
        let talk = async {
            for message in messages {
                socket.send(message.clone()).await.unwrap();
                loop {
                    match socket.receive().await.unwrap().unwrap() {
                        Message::Ping(_) | Message::Pong(_) => {}
                        answer => break assert_eq!(answer, message),
                    }
                }
            }
            socket.send("end").await.unwrap();
            loop {
                match socket.receive().await.unwrap().unwrap() {
                    Message::Close(Some(frame)) => {
                        assert_eq!(u16::from(frame.code), 4000);
                        assert_eq!(frame.reason, "true", "it got pongs");
                        break;
                    }
                    Message::Ping(_) | Message::Pong(_) => {}
                    other => panic!("{other:?}"),
                }
            }
            assert!(socket.receive().await.is_none());
        };
        timeout(PATIENCE, talk).await.unwrap();
    });
}

/// Runs a test with the URL of a server that says everything again and speaks the subprotocol `echo`.
async fn echo_for(test: impl AsyncFnOnce(String)) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let server = Server::new();
    let serving = thrum_rt::spawn({
        let server = server.clone();
        async move { server.serve(listener, service_fn(echo)).await }
    });
    test(url).await;
    server.shutdown(Duration::from_secs(5)).await;
    serving.await.unwrap().unwrap();
}

async fn echo(mut request: Request<Body>) -> Response<Body> {
    match Upgrade::new(&mut request) {
        Ok(upgrade) => {
            let upgrade = upgrade.protocols(&["echo"]).config(pinging());
            upgrade.run(async |mut socket| {
                while let Some(Ok(message)) = socket.receive().await {
                    if let Message::Text(_) | Message::Binary(_) = message {
                        socket.send(message).await.unwrap();
                    }
                }
            })
        }
        Err(rejection) => rejection.into(),
    }
}

/// Pings that may well come in the middle of it all.
fn pinging() -> Config {
    let mut config = Config::default();
    config.keep_alive = Some(KeepAlive {
        after: Duration::from_millis(2),
        pong_within: PATIENCE,
    });
    config
}

async fn ends_well(mut command: Command) {
    command.kill_on_drop(true);
    let output = timeout(PATIENCE, command.output(100_000))
        .await
        .unwrap()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(output.stdout, b"ok\n", "{errors}");
}

/// Builds the peer in Go; none if that is not to be had here.
async fn go_peer() -> Option<(TempDir, PathBuf)> {
    let target = tempfile::tempdir().unwrap();
    let program = target.path().join("peer");
    let mut build = Command::new("go");
    build
        .args(["build", "-buildvcs=false", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir(folder());
    match build.output(100_000).await {
        Ok(output) if output.status.success() => Some((target, program)),
        Ok(output) => {
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
            skip("WebSocket with Go", "its peer could not be built");
            None
        }
        Err(_) => {
            skip("WebSocket with Go", "go is not installed");
            None
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/websocket/peers")
}

/// Says that a peer is missing, to the test command too.
fn skip(what: &str, why: &str) {
    eprintln!("skipped: {what} ({why})");
    if let Some(list) = std::env::var_os("THRUM_SKIPPED") {
        let mut list = OpenOptions::new().append(true).open(list).unwrap();
        writeln!(list, "{what} ({why})").unwrap();
    }
}
