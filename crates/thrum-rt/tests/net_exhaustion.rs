//! A listener outlives the lack of descriptors. In a binary of its own, as the limit is the process's.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use thrum_rt::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{block_on, metrics, spawn};

/// Opens files until there are no descriptors left.
fn exhaust() -> Vec<std::fs::File> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(64),
            ..limit
        },
    )
    .unwrap();
    std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect()
}

#[test]
fn accepting_waits_until_there_are_descriptors_again() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let unix = UnixListener::bind(&path).unwrap();
        // Sockets for the clients, before there are none left; they are connected when the server has none.
        let mut files = exhaust();
        files.truncate(files.len() - 2);
        let address = tcp.local_addr().unwrap();
        let tcp_client = TcpStream::connect(address).await.unwrap();
        let unix_client = UnixStream::connect(&path).await.unwrap();
        let accepting = spawn(async move {
            let (one, _) = tcp.accept().await.unwrap();
            let (other, _) = unix.accept().await.unwrap();
            one.write_all(b"tcp").await.unwrap();
            other.write_all(b"unix").await.unwrap();
            (tcp.accept_errors(), unix.accept_errors())
        });
        sleep(Duration::from_millis(100)).await;
        assert!(!accepting.is_finished());
        assert!(metrics().accept_errors > 0);
        // Room for the first only; the second has to wait in its turn.
        drop(files.pop());
        let mut buffer = [0; 8];
        sleep(Duration::from_millis(1500)).await;
        drop(files);
        let patience = Duration::from_secs(20);
        let read = timeout(patience, tcp_client.read(&mut buffer)).await;
        assert_eq!(read.unwrap().unwrap(), 3);
        let read = timeout(patience, unix_client.read(&mut buffer)).await;
        assert_eq!(read.unwrap().unwrap(), 4);
        let (tcp_errors, unix_errors) = accepting.await.unwrap();
        assert!(tcp_errors > 1 && unix_errors > 1);
        // 5 ms, 10, 20, ...: far fewer than if it had tried all the time.
        assert!(tcp_errors < 100, "{tcp_errors}");
        assert_eq!(metrics().accept_errors, tcp_errors + unix_errors);
    });
}
