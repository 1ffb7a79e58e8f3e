//! A soak: random work on random runtimes, for `THRUM_SOAK_SECONDS` (default 5), from `THRUM_SOAK_SEED` (default: the
//! clock).
//!
//! Each round starts a runtime, gives it tasks that spawn, wait, compute, block, talk and panic, aborts some, enters from
//! foreign threads too, and then either waits for all or drops the runtime in the middle. What must hold afterwards:
//! every task has ended and was dropped once, the books balance, no descriptor and no thread is left. The same seed gives
//! the same rounds, though not the same interleaving.

use std::fs;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use thrum_rt::net::{TcpListener, TcpStream};
use thrum_rt::sync::MVar;
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{JoinError, JoinHandle, Runtime, blocking, metrics, spawn, yield_now};

/// What takes longer has been forgotten by the runtime.
const STUCK: Duration = Duration::from_secs(60);

#[test]
fn soak() {
    let number = |name| std::env::var(name).ok().map(|text| text.parse().unwrap());
    let seconds = number("THRUM_SOAK_SECONDS").unwrap_or(5);
    let seed = number("THRUM_SOAK_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        now.as_nanos() as u64
    });
    println!("THRUM_SOAK_SEED={seed}"); // shown if it fails
    let end = Instant::now() + Duration::from_secs(seconds);
    let descriptors = open_descriptors();
    let (progress, watched) = mpsc::channel();
    thread::spawn(move || {
        loop {
            match watched.recv_timeout(3 * STUCK) {
                Ok(()) => {}
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    eprintln!("a round does not end; THRUM_SOAK_SEED={seed}");
                    std::process::abort();
                }
            }
        }
    });
    let mut random = Random(seed);
    let mut rounds = 0;
    while rounds == 0 || Instant::now() < end {
        round(random.fork());
        rounds += 1;
        progress.send(()).unwrap();
        wait_until("no thread is left", || runtime_threads() == 0);
        assert_eq!(open_descriptors(), descriptors, "descriptors are leaked");
    }
    println!("{rounds} rounds");
}

fn round(mut random: Random) {
    let workers = 1 + random.below(4);
    let runtime = Runtime::builder()
        .workers(workers)
        .max_asleep(random.below(6))
        .max_computing(random.below(4))
        .grace(STUCK)
        .build()
        .unwrap();
    let books = Arc::new(Books::default());
    let quiet = random.one_in(2);
    let mut left = Vec::new();
    thread::scope(|scope| {
        let foreign: Vec<_> = (0..random.below(3))
            .map(|_| {
                let (runtime, books, random) = (&runtime, &books, random.fork());
                scope.spawn(move || runtime.block_on(drive(books, random, quiet)))
            })
            .collect();
        left.extend(runtime.block_on(drive(&books, random.fork(), quiet)));
        left.extend(
            foreign
                .into_iter()
                .flat_map(|thread| thread.join().unwrap()),
        );
    });
    if quiet {
        wait_until("all tasks have ended", || books.live() == 0);
        let metrics = || runtime.block_on(async { metrics() });
        wait_until("the runtime is at rest", || {
            let now = metrics();
            (now.tasks, now.total_queued(), now.computing, now.asleep) == (0, 0, 0, 0)
                && now.threads == workers + now.standbys
        });
        let [cut_short, panicked, aborted] =
            [&books.cut_short, &books.panicked, &books.aborted].map(load);
        // An abort may come in the last poll of a task.
        let expected = panicked..=panicked + aborted;
        assert!(
            expected.contains(&cut_short),
            "{cut_short} tasks cut short, not {expected:?}"
        );
    }
    drop(runtime);
    assert_eq!(books.live(), 0, "tasks that were not dropped");
    // A handle that is awaited after its runtime has ended says so, or what had come out before.
    thrum_rt::block_on(async {
        for handle in left {
            let ended = timeout(STUCK, handle).await;
            assert!(ended.is_ok(), "a task of an ended runtime never ends");
        }
    });
    let left = books.variables.iter().filter_map(MVar::try_take).count();
    assert_eq!(
        load(&books.put),
        load(&books.taken) + left,
        "values lost or doubled"
    );
    assert_eq!(Arc::strong_count(&books), 1);
}

/// Starts tasks and aborts some; then waits for the others, or returns those that are left.
async fn drive(books: &Arc<Books>, mut random: Random, quiet: bool) -> Vec<JoinHandle<()>> {
    let mut tasks = Vec::new();
    for _ in 0..random.below(60) {
        tasks.push(start(books, random.fork(), 2));
        match random.below(8) {
            0 => yield_now().await,
            1 => sleep(random.millis(3)).await,
            2 => {
                let at = random.below(tasks.len());
                abort(books, tasks.swap_remove(at)).await;
            }
            _ => {}
        }
    }
    while quiet && let Some(task) = tasks.pop() {
        match task.await {
            Ok(()) => {}
            Err(JoinError::Panicked(panic)) => assert!(panic.into_payload().is::<OnPurpose>()),
            Err(JoinError::Aborted) => panic!("nobody aborted it"),
        }
    }
    tasks
}

async fn abort(books: &Books, task: JoinHandle<()>) {
    task.abort();
    if let Err(JoinError::Aborted) = task.await {
        books.aborted.fetch_add(1, Ordering::Relaxed);
    }
}

