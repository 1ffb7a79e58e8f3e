//! HTTP/2 clients that mean harm, with frames written by hand. Of each: what it is told, what is counted, that the memory
//! stays within bounds, and that another client is served meanwhile.

mod support;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use support::*;
use thrum_http::{Body, Http2Error, Limits, Reject, Request, Response, Server, service_fn};
use thrum_rt::net::TcpStream;
use thrum_rt::time::{sleep, timeout};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const UNKNOWN: u8 = 99;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

const PROTOCOL_ERROR: u32 = 1;
const FLOW_CONTROL_ERROR: u32 = 3;
const ENHANCE_YOUR_CALM: u32 = 11;

/// What handlers hold themselves is not counted.
static LARGE: [u8; 1_000_000] = [b'x'; 1_000_000];

/// More memory than any attack may take: what the limits allow one connection, and what the allocator keeps.
const BOUND_KIB: u64 = 32 * 1024;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A header block of a request: `:method`, `:scheme`, `:path`, `:authority`.
fn block(method: u8, path: &str) -> Vec<u8> {
    let mut block = vec![method, 0x86, 0x04, path.len() as u8];
    block.extend(path.as_bytes());
    block.extend(b"\x01\x04test");
    block
}

fn get(stream: u32, path: &str) -> Vec<u8> {
    frame(
        HEADERS,
        END_STREAM | END_HEADERS,
        stream,
        &block(0x82, path),
    )
}

fn post(stream: u32, path: &str) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, &block(0x83, path))
}

/// A client that has said what it must, with these settings.
async fn open(address: SocketAddr, settings: &[u8]) -> TcpStream {
    let stream = connect(address).await;
    let mut hello = PREFACE.to_vec();
    hello.extend(frame(SETTINGS, 0, 0, settings));
    stream.write_all(&hello).await.unwrap();
    stream
}

/// Reads until the server closes: the reason that it gives in its last GOAWAY.
async fn farewell(stream: &TcpStream) -> Option<u32> {
    let mut all = Vec::new();
    let mut buffer = [0; 65536];
    while let Ok(read @ 1..) = timeout(Duration::from_secs(10), stream.read(&mut buffer))
        .await
        .expect("the server closes")
    {
        all.extend_from_slice(&buffer[..read]);
    }
    let mut rest = &all[..];
    let mut reason = None;
    while rest.len() >= 9 {
        let length = u32::from_be_bytes([0, rest[0], rest[1], rest[2]]) as usize;
        if rest[3] == GOAWAY && rest.len() >= 17 {
            reason = Some(u32::from_be_bytes(rest[13..17].try_into().unwrap()));
        }
        rest = rest.get(9 + length..).unwrap_or_default();
    }
    reason
}

/// The memory of this process: what it has, and what it had at most since it was asked to forget.
fn resident_kib(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.unwrap().parse().unwrap()
}

/// One test after the other, as each looks at the memory of the process, in which its frames are too.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs an attack, with a client that asks every few milliseconds and must not wait for long.
fn attack<F: Future<Output = ()>>(server: Server, attack: impl FnOnce(SocketAddr, Server) -> F) {
    let application = service_fn(async |request: Request<Body>| match request.uri().path() {
        "/never" => std::future::pending().await,
        "/large" => Response::new(Body::from(&LARGE[..])),
        "/read" => {
            let read = request.into_body().bytes(1 << 20).await;
            Response::new(format!("{read:?}").into())
        }
        _ => Response::new("hello".into()),
    });
    with_service(server, application, async |address, server| {
        let longest_ms = Arc::new(AtomicU64::new(0));
        let noted = longest_ms.clone();
        let neighbour = thrum_rt::spawn(async move {
            loop {
                let begin = Instant::now();
                let answer = timeout(Duration::from_secs(5), async {
                    let stream = connect(address).await;
                    let ask = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
                    stream.write_all(ask).await.unwrap();
                    read_to_end(&stream).await
                });
                assert!(answer.await.expect("an answer").ends_with("hello"));
                let took = begin.elapsed();
                assert!(took < Duration::from_secs(2), "{took:?}");
                noted.fetch_max(took.as_millis() as u64, Ordering::Relaxed);
                sleep(Duration::from_millis(3)).await;
            }
        });
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
        let before = resident_kib("VmRSS:");
        attack(address, server.clone()).await;
        let peak = resident_kib("VmHWM:");
        let longest_ms = longest_ms.load(Ordering::Relaxed);
        let stats = server.stats();
        println!(
            "{} KiB more, the neighbour waited {longest_ms} ms at most, {} requests, {} write timeouts, {:?}",
            peak.saturating_sub(before),
            stats.requests,
            stats.write_timeouts,
            stats.rejects
        );
        assert!(peak < before + BOUND_KIB, "{before} KiB, then {peak}");
        assert!(!neighbour.is_finished(), "{:?}", neighbour.await);
        neighbour.abort();
    });
}

