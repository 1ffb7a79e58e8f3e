//! More connections than there may be, and many that come and go.

use std::io::Write;

use crate::arena::{
    AT_HEAD, Attack, Seen, all_told, application, connect, read_until, run, say, server, up_to,
};

/// Those beyond the limit are told so, even though they have sent something that nobody reads.
#[test]
fn connections_past_the_limit() {
    let connections = up_to(1000);
    let served = 100;
    let attack = Attack {
        name: "connections past the limit",
        connections,
        bytes: 2048,
    };
    let seen = Seen {
        requests: Some(served as u64),
        refused: (connections - served) as u64,
        ..Seen::default()
    };
    let server = server(|limits, timeouts| {
        limits.connections = served + 1; // and the other client's
        timeouts.linger *= 10;
        timeouts.idle *= 10;
    });
    run(attack, server, application(), seen, |address| {
        let request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let mut served = say(address, served, request);
        for stream in &mut served {
            read_until(stream, b"hello");
        }
        let mut others = say(address, connections - served.len(), b"");
        for stream in &mut others {
            stream.write_all(request).unwrap();
        }
        all_told(others, "HTTP/1.1 503 ");
        Vec::new()
    });
}

/// Each says something and is gone.
#[test]
fn coming_and_going() {
    let connections = up_to(1000);
    let attack = Attack {
        name: "coming and going",
        connections,
        bytes: AT_HEAD,
    };
    let seen = Seen::default();
    run(attack, server(|_, _| {}), application(), seen, |address| {
        for i in 0..connections {
            let said: &[u8] = match i % 4 {
                0 => b"",
                1 => b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n",
                2 => b"POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab",
                _ => b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n",
            };
            connect(address).write_all(said).unwrap();
        }
        Vec::new()
    });
}
