//! Sockets from a service manager, which a shell plays: it moves them to where the protocol says.

use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Output};

use rustix::io::{FdFlags, fcntl_getfd};
use thrum_rt::block_on;
use thrum_rt::net::{InheritedSocket, inherited};

/// Runs a test of this file as a service, with two sockets at descriptors 3 and 4.
fn run(service: &str, sockets: [OwnedFd; 2], environment: &str) -> Output {
    let [first, second] = sockets;
    let script = format!("exec 3<&0 4<&1 </dev/null 1>&2; {environment} exec \"$0\" \"$@\"");
    Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", service, "--ignored", "--nocapture"])
        .stdin(first)
        .stdout(second)
        .output()
        .unwrap()
}

fn sockets(folder: &std::path::Path) -> [OwnedFd; 2] {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let unix = UnixDatagram::bind(folder.join("socket")).unwrap();
    [tcp.into(), unix.into()]
}

fn succeeded(output: &Output) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}

#[test]
fn sockets_come_with_their_names_and_kinds_once() {
    let folder = tempfile::tempdir().unwrap();
    let environment = "LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=web:log";
    succeeded(&run("service", sockets(folder.path()), environment));
}

#[test]
fn sockets_for_another_process_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let environment = "LISTEN_PID=1 LISTEN_FDS=2";
    succeeded(&run("bystander", sockets(folder.path()), environment));
}

#[test]
fn descriptors_that_are_not_there_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let environment = "LISTEN_PID=$$ LISTEN_FDS=900";
    succeeded(&run("misled", sockets(folder.path()), environment));
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn service() {
    block_on(async {
        let mut sockets = inherited().unwrap().into_iter();
        let first = sockets.next().unwrap();
        assert_eq!(first.name, "web");
        let InheritedSocket::TcpListener(listener) = first.socket else {
            panic!("{first:?}");
        };
        assert!(is_closed_in_children(&listener));
        let address = listener.local_addr().unwrap();
        let _client = std::net::TcpStream::connect(address).unwrap();
        listener.accept().await.unwrap();
        let second = sockets.next().unwrap();
        assert_eq!(second.name, "log");
        let InheritedSocket::UnixDatagram(socket) = second.socket else {
            panic!("{second:?}");
        };
        assert!(is_closed_in_children(&socket));
        let path = socket.local_addr().unwrap();
        let path = path.as_pathname().unwrap();
        let sender = UnixDatagram::unbound().unwrap();
        sender.send_to(b"hello", path).unwrap();
        assert_eq!(socket.recv(&mut [0; 8]).await.unwrap(), 5);
        assert!(sockets.next().is_none());
        assert!(inherited().unwrap().is_empty(), "they are given once");
    });
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn bystander() {
    block_on(async { assert!(inherited().unwrap().is_empty()) });
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn misled() {
    block_on(async {
        let error = inherited().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    });
}

fn is_closed_in_children(socket: impl AsFd) -> bool {
    fcntl_getfd(socket).unwrap().contains(FdFlags::CLOEXEC)
}
