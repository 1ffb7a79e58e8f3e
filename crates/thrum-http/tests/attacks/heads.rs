//! Large heads, many fields, and many requests at once.

use std::io::Write;

use thrum_http::Reject;
use thrum_parse::http::HeadError;

use crate::arena::{
    AT_HEAD, Attack, Seen, all_told, application, read_until, run, say, say_deaf, server, up_to,
};

const HEAD_BYTES: usize = 16 * 1024;

/// The largest head that is allowed, over and over, while handlers of others like it wait.
#[test]
fn largest_heads() {
    let connections = up_to(200);
    let attack = Attack {
        name: "largest heads",
        connections,
        // The head as it was read, and the copy that the handler has.
        bytes: AT_HEAD + HEAD_BYTES,
    };
    let seen = Seen {
        requests: Some(10 * connections as u64),
        ..Seen::default()
    };
    run(attack, server(|_, _| {}), application(), seen, |address| {
        let (start, end) = ("GET /wait HTTP/1.1\r\nHost: a\r\nX: ", "\r\n\r\n");
        let value = "x".repeat(HEAD_BYTES - start.len() - end.len());
        let head = [start, &value, end].concat();
        let mut streams = say(address, connections, b"");
        for _ in 0..10 {
            for stream in &mut streams {
                stream.write_all(head.as_bytes()).unwrap();
            }
            for stream in &mut streams {
                read_until(stream, b"waited");
            }
        }
        streams
    });
}

/// As many fields as there may be.
#[test]
fn most_fields() {
    let connections = up_to(300);
    let attack = Attack {
        name: "most fields",
        connections,
        bytes: AT_HEAD + 28 * 1024,
    };
    let seen = Seen {
        requests: Some(5 * connections as u64),
        ..Seen::default()
    };
    run(attack, server(|_, _| {}), application(), seen, |address| {
        let fields: String = (0..99).map(|i| format!("X-Field-{i}: {i}\r\n")).collect();
        let head = format!("GET /wait HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
        let mut streams = say(address, connections, b"");
        for _ in 0..5 {
            for stream in &mut streams {
                stream.write_all(head.as_bytes()).unwrap();
            }
            for stream in &mut streams {
                read_until(stream, b"waited");
            }
        }
        streams
    });
}

#[test]
fn heads_over_the_limits() {
    let long = "x".repeat(HEAD_BYTES + 10_000);
    let heads = [
        (
            HeadError::HeadTooLarge,
            "431",
            format!("GET / HTTP/1.1\r\nHost: a\r\nX: {long}\r\n\r\n"),
        ),
        (
            HeadError::TooManyFields,
            "431",
            format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "A:\r\n".repeat(1000)),
        ),
        (
            HeadError::TargetTooLong,
            "414",
            format!("GET /{long} HTTP/1.1\r\nHost: a\r\n\r\n"),
        ),
    ];
    for (error, status, head) in heads {
        let connections = up_to(300);
        let attack = Attack {
            name: &format!("{error:?}"),
            connections,
            bytes: AT_HEAD,
        };
        let seen = Seen {
            requests: Some(0),
            rejects: [(Reject::Head(error), connections as u64)].into(),
            ..Seen::default()
        };
        run(attack, server(|_, _| {}), application(), seen, |address| {
            let streams = say(address, connections, head.as_bytes());
            all_told(streams, &format!("HTTP/1.1 {status} "))
        });
    }
}

/// Thousands of requests at once, of a client that reads no answer.
#[test]
fn pipelines_of_the_deaf() {
    let connections = up_to(100);
    let attack = Attack {
        name: "pipelines, not read",
        connections,
        // Answers are gathered up to 64 KiB and one more, in memory that grows by doubling.
        bytes: AT_HEAD + 132 * 1024,
    };
    let seen = Seen {
        requests: None,
        write_timeouts: connections as u64,
        ..Seen::default()
    };
    run(attack, server(|_, _| {}), application(), seen, |address| {
        let requests = b"GET /page HTTP/1.1\r\nHost: a\r\n\r\n".repeat(10_000);
        say_deaf(address, connections, &requests)
    });
}
