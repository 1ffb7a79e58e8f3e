//! TCP beyond reading and writing: halves, peeking, vectors, files that end, options.

use std::io::{IoSlice, Write};
use std::time::Duration;

use futures_lite::{AsyncReadExt, AsyncWriteExt};
use thrum_rt::net::{Keepalive, Shutdown, TcpListener, TcpSocket, TcpStream};
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{block_on, spawn};

const PATIENCE: Duration = Duration::from_secs(10);

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    (client, listener.accept().await.unwrap().0)
}

#[test]
fn halves_work_apart_and_dropping_the_writer_ends_its_direction() {
    block_on(async {
        let (client, server) = pair().await;
        let (mut reader, mut writer) = server.into_split();
        let echo = spawn(async move {
            let mut buffer = Vec::new();
            reader.read_to_end(&mut buffer).await.unwrap();
            AsyncWriteExt::write_all(&mut writer, &buffer)
                .await
                .unwrap();
            drop(writer);
            reader // the connection stays open
        });
        client.write_all(b"hello").await.unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let end = timeout(PATIENCE, (&client).read_to_end(&mut answer)).await;
        end.expect("the end is seen").unwrap();
        assert_eq!(answer, b"hello");
        echo.await.unwrap();
    });
}

#[test]
fn halves_are_put_together_again() {
    block_on(async {
        let (client, server) = pair().await;
        let (client_reader, client_writer) = client.into_split();
        let (server_reader, server_writer) = server.into_split();
        let wrong = client_reader.reunite(server_writer).unwrap_err();
        let (client_reader, server_writer) = (wrong.0, wrong.1);
        let client = client_reader.reunite(client_writer).unwrap();
        let server = server_reader.reunite(server_writer).unwrap();
        client.write_all(b"still open").await.unwrap();
        assert_eq!(server.read(&mut [0; 64]).await.unwrap(), 10);
    });
}

#[test]
fn what_is_peeked_is_read_again() {
    block_on(async {
        let (client, server) = pair().await;
        client.write_all(b"hello").await.unwrap();
        let mut buffer = [0; 64];
        for _ in 0..3 {
            assert_eq!(server.peek(&mut buffer).await.unwrap(), 5);
        }
        assert_eq!(server.read(&mut buffer).await.unwrap(), 5);
        let moment = Duration::from_millis(20);
        assert!(timeout(moment, server.peek(&mut buffer)).await.is_err());
        drop(client);
        assert_eq!(server.peek(&mut buffer).await.unwrap(), 0);
    });
}

#[test]
fn all_of_a_vector_is_written() {
    block_on(async {
        let (client, server) = pair().await;
        let parts: Vec<Vec<u8>> = (0..2000u32).map(|part| vec![part as u8; 2000]).collect();
        let expected = parts.concat();
        let writer = spawn(async move {
            let mut slices: Vec<_> = parts.iter().map(|part| IoSlice::new(part)).collect();
            client.write_all_vectored(&mut slices).await.unwrap();
        });
        let mut received = Vec::new();
        (&server).read_to_end(&mut received).await.unwrap();
        writer.await.unwrap();
        assert!(received == expected);
    });
}

/// A file that is shorter than was thought leaves the socket with room, of which no edge would tell.
#[test]
fn writing_goes_on_after_a_file_that_ends_early() {
    block_on(async {
        let (client, server) = pair().await;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        assert_eq!(client.try_sendfile(&file, 8, 100).unwrap(), 2);
        let written = timeout(PATIENCE, client.write_all(b"more")).await;
        written.expect("there is room").unwrap();
        drop(client);
        let mut received = String::new();
        (&server).read_to_string(&mut received).await.unwrap();
        assert_eq!(received, "89more");
    });
}

#[test]
fn what_an_adopted_listener_accepts_is_sent_at_once() {
    block_on(async {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        let _client = TcpStream::connect(address).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        assert!(server.nodelay().unwrap());
    });
}

