//! Futures that are dropped before they are done.

use std::time::Duration;

use futures_lite::AsyncWriteExt;
use thrum_http::websocket::Message;
use thrum_rt::test::{run, run_seeds};
use thrum_rt::time::{sleep, timeout};

use super::support::*;

const MOMENT: Duration = Duration::from_millis(10);

#[test]
fn receiving_can_be_given_up_at_every_byte() {
    run(async {
        let bytes = [
            masked(TEXT, b"one "),
            masked(FIN | PING, b"p"),
            masked(FIN | CONTINUE, b"message"),
        ]
        .concat();
        let (mut socket, mut peer) = served(quiet());
        let mut messages = Vec::new();
        for byte in bytes {
            peer.write_all(&[byte]).await.unwrap();
            if let Ok(received) = timeout(MOMENT, socket.receive()).await {
                messages.push(received.unwrap().unwrap());
            }
        }
        assert_eq!(
            messages,
            [Message::Ping("p".into()), Message::from("one message")]
        );
    });
}

#[test]
fn a_send_that_was_given_up_is_sent_whole_or_not_at_all() {
    run_seeds(20, || async {
        let (mut server, mut client) = pair(quiet());
        let reading = thrum_rt::spawn(async move {
            let mut lengths = Vec::new();
            while let Some(Ok(message)) = client.receive().await {
                sleep(3 * MOMENT).await;
                if let Message::Binary(bytes) = message {
                    assert!(bytes.iter().all(|&byte| byte == bytes.len() as u8));
                    lengths.push(bytes.len());
                }
            }
            lengths
        });
        let mut done = Vec::new();
        for length in 9_000..9_020_usize {
            let sending = server.send(vec![length as u8; length]);
            if timeout(MOMENT, sending).await.is_ok() {
                done.push(length);
            }
        }
        server
            .close(thrum_http::websocket::CloseCode::Normal, "")
            .await
            .unwrap();
        let lengths = reading.await.unwrap();
        assert!(lengths.is_sorted());
        assert!(done.iter().all(|length| lengths.contains(length)));
        assert!(!done.is_empty() && done.len() < 20, "{done:?}");
    });
}

#[test]
fn what_a_dropped_send_left_goes_out_with_receiving() {
    run(async {
        let (mut socket, mut peer) = served(quiet());
        let sending = socket.send(vec![7; 20_000]);
        assert!(timeout(MOMENT, sending).await.is_err());
        let receiving = thrum_rt::spawn(async move { next(&mut socket).await });
        assert_eq!(next_frame(&mut peer).await, (FIN | BINARY, vec![7; 20_000]));
        peer.write_all(&masked(FIN | TEXT, b"got it"))
            .await
            .unwrap();
        assert_eq!(receiving.await.unwrap().as_text(), Some("got it"));
    });
}
