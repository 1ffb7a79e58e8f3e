//! Clients that take their time, or say nothing.

use std::io::Write;
use std::thread;
use std::time::Instant;

use thrum_http::{Body, Reject, Request, Response, StatusCode, header, service_fn, upgrade};
use thrum_rt::time::timeout;

use crate::arena::{
    AT_BODY, AT_HEAD, Attack, MS, Seen, all_told, application, read_until, run, say, say_deaf,
    server, up_to,
};

#[test]
fn heads_byte_by_byte() {
    let connections = up_to(1000);
    let attack = Attack {
        name: "heads byte by byte",
        connections,
        bytes: AT_HEAD,
    };
    let seen = Seen {
        requests: Some(0),
        rejects: [(Reject::HeadTimeout, connections as u64)].into(),
        ..Seen::default()
    };
    run(attack, server(|_, _| {}), application(), seen, |address| {
        let mut streams = say(address, connections, b"GET / HTTP/1.1\r\nX: ");
        let begin = Instant::now();
        while begin.elapsed() < MS * 700 {
            for stream in &mut streams {
                let _ = stream.write(b"x"); // the server may have had enough
            }
            thread::sleep(MS * 20);
        }
        all_told(streams, "HTTP/1.1 408 ")
    });
}

#[test]
fn half_heads() {
    let connections = up_to(3000);
    let attack = Attack {
        name: "half heads",
        connections,
        bytes: AT_HEAD,
    };
    let seen = Seen {
        requests: Some(0),
        rejects: [(Reject::HeadTimeout, connections as u64)].into(),
        ..Seen::default()
    };
    run(attack, server(|_, _| {}), application(), seen, |address| {
        let streams = say(address, connections, b"GET /half HTTP/1.1\r\nHost: ");
        all_told(streams, "HTTP/1.1 408 ")
    });
}

#[test]
fn bodies_byte_by_byte() {
    let connections = up_to(500);
    let attack = Attack {
        name: "bodies byte by byte",
        connections,
        bytes: AT_BODY,
    };
    let seen = Seen {
        requests: Some(connections as u64),
        body_timeouts: connections as u64,
        ..Seen::default()
    };
    run(attack, server(|_, _| {}), application(), seen, |address| {
        let head = b"POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n";
        let mut streams = say(address, connections, head);
        let begin = Instant::now();
        // Never quiet for long, but at 50 bytes a second, and 500 are asked of it.
        while begin.elapsed() < MS * 1500 {
            for stream in &mut streams {
                let _ = stream.write(b"x");
            }
            thread::sleep(MS * 20);
        }
        all_told(streams, "HTTP/1.1 408 ")
    });
}

#[test]
fn bodies_never_sent() {
    let fields = [
        ("length", "Content-Length: 100000"),
        ("chunked", "Transfer-Encoding: chunked"),
        ("expect", "Content-Length: 100000\r\nExpect: 100-continue"),
    ];
    for (name, fields) in fields {
        let connections = up_to(1000);
        let attack = Attack {
            name: &format!("bodies never sent, {name}"),
            connections,
            bytes: AT_BODY,
        };
        let seen = Seen {
            requests: Some(connections as u64),
            body_timeouts: connections as u64,
            ..Seen::default()
        };
        run(attack, server(|_, _| {}), application(), seen, |address| {
            let head = format!("POST /read HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n");
            let mut streams = say(address, connections, head.as_bytes());
            if name == "expect" {
                for stream in &mut streams {
                    let interim = read_until(stream, b"\r\n\r\n");
                    assert_eq!(interim, b"HTTP/1.1 100 Continue\r\n\r\n");
                }
            }
            all_told(streams, "HTTP/1.1 408 ")
        });
    }
}

/// Large answers of each kind, of which none is read.
#[test]
fn readers_that_read_nothing() {
    for path in ["/bytes", "/file", "/stream"] {
        let connections = up_to(300);
        let attack = Attack {
            name: &format!("answers not read, {path}"),
            connections,
            // A piece of a stream, in memory that grows by doubling.
            bytes: 40 * 1024,
        };
        let seen = Seen {
            requests: Some(connections as u64),
            write_timeouts: connections as u64,
            ..Seen::default()
        };
        run(attack, server(|_, _| {}), application(), seen, |address| {
            let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
            say_deaf(address, connections, request.as_bytes())
        });
    }
}

/// Connections that have got an answer and hold on to the connection.
#[test]
fn idle_connections() {
    let connections = up_to(4000);
    let attack = Attack {
        name: "idle",
        connections,
        // Many of them at work at once, for a moment.
        bytes: 4096,
    };
    let seen = Seen {
        requests: Some(connections as u64),
        ..Seen::default()
    };
    let server = server(|_, timeouts| timeouts.idle = MS * 2500);
    run(attack, server, application(), seen, |address| {
        let before = crate::memory::held();
        let request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let mut streams = say(address, connections, request);
        for stream in &mut streams {
            read_until(stream, b"hello");
        }
        thread::sleep(MS * 300);
        let each = (crate::memory::held() - before) / connections as isize;
        println!("idle: {each} B each at rest");
        assert!(each < 1024, "{each} bytes of a connection at rest");
        all_told(streams, "")
    });
}

/// An upgrade, and then not a word: it is the handler who may wait.
#[test]
fn silent_upgrades() {
    let application = service_fn(async |mut request: Request<Body>| {
        let Some(upgrade) = upgrade::on(&mut request) else {
            return Response::new(Body::from("good"));
        };
        thrum_rt::spawn(async move {
            let mut connection = upgrade.await?;
            let mut bytes = [0; 80];
            let read = futures_lite::AsyncReadExt::read(&mut connection, &mut bytes);
            timeout(MS * 500, read).await.unwrap_or(Ok(0))
        });
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let silence = header::HeaderValue::from_static("silence");
        response.headers_mut().insert(header::UPGRADE, silence);
        response
    });
    let connections = up_to(1000);
    let attack = Attack {
        name: "silent upgrades",
        connections,
        bytes: 8 * 1024,
    };
    let seen = Seen {
        requests: Some(connections as u64),
        ..Seen::default()
    };
    run(attack, server(|_, _| {}), application, seen, |address| {
        let request =
            b"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: silence\r\n\r\n";
        let streams = say(address, connections, request);
        all_told(streams, "HTTP/1.1 101 ")
    });
}
