//! Where an attack takes place: a server in threads of its own, a client that behaves well and looks at its watch, and the
//! figures of both.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body::Frame;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use socket2::{Domain, Socket, Type};
use thrum_http::router::IntoResponse;
use thrum_http::{
    Application, Body, BodyError, Limits, Reject, Request, Response, Server, Stats, Timeouts,
    service_fn,
};
use thrum_rt::net::TcpListener;

use crate::memory;

pub(crate) const MS: Duration = Duration::from_millis(1);

/// Nothing here takes longer, be the machine as busy as it may.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the well-behaved client may wait for one answer. Some milliseconds are usual; other tests want the machine too.
const WORST: Duration = Duration::from_secs(2);

/// Bytes that may be held after a round which were not held after the one before it.
const KEPT: isize = 128 * 1024;

/// What a connection may hold while a head comes: the head's buffer, and the state of a connection at work.
pub(crate) const AT_HEAD: usize = (16 + 4) * 1024;

/// What a connection may hold while a body comes: what a head takes, the request, a piece of the body, and an answer.
pub(crate) const AT_BODY: usize = AT_HEAD + 12 * 1024;

/// An attack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attack<'a> {
    pub(crate) name: &'a str,
    pub(crate) connections: usize,
    /// Bytes that a connection may have the server hold, all counted.
    pub(crate) bytes: usize,
}

/// What the server is to count of one round of an attack, without the well-behaved client.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// `None`: as many as get through.
    pub(crate) requests: Option<u64>,
    pub(crate) rejects: HashMap<Reject, u64>,
    pub(crate) refused: u64,
    pub(crate) body_timeouts: u64,
    pub(crate) write_timeouts: u64,
    pub(crate) panics: u64,
    pub(crate) errors: u64,
}

/// Limits and times that a test can wait for.
pub(crate) fn server(limit: impl FnOnce(&mut Limits, &mut Timeouts)) -> Server {
    let (mut limits, mut timeouts) = (Limits::default(), Timeouts::default());
    timeouts.head = MS * 400;
    timeouts.idle = MS * 800;
    timeouts.body = MS * 400;
    timeouts.body_grace = MS * 300;
    timeouts.write = MS * 400;
    timeouts.linger = MS * 300;
    limit(&mut limits, &mut timeouts);
    Server::new().limits(limits).timeouts(timeouts)
}

/// Runs an attack at least twice and compares it with its bounds, and with what is to be counted of each round. The connections
/// that a round gives back stay open until the server has ended all of its sides.
pub(crate) fn run(
    attack: Attack<'_>,
    server: Server,
    application: impl Application + Sync,
    seen: Seen,
    round: impl Fn(SocketAddr) -> Vec<TcpStream>,
) {
    // One after the other, as each looks at the memory of all threads.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    memory::stand_apart();
    let arena = Arena::open(server, application);
    let client = Client::start(arena.address);

    let (mut levels, mut each) = (Vec::new(), 0);
    while !is_level(&levels) {
        let before = memory::held();
        memory::take_peak();
        let streams = round(arena.address);
        wait_until("all connections to be over", || {
            arena.server.stats().open == 1
        });
        drop(streams);
        let peak = memory::take_peak() - before;
        each = each.max(peak / attack.connections as isize);
        levels.push(memory::held());
    }
    let (times, rounds) = (client.finish(), levels.len() as u64);
    wait_until("the client to be over", || arena.server.stats().open == 0);
    let counted = Seen::of(&arena.server.stats(), times.len() as u64);
    arena.close();
    println!(
        "{:28} {:4} connections, {each:6} B each; another client: {} answers, median {:.1?}, worst {:.1?}; counted in {rounds} rounds: {}",
        attack.name,
        attack.connections,
        times.len(),
        times[times.len() / 2],
        times[times.len() - 1],
        counted.said(),
    );
    assert!(each <= attack.bytes as isize, "{each} bytes a connection");
    assert!(times[times.len() - 1] < WORST, "another client waits");
    let requests = seen
        .requests
        .map_or(counted.requests, |requests| Some(requests * rounds));
    assert_eq!(
        counted,
        Seen {
            requests,
            ..seen.times(rounds)
        }
    );
}

