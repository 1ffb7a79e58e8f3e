//! Tests on a clock that jumps, with an order that a seed decides.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thrum_rt::net::{TcpListener, TcpStream};
use thrum_rt::sync::MVar;
use thrum_rt::time::{Deadline, Instant, interval, sleep, sleep_until, timeout};
use thrum_rt::{spawn, test, yield_now};

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn time_jumps_and_all_clocks_agree() {
    let real = std::time::Instant::now();
    test::run(async {
        let begin = Instant::now();
        let mut ticks = interval(HOUR);
        for hour in 1..=1000 {
            ticks.tick().await;
            assert_eq!(begin.elapsed(), HOUR * hour);
        }
        sleep_until(begin + HOUR * 2000).await;
        assert_eq!(Instant::now(), begin + HOUR * 2000);
        let mut deadline = Deadline::new();
        deadline.set(HOUR);
        std::future::poll_fn(|cx| deadline.poll_expired(cx)).await;
        assert!(begin.elapsed() - HOUR * 2001 < Duration::from_secs(1));
        assert!(timeout(HOUR, std::future::pending::<()>()).await.is_err());
    });
    assert!(real.elapsed() < Duration::from_secs(60));
}

/// The order in which ten tasks get on, each in three steps.
fn order(seed: u64) -> Vec<u32> {
    test::with_seed(seed, async {
        let order = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<_> = (0..10)
            .map(|number| {
                let order = order.clone();
                spawn(async move {
                    for _ in 0..3 {
                        order.lock().unwrap().push(number);
                        yield_now().await;
                    }
                    sleep(Duration::from_millis(5)).await;
                    order.lock().unwrap().push(number);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        std::mem::take(&mut *order.lock().unwrap())
    })
}

#[test]
fn a_seed_gives_the_same_order_again_and_another_seed_another() {
    for seed in 0..20 {
        assert_eq!(order(seed), order(seed));
    }
    let orders: HashSet<_> = (0..20).map(order).collect();
    assert!(orders.len() > 15, "{} orders", orders.len());
}

/// A counter that is read and written with a pause in between: wrong, but only in some interleavings.
fn lost_update(seed: u64) -> bool {
    test::with_seed(seed, async {
        let counter = Arc::new(Mutex::new(0));
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let counter = counter.clone();
                spawn(async move {
                    let read = *counter.lock().unwrap();
                    yield_now().await;
                    *counter.lock().unwrap() = read + 1;
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        *counter.lock().unwrap() != 2
    })
}

#[test]
fn a_seed_decides_what_select_takes() {
    let choices = |seed| {
        test::with_seed(seed, async {
            let mut choices = 0u32;
            for _ in 0..32 {
                let one = thrum_rt::race(std::future::ready(0), std::future::ready(1)).await;
                choices = choices << 1 | one;
            }
            choices
        })
    };
    assert_eq!(choices(1), choices(1));
    assert_ne!(choices(1), choices(2));
}

#[test]
fn some_seeds_show_a_race_and_show_it_every_time() {
    let (wrong, right): (Vec<u64>, Vec<u64>) = (0..50).partition(|&seed| lost_update(seed));
    assert!(!wrong.is_empty() && !right.is_empty());
    assert!(wrong.iter().all(|&seed| lost_update(seed)));
}

#[test]
fn a_deadlock_is_told_with_what_each_task_waits_for() {
    let panic = catch_unwind(|| {
        test::run(async {
            let variable = Arc::new(MVar::<()>::empty());
            let taker = variable.clone();
            spawn(async move { taker.take().await });
            variable.take().await;
        });
    });
    let message = *panic.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("all tasks wait"), "{message}");
    assert_eq!(
        message.matches("waits for a variable").count(),
        2,
        "{message}"
    );
}

#[test]
fn sockets_are_real() {
    test::run_seeds(20, || async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = spawn(async move {
            let (connection, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 16];
            let read = connection.read(&mut buffer).await.unwrap();
            sleep(HOUR).await;
            connection.write_all(&buffer[..read]).await.unwrap();
        });
        let client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"hello").await.unwrap();
        let mut buffer = [0; 16];
        assert_eq!(client.read(&mut buffer).await.unwrap(), 5);
        server.await.unwrap();
    });
}

#[test]
fn another_thread_may_wake_a_task() {
    test::run(async {
        let variable = Arc::new(MVar::empty());
        let putter = variable.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            putter.try_put(7).unwrap();
        });
        assert_eq!(variable.take().await, 7);
        thread.join().unwrap();
    });
}

#[test]
fn what_is_left_is_dropped_also_after_a_panic() {
    let left = Arc::new(());
    let kept = left.clone();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        test::run(async move {
            spawn(async move {
                let _kept = kept;
                std::future::pending::<()>().await;
            });
            yield_now().await;
            panic!("the test fails");
        });
    }));
    assert!(ended.is_err());
    assert_eq!(Arc::strong_count(&left), 1);
    // And the thread is as before.
    assert_eq!(thrum_rt::block_on(async { 1 }), 1);
}
