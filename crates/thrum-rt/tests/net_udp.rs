//! UDP: messages get through whole, with whom they are from.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use thrum_rt::net::UdpSocket;
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{block_on, spawn};

const PATIENCE: Duration = Duration::from_secs(10);

async fn bound() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").await.unwrap()
}

#[test]
fn messages_and_their_senders() {
    block_on(async {
        let (one, other) = (bound().await, bound().await);
        let address = other.local_addr().unwrap();
        assert_eq!(one.send_to(b"first", address).await.unwrap(), 5);
        assert_eq!(one.send_to(b"", address).await.unwrap(), 0);
        assert_eq!(one.send_to(b"a longer one", address).await.unwrap(), 12);
        let from = one.local_addr().unwrap();
        let mut buffer = [0; 8];
        assert_eq!(other.peek_from(&mut buffer).await.unwrap(), (5, from));
        assert_eq!(other.peek(&mut buffer).await.unwrap(), 5);
        assert_eq!(other.recv_from(&mut buffer).await.unwrap(), (5, from));
        assert_eq!(&buffer[..5], b"first");
        assert_eq!(other.recv_from(&mut buffer).await.unwrap(), (0, from));
        assert_eq!(other.recv_from(&mut buffer).await.unwrap(), (8, from));
        assert_eq!(&buffer, b"a longer", "the rest is lost");
        let error = other.try_recv_from(&mut buffer).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    });
}

#[test]
fn a_connected_socket_hears_its_peer_only() {
    block_on(async {
        let (one, other, stranger) = (bound().await, bound().await, bound().await);
        one.connect(other.local_addr().unwrap()).await.unwrap();
        assert_eq!(one.peer_addr().unwrap(), other.local_addr().unwrap());
        let address = one.local_addr().unwrap();
        stranger.send_to(b"not you", address).await.unwrap();
        other.send_to(b"you", address).await.unwrap();
        let mut buffer = [0; 64];
        assert_eq!(one.recv(&mut buffer).await.unwrap(), 3);
        assert_eq!(one.send(b"answer").await.unwrap(), 6);
        assert_eq!(other.recv(&mut buffer).await.unwrap(), 6);
        one.try_send(b"more").unwrap();
        assert_eq!(other.recv(&mut buffer).await.unwrap(), 4);
    });
}

#[test]
fn a_peer_that_is_gone_is_an_error() {
    block_on(async {
        let (one, other) = (bound().await, bound().await);
        one.connect(other.local_addr().unwrap()).await.unwrap();
        drop(other);
        one.send(b"anyone?").await.unwrap();
        let answer = timeout(PATIENCE, one.recv(&mut [0; 8])).await.unwrap();
        assert_eq!(answer.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    });
}

#[test]
fn a_receiver_is_woken_and_a_dropped_receive_takes_nothing() {
    block_on(async {
        let (one, other) = (bound().await, bound().await);
        let address = other.local_addr().unwrap();
        let moment = Duration::from_millis(20);
        assert!(timeout(moment, other.recv(&mut [0; 8])).await.is_err());
        let receiving = spawn(async move {
            let mut buffer = [0; 8];
            let (length, _) = other.recv_from(&mut buffer).await.unwrap();
            buffer[..length].to_vec()
        });
        sleep(moment).await;
        one.send_to(b"hello", address).await.unwrap();
        let received = timeout(PATIENCE, receiving).await.unwrap();
        assert_eq!(received.unwrap(), b"hello");
    });
}

#[test]
fn options_are_kept() {
    block_on(async {
        let socket = bound().await;
        socket.set_ttl(7).unwrap();
        assert_eq!(socket.ttl().unwrap(), 7);
        assert!(!socket.broadcast().unwrap());
        socket.set_broadcast(true).unwrap();
        assert!(socket.broadcast().unwrap());
        socket.set_multicast_loop_v4(false).unwrap();
        assert!(!socket.multicast_loop_v4().unwrap());
        socket.set_multicast_ttl_v4(3).unwrap();
        assert_eq!(socket.multicast_ttl_v4().unwrap(), 3);
    });
}

#[test]
fn a_group_is_heard() {
    block_on(async {
        let (group, interface) = (Ipv4Addr::new(239, 255, 77, 7), Ipv4Addr::LOCALHOST);
        let member = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        member.join_multicast_v4(group, interface).unwrap();
        let sender = bound().await; // bound to the loopback interface, so it sends there
        let port = member.local_addr().unwrap().port();
        sender.send_to(b"all", (group, port)).await.unwrap();
        let received = timeout(PATIENCE, member.recv(&mut [0; 8])).await;
        assert_eq!(received.expect("it is heard").unwrap(), 3);
        member.leave_multicast_v4(group, interface).unwrap();
    });
}