/// Sends a flood until the server hangs up: that it says why, and counts it.
fn flood(server: Server, frames: Vec<Vec<u8>>, told: u32, counted: &[Http2Error]) {
    attack(server, async |address, server| {
        let stream = open(address, &[]).await;
        for frames in frames.chunks(100) {
            if stream.write_all(&frames.concat()).await.is_err() {
                break;
            }
        }
        let farewell = farewell(&stream).await;
        // A client that has more to send when the server is gone may not get to see the farewell.
        assert!(
            farewell.is_none_or(|farewell| farewell == told),
            "{farewell:?}"
        );
        let count = || {
            let rejects = server.stats().rejects;
            let count = |why: &Http2Error| rejects.get(&(*why).into()).copied();
            counted.iter().filter_map(count).sum::<u64>()
        };
        let is_counted = until(|| count() == 1).await;
        assert!(is_counted, "{:?}", server.stats().rejects);
    });
}

fn odd(count: u32) -> impl Iterator<Item = u32> {
    (0..count).map(|i| 2 * i + 1)
}

#[test]
fn rapid_reset() {
    let _alone = alone();
    let take_back = |stream| {
        [
            get(stream, "/never"),
            frame(RST_STREAM, 0, stream, &[0, 0, 0, 8]),
        ]
    };
    let frames = odd(20_000)
        .map(|stream| take_back(stream).concat())
        .collect();
    flood(
        Server::new(),
        frames,
        ENHANCE_YOUR_CALM,
        &[Http2Error::TooManyResets],
    );
}

/// CVE-2025-8671: the client does what makes the server reset the stream; here a window that overflows.
#[test]
fn made_you_reset() {
    let _alone = alone();
    let overflow = |stream| frame(WINDOW_UPDATE, 0, stream, &0x7fff_ffff_u32.to_be_bytes());
    let frames = odd(20_000).map(|stream| [get(stream, "/never"), overflow(stream)].concat());
    flood(
        Server::new(),
        frames.collect(),
        ENHANCE_YOUR_CALM,
        &[Http2Error::TooManyFaults],
    );
}

#[test]
fn continuation_flood() {
    let _alone = alone();
    let mut frames = vec![frame(HEADERS, END_STREAM, 1, &block(0x82, "/"))];
    frames.extend(vec![frame(CONTINUATION, 0, 1, b"\x00\x01a\x01b"); 50_000]);
    flood(
        Server::new(),
        frames,
        ENHANCE_YOUR_CALM,
        &[Http2Error::TooManyContinuations],
    );
}

#[test]
fn floods_of_control_frames() {
    let _alone = alone();
    for (kind, flags, stream, payload) in [
        (PING, 0, 0, &[0; 8][..]),
        (PING, 1, 0, &[0; 8]),
        (SETTINGS, 0, 0, &[]),
        (PRIORITY, 0, 1, &[0, 0, 0, 3, 7]),
        (WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]),
        (UNKNOWN, 0, 0, &[]),
    ] {
        let frames = vec![frame(kind, flags, stream, payload); 100_000];
        flood(
            Server::new(),
            frames,
            ENHANCE_YOUR_CALM,
            &[Http2Error::TooManyFrames],
        );
    }
}

/// The answers are not read either.
#[test]
fn ping_flood_of_the_deaf() {
    let _alone = alone();
    attack(short(), async |address, server| {
        let stream = open(address, &[]).await;
        let frames = frame(PING, 0, 0, &[0; 8]).repeat(100_000);
        let _ = timeout(Duration::from_secs(10), stream.write_all(&frames)).await;
        let why = Http2Error::TooManyFrames.into();
        assert!(until(|| server.stats().rejects.contains_key(&why)).await);
        until_closed(&server).await;
    });
}

#[test]
fn floods_of_data_frames_with_next_to_nothing() {
    let _alone = alone();
    use Http2Error::{TooManyFrames, TooManySmallFrames};
    for (path, payload) in [("/never", &b""[..]), ("/read", b""), ("/never", b"x")] {
        let mut frames = vec![post(1, path)];
        frames.extend(vec![frame(DATA, 0, 1, payload); 100_000]);
        let counted = [TooManyFrames, TooManySmallFrames];
        flood(Server::new(), frames, ENHANCE_YOUR_CALM, &counted);
    }
}

/// A field of 4 KiB that is put into the table once and then named ten thousand times, by a byte each.
#[test]
fn header_bomb() {
    let _alone = alone();
    let mut bomb = block(0x82, "/");
    bomb.extend(b"\x40\x01x\x7f\xc1\x1e"); // incremental indexing; a value of 127 + 65 + 30 * 128 bytes
    bomb.extend(vec![b'y'; 4032]);
    bomb.extend(vec![0xbe; 10_000]);
    let frames = vec![frame(HEADERS, END_STREAM | END_HEADERS, 1, &bomb)];
    flood(
        Server::new(),
        frames,
        ENHANCE_YOUR_CALM,
        &[Http2Error::HeadTooLarge],
    );
}

