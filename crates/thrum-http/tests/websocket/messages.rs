//! Messages of all kinds and sizes, whole and in fragments.

use futures_lite::AsyncWriteExt;
use thrum_http::websocket::Message;
use thrum_rt::test::run;

use super::support::*;

#[test]
fn messages_of_all_sizes_come_back() {
    run(async {
        let (mut server, mut client) = pair(quiet());
        let echo = thrum_rt::spawn(async move {
            while let Some(Ok(message)) = server.receive().await {
                if let Message::Text(_) | Message::Binary(_) = message {
                    server.send(message).await.unwrap();
                }
            }
        });
        for length in [0, 1, 125, 126, 127, 4096, 65535, 65536, 1024 * 1024] {
            let bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
            client.send(bytes.clone()).await.unwrap();
            assert_eq!(next(&mut client).await, Message::from(bytes));
            let text = "ä".repeat(length / 2);
            client.send(text.as_str()).await.unwrap();
            assert_eq!(next(&mut client).await.as_text(), Some(text.as_str()));
        }
        drop(client);
        echo.await.unwrap();
    });
}

#[test]
fn fragments_make_one_message_wherever_they_are_cut() {
    run(async {
        let text = "grüße, 世界 🦀";
        for cut in 0..=text.len() {
            let (first, second) = text.as_bytes().split_at(cut);
            let bytes = [
                masked(TEXT, first),
                masked(CONTINUE, b""),
                masked(FIN | CONTINUE, second),
                masked(FIN | CLOSE, b""),
            ];
            let (messages, error, _) = server_meets(quiet(), bytes.concat()).await;
            assert_eq!(messages, [Message::from(text), Message::Close(None)]);
            assert!(error.is_none());
        }
    });
}

#[test]
fn a_message_is_the_same_however_its_bytes_arrive() {
    run(async {
        let bytes = [
            masked(BINARY, &[1; 200]),
            masked(FIN | PING, b"there?"),
            masked(FIN | CONTINUE, &[2; 200]),
        ]
        .concat();
        for step in [1, 2, 3, 7, 100, 1000] {
            let (mut socket, mut peer) = served(quiet());
            let bytes = bytes.clone();
            let writing = thrum_rt::spawn(async move {
                for part in bytes.chunks(step) {
                    peer.write_all(part).await.unwrap();
                    thrum_rt::yield_now().await;
                }
                peer
            });
            assert_eq!(next(&mut socket).await, Message::Ping("there?".into()));
            assert_eq!(
                next(&mut socket).await.as_bytes(),
                [[1; 200], [2; 200]].concat()
            );
            let mut peer = writing.await.unwrap();
            assert_eq!(
                next_frame(&mut peer).await,
                (FIN | PONG, b"there?".to_vec())
            );
        }
    });
}

#[test]
fn what_is_fed_goes_out_with_the_flush() {
    run(async {
        let (mut server, mut client) = pair(quiet());
        for number in 0..100 {
            server.feed(format!("number {number}")).await.unwrap();
        }
        server.flush().await.unwrap();
        for number in 0..100 {
            let expected = format!("number {number}");
            assert_eq!(next(&mut client).await.as_text(), Some(expected.as_str()));
        }
    });
}
