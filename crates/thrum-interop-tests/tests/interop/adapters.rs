//! The traits of tokio and of `futures-io`, one through the other.

use std::io::IoSlice;

use futures_lite::StreamExt;
use thrum::compat::{FromTokio, Io};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex};

use crate::pair;

#[test]
fn bytes_and_their_end_get_through_tokio_traits() {
    thrum::block_on(async {
        let (mut client, mut server) = pair().await;
        let sent: Vec<u8> = (0..1_000_000_u32).map(|i| (i % 251) as u8).collect();
        let expected = sent.clone();
        let sender = thrum::spawn(async move {
            client.write_all(&sent).await.unwrap();
            client.shutdown().await.unwrap();
            client
        });
        // Grows as it goes, so most reads are into memory that nobody has initialised.
        let mut received = Vec::new();
        server.read_to_end(&mut received).await.unwrap();
        assert!(received == expected, "{} bytes", received.len());
        // Only one direction has ended.
        server.write_all(b"thanks").await.unwrap();
        drop(server);
        let mut answer = String::new();
        let mut client = sender.await.unwrap();
        client.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "thanks");
    });
}

#[test]
fn initialised_memory_is_read_into_in_one_go() {
    thrum::block_on(async {
        let source = vec![7; 100_000];
        let mut buffer = vec![0; 100_000];
        let mut reader = Io::new(&source[..]);
        let read = reader.read(&mut buffer).await;
        assert_eq!(read.unwrap(), 100_000);
        assert!(reader.into_inner().is_empty());
        assert_eq!(buffer, source);
    });
}

#[test]
fn an_appended_read_keeps_what_is_there() {
    thrum::block_on(async {
        let mut buffer = b"head ".to_vec();
        Io::new(&b"tail"[..]).read_buf(&mut buffer).await.unwrap();
        assert_eq!(buffer, b"head tail");
        let end = Io::new(&b""[..]).read_buf(&mut buffer).await.unwrap();
        assert_eq!((end, buffer.len()), (0, 9));
    });
}

#[test]
fn vectored_writes_stay_vectored() {
    thrum::block_on(async {
        let (mut client, mut server) = pair().await;
        assert!(client.is_write_vectored());
        let buffers = [IoSlice::new(b"a head, "), IoSlice::new(b"a body")];
        let written = client.write_vectored(&buffers).await;
        assert_eq!(written.unwrap(), 14, "both go in one call");
        drop(client);
        let mut received = String::new();
        server.read_to_string(&mut received).await.unwrap();
        assert_eq!(received, "a head, a body");
    });
}

#[test]
fn a_stream_of_tokio_speaks_futures_io() {
    thrum::block_on(async {
        let (near, far) = duplex(16); // so small that both ends wait for each other
        let mut near = FromTokio::new(near);
        let echo = thrum::spawn(async move {
            let mut far = FromTokio::new(far);
            let mut received = Vec::new();
            futures_lite::AsyncReadExt::read_to_end(&mut far, &mut received)
                .await
                .unwrap();
            received
        });
        let sent = vec![42; 10_000];
        futures_lite::AsyncWriteExt::write_all(&mut near, &sent)
            .await
            .unwrap();
        futures_lite::AsyncWriteExt::close(&mut near).await.unwrap();
        assert_eq!(echo.await.unwrap(), sent);
        let error = futures_lite::AsyncWriteExt::write_all(&mut near, b"more").await;
        assert_eq!(error.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    });
}

#[test]
fn lines_are_read_through_either() {
    thrum::block_on(async {
        let mut lines = tokio::io::AsyncBufReadExt::lines(Io::new(&b"one\ntwo\n"[..]));
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("one"));
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("two"));
        assert_eq!(lines.next_line().await.unwrap(), None);

        let lines = futures_lite::AsyncBufReadExt::lines(FromTokio::new(&b"one\ntwo\n"[..]));
        let lines: Vec<_> = lines.map(Result::unwrap).collect().await;
        assert_eq!(lines, ["one", "two"]);
    });
}
