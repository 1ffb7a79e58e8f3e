//! Pings, pongs, and peers that are no longer there.

use std::time::Duration;

use futures_lite::AsyncWriteExt;
use thrum_http::websocket::{Config, Error, Message};
use thrum_rt::test::run;
use thrum_rt::time::{Instant, sleep};

use super::support::*;

#[test]
fn a_ping_is_answered_by_receiving() {
    run(async {
        let (mut socket, mut peer) = served(quiet());
        let receiving = thrum_rt::spawn(async move { socket.receive().await.unwrap().unwrap() });
        peer.write_all(&masked(FIN | PING, b"a")).await.unwrap();
        assert_eq!(receiving.await.unwrap(), Message::Ping("a".into()));
    });
}

#[test]
fn a_ping_is_answered_while_only_sending() {
    run(async {
        let (mut socket, mut peer) = served(quiet());
        peer.write_all(&masked(FIN | PING, b"a")).await.unwrap();
        peer.write_all(&masked(FIN | TEXT, b"kept")).await.unwrap();
        socket.send("one").await.unwrap();
        assert_eq!(next_frame(&mut peer).await, (FIN | TEXT, b"one".to_vec()));
        assert_eq!(next_frame(&mut peer).await, (FIN | PONG, b"a".to_vec()));
        assert_eq!(next(&mut socket).await.as_text(), Some("kept"));
    });
}

#[test]
fn sending_reads_one_message_ahead_and_no_more() {
    run(async {
        let (mut socket, mut peer) = served(quiet());
        for text in ["1", "2"] {
            let frame = masked(FIN | TEXT, text.as_bytes());
            peer.write_all(&frame).await.unwrap();
        }
        peer.write_all(&masked(FIN | PING, b"a")).await.unwrap();
        socket.send("one").await.unwrap();
        socket.send("two").await.unwrap();
        assert_eq!(next_frame(&mut peer).await.1, b"one");
        assert_eq!(next_frame(&mut peer).await.1, b"two");
        assert_eq!(next(&mut socket).await.as_text(), Some("1"));
        assert_eq!(next(&mut socket).await.as_text(), Some("2"));
        assert_eq!(next(&mut socket).await, Message::Ping("a".into()));
    });
}

#[test]
fn a_flood_of_pings_from_one_who_does_not_read_does_not_pile_up() {
    run(async {
        let (mut socket, mut peer) = served(quiet());
        let flooding = thrum_rt::spawn(async move {
            let ping = masked(FIN | PING, &[0; 125]);
            for _ in 0..10_000 {
                peer.write_all(&ping).await.unwrap();
            }
            peer
        });
        for _ in 0..10_000 {
            assert!(matches!(next(&mut socket).await, Message::Ping(_)));
        }
        let mut peer = flooding.await.unwrap();
        // What the peer finds when it reads at last: the stream's 4 KiB, the write buffer, the newest.
        let receiving = thrum_rt::spawn(async move { socket.receive().await.is_none() });
        let mut pongs = 0;
        loop {
            let frame = next_frame(&mut peer);
            match thrum_rt::time::timeout(Duration::from_secs(1), frame).await {
                Ok((first, _)) => assert_eq!(first, FIN | PONG),
                Err(_) => break,
            }
            pongs += 1;
        }
        let most = (4096 + Config::default().write_buffer + 256) / 127 + 1;
        assert!((1..=most).contains(&pongs), "{pongs} of at most {most}");
        drop(peer);
        receiving.await.unwrap();
    });
}

#[test]
fn a_silent_peer_is_pinged_and_given_up() {
    run(async {
        let (mut socket, mut peer) = served(Config::default());
        let begin = Instant::now();
        let receiving = thrum_rt::spawn(async move { fault(&mut socket).await });
        assert_eq!(next_frame(&mut peer).await, (FIN | PING, vec![]));
        assert!(begin.elapsed() >= Duration::from_secs(30));
        assert!(matches!(receiving.await.unwrap(), Error::PongTimeout));
        let waited = begin.elapsed();
        assert!((60..62).contains(&waited.as_secs()), "{waited:?}");
    });
}

#[test]
fn a_peer_that_answers_pings_stays() {
    run(async {
        let (mut server, mut client) = pair(Config::default());
        let begin = Instant::now();
        let receiving = thrum_rt::spawn(async move {
            while begin.elapsed() < Duration::from_secs(1000) {
                assert!(server.receive().await.unwrap().is_ok());
            }
        });
        let mut frames = 0;
        loop {
            match client.receive().await.unwrap() {
                Ok(Message::Ping(_) | Message::Pong(_)) => frames += 1,
                other => break assert!(matches!(other, Err(Error::Lost)), "{other:?}"),
            }
        }
        receiving.await.unwrap();
        // Whoever is first pings for both: the answer is word enough.
        assert!((30..=70).contains(&frames), "{frames}");
    });
}

#[test]
fn a_message_that_comes_slowly_is_a_sign_of_life() {
    run(async {
        let (mut socket, mut peer) = served(Config::default());
        let receiving = thrum_rt::spawn(async move { next(&mut socket).await });
        for byte in masked(FIN | TEXT, b"slowly") {
            sleep(Duration::from_secs(20)).await;
            peer.write_all(&[byte]).await.unwrap();
        }
        assert_eq!(receiving.await.unwrap().as_text(), Some("slowly"));
    });
}