#[test]
fn options_are_kept() {
    block_on(async {
        let (client, _server) = pair().await;
        assert!(client.nodelay().unwrap());
        client.set_nodelay(false).unwrap();
        assert!(!client.nodelay().unwrap());
        client.set_ttl(9).unwrap();
        assert_eq!(client.ttl().unwrap(), 9);
        assert_eq!(client.keepalive().unwrap(), None);
        let keepalive = Keepalive {
            idle: Duration::from_secs(60),
            interval: Duration::from_secs(10),
            probes: 3,
        };
        client.set_keepalive(Some(keepalive)).unwrap();
        assert_eq!(client.keepalive().unwrap(), Some(keepalive));
        client.set_keepalive(None).unwrap();
        assert_eq!(client.keepalive().unwrap(), None);
        assert_eq!(client.linger().unwrap(), None);
        client.set_linger(Some(Duration::ZERO)).unwrap();
        assert_eq!(client.linger().unwrap(), Some(Duration::ZERO));
        client.set_send_buffer_size(20_000).unwrap();
        assert!(client.send_buffer_size().unwrap() >= 20_000);
        client.set_recv_buffer_size(20_000).unwrap();
        assert!(client.recv_buffer_size().unwrap() >= 20_000);
        client.set_quickack(true).unwrap();
        assert!(client.quickack().unwrap());
        assert!(client.take_error().unwrap().is_none());
    });
}

#[test]
fn a_socket_is_set_up_before_it_listens_or_connects() {
    block_on(async {
        let socket = TcpSocket::v4().unwrap();
        socket.set_reuse_address(true).unwrap();
        socket.set_nodelay(false).unwrap();
        socket.set_keepalive(Some(Keepalive::default())).unwrap();
        socket.set_recv_buffer_size(100_000).unwrap();
        socket.set_send_buffer_size(100_000).unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = socket.local_addr().unwrap();
        let listener = socket.listen(16).unwrap();
        assert_eq!(listener.local_addr().unwrap(), address);
        let socket = TcpSocket::v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let from = socket.local_addr().unwrap();
        let client = socket.connect(address).await.unwrap();
        assert_eq!(client.local_addr().unwrap(), from);
        let (server, peer) = listener.accept().await.unwrap();
        assert_eq!(peer, from);
        assert!(!server.nodelay().unwrap(), "inherited");
        assert_eq!(server.keepalive().unwrap(), Some(Keepalive::default()));
        assert!(client.nodelay().unwrap());
    });
}

#[test]
fn a_port_is_shared_by_those_who_say_so() {
    block_on(async {
        let shared = |port: u16| {
            let socket = TcpSocket::v4().unwrap();
            socket.set_reuse_port(true).unwrap();
            socket.bind(([127, 0, 0, 1], port).into())?;
            socket.listen(128)
        };
        let first = shared(0).unwrap();
        let address = first.local_addr().unwrap();
        let second = shared(address.port()).unwrap();
        assert!(TcpListener::bind(address).await.is_err());
        let mut clients = Vec::new();
        for _ in 0..32 {
            clients.push(TcpStream::connect(address).await.unwrap());
        }
        let tasks = [first, second].map(|listener| {
            spawn(async move {
                let mut accepted = 0;
                let moment = Duration::from_millis(500);
                while let Ok(Ok(_)) = timeout(moment, listener.accept()).await {
                    accepted += 1;
                }
                accepted
            })
        });
        let mut accepted = 0;
        for task in tasks {
            accepted += task.await.unwrap();
        }
        assert_eq!(accepted, 32);
    });
}

#[test]
fn a_client_that_resets_at_once_ends_no_server() {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        for _ in 0..20 {
            let client = TcpStream::connect(address).await.unwrap();
            client.set_linger(Some(Duration::ZERO)).unwrap();
        }
        let last = TcpStream::connect(address).await.unwrap();
        let last = last.local_addr().unwrap();
        loop {
            let accepted = timeout(PATIENCE, listener.accept()).await;
            if accepted.unwrap().unwrap().1 == last {
                break;
            }
        }
    });
}

#[test]
fn a_socket_can_leave_the_runtime_and_come_back() {
    block_on(async {
        let (client, server) = pair().await;
        let client = TcpStream::from_std(client.into_std().unwrap()).unwrap();
        let server = TcpStream::from_std(server.into_std().unwrap()).unwrap();
        let reading = spawn(async move { server.read(&mut [0; 8]).await });
        sleep(Duration::from_millis(10)).await;
        client.write_all(b"hello").await.unwrap();
        assert_eq!(
            timeout(PATIENCE, reading).await.unwrap().unwrap().unwrap(),
            5
        );
    });
}