/// Whether as much is held after a round as after the one before. At first it may grow, as threads keep buffers for the next
/// connection, and each thread has its own.
fn is_level(levels: &[isize]) -> bool {
    assert!(levels.len() < 8, "held after each round: {levels:?}");
    matches!(levels, [.., before, last] if last - before < KEPT)
}

impl Seen {
    fn of(stats: &Stats, of_client: u64) -> Self {
        Self {
            requests: Some(stats.requests - of_client),
            rejects: stats.rejects.clone(),
            refused: stats.refused,
            body_timeouts: stats.body_timeouts,
            write_timeouts: stats.write_timeouts,
            panics: stats.panics,
            errors: stats.errors,
        }
    }

    fn times(mut self, rounds: u64) -> Self {
        self.rejects.values_mut().for_each(|count| *count *= rounds);
        self.refused *= rounds;
        self.body_timeouts *= rounds;
        self.write_timeouts *= rounds;
        self
    }

    /// In a few words.
    fn said(&self) -> String {
        let mut said = format!("{} requests", self.requests.unwrap_or_default());
        for (what, count) in [
            ("refused", self.refused),
            ("body timeouts", self.body_timeouts),
            ("write timeouts", self.write_timeouts),
            ("panics", self.panics),
            ("errors", self.errors),
        ] {
            if count > 0 {
                said += &format!(", {count} {what}");
            }
        }
        for (reject, count) in &self.rejects {
            said += &format!(", {count} {reject:?}");
        }
        said
    }
}

/// What the attacks ask.
pub(crate) fn application() -> impl Application + Sync {
    let file = tempfile::tempfile().unwrap();
    file.set_len(64 << 20).unwrap();
    let file = Arc::new(file);
    service_fn(move |request: Request<Body>| {
        let file = file.clone();
        async move {
            Response::new(match request.uri().path() {
                "/good" => Body::from("good"),
                "/read" => {
                    let counted = count(request.into_body()).await;
                    return counted.into_response();
                }
                "/wait" => {
                    thrum_rt::time::sleep(MS * 20).await;
                    Body::from("waited")
                }
                "/page" => Body::from(&ZEROS[..1000]),
                "/bytes" => Body::from(&ZEROS[..]),
                "/file" => Body::file(file, 0, 64 << 20),
                "/stream" => Body::wrap(Endless),
                _ => Body::from("hello"),
            })
        }
    })
}

static ZEROS: [u8; 8 << 20] = [0; 8 << 20];

/// Counts the bytes of a body, and keeps none.
pub(crate) async fn count(mut body: Body) -> Result<String, BodyError> {
    let mut length = 0;
    while let Some(data) = body.chunk().await {
        length += data?.len();
    }
    Ok(length.to_string())
}

/// A body that goes on for ever.
struct Endless;

impl http_body::Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = Bytes::from_static(&ZEROS[..16 * 1024]);
        Poll::Ready(Some(Ok(Frame::data(data))))
    }
}

/// A server in a runtime of its own.
struct Arena {
    server: Server,
    address: SocketAddr,
    over: Arc<AtomicBool>,
    thread: thread::JoinHandle<()>,
}