/// Bodies that nobody reads, up to what the windows allow and then beyond.
#[test]
fn bodies_beyond_the_windows() {
    let _alone = alone();
    let mut frames: Vec<_> = odd(100).map(|stream| post(stream, "/never")).collect();
    for _ in 0..20 {
        frames.extend(odd(100).map(|stream| frame(DATA, 0, stream, &[0; 16_000])));
    }
    flood(
        Server::new(),
        frames,
        FLOW_CONTROL_ERROR,
        &[Http2Error::Protocol],
    );
}

#[test]
fn frames_that_are_none() {
    let _alone = alone();
    let frames = vec![frame(DATA, 0, 0, b"to nobody")];
    flood(
        Server::new(),
        frames,
        PROTOCOL_ERROR,
        &[Http2Error::Protocol],
    );
}

/// Waits until something is so.
async fn until(mut is_so: impl FnMut() -> bool) -> bool {
    let wait = async {
        while !is_so() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(10), wait).await.is_ok()
}

/// Waits until none but the neighbour is connected.
async fn until_closed(server: &Server) {
    assert!(until(|| server.stats().open <= 1).await, "all is closed");
}

/// The windows of the streams are closed and stay so: neither long answers nor short ones are taken.
#[test]
fn windows_that_never_open() {
    let _alone = alone();
    let closed = [0, 4, 0, 0, 0, 0];
    for (path, timed_out) in [("/large", 100), ("/", 1)] {
        attack(short(), async |address, server| {
            let stream = open(address, &closed).await;
            let requests: Vec<_> = odd(100).map(|stream| get(stream, path)).collect();
            stream.write_all(&requests.concat()).await.unwrap();
            farewell(&stream).await;
            until_closed(&server).await;
            assert_eq!(server.stats().write_timeouts, timed_out, "{path}");
        });
    }
}

/// What the windows let through is not read from the socket.
#[test]
fn answers_that_are_not_read() {
    let _alone = alone();
    let wide = [0, 4, 0x7f, 0xff, 0xff, 0xff];
    attack(short(), async |address, server| {
        let stream = open(address, &wide).await;
        let mut frames = frame(WINDOW_UPDATE, 0, 0, &0x7000_0000_u32.to_be_bytes());
        frames.extend(odd(100).flat_map(|stream| get(stream, "/large")));
        stream.write_all(&frames).await.unwrap();
        assert!(until(|| server.stats().write_timeouts > 0).await);
        until_closed(&server).await;
        drop(stream);
    });
}

/// Connections that say the least that they must, or less, and then nothing.
#[test]
fn idle_flood() {
    let _alone = alone();
    let headers = [PREFACE, &frame(SETTINGS, 0, 0, &[]), &get(1, "/")[..15]].concat();
    for (said, timed_out) in [
        ([PREFACE, &frame(SETTINGS, 0, 0, &[])].concat(), 0),
        (PREFACE.to_vec(), 200),
        (headers, 200),
    ] {
        attack(short(), async |address, server| {
            let mut connections = Vec::new();
            for _ in 0..200 {
                let stream = connect(address).await;
                stream.write_all(&said).await.unwrap();
                connections.push(stream);
            }
            assert!(until(|| server.stats().accepted > 200).await);
            until_closed(&server).await;
            let rejects = server.stats().rejects;
            let count = rejects.get(&Reject::HeadTimeout).copied().unwrap_or(0);
            assert_eq!(count, timed_out, "{said:?}");
        });
    }
}

/// Pings do not make an idle connection a busy one.
#[test]
fn pings_are_no_sign_of_life() {
    let _alone = alone();
    attack(short(), async |address, server| {
        let stream = open(address, &[]).await;
        let ping = frame(PING, 0, 0, &[0; 8]);
        let begin = Instant::now();
        while stream.write_all(&ping).await.is_ok() {
            assert!(begin.elapsed() < Duration::from_secs(10), "it goes on");
            sleep(Duration::from_millis(20)).await;
        }
        until_closed(&server).await;
    });
}

/// More streams than there may be: those beyond are refused, and the connection goes on.
#[test]
fn too_many_streams() {
    let _alone = alone();
    let mut limits = Limits::default();
    limits.http2.streams = 10;
    attack(Server::new().limits(limits), async |address, _| {
        let stream = open(address, &[]).await;
        let requests: Vec<_> = odd(50).map(|stream| get(stream, "/never")).collect();
        stream.write_all(&requests.concat()).await.unwrap();
        let begin = Instant::now();
        let mut refused = 0;
        let mut buffer = [0; 65536];
        while refused < 40 {
            assert!(begin.elapsed() < Duration::from_secs(10));
            let read = stream.read(&mut buffer).await.unwrap();
            let resets = buffer[..read]
                .windows(5)
                .filter(|head| head == &[0, 0, 4, RST_STREAM, 0]);
            refused += resets.count();
        }
        assert_eq!(refused, 40);
    });
}
