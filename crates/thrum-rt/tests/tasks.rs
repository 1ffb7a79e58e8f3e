//! Tasks: output, panic, abort, detachment, what happens to them at the end.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use thrum_rt::time::sleep;
use thrum_rt::{JoinError, Runtime, block_on, spawn, yield_now};

#[test]
fn a_handle_gives_the_output() {
    assert_eq!(
        block_on(async { spawn(async { 6 * 7 }).await.unwrap() }),
        42
    );
}

#[test]
fn a_panic_is_an_error_and_hurts_nobody_else() {
    block_on(async {
        let bad = spawn(async {
            if true {
                panic!("oh {}", "no");
            }
        });
        let error: JoinError = bad.await.unwrap_err();
        assert_eq!(error.panic_message(), Some("oh no"));
        assert_eq!(spawn(async { 1 }).await.unwrap(), 1);
    });
}

/// Counts its drops.
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn abort_drops_the_future_where_it_waits() {
    let dropped = Arc::new(AtomicUsize::new(0));
    block_on(async {
        let guard = Guard(dropped.clone());
        let handle = spawn(async move {
            sleep(Duration::from_secs(3600)).await;
            drop(guard);
        });
        sleep(Duration::from_millis(10)).await;
        handle.abort();
        assert!(matches!(handle.await, Err(JoinError::Aborted)));
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn abort_leaves_an_output_that_is_there() {
    block_on(async {
        let handle = spawn(async { 5 });
        while !handle.is_finished() {
            yield_now().await;
        }
        handle.abort();
        assert_eq!(handle.await.unwrap(), 5);
    });
}

#[test]
fn abort_at_any_time() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let dropped = Arc::new(AtomicUsize::new(0));
    runtime.block_on(async {
        for round in 0..2000u32 {
            let guard = Guard(dropped.clone());
            let task = spawn(async move {
                let _guard = guard;
                for _ in 0..round % 7 {
                    yield_now().await;
                }
                round
            });
            let aborter = task.abort_handle();
            let other = spawn(async move { aborter.abort() });
            match task.await {
                Ok(output) => assert_eq!(output, round),
                Err(error) => assert!(matches!(error, JoinError::Aborted), "{error}"),
            }
            assert_eq!(dropped.load(Ordering::SeqCst), round as usize + 1);
            other.await.unwrap();
        }
    });
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("bang");
    }
}

#[test]
fn a_panic_in_a_destructor_is_contained() {
    block_on(async {
        let ends = spawn(async {
            let _bomb = Bomb;
            yield_now().await;
        });
        assert_eq!(ends.await.unwrap_err().panic_message(), Some("bang"));
        let aborted = spawn(async {
            let _bomb = Bomb;
            sleep(Duration::from_secs(3600)).await;
        });
        sleep(Duration::from_millis(5)).await;
        aborted.abort();
        assert_eq!(aborted.await.unwrap_err().panic_message(), Some("bang"));
        drop(spawn(async {
            let _bomb = Bomb;
            sleep(Duration::from_secs(3600)).await;
        }));
        // The last one goes off as the runtime ends.
    });
}

#[test]
fn tasks_that_wait_only_for_each_other_go_with_their_runtime() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.block_on(async {
        let (one, other) = (
            Arc::new(thrum_rt::sync::MVar::<()>::empty()),
            Arc::new(thrum_rt::sync::MVar::<()>::empty()),
        );
        for (mine, yours) in [(one.clone(), other.clone()), (other, one)] {
            let guard = Guard(dropped.clone());
            spawn(async move {
                let _guard = guard;
                mine.take().await;
                yours.put(()).await;
            });
        }
        // One that nobody can ever wake.
        let guard = Guard(dropped.clone());
        spawn(async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        });
        sleep(Duration::from_millis(20)).await;
        assert_eq!(dropped.load(Ordering::SeqCst), 0);
        assert_eq!(thrum_rt::metrics().tasks, 3);
    });
    drop(runtime);
    assert_eq!(dropped.load(Ordering::SeqCst), 3);
}

#[test]
fn the_end_drops_waiting_tasks_in_the_order_of_spawning() {
    struct Tell(usize, Arc<Mutex<Vec<usize>>>);
    impl Drop for Tell {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0);
        }
    }
    let order = Arc::new(Mutex::new(Vec::new()));
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.block_on(async {
        for number in 0..50 {
            let tell = Tell(number, order.clone());
            spawn(async move {
                let _tell = tell;
                std::future::pending::<()>().await;
            });
        }
        while thrum_rt::metrics().polls < 50 {
            sleep(Duration::from_millis(1)).await;
        }
        sleep(Duration::from_millis(20)).await;
    });
    drop(runtime);
    assert_eq!(*order.lock().unwrap(), (0..50).collect::<Vec<_>>());
}

#[test]
fn a_dropped_handle_lets_its_task_run_on() {
    block_on(async {
        let (done, wait) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
        let guard = Guard(done.clone());
        drop(spawn(async move {
            yield_now().await;
            drop(guard);
        }));
        while done.load(Ordering::SeqCst) == 0 {
            assert!(
                wait.fetch_add(1, Ordering::Relaxed) < 5000,
                "the task did not run"
            );
            sleep(Duration::from_millis(1)).await;
        }
    });
}

#[test]
fn the_end_of_a_runtime_drops_what_waits_in_it() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.block_on(async {
        for index in 0..100 {
            let guard = Guard(dropped.clone());
            spawn(async move {
                let _guard = guard;
                match index % 2 {
                    0 => sleep(Duration::from_secs(3600)).await,
                    _ => drop(
                        thrum_rt::net::TcpListener::bind("127.0.0.1:0")
                            .await
                            .unwrap()
                            .accept()
                            .await,
                    ),
                }
            });
        }
        sleep(Duration::from_millis(20)).await;
    });
    drop(runtime);
    assert_eq!(dropped.load(Ordering::SeqCst), 100);
}

