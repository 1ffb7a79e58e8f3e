//! Names and addresses: what is looked up, and which address wins.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use thrum_rt::block_on;
use thrum_rt::net::{TcpListener, TcpSocket, TcpStream, ToSocketAddrs, UdpSocket, lookup_host};
use thrum_rt::time::timeout;

async fn resolved(name: impl ToSocketAddrs) -> Vec<SocketAddr> {
    lookup_host(name).await.unwrap()
}

#[test]
fn addresses_are_what_they_say() {
    block_on(async {
        let expected: Vec<SocketAddr> = vec!["127.0.0.1:80".parse().unwrap()];
        assert_eq!(resolved("127.0.0.1:80").await, expected);
        assert_eq!(resolved(String::from("127.0.0.1:80")).await, expected);
        assert_eq!(resolved(("127.0.0.1", 80)).await, expected);
        assert_eq!(resolved((String::from("127.0.0.1"), 80)).await, expected);
        assert_eq!(resolved((Ipv4Addr::LOCALHOST, 80)).await, expected);
        assert_eq!(resolved((IpAddr::from([127, 0, 0, 1]), 80)).await, expected);
        assert_eq!(resolved(expected[0]).await, expected);
        assert_eq!(resolved(&expected[..]).await, expected);
        assert_eq!(resolved([expected[0]]).await, expected);
        assert_eq!(resolved("[::1]:80").await, ["[::1]:80".parse().unwrap()]);
        assert_eq!(resolved(("::1", 80)).await, ["[::1]:80".parse().unwrap()]);
    });
}

#[test]
fn a_name_is_looked_up() {
    block_on(async {
        let addresses = resolved("localhost:80").await;
        assert!(!addresses.is_empty());
        assert!(
            addresses
                .iter()
                .all(|address| address.ip().is_loopback() && address.port() == 80)
        );
    });
}

#[test]
fn mistakes_are_errors() {
    block_on(async {
        for text in ["", "localhost", "127.0.0.1", "localhost:65536", "::1"] {
            let error = lookup_host(text).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{text:?}");
        }
        let none: [SocketAddr; 0] = [];
        let error = TcpStream::connect(none).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        // A name that the resolver refuses without asking anyone.
        assert!(lookup_host("no..such name:80").await.is_err());
    });
}

#[test]
fn sockets_take_names() {
    block_on(async {
        let listener = TcpListener::bind("localhost:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = TcpStream::connect(("localhost", port)).await.unwrap();
        assert_eq!(client.peer_addr().unwrap(), listener.local_addr().unwrap());
        UdpSocket::bind("localhost:0").await.unwrap();
    });
}

#[test]
fn connecting_can_be_sent_to_another_thread() {
    fn send<T: Send>(future: T) -> T {
        future
    }
    drop(send(TcpStream::connect("localhost:1")));
    drop(send(TcpListener::bind(("localhost", 1))));
    drop(send(lookup_host("localhost:1")));
}

/// A listener that takes no more connections: to connect to it takes for ever.
async fn full() -> (TcpListener, Vec<std::net::TcpStream>) {
    let socket = TcpSocket::v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let moment = Duration::from_millis(300);
    let mut queued = Vec::new();
    while let Ok(connection) = std::net::TcpStream::connect_timeout(&address, moment) {
        queued.push(connection);
        assert!(queued.len() < 100, "the queue has no end");
    }
    (listener, queued)
}

#[test]
fn an_address_that_does_not_answer_is_overtaken() {
    block_on(async {
        let (full, _queued) = full().await;
        let good = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addresses = [full.local_addr().unwrap(), good.local_addr().unwrap()];
        let connected = timeout(Duration::from_secs(20), TcpStream::connect(addresses)).await;
        let connection = connected.expect("it waits for the first").unwrap();
        assert_eq!(connection.peer_addr().unwrap(), addresses[1]);
        // Alone it goes on until the caller has had enough.
        let alone = TcpStream::connect(addresses[0]);
        assert!(timeout(Duration::from_millis(500), alone).await.is_err());
    });
}

#[test]
fn an_address_that_refuses_holds_nobody_up() {
    block_on(async {
        let mut addresses: Vec<SocketAddr> = Vec::new();
        for _ in 0..20 {
            let refusing = TcpListener::bind("127.0.0.1:0").await.unwrap();
            addresses.push(refusing.local_addr().unwrap());
        }
        let good = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let error = TcpStream::connect(&addresses[..]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        addresses.push(good.local_addr().unwrap());
        let begin = Instant::now();
        TcpStream::connect(addresses).await.unwrap();
        let taken = begin.elapsed();
        assert!(
            taken < Duration::from_secs(4),
            "20 head starts are 5 s: {taken:?}"
        );
    });
}
