//! Unix sockets: streams, datagrams and sequenced packets, at paths and abstract names.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::{AsyncReadExt, AsyncWriteExt};
use thrum_rt::net::{
    Shutdown, UnixDatagram, UnixListener, UnixSeqpacket, UnixSeqpacketListener, UnixStream,
};
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{block_on, spawn};

const PATIENCE: Duration = Duration::from_secs(10);

fn abstract_name(name: &str) -> SocketAddr {
    let name = format!("thrum test {} {name}", std::process::id());
    SocketAddr::from_abstract_name(name).unwrap()
}

#[test]
fn a_stream_at_a_path() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        assert_eq!(
            listener.local_addr().unwrap().as_pathname(),
            Some(path.as_path())
        );
        let client = UnixStream::connect(&path).await.unwrap();
        let (server, peer) = listener.accept().await.unwrap();
        assert!(peer.is_unnamed());
        assert!(client.local_addr().unwrap().is_unnamed());
        assert_eq!(
            client.peer_addr().unwrap().as_pathname(),
            Some(path.as_path())
        );
        client.write_all(b"hello").await.unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut received = String::new();
        (&server).read_to_string(&mut received).await.unwrap();
        assert_eq!(received, "hello");
        let error = UnixListener::bind(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        drop(listener);
        let error = UnixStream::connect(&path).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        let error = UnixStream::connect(folder.path().join("none")).await;
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(UnixListener::bind("").is_err());
        assert!(UnixListener::bind("x".repeat(200)).is_err());
    });
}

#[test]
fn a_stream_at_an_abstract_name() {
    block_on(async {
        let address = abstract_name("stream");
        let listener = UnixListener::bind(&address).unwrap();
        let name = listener.local_addr().unwrap();
        assert_eq!(name.as_abstract_name(), address.as_abstract_name());
        let client = UnixStream::connect(&address).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        server.write_all(b"hello").await.unwrap();
        assert_eq!(client.read(&mut [0; 8]).await.unwrap(), 5);
        drop(listener);
        UnixListener::bind(&address).unwrap(); // the name went with its socket
    });
}

#[test]
fn the_kernel_says_who_the_peer_is() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let _client = UnixStream::connect(&path).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        let peer = server.peer_cred().unwrap();
        assert_eq!(peer.pid, Some(std::process::id()));
        assert_eq!(peer.uid, rustix::process::geteuid().as_raw());
        assert_eq!(peer.gid, rustix::process::getegid().as_raw());
    });
}

#[test]
fn a_megabyte_through_the_futures_traits() {
    block_on(async {
        let (mut client, mut server) = UnixStream::pair().unwrap();
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
fn bytes_behind_a_descriptor_are_not_forgotten() {
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
    block_on(async {
        let (client, server) = UnixStream::pair().unwrap();
        // The kernel ends a read where a descriptor was sent along: a short read with more behind it, and no new edge.
        let file = std::fs::File::open("/dev/null").unwrap();
        let files = [std::os::fd::AsFd::as_fd(&file)];
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&files)));
        let part = [IoSlice::new(b"one")];
        rustix::net::sendmsg(&client, &part, &mut control, SendFlags::empty()).unwrap();
        client.write_all(b"two").await.unwrap();
        sleep(Duration::from_millis(20)).await;
        let mut buffer = [0; 64];
        let mut read = 0;
        while read < 6 {
            let more = timeout(PATIENCE, server.read(&mut buffer[read..])).await;
            read += more.expect("the rest is seen").unwrap();
        }
        assert_eq!(&buffer[..6], b"onetwo");
    });
}

#[test]
fn connecting_waits_for_room_in_the_queue() {
    block_on(async {
        let address = abstract_name("queue");
        let std = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
        rustix::net::listen(&std, 0).unwrap(); // the queue holds one
        let listener = UnixListener::from_std(std).unwrap();
        let _first = UnixStream::connect(&address).await.unwrap();
        let second = spawn(async move { UnixStream::connect(&address).await });
        sleep(Duration::from_millis(50)).await;
        assert!(!second.is_finished());
        listener.accept().await.unwrap();
        timeout(PATIENCE, second).await.unwrap().unwrap().unwrap();
    });
}

