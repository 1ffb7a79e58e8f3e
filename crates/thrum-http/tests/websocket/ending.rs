//! How connections end: in order from either side, and otherwise.

use std::time::Duration;

use futures_lite::{AsyncReadExt, AsyncWriteExt};
use thrum_http::websocket::{CloseCode, CloseFrame, Error, Message};
use thrum_rt::test::run;
use thrum_rt::time::Instant;

use super::support::*;

fn close(code: CloseCode, reason: &str) -> Message {
    Message::Close(Some(CloseFrame {
        code,
        reason: reason.into(),
    }))
}

#[test]
fn either_side_can_end_it() {
    run(async {
        for server_begins in [true, false] {
            let (server, client) = pair(quiet());
            let (first, mut second) = match server_begins {
                true => (server, client),
                false => (client, server),
            };
            let closing = thrum_rt::spawn(async move { first.close(CloseCode::Away, "bye").await });
            assert_eq!(next(&mut second).await, close(CloseCode::Away, "bye"));
            assert!(matches!(second.send("late").await, Err(Error::Closed)));
            assert!(second.receive().await.is_none());
            drop(second);
            closing.await.unwrap().unwrap();
        }
    });
}

#[test]
fn the_close_frame_is_answered_before_it_is_handed_out() {
    run(async {
        let (mut socket, mut peer) = served(quiet());
        let bye = masked(FIN | CLOSE, b"\x03\xe8bye");
        peer.write_all(&bye).await.unwrap();
        assert_eq!(next(&mut socket).await, close(CloseCode::Normal, "bye"));
        drop(socket);
        assert_eq!(next_close(&mut peer).await, CloseCode::Normal);
    });
}

#[test]
fn a_pong_behind_the_peers_close_frame_does_not_meet_a_closed_socket() {
    run(async {
        let (mut socket, mut peer) = served(quiet());
        let talking = thrum_rt::spawn(async move {
            peer.write_all(&masked(FIN | CLOSE, b"")).await.unwrap();
            thrum_rt::time::sleep(Duration::from_secs(1)).await;
            peer.write_all(&masked(FIN | PONG, b"late")).await.unwrap();
            assert_eq!(next_frame(&mut peer).await.0, FIN | CLOSE);
            assert_eq!(peer.read(&mut [0]).await.unwrap(), 0);
        });
        assert_eq!(next(&mut socket).await, Message::Close(None));
        assert!(socket.receive().await.is_none());
        drop(socket);
        talking.await.unwrap();
    });
}

#[test]
fn both_may_begin_at_once() {
    run(async {
        let (mut server, mut client) = pair(quiet());
        server.send(close(CloseCode::Normal, "s")).await.unwrap();
        client.send(close(CloseCode::Normal, "c")).await.unwrap();
        assert_eq!(next(&mut server).await, close(CloseCode::Normal, "c"));
        assert_eq!(next(&mut client).await, close(CloseCode::Normal, "s"));
        assert!(server.receive().await.is_none());
        drop(server);
        assert!(client.receive().await.is_none());
    });
}

#[test]
fn what_was_asked_before_a_close_frame_is_still_answered() {
    run(async {
        let (mut socket, mut peer) = served(quiet());
        let bytes = [
            masked(FIN | TEXT, b"1"),
            masked(FIN | TEXT, b"2"),
            masked(FIN | CLOSE, b""),
        ];
        peer.write_all(&bytes.concat()).await.unwrap();
        for text in ["1", "2"] {
            let message = next(&mut socket).await;
            assert_eq!(message.as_text(), Some(text));
            socket.send(message).await.unwrap();
        }
        assert_eq!(next(&mut socket).await, Message::Close(None));
        assert_eq!(next_frame(&mut peer).await.1, b"1");
        assert_eq!(next_frame(&mut peer).await.1, b"2");
        assert_eq!(next_frame(&mut peer).await.0, FIN | CLOSE);
    });
}

