//! Buffers with limits, copying one way and both, and moving bytes inside the kernel.

use std::io::Write;
use std::time::Duration;

use thrum_rt::io::{self, AsyncReadExt, AsyncWriteExt, BufReader, BufWriter, ErrorKind, duplex};
use thrum_rt::net::{Shutdown, TcpListener, TcpStream};
use thrum_rt::pipe::pipe;
use thrum_rt::time::timeout;
use thrum_rt::{block_on, spawn};

const SECONDS: Duration = Duration::from_secs(10);

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    (client, listener.accept().await.unwrap().0)
}

fn pattern(length: u32) -> Vec<u8> {
    (0..length).map(|index| (index % 251) as u8).collect()
}

#[test]
fn lines_have_a_limit() {
    block_on(async {
        let mut reader = BufReader::with_capacity(4, &b"short\nfar too long\nlast"[..]);
        let mut line = String::from("> ");
        assert_eq!(io::read_line(&mut reader, &mut line, 6).await.unwrap(), 6);
        assert_eq!(line, "> short\n");
        let error = io::read_line(&mut reader, &mut line, 6).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(line, "> short\n", "as it was");
        let mut rest = Vec::new();
        io::read_until(&mut reader, b'\n', &mut rest, 100)
            .await
            .unwrap();
        assert_eq!(rest, b"o long\n");
        rest.clear();
        assert_eq!(
            io::read_until(&mut reader, b'\n', &mut rest, 4)
                .await
                .unwrap(),
            4
        );
        assert_eq!(rest, b"last", "the end of the input ends a line too");
        assert_eq!(
            io::read_until(&mut reader, b'\n', &mut rest, 4)
                .await
                .unwrap(),
            0
        );
    });
}

#[test]
fn a_line_must_be_text() {
    block_on(async {
        let mut reader = &b"\xff\n"[..];
        let mut line = String::new();
        let error = io::read_line(&mut reader, &mut line, 10).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    });
}

#[test]
fn dropping_a_wait_for_a_line_loses_nothing() {
    block_on(async {
        let (mut a, b) = duplex(64);
        let mut lines = io::lines(BufReader::new(b), 8);
        a.write_all(b"half").await.unwrap();
        let early = timeout(Duration::from_millis(5), lines.next_line()).await;
        assert!(early.is_err());
        a.write_all(b" it\nfar too long").await.unwrap();
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "half it");
        let error = lines.next_line().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    });
}

#[test]
fn all_up_to_a_limit() {
    block_on(async {
        let sent = pattern(100_000);
        let mut output = b"> ".to_vec();
        let read = io::read_to_end(&mut &sent[..], &mut output, 100_000).await;
        assert_eq!(read.unwrap(), 100_000);
        assert!(output[2..] == sent);
        output.clear();
        let error = io::read_to_end(&mut &sent[..], &mut output, 99_999)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert!(output == sent[..99_999]);
        output.clear();
        assert!(
            io::read_to_end(&mut &sent[..1], &mut output, 0)
                .await
                .is_err()
        );
        assert_eq!(
            io::read_to_end(&mut &b""[..], &mut output, 0)
                .await
                .unwrap(),
            0
        );
    });
}

#[test]
fn dropping_a_limited_read_loses_nothing() {
    block_on(async {
        let (mut a, mut b) = duplex(64);
        a.write_all(b"one ").await.unwrap();
        let mut output = Vec::new();
        let early = io::read_to_end(&mut b, &mut output, 100);
        assert!(timeout(Duration::from_millis(5), early).await.is_err());
        assert_eq!(output, b"one ");
        a.write_all(b"two").await.unwrap();
        drop(a);
        io::read_to_end(&mut b, &mut output, 100).await.unwrap();
        assert_eq!(output, b"one two");
    });
}

#[test]
fn buffered_lines() {
    block_on(async {
        let (a, b) = duplex(8);
        let sender = spawn(async move {
            let mut writer = BufWriter::new(a);
            for line in ["one\n", "two\r\n", "three"] {
                writer.write_all(line.as_bytes()).await.unwrap();
            }
            writer.flush().await.unwrap();
        });
        let mut lines = io::lines(BufReader::new(b), 6);
        let mut all = Vec::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            all.push(line);
        }
        assert_eq!(all, ["one", "two", "three"]);
        sender.await.unwrap();
    });
}

