//! Two ends, or one end and a peer that writes and reads frames by hand.

use futures_lite::{AsyncReadExt, AsyncWriteExt};
use thrum_http::websocket::{CloseCode, Config, Error, Message, WebSocket};
use thrum_rt::io::{Duplex, duplex};

pub(crate) const CONTINUE: u8 = 0;
pub(crate) const TEXT: u8 = 1;
pub(crate) const BINARY: u8 = 2;
pub(crate) const CLOSE: u8 = 8;
pub(crate) const PING: u8 = 9;
pub(crate) const PONG: u8 = 10;
/// The bit of the last frame of a message.
pub(crate) const FIN: u8 = 0x80;

/// Without pings, which tests of other things would have to step over.
pub(crate) fn quiet() -> Config {
    let mut config = Config::default();
    config.keep_alive = None;
    config
}

/// A server's end and a client's.
pub(crate) fn pair(config: Config) -> (WebSocket<Duplex>, WebSocket<Duplex>) {
    let (server, client) = duplex(4096);
    (
        WebSocket::server(server, config),
        WebSocket::client(client, config),
    )
}

/// A server's end, and what a client is made of.
pub(crate) fn served(config: Config) -> (WebSocket<Duplex>, Duplex) {
    let (server, peer) = duplex(4096);
    (WebSocket::server(server, config), peer)
}

/// A client's frame.
pub(crate) fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mask = [0x12, 0x34, 0x56, 0x78];
    let mut frame = header(first, payload.len(), 0x80);
    frame.extend(mask);
    frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(a, b)| a ^ b));
    frame
}

/// A server's frame.
pub(crate) fn plain(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = header(first, payload.len(), 0);
    frame.extend(payload);
    frame
}

fn header(first: u8, length: usize, mask: u8) -> Vec<u8> {
    match length {
        0..126 => vec![first, mask | length as u8],
        126..65536 => [&[first, mask | 126][..], &(length as u16).to_be_bytes()].concat(),
        _ => [&[first, mask | 127][..], &(length as u64).to_be_bytes()].concat(),
    }
}

/// The next frame of a server: its first byte and its payload.
pub(crate) async fn next_frame(peer: &mut Duplex) -> (u8, Vec<u8>) {
    let mut head = [0; 2];
    peer.read_exact(&mut head).await.unwrap();
    assert_eq!(head[1] & 0x80, 0, "a server masks nothing");
    let length = match head[1] {
        126 => {
            let mut long = [0; 2];
            peer.read_exact(&mut long).await.unwrap();
            u16::from_be_bytes(long) as usize
        }
        127 => {
            let mut long = [0; 8];
            peer.read_exact(&mut long).await.unwrap();
            u64::from_be_bytes(long) as usize
        }
        short => short as usize,
    };
    let mut payload = vec![0; length];
    peer.read_exact(&mut payload).await.unwrap();
    (head[0], payload)
}

/// The next frame of a server, which is to be a close frame: its code.
pub(crate) async fn next_close(peer: &mut Duplex) -> CloseCode {
    let (first, payload) = next_frame(peer).await;
    assert_eq!(first, FIN | CLOSE);
    u16::from_be_bytes([payload[0], payload[1]]).into()
}

/// The next message, which is to come.
pub(crate) async fn next(socket: &mut WebSocket<Duplex>) -> Message {
    socket.receive().await.unwrap().unwrap()
}

/// The next error, which is to come, and the end after it.
pub(crate) async fn fault(socket: &mut WebSocket<Duplex>) -> Error {
    let error = socket.receive().await.unwrap().unwrap_err();
    assert!(socket.receive().await.is_none());
    error
}

/// What a server makes of the bytes of a client that sends no more after them: messages, the fault if there was one, and the
/// code in its close frame if there was one.
pub(crate) async fn server_meets(
    config: Config,
    bytes: Vec<u8>,
) -> (Vec<Message>, Option<Error>, Option<CloseCode>) {
    let (mut socket, peer) = served(config);
    let (mut reader, mut writer) = futures_lite::io::split(peer);
    let writing = thrum_rt::spawn(async move {
        // It is cut off when the server has had enough.
        let _ = writer.write_all(&bytes).await;
        let _ = writer.close().await;
    });
    let reading = thrum_rt::spawn(async move {
        let mut answers = Vec::new();
        let _ = reader.read_to_end(&mut answers).await;
        answers
    });
    let (mut messages, mut error) = (Vec::new(), None);
    while let Some(received) = socket.receive().await {
        match received {
            Ok(message) => messages.push(message),
            Err(fault) => error = Some(fault),
        }
    }
    drop(socket);
    writing.await.unwrap();
    let answers = reading.await.unwrap();
    let close = answers
        .iter()
        .position(|&byte| byte == FIN | CLOSE)
        .filter(|at| answers.len() >= at + 4)
        .map(|at| u16::from_be_bytes([answers[at + 2], answers[at + 3]]).into());
    (messages, error, close)
}
