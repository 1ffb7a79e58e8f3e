//! The access log of a real server: what a client sends, and the line that comes of it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use thrum_http::{Body, Request, Response, Server, service_fn};
use thrum_rt::net::TcpListener;
use thrum_server::access_log::AccessLog;

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends these bytes, each on a connection of its own, and returns the lines that are logged, without the time.
fn lines_for(requests: &[&[u8]]) -> Vec<String> {
    let kept = Kept::default();
    let log = AccessLog::to_writer(kept.clone()).unwrap();
    let server = Server::new().observer(log.clone());
    thrum_rt::block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = server.clone();
        let pong = service_fn(async |_: Request<Body>| Response::new("Pong!"));
        thrum_rt::spawn(async move { serving.serve(listener, pong).await });
        for request in requests {
            exchange(address, request);
        }
        server.shutdown(Duration::from_secs(5)).await;
    });
    log.close();
    assert_eq!(log.dropped(), 0);

    let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
    let without_time = |line: &str| {
        let (before, rest) = line.split_once(" [").unwrap();
        let (time, after) = rest.split_once("] ").unwrap();
        assert_eq!(time.len(), "21/Nov/2026:02:07:00 +0000".len());
        format!("{before} {after}")
    };
    text.lines().map(without_time).collect()
}

/// Sends a request and reads until the server closes.
fn exchange(address: SocketAddr, request: &[u8]) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    stream.write_all(request).unwrap();
    let mut response = Vec::new();
    // A server that refuses may reset the connection after its answer.
    let _ = stream.read_to_end(&mut response);
    assert!(response.starts_with(b"HTTP/1.1 "));
}

#[test]
fn what_the_client_sent_and_what_it_got() {
    let lines = lines_for(&[
        b"GET /a?b=c HTTP/1.1\r\nHost: x\r\nConnection: close\r\nReferer: http://example.com/\r\n\
          USER-AGENT: a test\r\n\r\n",
        b"HEAD / HTTP/1.0\r\n\r\n",
    ]);
    assert_eq!(
        lines,
        [
            "127.0.0.1 - - \"GET /a?b=c HTTP/1.1\" 200 5 \"http://example.com/\" \"a test\"",
            "127.0.0.1 - - \"HEAD / HTTP/1.0\" 200 0 \"-\" \"-\"",
        ]
    );
}

#[test]
fn each_request_of_a_connection_has_a_line() {
    let one = b"GET /1 HTTP/1.1\r\nHost: x\r\n\r\n".as_slice();
    let last = b"GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".as_slice();
    let lines = lines_for(&[&[one, one, last].concat()]);
    let targets: Vec<_> = lines
        .iter()
        .map(|line| line.split(' ').nth(4).unwrap())
        .collect();
    assert_eq!(targets, ["/1", "/1", "/2"]);
}

#[test]
fn refused_requests_have_a_line_too() {
    let lines = lines_for(&[b"not HTTP at all\r\n\r\n", b"GET /x HTTP/1.1\r\n\r\n"]);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines[0].starts_with("127.0.0.1 - - \"-\" 400 "),
        "{}",
        lines[0]
    );
    assert!(
        lines[1].starts_with("127.0.0.1 - - \"GET /x HTTP/1.1\" 400 "),
        "{}",
        lines[1]
    );
}

#[test]
fn a_client_cannot_write_lines_of_its_own() {
    let lines = lines_for(&[
        b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nUser-Agent: \" 200 1\t\\\xff \"\r\n\r\n",
    ]);
    assert_eq!(
        lines,
        ["127.0.0.1 - - \"GET / HTTP/1.1\" 200 5 \"-\" \"\\x22 200 1\\x09\\x5C\\xFF \\x22\""]
    );
}

#[test]
fn a_log_that_is_stuck_holds_up_no_request() {
    struct Stuck;
    impl Write for Stuck {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            loop {
                std::thread::park();
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let log = AccessLog::to_writer(Stuck).unwrap();
    let server = Server::new().observer(log.clone());
    thrum_rt::block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = server.clone();
        let pong = service_fn(async |_: Request<Body>| Response::new("Pong!"));
        thrum_rt::spawn(async move { serving.serve(listener, pong).await });
        // More than all buffers hold, in requests whose lines are long.
        let long = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "x".repeat(2000));
        let last = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let start = Instant::now();
        while log.dropped() == 0 {
            assert!(start.elapsed() < Duration::from_secs(20));
            exchange(address, &[long.repeat(20).as_bytes(), last].concat());
        }
        exchange(address, last);
        server.shutdown(Duration::from_secs(5)).await;
    });
    let start = Instant::now();
    log.close();
    assert!(start.elapsed() < Duration::from_secs(5));
}
