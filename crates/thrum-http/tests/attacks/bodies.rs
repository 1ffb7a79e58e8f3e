//! Bodies in disguise, too large, or ignored.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use thrum_http::middleware::{Layer, decompression};
use thrum_http::router::Router;
use thrum_http::{Body, Reject, Request};
use thrum_parse::http::ChunkError;

use crate::arena::{AT_BODY, Attack, Seen, all_told, application, count, run, say, server, up_to};

const CHUNKED: &str =
    "POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";

#[test]
fn a_byte_a_chunk() {
    let connections = up_to(50);
    let attack = Attack {
        name: "a byte a chunk",
        connections,
        bytes: AT_BODY,
    };
    let seen = Seen {
        requests: Some(connections as u64),
        ..Seen::default()
    };
    run(attack, server(|_, _| {}), application(), seen, |address| {
        let request = format!("{CHUNKED}{}0\r\n\r\n", "1\r\nx\r\n".repeat(20_000));
        let streams = say(address, connections, request.as_bytes());
        all_told(streams, "HTTP/1.1 200 ")
    });
}

/// A byte of data with each hundred of an extension that means nothing.
#[test]
fn chunk_extensions() {
    let connections = up_to(200);
    let attack = Attack {
        name: "chunk extensions",
        connections,
        bytes: AT_BODY,
    };
    let seen = Seen {
        requests: Some(connections as u64),
        rejects: [(Reject::Chunk(ChunkError::TooLong), connections as u64)].into(),
        ..Seen::default()
    };
    run(attack, server(|_, _| {}), application(), seen, |address| {
        let chunk = format!("1;{}\r\nx\r\n", "e".repeat(100));
        let request = format!("{CHUNKED}{}", chunk.repeat(200));
        let streams = say(address, connections, request.as_bytes());
        all_told(streams, "HTTP/1.1 400 ")
    });
}

/// Chunks without an end. What is read of them is over the limit.
#[test]
fn chunks_over_the_limit() {
    let connections = up_to(200);
    let attack = Attack {
        name: "chunks over the limit",
        connections,
        bytes: AT_BODY,
    };
    let seen = Seen {
        requests: Some(connections as u64),
        rejects: [(Reject::BodyTooLarge, connections as u64)].into(),
        ..Seen::default()
    };
    let server = server(|limits, _| limits.body_bytes = 10_000);
    run(attack, server, application(), seen, |address| {
        let chunk = format!("1000\r\n{}\r\n", "x".repeat(4096));
        let request = format!("{CHUNKED}{}", chunk.repeat(4));
        let streams = say(address, connections, request.as_bytes());
        all_told(streams, "HTTP/1.1 413 ")
    });
}

/// The handler does not care, and the client sends on.
#[test]
fn bodies_that_are_ignored() {
    let connections = up_to(50);
    let attack = Attack {
        name: "bodies that are ignored",
        connections,
        bytes: AT_BODY,
    };
    let seen = Seen {
        requests: Some(connections as u64),
        ..Seen::default()
    };
    run(attack, server(|_, _| {}), application(), seen, |address| {
        let head = "POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n";
        let mut streams = say(address, connections, head.as_bytes());
        for stream in &mut streams {
            while stream.write_all(&[0; 65536]).is_ok() {}
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer); // a reset at the end is what it asks for
            assert!(
                answer.ends_with(b"\r\n\r\nhello"),
                "{}",
                answer.escape_ascii()
            );
        }
        streams
    });
}

/// Kilobytes that become megabytes.
#[test]
fn zip_bomb() {
    let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..1024 {
        bomb.write_all(&[0; 65536]).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    let router = Router::new()
        .get("/good", async || "good")
        .post("/read", async |request: Request<Body>| {
            count(request.into_body()).await
        });
    let connections = up_to(50);
    let attack = Attack {
        name: "zip bomb",
        connections,
        // The window of the decoder, and a piece of each of the three forms.
        bytes: AT_BODY + 96 * 1024,
    };
    let seen = Seen {
        requests: Some(connections as u64),
        ..Seen::default()
    };
    let application = decompression(1024 * 1024).layer(router);
    run(attack, server(|_, _| {}), application, seen, |address| {
        let head = format!(
            "POST /read HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            bomb.len()
        );
        let mut streams = say(address, connections, head.as_bytes());
        for stream in &mut streams {
            let _ = stream.write_all(&bomb);
        }
        for stream in &mut streams {
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            assert!(
                answer.starts_with(b"HTTP/1.1 413 "),
                "{}",
                answer.escape_ascii()
            );
        }
        streams
    });
}
