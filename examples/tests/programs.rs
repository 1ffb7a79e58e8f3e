//! The examples, run as programs.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A program that listens; it says where in its first line, and is killed at the end.
struct Listening {
    child: Child,
    address: String,
}

impl Listening {
    fn start(program: &str) -> Self {
        let mut child = Command::new(program)
            .arg("127.0.0.1:0")
            .env("THRUM_WORKERS", "1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .trim()
            .trim_start_matches("http://")
            .trim_end_matches('/')
            .to_owned();
        Self { child, address }
    }

    fn send(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    /// Says something and no more, and reads all that comes back.
    fn say(&self, text: &str) -> String {
        let stream = self.send(text);
        stream.shutdown(Shutdown::Write).unwrap();
        std::io::read_to_string(stream).unwrap()
    }

    /// hyper drops the request of a client that has closed its end, so this one leaves that open.
    fn get(&self, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        std::io::read_to_string(self.send(&request)).unwrap()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn pong_says_pong() {
    let answer = Listening::start(env!("CARGO_BIN_EXE_pong")).get("/");
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("Pong!\r\n"),
        "{answer}"
    );
}

#[test]
#[cfg(feature = "axum")]
fn axum_routes() {
    let server = Listening::start(env!("CARGO_BIN_EXE_axum"));
    assert!(server.get("/").ends_with("\r\n\r\nPong!\r\n"));
    let answer = server.get("/hello/warp");
    assert!(answer.ends_with("\r\n\r\nHello, warp!\r\n"), "{answer}");
}

#[test]
fn doubling_doubles_and_says_thanks() {
    let server = Listening::start(env!("CARGO_BIN_EXE_doubling"));
    let answer = server.say("7\n-3\nx\n9223372036854775807\n1\nend\n5\n");
    let lines: Vec<_> = answer.lines().collect();
    let expected = ["14", "-6", "not an integer: x", "18446744073709551614", "2"];
    assert_eq!(lines[..5], expected);
    assert!(
        lines[5].starts_with("Thank you") && lines.len() == 6,
        "nothing after the end: {answer}"
    );
    assert_eq!(server.say("8\n9"), "16\n", "a line without its end is none");
    assert!(server.say(&"1".repeat(4096)).contains("too long"));
}

#[test]
fn the_fast_route_does_not_wait_for_the_slow_one() {
    let server = Listening::start(env!("CARGO_BIN_EXE_fibs"));
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| {
            let begin = Instant::now();
            let answer = server.get("/fib/42");
            (answer, begin.elapsed())
        });
        std::thread::sleep(Duration::from_millis(20));
        let begin = Instant::now();
        for _ in 0..10 {
            assert!(server.get("/square/12").ends_with("\r\n144\n"));
        }
        let fast = begin.elapsed();
        let (answer, slow) = slow.join().unwrap();
        assert!(answer.ends_with("\r\n267914296\n"), "{answer}");
        assert!(
            fast < slow,
            "ten fast ones took {fast:?}, the slow one {slow:?}"
        );
    });
    assert!(server.get("/square/x").starts_with("HTTP/1.1 404"));
}

#[test]
fn spawn_creates_and_destroys() {
    let output = Command::new(env!("CARGO_BIN_EXE_spawn"))
        .arg("1000")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "Created 1000 threads.\nDestroyed 1000 threads.\n");
}