#[test]
fn datagrams_are_whole_and_answered() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let (here, there) = (folder.path().join("here"), folder.path().join("there"));
        let one = UnixDatagram::bind(&here).unwrap();
        let other = UnixDatagram::bind(&there).unwrap();
        one.send_to(b"first", &there).await.unwrap();
        one.send_to(b"second", &there).await.unwrap();
        let mut buffer = [0; 64];
        assert_eq!(other.peek(&mut buffer).await.unwrap(), 5);
        let (length, from) = other.recv_from(&mut buffer).await.unwrap();
        assert_eq!((length, from.as_pathname()), (5, Some(here.as_path())));
        other.connect(from.as_pathname().unwrap()).unwrap();
        assert_eq!(other.recv(&mut buffer).await.unwrap(), 6);
        other.send(b"answer").await.unwrap();
        assert_eq!(one.recv(&mut buffer).await.unwrap(), 6);
        let error = one.send_to(b"x", folder.path().join("none")).await;
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::NotFound);
    });
}

/// A receiver's queue is full of others' messages: the kernel tells this sender nothing when it empties.
#[test]
fn sending_waits_for_room_at_the_receiver() {
    block_on(async {
        let address = abstract_name("full");
        let receiver = UnixDatagram::bind(&address).unwrap();
        let other = UnixDatagram::unbound().unwrap();
        while other.try_send_to(b"x", &address).is_ok() {}
        for connected in [false, true] {
            let sender = UnixDatagram::unbound().unwrap();
            if connected {
                sender.connect(&address).unwrap();
            }
            let address = address.clone();
            let sending = spawn(async move {
                match connected {
                    true => sender.send(b"late").await,
                    false => sender.send_to(b"late", address).await,
                }
            });
            sleep(Duration::from_millis(50)).await;
            assert!(!sending.is_finished());
            let mut buffer = [0; 8];
            receiver.recv(&mut buffer).await.unwrap();
            let sent = timeout(PATIENCE, sending).await;
            assert_eq!(sent.expect("it is tried again").unwrap().unwrap(), 4);
        }
    });
}

#[test]
fn sequenced_packets() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixSeqpacketListener::bind(&path).unwrap();
        let client = UnixSeqpacket::connect(&path).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        assert_eq!(server.peer_cred().unwrap().pid, Some(std::process::id()));
        let mut buffer = [0; 64];
        client.send(b"one").await.unwrap();
        client.send(b"three").await.unwrap();
        assert_eq!(server.recv(&mut buffer).await.unwrap(), 3);
        assert_eq!(server.recv(&mut buffer).await.unwrap(), 5);
        // More than the socket holds: the sender waits for the receiver.
        let sender = spawn(async move {
            for _ in 0..1000 {
                client.send(&[7; 4096]).await.unwrap();
            }
        });
        let mut large = [0; 8192];
        for _ in 0..1000 {
            let received = timeout(PATIENCE, server.recv(&mut large)).await;
            assert_eq!(received.unwrap().unwrap(), 4096);
        }
        sender.await.unwrap();
        assert_eq!(server.recv(&mut large).await.unwrap(), 0, "the end");
        assert!(UnixStream::connect(&path).await.is_err(), "another kind");
        assert_eq!(listener.accept_errors(), 0);
    });
}

#[test]
fn vectors_fill_and_drain() {
    block_on(async {
        let (client, server) = UnixStream::pair().unwrap();
        let parts = vec![vec![1; 1000]; 3000]; // more parts than one call takes, more bytes than the socket does
        let writer = spawn(async move {
            let mut parts: Vec<_> = parts.iter().map(|part| IoSlice::new(part)).collect();
            parts.insert(0, IoSlice::new(b""));
            client.write_all_vectored(&mut parts).await.unwrap();
        });
        let (mut head, mut tail) = ([0; 700], [0; 9000]);
        let mut total = 0;
        loop {
            let mut buffers = [IoSliceMut::new(&mut head), IoSliceMut::new(&mut tail)];
            match timeout(PATIENCE, server.read_vectored(&mut buffers)).await {
                Ok(Ok(0)) => break,
                Ok(Ok(read)) => total += read,
                other => panic!("{other:?}"),
            }
        }
        writer.await.unwrap();
        assert_eq!(total, 3_000_000);
        assert!(head.iter().chain(&tail).all(|&byte| byte == 1));
    });
}

#[test]
fn many_tasks_share_a_listener() {
    block_on(async {
        let address = abstract_name("shared");
        let listener = Arc::new(UnixListener::bind(&address).unwrap());
        let acceptors: Vec<_> = (0..3)
            .map(|_| {
                let listener = listener.clone();
                spawn(async move { listener.accept().await.unwrap().0 })
            })
            .collect();
        let mut clients = Vec::new();
        for _ in 0..3 {
            clients.push(UnixStream::connect(&address).await.unwrap());
        }
        for acceptor in acceptors {
            timeout(PATIENCE, acceptor).await.unwrap().unwrap();
        }
    });
}
