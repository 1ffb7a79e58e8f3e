//! Clients that take their time, or say nothing.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::Instant;

use thrum_http::Reject;

use crate::arena::{Attack, MS, Seen, read_to_end, run, say, server, up_to};
use crate::bodies::application;

/// What a connection holds while a head comes: the head's buffer, and the state of a connection at work.
const AT_HEAD: usize = 16 * 1024 + 4096;

#[test]
fn heads_byte_by_byte() {
    let count = up_to(1000);
    let attack = Attack {
        name: "heads byte by byte",
        connections: count,
        bytes: AT_HEAD,
    };
    let seen = Seen {
        rejects: [(Reject::HeadTimeout, count as u64)].into(),
        ..Seen::default()
    };
    run(attack, server(|_, _| {}), application(), seen, |address| {
        let mut streams = say(address, count, b"GET / HTTP/1.1\r\nX: ");
        let begin = Instant::now();
        while begin.elapsed() < MS * 700 {
            for stream in &mut streams {
                let _ = stream.write(b"x"); // the server may have had enough
            }
            thread::sleep(MS * 20);
        }
        timed_out(streams);
    });
}

#[test]
fn half_heads() {
    let count = up_to(3000);
    let attack = Attack {
        name: "half heads",
        connections: count,
        bytes: AT_HEAD,
    };
    let seen = Seen {
        rejects: [(Reject::HeadTimeout, count as u64)].into(),
        ..Seen::default()
    };
    run(attack, server(|_, _| {}), application(), seen, |address| {
        timed_out(say(address, count, b"GET /half HTTP/1.1\r\nHost: "));
    });
}

/// Each is told why.
fn timed_out(streams: Vec<TcpStream>) {
    for mut stream in streams {
        let answer = read_to_end(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    }
}
