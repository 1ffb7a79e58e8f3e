use std::fs::File;
use std::future::poll_fn;
use std::io::Write;
use std::pin::Pin;
use std::task::Poll;

use futures_io::AsyncWrite;

use super::*;
use crate::wire::would_block;

/// Bytes that differ wherever one looks.
fn pattern(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(length)
    .collect()
}

fn run(test: impl Future<Output = ()>) {
    let runtime = thrum_rt::Runtime::builder().workers(2).build().unwrap();
    runtime.block_on(async {
        timeout(PATIENCE, test)
            .await
            .expect("the test takes too long")
    });
}

#[test]
fn a_large_file_arrives_as_it_is() {
    let authority = Authority::new();
    let connector = authority.connector().build().unwrap();
    let acceptor = authority.acceptor(&["a.test"]).build().unwrap();
    let content = pattern(5_000_001);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&content).unwrap();
    let file = Arc::new(file);
    let length = content.len() as u64;
    let serve = service_fn(move |request: Request<Body>| {
        let body = match request.uri().path() {
            "/file" => Body::file(file.clone(), 0, length),
            _ => Body::from(pattern(length as usize)),
        };
        std::future::ready(Response::new(body))
    });
    with_application(acceptor, serve, async |address, _| {
        for path in ["/file", "/bytes"] {
            let mut wire = connect(&connector, address, "a.test").await.unwrap();
            let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            wire.write_all(request.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            wire.read_to_end(&mut answer).await.unwrap();
            assert!(answer.ends_with(&content), "{path}: {} bytes", answer.len());
            let head = &answer[..answer.len() - content.len()];
            assert!(head.starts_with(b"HTTP/1.1 200") && head.ends_with(b"\r\n\r\n"));
        }
    });
}

#[test]
fn an_upload_arrives_as_it_is_whatever_the_pieces() {
    run(async {
        let (mut client, mut server) = pair().await;
        let content = pattern(300_000);
        let sent = content.clone();
        let sending = thrum_rt::spawn(async move {
            let mut rest = &sent[..];
            for size in [1, 2, 16_383, 16_384, 16_385, 65_536].into_iter().cycle() {
                let (piece, next) = rest.split_at(rest.len().min(size));
                client.write_all(piece).await.unwrap();
                client.flush().await.unwrap();
                rest = next;
                if rest.is_empty() {
                    break;
                }
            }
            client.close().await.unwrap();
            client
        });
        let mut received = Vec::new();
        for size in [1, 3, 100, 16_384, 16_385, 100_000].into_iter().cycle() {
            let mut buffer = vec![0; size];
            match server.read(&mut buffer).await.unwrap() {
                0 => break,
                read => received.extend_from_slice(&buffer[..read]),
            }
        }
        assert!(received == content);
        // What came last stays the end.
        assert_eq!(server.read(&mut [0]).await.unwrap(), 0);
        // The other direction is open still.
        let mut client = sending.await.unwrap();
        server.write_all(b"so long").await.unwrap();
        server.close().await.unwrap();
        let mut rest = String::new();
        client.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "so long");
    });
}

#[test]
fn buffers_are_written_as_one() {
    run(async {
        let (mut client, mut server) = pair().await;
        let content = pattern(200_000);
        let sent = content.clone();
        let sending = thrum_rt::spawn(async move {
            let mut rest = &sent[..];
            while !rest.is_empty() {
                let (one, other) = rest.split_at(rest.len().min(9));
                let buffers = [
                    io::IoSlice::new(one),
                    io::IoSlice::new(&[]),
                    io::IoSlice::new(other),
                ];
                let written = client.write_vectored(&buffers).await.unwrap();
                rest = &rest[written..];
            }
            client.close().await.unwrap();
            client // closing it with tickets unread would reset the connection
        });
        let mut received = Vec::new();
        server.read_to_end(&mut received).await.unwrap();
        assert!(received == content);
        drop(sending.await.unwrap());
    });
}

#[test]
fn a_stream_that_is_cut_short_is_noticed() {
    run(async {
        for by_client in [true, false] {
            let (client, server) = pair().await;
            let (mut cut, mut other) = match by_client {
                true => (client, server),
                false => (server, client),
            };
            cut.write_all(b"all of").await.unwrap();
            cut.flush().await.unwrap();
            // As somebody on the path would.
            cut.socket().shutdown(std::net::Shutdown::Write).unwrap();
            let mut received = Vec::new();
            let error = other.read_to_end(&mut received).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            assert_eq!(received, b"all of");
        }
    });
}

#[test]
fn a_record_that_was_changed_is_noticed() {
    run(async {
        let (mut client, mut server) = pair().await;
        let record = [&[23, 3, 3, 0, 32][..], &[7; 32]].concat();
        client.socket().try_write(&record).unwrap();
        let error = server.read(&mut [0; 10]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        // It stays so, and the client is told.
        assert!(server.read(&mut [0; 10]).await.is_err());
        assert!(server.write(b"x").await.is_err());
        let error = client.read(&mut [0; 10]).await.unwrap_err();
        assert!(error.to_string().contains("BadRecordMac"), "{error}");
    });
}

#[test]
fn a_peer_that_reads_nothing_holds_little_memory() {
    run(async {
        let (mut client, mut server) = pair().await;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&pattern(1_000_000)).unwrap();
        let mut taken: u64 = 0;
        loop {
            let begin = (taken % 1_000_000) as usize;
            match server.try_send_file(&file, begin as u64, 1_000_000 - begin) {
                Ok(sent) => taken += sent as u64,
                Err(error) if would_block(&error) => break,
                Err(error) => panic!("{error}"),
            }
        }
        assert!(server.holds_back());
        assert!(server.session().held_back() < 66 * 1024);
        assert!(
            server
                .try_write(b"x")
                .is_err_and(|error| would_block(&error))
        );
        assert!(server.end().is_err_and(|error| would_block(&error)));
        // And nothing that was taken is lost.
        let reading = thrum_rt::spawn(async move {
            let mut received = Vec::new();
            client.read_to_end(&mut received).await.unwrap();
            received
        });
        poll_fn(|cx| Pin::new(&mut server).poll_close(cx))
            .await
            .unwrap();
        let received = reading.await.unwrap();
        assert_eq!(received.len() as u64, taken);
        let content = pattern(1_000_000);
        assert!(
            received
                .chunks(1_000_000)
                .all(|part| part == &content[..part.len()])
        );
    });
}

#[test]
fn what_is_decrypted_already_is_readable_at_once() {
    run(async {
        let (mut client, mut server) = pair().await;
        client.write_all(b"hello").await.unwrap();
        client.write_all(&[b'x'; 20_000]).await.unwrap();
        client.flush().await.unwrap();
        let mut two = [0; 2];
        let mut left = 20_005;
        while left > 0 {
            poll_fn(|cx| server.poll_readable(cx)).await.unwrap();
            match server.try_read(&mut two) {
                Ok(read) => left -= read,
                Err(error) => assert!(would_block(&error)),
            }
        }
        let error = server.try_read(&mut two).unwrap_err();
        assert!(would_block(&error));
        let waits = poll_fn(|cx| Poll::Ready(server.poll_readable(cx).is_pending())).await;
        assert!(waits);
        assert!(
            server.session().is_idle(),
            "an idle session holds no memory"
        );
    });
}

#[test]
fn a_file_that_has_ended_says_so() {
    run(async {
        let (_client, mut server) = pair().await;
        let file = File::open("/dev/null").unwrap();
        assert_eq!(server.try_send_file(&file, 0, 100).unwrap(), 0);
    });
}