impl Arena {
    fn open(server: Server, application: impl Application + Sync) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (tell, told) = mpsc::channel();
        let thread = thread::spawn({
            let (server, over) = (server.clone(), over.clone());
            move || {
                let runtime = thrum_rt::Runtime::builder().workers(2).build().unwrap();
                runtime.block_on(async {
                    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                    tell.send(listener.local_addr().unwrap()).unwrap();
                    let serving = thrum_rt::spawn({
                        let server = server.clone();
                        async move { server.serve(listener, application).await }
                    });
                    while !over.load(Ordering::Relaxed) {
                        thrum_rt::time::sleep(MS * 5).await;
                    }
                    let drained = server.shutdown(MS * 500).await;
                    assert_eq!(drained.cut, 0);
                    serving.await.unwrap().unwrap();
                });
            }
        });
        let address = told.recv().unwrap();
        Self {
            server,
            address,
            over,
            thread,
        }
    }

    fn close(self) {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

/// A client that asks every other millisecond over one connection, and is answered every time.
struct Client {
    times: Arc<Mutex<Vec<Duration>>>,
    over: Arc<AtomicBool>,
    thread: thread::JoinHandle<()>,
}

impl Client {
    fn start(address: SocketAddr) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let times = Arc::new(Mutex::new(Vec::new()));
        let thread = thread::spawn({
            let (over, times) = (over.clone(), times.clone());
            move || {
                memory::stand_apart();
                let mut stream = connect(address);
                while !over.load(Ordering::Relaxed) {
                    let begin = Instant::now();
                    stream
                        .write_all(b"GET /good HTTP/1.1\r\nHost: a\r\n\r\n")
                        .unwrap();
                    let answer = read_until(&mut stream, b"good");
                    assert!(
                        answer.starts_with(b"HTTP/1.1 200 "),
                        "{}",
                        answer.escape_ascii()
                    );
                    times.lock().unwrap().push(begin.elapsed());
                    thread::sleep(MS * 2);
                }
            }
        });
        let client = Self {
            times,
            over,
            thread,
        };
        wait_until("the first answers", || client.answered() >= 20);
        client
    }

    fn answered(&self) -> usize {
        self.times.lock().unwrap().len()
    }

    /// How long it waited for each answer, in order of that.
    fn finish(self) -> Vec<Duration> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().expect("every request is answered");
        let mut times = std::mem::take(&mut *self.times.lock().unwrap());
        times.sort_unstable();
        times
    }
}

/// So many connections, or fewer where the system allows fewer: both ends are this process's.
pub(crate) fn up_to(connections: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let all = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, all).unwrap();
    limit.maximum.map_or(connections, |allowed| {
        connections.min((allowed as usize).saturating_sub(200) / 2)
    })
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// A connection that has little room for what comes.
fn connect_narrow(address: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    // Else the kernel lends the other side megabytes, as packets are large on the loopback interface.
    socket.set_tcp_mss(536).unwrap();
    socket.connect(&address.into()).unwrap();
    socket.into()
}

/// Connections that have little room for what comes, each of which has said as much of this as it could.
pub(crate) fn say_deaf(address: SocketAddr, count: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let mut streams: Vec<_> = (0..count).map(|_| connect_narrow(address)).collect();
    for stream in &mut streams {
        stream.set_nonblocking(true).unwrap();
        let mut rest = bytes;
        while let Ok(written @ 1..) = stream.write(rest) {
            rest = &rest[written..];
        }
    }
    streams
}

/// Connections, each of which has said this.
pub(crate) fn say(address: SocketAddr, count: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let mut streams: Vec<_> = (0..count).map(|_| connect(address)).collect();
    for stream in &mut streams {
        stream.write_all(bytes).unwrap();
    }
    streams
}

/// All that comes until the server closes. It must not reset: that could destroy the answer on its way.
pub(crate) fn read_to_end(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    stream.read_to_end(&mut all).expect("an end");
    String::from_utf8_lossy(&all).into_owned()
}

/// Each connection is told this, and closed.
pub(crate) fn all_told(mut streams: Vec<TcpStream>, start: &str) -> Vec<TcpStream> {
    for stream in &mut streams {
        let answer = read_to_end(stream);
        assert!(answer.starts_with(start), "{answer}");
    }
    streams
}

/// Reads until this has come, and no more.
pub(crate) fn read_until(stream: &mut TcpStream, text: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    let mut buffer = [0; 4096];
    while !all.ends_with(text) {
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "closed after {}", all.escape_ascii());
        all.extend_from_slice(&buffer[..read]);
    }
    all
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "waiting for {what}");
        thread::sleep(MS * 5);
    }
}
