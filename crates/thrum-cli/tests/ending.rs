//! Ctrl-C and SIGTERM finish what is open; a second Ctrl-C does not wait.

mod support;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use support::{Running, get_and_stay, serve, site};

/// Far more than all the buffers between a server and a client hold.
const LARGE: usize = 64 * 1024 * 1024;

/// A server, and a client that has asked for a large file and read the first of it.
fn with_open_request(folder: &std::path::Path) -> (Running, TcpStream, Vec<u8>) {
    fs::write(folder.join("large"), vec![b'x'; LARGE]).unwrap();
    let server = serve(folder, &[]);
    let mut stream = server.connect();
    write!(stream, "GET /large HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    let mut first = vec![0; 10_000];
    stream.read_exact(&mut first).unwrap();
    (server, stream, first)
}

#[test]
fn ctrl_c_finishes_an_open_request() {
    let site = site();
    let (mut server, mut stream, mut response) = with_open_request(site.path());
    server.signal(Signal::INT);
    server.wait_for_stderr("Finishing open requests");
    assert!(!server.has_ended());

    stream.read_to_end(&mut response).unwrap();
    let head = response
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap()
        + 4;
    assert_eq!(response.len() - head, LARGE);
    let said = server.ended();
    assert_eq!(said.code(), Some(0), "{}", said.stderr);
    assert!(
        said.stderr
            .contains("Answered 1 request on 1 connection in "),
        "{}",
        said.stderr
    );
    assert!(!said.stderr.contains("cut off"), "{}", said.stderr);
}

#[test]
fn no_new_connections_after_ctrl_c() {
    let site = site();
    let (server, stream, _) = with_open_request(site.path());
    let address = server.addresses()[0];
    server.signal(Signal::INT);
    server.wait_for_stderr("Finishing open requests");
    assert!(TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_err());
    drop(stream);
    assert_eq!(server.ended().code(), Some(0));
}

#[test]
fn a_second_ctrl_c_does_not_wait() {
    let site = site();
    let (server, _stream, _) = with_open_request(site.path());
    server.signal(Signal::INT);
    server.wait_for_stderr("Finishing open requests");
    let start = Instant::now();
    assert_eq!(server.interrupted().code(), Some(130));
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[test]
fn idle_connections_hold_nothing_up() {
    for signal in [Signal::INT, Signal::TERM] {
        let site = site();
        let server = serve(site.path(), &[]);
        let mut stream = server.connect();
        get_and_stay(&mut stream, "/", "hello");
        let start = Instant::now();
        server.signal(signal);
        let said = server.ended();
        assert_eq!(said.code(), Some(0), "{}", said.stderr);
        assert!(
            start.elapsed() < Duration::from_secs(3),
            "{:?}",
            start.elapsed()
        );
    }
}