#[test]
fn messages_still_come_after_a_close_frame_was_sent() {
    run(async {
        let (mut server, mut client) = pair(quiet());
        client.send("on its way").await.unwrap();
        server.send(close(CloseCode::Normal, "")).await.unwrap();
        assert!(matches!(server.send("late").await, Err(Error::Closed)));
        assert_eq!(next(&mut server).await.as_text(), Some("on its way"));
        assert!(matches!(next(&mut client).await, Message::Close(_)));
        assert!(matches!(next(&mut server).await, Message::Close(_)));
    });
}

#[test]
fn a_peer_that_does_not_answer_the_close_frame_is_given_up() {
    run(async {
        let (socket, mut peer) = served(quiet());
        let begin = Instant::now();
        let closing = thrum_rt::spawn(async move { socket.close(CloseCode::Normal, "").await });
        assert_eq!(next_close(&mut peer).await, CloseCode::Normal);
        assert!(matches!(closing.await.unwrap(), Err(Error::Lost)));
        assert_eq!(begin.elapsed().as_secs(), 5);
    });
}

#[test]
fn a_peer_that_goes_on_talking_after_its_fault_is_given_up() {
    run(async {
        let (mut socket, mut peer) = served(quiet());
        let begin = Instant::now();
        let talking = thrum_rt::spawn(async move {
            peer.write_all(&plain(FIN | TEXT, b"unmasked"))
                .await
                .unwrap();
            while peer.write_all(&[0; 100]).await.is_ok() {
                thrum_rt::time::sleep(Duration::from_millis(100)).await;
            }
        });
        assert!(matches!(fault(&mut socket).await, Error::Protocol(_)));
        assert_eq!(begin.elapsed().as_secs(), 5);
        drop(socket);
        talking.await.unwrap();
    });
}

#[test]
fn a_connection_that_ends_without_a_close_frame_is_lost() {
    run(async {
        let half = masked(FIN | TEXT, b"half a message");
        for bytes in [&[][..], &half[..1], &half[..half.len() - 1]] {
            let (_, error, _) = server_meets(quiet(), bytes.to_vec()).await;
            assert!(matches!(error, Some(Error::Lost)), "{error:?}");
        }
    });
}

#[test]
fn a_peer_that_is_gone_fails_sending() {
    run(async {
        let (mut socket, peer) = served(quiet());
        drop(peer);
        let result = socket.send("x").await;
        assert!(
            matches!(result, Err(Error::Io(_) | Error::Closed)),
            "{result:?}"
        );
    });
}

#[test]
fn a_peer_that_takes_nothing_is_given_up() {
    run(async {
        let (mut socket, mut peer) = served(quiet());
        let begin = Instant::now();
        let result = socket.send(vec![0; 100_000]).await;
        assert!(matches!(result, Err(Error::WriteTimeout)), "{result:?}");
        assert_eq!(begin.elapsed().as_secs(), 60);
        assert!(socket.receive().await.is_none());
        // Progress, however slow, is enough.
        let (mut socket, mut slow) = served(quiet());
        let sending = thrum_rt::spawn(async move { socket.send(vec![0; 50_000]).await });
        let mut buffer = [0; 2048];
        let mut read = 0;
        while read < 50_004 {
            thrum_rt::time::sleep(Duration::from_secs(30)).await;
            read += slow.read(&mut buffer).await.unwrap();
        }
        sending.await.unwrap().unwrap();
        drop(peer.close().await);
    });
}

#[test]
fn a_close_code_that_nobody_may_send_is_not_passed_on() {
    run(async {
        let bytes = masked(FIN | CLOSE, &1005_u16.to_be_bytes());
        let (messages, _, code) = server_meets(quiet(), bytes).await;
        assert!(
            matches!(&messages[..], [Message::Close(Some(frame))] if frame.code == CloseCode::Protocol)
        );
        assert_eq!(code, Some(CloseCode::Protocol));
    });
}
