//! A request that computes for a second, on the only worker, beside others.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::place::Place;
use crate::support::{connect, get_and_stay};

/// `rabbit`, by bcrypt at cost 14: a second or more.
const USER: &str = "alice:$2b$14$abcdefghijklmnopqrstuuZSg9ildEj3YvlYogxelbDGhODi0zl0y\n";
/// `alice:rabbit`.
const CREDENTIALS: &str = "YWxpY2U6cmFiYml0";

const CLIENTS: usize = 16;

#[test]
fn others_are_answered_while_a_request_computes() {
    let place = Place::new("");
    let folder = place.folder.path();
    std::fs::write(folder.join("users"), USER).unwrap();
    std::fs::create_dir(folder.join("www")).unwrap();
    std::fs::write(folder.join("www/small.txt"), "small").unwrap();
    place.write(
        "127.0.0.1:0 {\n /slow/ -> www { auth-basic \"slow\" users { remember off } }\n / -> www\n}\n",
    );
    let server = place.run(&["--workers", "1"]);
    let address = server.addresses()[0];

    let alone = Asked::until(address, || thread::sleep(Duration::from_secs(1)));
    let mut took = Duration::ZERO;
    let beside = Asked::until(address, || {
        let start = Instant::now();
        let answer = slow(connect(address));
        took = start.elapsed();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    });
    eprintln!("alone, in 1 s: {alone}\nbeside a request that computes for {took:?}: {beside}");
    assert!(took > Duration::from_millis(200), "it is no hog: {took:?}");
    let for_each_second = beside.times.len() as f64 / took.as_secs_f64();
    assert!(for_each_second > 50.0, "they waited for it: {beside}");
    assert!(beside.slowest() < took / 2, "one waited for it: {beside}");
}

fn slow(mut stream: TcpStream) -> String {
    write!(
        stream,
        "GET /slow/small.txt HTTP/1.1\r\nHost: test\r\nAuthorization: Basic {CREDENTIALS}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// How long each of many requests took, in order.
struct Asked {
    times: Vec<Duration>,
}

impl Asked {
    /// Asks over a few connections for as long as something else takes.
    fn until(address: SocketAddr, other: impl FnOnce()) -> Self {
        let over = AtomicBool::new(false);
        let ask = || {
            let mut stream = connect(address);
            let mut times = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let start = Instant::now();
                get_and_stay(&mut stream, "/small.txt", "small");
                times.push(start.elapsed());
                thread::sleep(Duration::from_millis(1));
            }
            times
        };
        let mut times: Vec<_> = thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(ask)).collect();
            other();
            over.store(true, Ordering::Relaxed);
            let all = clients.into_iter();
            all.flat_map(|client| client.join().unwrap()).collect()
        });
        times.sort_unstable();
        Self { times }
    }

    fn slowest(&self) -> Duration {
        self.times.last().copied().unwrap_or_default()
    }
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = |share: f64| {
            let last = self.times.len().saturating_sub(1);
            self.times[(last as f64 * share) as usize]
        };
        write!(
            f,
            "{} answers to {CLIENTS} connections, median {:?}, p99 {:?}, slowest {:?}",
            self.times.len(),
            at(0.5),
            at(0.99),
            self.slowest()
        )
    }
}