#[test]
fn a_connection_in_memory() {
    block_on(async {
        let (mut a, mut b) = duplex(3);
        let sent = pattern(10_000);
        let expected = sent.clone();
        let sender = spawn(async move {
            a.write_all(&sent).await.unwrap();
            a.close().await.unwrap();
            let mut answer = Vec::new();
            a.read_to_end(&mut answer).await.unwrap();
            answer
        });
        let mut received = Vec::new();
        timeout(SECONDS, b.read_to_end(&mut received))
            .await
            .unwrap()
            .unwrap();
        assert!(received == expected);
        b.write_all(b"still open this way").await.unwrap();
        drop(b);
        assert_eq!(sender.await.unwrap(), b"still open this way");
        let (mut a, b) = duplex(3);
        drop(b);
        let error = a.write_all(b"x").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_full_connection_in_memory_is_freed_by_its_end() {
    block_on(async {
        let (mut a, b) = duplex(1);
        let writer = spawn(async move { a.write_all(b"xy").await });
        thrum_rt::time::sleep(Duration::from_millis(10)).await;
        drop(b);
        let error = timeout(SECONDS, writer)
            .await
            .unwrap()
            .unwrap()
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn copying_flushes_while_it_waits() {
    block_on(async {
        let (mut source, from) = duplex(64);
        let (to, mut target) = duplex(64);
        let copying = spawn(async move { io::copy(from, BufWriter::new(to)).await });
        source.write_all(b"hello").await.unwrap();
        let mut buffer = [0; 5];
        // The source is still open.
        timeout(SECONDS, target.read_exact(&mut buffer))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(&buffer, b"hello");
        drop(source);
        assert_eq!(copying.await.unwrap().unwrap(), 5);
    });
}

#[test]
fn copying_without_an_end_lets_others_run() {
    block_on(async {
        let endless = spawn(io::copy(io::repeat(7), io::sink()));
        for _ in 0..10 {
            timeout(SECONDS, spawn(async {})).await.unwrap().unwrap();
        }
        endless.abort();
        let aborted = timeout(SECONDS, endless)
            .await
            .expect("it has await points");
        assert!(aborted.is_err());
    });
}

#[test]
fn copying_without_an_end_can_run_out_of_time() {
    block_on(async {
        let endless = io::copy(io::repeat(7), io::sink());
        let limited = spawn(timeout(Duration::from_millis(20), endless));
        assert!(limited.await.unwrap().is_err());
    });
}

#[test]
fn both_ways_at_once_with_a_half_close() {
    block_on(async {
        let ((client, front), (back, server)) = (pair().await, pair().await);
        let proxy = spawn(async move { io::copy_bidirectional(&front, &back).await });
        let answering = spawn(async move {
            let mut server = server;
            let mut request = Vec::new();
            server.read_to_end(&mut request).await.unwrap(); // needs the client's half-close
            server.write_all(&request).await.unwrap();
            server.write_all(b"!").await.unwrap();
        });
        let sent = pattern(300_000);
        client.write_all(&sent).await.unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let mut client = client;
        timeout(SECONDS, client.read_to_end(&mut answer))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(answer.len(), 300_001);
        assert!(answer[..300_000] == sent);
        answering.await.unwrap();
        assert_eq!(proxy.await.unwrap().unwrap(), (300_000, 300_001));
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_is_sent() {
    block_on(async {
        let (client, mut server) = pair().await;
        let mut file = tempfile::tempfile().unwrap();
        let sent = pattern(3_000_000);
        file.write_all(&sent).unwrap();
        let receiver = spawn(async move {
            let mut received = Vec::new();
            server.read_to_end(&mut received).await.unwrap();
            received
        });
        let part = io::sendfile(&file, 1000, 2_000_000, &client);
        assert_eq!(timeout(SECONDS, part).await.unwrap().unwrap(), 2_000_000);
        // It ends early.
        let rest = io::sendfile(&file, 2_999_990, 5_000, &client);
        assert_eq!(timeout(SECONDS, rest).await.unwrap().unwrap(), 10);
        drop(client);
        let received = receiver.await.unwrap();
        assert!(received[..2_000_000] == sent[1000..2_001_000]);
        assert!(received[2_000_000..] == sent[2_999_990..]);
    });
}

#[test]
#[cfg(target_os = "linux")]
fn sockets_and_pipes_are_spliced() {
    block_on(async {
        let (client, front) = pair().await;
        let (reader, writer) = pipe().unwrap();
        let (back, mut server) = pair().await;
        let first = spawn(async move { io::splice(&front, &writer).await });
        let second = spawn(async move { io::splice(&reader, &back).await });
        let sent = pattern(1_000_000);
        let expected = sent.clone();
        let sender = spawn(async move {
            // In small steps too: a pipe is full when it has no page left, however empty its pages.
            for step in sent[..5_000].chunks(10) {
                client.write_all(step).await.unwrap();
            }
            client.write_all(&sent[5_000..]).await.unwrap();
        });
        let mut received = Vec::new();
        timeout(SECONDS, server.read_to_end(&mut received))
            .await
            .unwrap()
            .unwrap();
        assert!(received == expected);
        sender.await.unwrap();
        assert_eq!(first.await.unwrap().unwrap(), 1_000_000);
        assert_eq!(second.await.unwrap().unwrap(), 1_000_000);
    });
}
