//! Where an attack takes place: a server in threads of its own, a client that behaves well and looks at its watch, and the
//! figures of both.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use thrum_http::{Application, Limits, Reject, Server, Stats, Timeouts};
use thrum_rt::net::TcpListener;

use crate::memory;

pub(crate) const MS: Duration = Duration::from_millis(1);

/// Nothing here takes longer, be the machine as busy as it may.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the well-behaved client may wait for one answer. Some milliseconds are usual; other tests want the machine too.
const WORST: Duration = Duration::from_secs(2);

/// Bytes that may be held after an attack which were not held after the one before it: buffers that a thread keeps for the
/// next connection, and lists that have grown.
const KEPT: isize = 512 * 1024;

/// An attack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) connections: usize,
    /// Bytes that a connection may have the server hold, all counted.
    pub(crate) bytes: usize,
}

/// What the server counted of one round of an attack, without the well-behaved client.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    pub(crate) requests: u64,
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

/// Runs an attack twice and compares both with its bounds, and with what is to be counted of each.
pub(crate) fn run(
    attack: Attack,
    server: Server,
    application: impl Application + Sync,
    seen: Seen,
    round: impl Fn(SocketAddr),
) {
    // One after the other, as each looks at the memory of all threads.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    memory::stand_apart();
    allow_many_files();
    let arena = Arena::open(server, application);
    let client = Client::start(arena.address);

    let mut levels = Vec::new();
    let mut stats = arena.server.stats();
    for _ in 0..2 {
        let before = memory::held();
        memory::take_peak();
        let answered = client.answered();
        round(arena.address);
        wait_until("all connections to be over", || {
            arena.server.stats().open == 1
        });
        let peak = memory::take_peak() - before;
        let each = peak / attack.connections as isize;
        let (answered, now) = (client.answered() - answered, arena.server.stats());
        let counted = Seen::between(&stats, &now);
        println!(
            "{:32} {:5} connections, {each:7} bytes each, {answered:5} answers meanwhile, {counted:?}",
            attack.name, attack.connections,
        );
        assert!(each <= attack.bytes as isize, "{each} bytes a connection");
        stats = now;
        levels.push(memory::held());
        // The client's own requests are counted between two looks, so they are taken out at the end.
        assert_eq!(
            Seen {
                requests: 0,
                ..counted
            },
            Seen {
                requests: 0,
                ..seen.again()
            }
        );
    }
    assert!(
        levels[1] - levels[0] < KEPT,
        "held after each round: {levels:?}"
    );
    let of_client = client.finish(attack.name);
    let requests = arena.server.stats().requests - of_client;
    assert_eq!(requests, 2 * seen.requests, "requests of two rounds");
    arena.close();
}

impl Seen {
    fn between(before: &Stats, after: &Stats) -> Self {
        let mut rejects = after.rejects.clone();
        for (reject, count) in &before.rejects {
            rejects.entry(*reject).and_modify(|after| *after -= count);
        }
        rejects.retain(|_, count| *count > 0);
        Self {
            requests: after.requests - before.requests,
            rejects,
            refused: after.refused - before.refused,
            body_timeouts: after.body_timeouts - before.body_timeouts,
            write_timeouts: after.write_timeouts - before.write_timeouts,
            panics: after.panics - before.panics,
            errors: after.errors - before.errors,
        }
    }

    fn again(&self) -> Self {
        Self {
            rejects: self.rejects.clone(),
            ..*self
        }
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
        assert_eq!(self.server.stats().open, 0);
    }
}

/// A client that asks every other millisecond over one connection, and is answered every time.
struct Client {
    state: Arc<Mutex<Vec<Duration>>>,
    over: Arc<AtomicBool>,
    thread: thread::JoinHandle<()>,
}

impl Client {
    fn start(address: SocketAddr) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let state = Arc::new(Mutex::new(Vec::new()));
        let thread = thread::spawn({
            let (over, state) = (over.clone(), state.clone());
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
                    state.lock().unwrap().push(begin.elapsed());
                    thread::sleep(MS * 2);
                }
            }
        });
        let client = Self {
            state,
            over,
            thread,
        };
        wait_until("the first answers", || client.answered() >= 20);
        client
    }

    fn answered(&self) -> usize {
        self.state.lock().unwrap().len()
    }

    /// How often it was answered.
    fn finish(self, name: &str) -> u64 {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().expect("every request is answered");
        let mut times = std::mem::take(&mut *self.state.lock().unwrap());
        times.sort_unstable();
        let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
        println!("{name:32} another client: median {median:.1?}, worst {worst:.1?}");
        assert!(worst < WORST, "another client waits for {worst:?}");
        times.len() as u64
    }
}

/// Both ends of all connections are this process's.
fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    let all = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, all).unwrap();
}

/// So many connections, or fewer where the system allows fewer.
pub(crate) fn up_to(connections: usize) -> usize {
    let allowed = getrlimit(Resource::Nofile).maximum;
    allowed.map_or(connections, |allowed| {
        connections.min((allowed as usize).saturating_sub(200) / 2)
    })
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

pub(crate) fn connect_all(address: SocketAddr, count: usize) -> Vec<TcpStream> {
    (0..count).map(|_| connect(address)).collect()
}

/// Connections, each of which has said this.
pub(crate) fn say(address: SocketAddr, count: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let mut streams = connect_all(address, count);
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

/// Reads until this has come.
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

pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "waiting for {what}");
        thread::sleep(MS * 5);
    }
}