#[test]
fn a_handle_outlives_its_runtime() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let mut waits = None;
    runtime.block_on(async {
        waits = Some(spawn(sleep(Duration::from_secs(3600))));
        yield_now().await;
    });
    drop(runtime);
    let ended = block_on(waits.unwrap());
    assert!(matches!(ended, Err(JoinError::Aborted)), "{ended:?}");
}

#[test]
fn many_tasks_over_many_workers_all_run() {
    let runtime = Runtime::builder().workers(4).build().unwrap();
    let sum = runtime.block_on(async {
        let handles: Vec<_> = (0..10_000u64)
            .map(|number| {
                spawn(async move {
                    for _ in 0..number % 5 {
                        yield_now().await;
                    }
                    spawn(async move { number }).await.unwrap()
                })
            })
            .collect();
        let mut sum = 0;
        for handle in handles {
            sum += handle.await.unwrap();
        }
        sum
    });
    assert_eq!(sum, 9_999 * 10_000 / 2);
}

#[test]
fn two_that_wake_each_other_do_not_shut_out_a_third() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    runtime.block_on(async {
        let (ping, pong) = (
            Arc::new(thrum_rt::sync::MVar::empty()),
            Arc::new(thrum_rt::sync::MVar::empty()),
        );
        let (ping2, pong2) = (ping.clone(), pong.clone());
        let one = spawn(async move {
            loop {
                ping.put(()).await;
                pong.take().await;
            }
        });
        let two = spawn(async move {
            loop {
                ping2.take().await;
                pong2.put(()).await;
            }
        });
        spawn(async {
            for _ in 0..100 {
                yield_now().await;
            }
        })
        .await
        .unwrap();
        drop((one, two));
    });
}

#[test]
fn a_queue_that_never_empties_shuts_out_neither_injector_nor_reactor_nor_timers() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    runtime.block_on(async {
        let busy: Vec<_> = (0..100)
            .map(|_| {
                spawn(async {
                    loop {
                        yield_now().await;
                    }
                })
            })
            .collect();
        let before = thrum_rt::metrics().polls;
        // By way of the injector, as this thread is no worker; then by a timer and a socket.
        let others = spawn(async {
            sleep(Duration::from_millis(5)).await;
            let listener = thrum_rt::net::TcpListener::bind("127.0.0.1:0").await?;
            let client = thrum_rt::net::TcpStream::connect(listener.local_addr()?).await?;
            let (server, _) = listener.accept().await?;
            client.write_all(b"x").await?;
            server.read(&mut [0; 8]).await
        });
        let read = thrum_rt::time::timeout(Duration::from_secs(20), others).await;
        assert_eq!(read.unwrap().unwrap().unwrap(), 1);
        assert!(
            thrum_rt::metrics().polls - before > 61,
            "the worker was busy"
        );
        busy.iter().for_each(|task| task.abort());
    });
}

#[test]
fn block_on_inside_a_task_is_no_deadlock() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let answer = runtime.block_on(async {
        spawn(async { block_on(async { spawn(async { 7 }).await.unwrap() }) })
            .await
            .unwrap()
    });
    assert_eq!(answer, 7);
}

#[test]
#[should_panic(expected = "thrum::block_on")]
fn spawn_outside_a_runtime_says_what_to_do() {
    spawn(async {});
}

#[test]
fn the_end_of_a_runtime_drops_a_task_that_another_waits_for() {
    let dropped = Arc::new(AtomicUsize::new(0));
    block_on(async {
        let (outer, inner) = (Guard(dropped.clone()), Guard(dropped.clone()));
        spawn(async move {
            let inner = spawn(async move {
                sleep(Duration::from_secs(3600)).await;
                drop(inner);
            });
            inner.await.unwrap();
            drop(outer);
        });
        sleep(Duration::from_millis(20)).await;
    });
    assert_eq!(dropped.load(Ordering::SeqCst), 2);
}

#[test]
fn an_error_of_a_task_goes_where_errors_go() {
    block_on(async {
        let error = spawn(async { panic!("oh no") }).await.unwrap_err();
        let error: Box<dyn std::error::Error + Send + Sync> = error.into();
        assert_eq!(error.to_string(), "the task panicked: oh no");
    });
}

/// Locks what it shares when it is dropped, and wakes the task whose waker is in there, as h2 does.
struct WakesUnderLock(Arc<Mutex<Option<Waker>>>);

impl Drop for WakesUnderLock {
    fn drop(&mut self) {
        let mut shared = self.0.lock().unwrap();
        if let Some(waker) = shared.take() {
            waker.wake();
        }
    }
}

#[test]
fn a_runtime_ends_though_tasks_wake_each_other_under_a_lock() {
    let (sender, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let shared = Arc::new(Mutex::new(None));
        runtime.block_on(async {
            for keeps_waker in [false, true] {
                let shared = WakesUnderLock(shared.clone());
                drop(spawn(poll_fn(move |cx| {
                    if keeps_waker {
                        *shared.0.lock().unwrap() = Some(cx.waker().clone());
                    }
                    Poll::<()>::Pending
                })));
            }
            while shared.lock().unwrap().is_none() {
                yield_now().await;
            }
        });
        drop(runtime);
        sender.send(()).unwrap();
    });
    done.recv_timeout(Duration::from_secs(20))
        .expect("the runtime does not end");
}