/// Spawns a task that does something, and has descendants of so many generations at most.
fn start(books: &Arc<Books>, mut random: Random, generations: usize) -> JoinHandle<()> {
    let entry = Entry::new(books);
    spawn(async move {
        let books = entry.books.clone();
        for _ in 0..random.below(4) {
            match random.below(14) {
                0 | 1 if generations > 0 => {
                    let child = start(&books, random.fork(), generations - 1);
                    if random.one_in(2) {
                        let _ = child.await;
                    }
                }
                2 => hog(random.millis(8)),
                3 => thread::sleep(random.millis(8)),
                4 => blocking(|| thread::sleep(random.millis(8))),
                5 => panic_on_purpose(&books),
                6 | 7 => talk(&books, &mut random).await,
                8 => sleep(random.millis(10)).await,
                9 => drop(timeout(random.millis(3), sleep(random.millis(6))).await),
                10..13 => exchange(&books, &mut random).await,
                _ => {
                    for _ in 0..random.below(100) {
                        yield_now().await;
                    }
                }
            }
        }
        entry.finish();
    })
}

fn hog(length: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < length {
        std::hint::spin_loop();
    }
}

struct OnPurpose;

fn panic_on_purpose(books: &Books) {
    books.panicked.fetch_add(1, Ordering::Relaxed);
    resume_unwind(Box::new(OnPurpose)); // without the message
}

/// Sends bytes through a loopback connection and back.
async fn talk(books: &Arc<Books>, random: &mut Random) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let entry = Entry::new(books);
    let echo = spawn(async move {
        // Its peer may be aborted before it connects.
        if let Ok(accepted) = timeout(Duration::from_millis(100), listener.accept()).await {
            let (stream, _) = accepted.unwrap();
            let mut buffer = [0; 256];
            while let Ok(length @ 1..) = stream.read(&mut buffer).await {
                if stream.write_all(&buffer[..length]).await.is_err() {
                    break;
                }
            }
        }
        entry.finish();
    });
    let sent: Vec<u8> = (0..1 + random.below(2000))
        .map(|index| index as u8)
        .collect();
    // On a busy machine the listener may have given up.
    if let Ok(stream) = TcpStream::connect(address).await
        && stream.write_all(&sent).await.is_ok()
    {
        let (mut received, mut buffer) = (Vec::new(), [0; 100]);
        while received.len() < sent.len() {
            match stream.read(&mut buffer).await {
                Ok(length @ 1..) => received.extend_from_slice(&buffer[..length]),
                _ => break,
            }
        }
        assert!(sent.starts_with(&received), "the echo is another");
    }
    if random.one_in(2) {
        let _ = echo.await;
    }
}

/// Puts a value where others take it, or takes one, unless that lasts too long.
async fn exchange(books: &Books, random: &mut Random) {
    let variable = &books.variables[random.below(books.variables.len())];
    let patience = random.millis(5);
    if random.one_in(2) {
        if timeout(patience, variable.put(())).await.is_ok() {
            books.put.fetch_add(1, Ordering::Relaxed);
        }
    } else if timeout(patience, variable.take()).await.is_ok() {
        books.taken.fetch_add(1, Ordering::Relaxed);
    }
}

/// What happened in a round.
#[derive(Default)]
struct Books {
    started: AtomicUsize,
    finished: AtomicUsize,
    /// Dropped before the end.
    cut_short: AtomicUsize,
    panicked: AtomicUsize,
    aborted: AtomicUsize,
    put: AtomicUsize,
    taken: AtomicUsize,
    variables: [MVar<()>; 3],
}

impl Books {
    fn live(&self) -> usize {
        // Those that have ended first: what starts meanwhile makes it more, never less.
        let ended = load(&self.finished) + load(&self.cut_short);
        load(&self.started) - ended
    }
}

fn load(count: &AtomicUsize) -> usize {
    count.load(Ordering::SeqCst)
}

/// A task's line in the books.
struct Entry {
    books: Arc<Books>,
    finished: bool,
}

impl Entry {
    fn new(books: &Arc<Books>) -> Self {
        books.started.fetch_add(1, Ordering::SeqCst);
        Self {
            books: books.clone(),
            finished: false,
        }
    }

    fn finish(mut self) {
        self.finished = true;
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let count = if self.finished {
            &self.books.finished
        } else {
            &self.books.cut_short
        };
        count.fetch_add(1, Ordering::SeqCst);
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn fork(&mut self) -> Self {
        Self(self.next())
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn millis(&mut self, bound: usize) -> Duration {
        Duration::from_micros(self.below(bound * 1000) as u64)
    }
}

#[track_caller]
fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < STUCK, "never: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// All but pipes: the soak makes none, and a sanitizer talks to its symbolizer through them.
fn open_descriptors() -> usize {
    let descriptors = fs::read_dir("/proc/self/fd").unwrap();
    let targets = descriptors.filter_map(|descriptor| fs::read_link(descriptor.ok()?.path()).ok());
    targets
        .filter(|target| !target.to_string_lossy().starts_with("pipe:"))
        .count()
}

/// The threads that a runtime has named.
fn runtime_threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with("thrum-")).count()
}
