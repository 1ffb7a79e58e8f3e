//! TCP: bytes get through, ends are seen, descriptors are used again.

use std::io::{self, IoSlice, Seek, Write};
use std::time::Duration;

use futures_lite::{AsyncReadExt, AsyncWriteExt};
use thrum_rt::net::{Shutdown, TcpListener, TcpStream};
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{Runtime, block_on, spawn};

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    (client, listener.accept().await.unwrap().0)
}

#[test]
fn bytes_and_their_end_get_through() {
    block_on(async {
        let (client, server) = pair().await;
        client.write_all(b"hello").await.unwrap();
        let mut buffer = [0; 64];
        assert_eq!(server.read(&mut buffer).await.unwrap(), 5);
        assert_eq!(&buffer[..5], b"hello");
        // The end comes with the last bytes: after a short read it must still be seen.
        client.write_all(b"bye").await.unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        sleep(Duration::from_millis(20)).await;
        assert_eq!(server.read(&mut buffer).await.unwrap(), 3);
        let end = timeout(Duration::from_secs(5), server.read(&mut buffer)).await;
        assert_eq!(end.expect("the end is seen").unwrap(), 0);
    });
}

#[test]
fn a_megabyte_through_the_futures_traits() {
    block_on(async {
        let (mut client, mut server) = pair().await;
        let sent: Vec<u8> = (0..1_000_000u32).map(|index| (index % 251) as u8).collect();
        let expected = sent.clone();
        let writer = spawn(async move {
            client.write_all(&sent).await.unwrap();
            client.close().await.unwrap();
        });
        let mut received = Vec::new();
        server.read_to_end(&mut received).await.unwrap();
        writer.await.unwrap();
        assert!(received == expected);
    });
}

#[test]
fn vectors_and_files_are_sent() {
    block_on(async {
        let (client, server) = pair().await;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        file.rewind().unwrap();
        let parts = [IoSlice::new(b"ab"), IoSlice::new(b"cd")];
        assert_eq!(client.try_write_vectored(&parts).unwrap(), 4);
        assert_eq!(client.try_write_more(b"-").unwrap(), 1);
        assert_eq!(client.try_sendfile(&file, 3, 4).unwrap(), 4);
        assert_eq!(
            client.try_sendfile(&file, 10, 4).unwrap(),
            0,
            "past the end"
        );
        drop(client);
        let mut received = String::new();
        (&server).read_to_string(&mut received).await.unwrap();
        assert_eq!(received, "abcd-3456");
    });
}

#[test]
fn connecting_where_nobody_listens_is_an_error() {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let error = TcpStream::connect(address).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let error = TcpListener::bind(taken.local_addr().unwrap())
            .await
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    });
}

#[test]
fn a_reset_is_an_error_for_reader_and_writer() {
    block_on(async {
        let (client, server) = pair().await;
        server.write_all(b"unread").await.unwrap();
        sleep(Duration::from_millis(10)).await;
        drop(client); // closed with unread bytes: a reset
        let read = timeout(Duration::from_secs(5), server.read(&mut [0; 8]))
            .await
            .unwrap();
        assert_eq!(read.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
        assert!(server.write_all(b"x").await.is_err());
    });
}

#[test]
fn a_reader_can_be_woken_without_data() {
    block_on(async {
        let (client, server) = pair().await;
        let server = std::sync::Arc::new(server);
        let polls = spawn({
            let server = server.clone();
            async move {
                let mut polls = 0;
                std::future::poll_fn(move |cx| {
                    polls += 1;
                    assert!(server.poll_readable(cx).is_pending());
                    if polls == 2 {
                        std::task::Poll::Ready(polls)
                    } else {
                        std::task::Poll::Pending
                    }
                })
                .await
            }
        });
        sleep(Duration::from_millis(20)).await;
        server.wake_reader();
        assert_eq!(
            timeout(Duration::from_secs(5), polls)
                .await
                .unwrap()
                .unwrap(),
            2
        );
        drop(client);
    });
}

#[test]
fn several_tasks_accept_from_one_listener() {
    block_on(async {
        let listener = std::sync::Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
        let address = listener.local_addr().unwrap();
        let acceptors: Vec<_> = (0..3)
            .map(|_| {
                let listener = listener.clone();
                spawn(async move { listener.accept().await.unwrap().0 })
            })
            .collect();
        let mut clients = Vec::new();
        for _ in 0..3 {
            clients.push(TcpStream::connect(address).await.unwrap());
        }
        for acceptor in acceptors {
            timeout(Duration::from_secs(5), acceptor)
                .await
                .unwrap()
                .unwrap();
        }
    });
}

/// Echoes over many connections that come and go, on several workers: slots are used again and no edge is lost.
#[test]
fn many_short_connections() {
    let runtime = Runtime::builder().workers(3).build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                spawn(async move {
                    let mut buffer = [0; 256];
                    while let Ok(read @ 1..) = connection.read(&mut buffer).await {
                        connection.write_all(&buffer[..read]).await.unwrap();
                    }
                });
            }
        });
        let clients: Vec<_> = (0..20u8)
            .map(|client| {
                spawn(async move {
                    for round in 0..50u8 {
                        let connection = TcpStream::connect(address).await.unwrap();
                        for message in 0..5u8 {
                            let sent = [client, round, message];
                            connection.write_all(&sent).await.unwrap();
                            let mut received = [0; 3];
                            (&connection).read_exact(&mut received).await.unwrap();
                            assert_eq!(received, sent);
                        }
                    }
                })
            })
            .collect();
        for client in clients {
            timeout(Duration::from_secs(60), client)
                .await
                .expect("an edge was lost")
                .unwrap();
        }
    });
}
