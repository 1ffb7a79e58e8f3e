//! One task sends while another one receives.

use std::time::Duration;

use futures_lite::AsyncWriteExt;
use thrum_http::websocket::{CloseCode, CloseFrame, Error, Message};
use thrum_rt::test::{run, run_seeds};

use super::support::*;

#[test]
fn both_ways_at_once_over_a_narrow_connection() {
    run_seeds(50, || async {
        const MESSAGES: usize = 20;
        let (server, client) = pair(quiet());
        let mut tasks = Vec::new();
        for socket in [server, client] {
            let (mut sender, mut receiver) = socket.split();
            // More than the connection holds: each has to read while it writes.
            tasks.push(thrum_rt::spawn(async move {
                for number in 0..MESSAGES {
                    sender.send(vec![number as u8; 10_000]).await.unwrap();
                }
                std::future::pending().await
            }));
            tasks.push(thrum_rt::spawn(async move {
                for number in 0..MESSAGES {
                    let message = receiver.receive().await.unwrap().unwrap();
                    assert_eq!(message.as_bytes(), vec![number as u8; 10_000]);
                }
            }));
        }
        for receiving in [tasks.remove(3), tasks.remove(1)] {
            receiving.await.unwrap();
        }
        tasks.iter().for_each(|sending| sending.abort());
    });
}

#[test]
fn pings_are_answered_while_the_other_half_waits_to_write() {
    run(async {
        let (socket, mut peer) = served(quiet());
        let (mut sender, mut receiver) = socket.split();
        let sending = thrum_rt::spawn(async move { sender.send(vec![1; 30_000]).await });
        let receiving = thrum_rt::spawn(async move { receiver.receive().await });
        peer.write_all(&masked(FIN | PING, b"p")).await.unwrap();
        assert!(receiving.await.unwrap().unwrap().is_ok());
        assert_eq!(next_frame(&mut peer).await.1.len(), 30_000);
        sending.await.unwrap().unwrap();
        assert_eq!(next_frame(&mut peer).await, (FIN | PONG, b"p".to_vec()));
    });
}

#[test]
fn a_close_frame_of_one_half_sets_the_others_deadline() {
    run(async {
        let (socket, _peer) = served(quiet());
        let (mut sender, mut receiver) = socket.split();
        let receiving = thrum_rt::spawn(async move { receiver.receive().await });
        thrum_rt::time::sleep(Duration::from_secs(1)).await;
        let (code, reason) = (CloseCode::Away, "".into());
        let close = Message::Close(Some(CloseFrame { code, reason }));
        sender.send(close).await.unwrap();
        assert!(matches!(receiving.await.unwrap(), Some(Err(Error::Lost))));
    });
}

#[test]
fn a_sender_that_waits_hears_that_the_connection_is_over() {
    run(async {
        let (socket, mut peer) = served(quiet());
        let (mut sender, mut receiver) = socket.split();
        let sending = thrum_rt::spawn(async move { sender.send(vec![1; 30_000]).await });
        thrum_rt::time::sleep(Duration::from_secs(1)).await;
        peer.write_all(&masked(FIN | CLOSE, b"")).await.unwrap();
        assert!(receiver.receive().await.is_some());
        assert!(receiver.receive().await.is_none());
        let result = sending.await.unwrap();
        assert!(matches!(result, Err(Error::Closed)), "{result:?}");
    });
}
