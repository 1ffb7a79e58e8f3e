//! Nobody waits for a slow neighbour: hogs of every kind on a runtime of one worker.

use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use thrum_rt::net::{TcpListener, TcpStream};
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{Runtime, blocking, metrics, spawn, yield_now};

fn one_worker() -> Runtime {
    Runtime::builder().workers(1).build().unwrap()
}

/// Computes for so long.
fn compute(duration: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < duration {
        std::hint::spin_loop();
    }
}

const LONG: Duration = Duration::from_secs(2);

/// Runs `hog` beside a task that goes through queue, timer and reactor; that one must be done long before the hog.
fn neighbour_is_served(hog: impl FnOnce() + Send + 'static) {
    one_worker().block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let begin = Instant::now();
        let hog = spawn(async move { hog() });
        let neighbour = spawn(async move {
            for _ in 0..10 {
                yield_now().await;
                sleep(Duration::from_millis(1)).await;
                let (client, server) = (TcpStream::connect(address), listener.accept());
                let client = client.await.unwrap();
                let (server, _) = server.await.unwrap();
                client.write_all(b"x").await.unwrap();
                assert_eq!(server.read(&mut [0; 8]).await.unwrap(), 1);
            }
        });
        neighbour.await.unwrap();
        let took = begin.elapsed();
        hog.await.unwrap();
        assert!(begin.elapsed() >= LONG, "the hog was none");
        assert!(took < LONG / 2, "the neighbour took {took:?}");
        assert!(metrics().hand_offs >= 1);
    });
}

#[test]
fn beside_one_that_computes() {
    neighbour_is_served(|| compute(LONG));
}

#[test]
fn beside_one_that_sleeps() {
    neighbour_is_served(|| std::thread::sleep(LONG));
}

#[test]
fn beside_one_that_waits_for_a_lock() {
    let lock = Arc::new(Mutex::new(()));
    let (locked, wait) = mpsc::channel();
    let holder = std::thread::spawn({
        let lock = lock.clone();
        move || {
            let _guard = lock.lock();
            locked.send(()).unwrap();
            std::thread::sleep(LONG + Duration::from_secs(1));
        }
    });
    wait.recv().unwrap();
    neighbour_is_served(move || drop(lock.lock()));
    holder.join().unwrap();
}

#[test]
fn beside_one_that_says_so() {
    neighbour_is_served(|| blocking(|| std::thread::sleep(LONG)));
}

#[test]
fn blocking_hands_off_at_once() {
    one_worker().block_on(async {
        spawn(async {
            let before = metrics().hand_offs;
            blocking(|| assert_eq!(metrics().hand_offs, before + 1));
        })
        .await
        .unwrap();
    });
}

#[test]
fn what_a_hog_wakes_runs_elsewhere() {
    one_worker().block_on(async {
        let (send, receive) = (Arc::new(thrum_rt::sync::MVar::empty()), Instant::now());
        let waiter = spawn({
            let variable = send.clone();
            async move {
                variable.take().await;
                receive.elapsed()
            }
        });
        let hog = spawn(async move {
            compute(Duration::from_millis(50)); // superseded by now
            send.try_put(()).unwrap();
            let inner = spawn(async move { receive.elapsed() });
            compute(LONG);
            (inner,)
        });
        let waited = waiter.await.unwrap();
        let (inner,) = hog.await.unwrap();
        let inner = inner.await.unwrap();
        assert!(waited < LONG / 2, "the task that it woke waited {waited:?}");
        assert!(
            inner < LONG / 2,
            "the task that it spawned waited {inner:?}"
        );
    });
}

#[test]
fn many_hogs_at_once() {
    one_worker().block_on(async {
        let hogs: Vec<_> = (0..50)
            .map(|_| spawn(async { std::thread::sleep(LONG / 2) }))
            .collect();
        let begin = Instant::now();
        for hog in hogs {
            hog.await.unwrap();
        }
        let took = begin.elapsed();
        assert!(took < LONG * 3, "50 sleeps at once took {took:?}");
        // They come back and retire; warm ones stay, and the rest goes in time.
        sleep(Duration::from_millis(20)).await;
        let metrics = metrics();
        assert_eq!((metrics.asleep, metrics.computing), (0, 0));
    });
}

#[test]
fn at_the_cap_the_rest_waits_and_nothing_breaks() {
    let runtime = Runtime::builder().workers(1).max_asleep(2).build().unwrap();
    runtime.block_on(async {
        let nap = Duration::from_millis(100);
        let hogs: Vec<_> = (0..9)
            .map(|_| spawn(async move { std::thread::sleep(nap) }))
            .collect();
        let begin = Instant::now();
        for hog in hogs {
            hog.await.unwrap();
        }
        assert!(begin.elapsed() >= nap * 3, "at most three at once");
        assert!(metrics().at_cap > 0);
    });
}

#[test]
fn a_runtime_ends_though_a_hog_runs_on() {
    let grace = Duration::from_millis(50);
    let runtime = Runtime::builder().workers(1).grace(grace).build().unwrap();
    runtime.block_on(async {
        spawn(async { std::thread::sleep(LONG) });
        sleep(Duration::from_millis(20)).await;
    });
    let begin = Instant::now();
    drop(runtime);
    assert!(begin.elapsed() < LONG / 2);
}

#[test]
fn a_task_that_is_always_ready_gives_way() {
    one_worker().block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        let (server, _) = listener.accept().await.unwrap();
        // One writes without end, one reads without end, a third must get its turns.
        let writer = spawn(async move { while client.write_all(&[0; 4096]).await.is_ok() {} });
        let reader = spawn(async move {
            let mut buffer = [0; 4096];
            while server.read(&mut buffer).await.unwrap() > 0 {}
        });
        let third = async {
            for _ in 0..200 {
                yield_now().await;
            }
        };
        timeout(Duration::from_secs(5), spawn(third))
            .await
            .unwrap()
            .unwrap();
        drop((writer, reader));
    });
}
