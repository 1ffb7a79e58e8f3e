//! Tasks that wait for each other, across workers.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_lite::StreamExt;
use thrum_rt::sync::{
    Barrier, MVar, Mutex, Notify, OnceCell, RwLock, Semaphore, broadcast, channel, oneshot, watch,
};
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{JoinHandle, Runtime, spawn, yield_now};

/// Runs it on four workers, and fails when it takes too long: what is wrong here mostly shows as a wait without end.
fn on_workers<F: Future<Output = ()>>(test: F) {
    let runtime = Runtime::builder().workers(4).build().unwrap();
    let ended = runtime.block_on(timeout(Duration::from_secs(60), test));
    ended.expect("it ends");
}

async fn join<T: Send + 'static>(handles: impl IntoIterator<Item = JoinHandle<T>>) -> Vec<T> {
    let mut outputs = Vec::new();
    for handle in handles {
        outputs.push(handle.await.unwrap());
    }
    outputs
}

#[test]
fn a_channel_gives_each_message_to_one_receiver() {
    on_workers(async {
        for (sender, receiver) in [channel::bounded(3), channel::unbounded()] {
            let senders: Vec<_> = (0..4)
                .map(|place| {
                    let sender = sender.clone();
                    spawn(async move {
                        for number in 0..1000 {
                            sender.send(place * 1000 + number).await.unwrap();
                        }
                    })
                })
                .collect();
            drop(sender);
            let receivers: Vec<_> = (0..4)
                .map(|_| {
                    let receiver = receiver.clone();
                    spawn(async move { receiver.collect::<Vec<_>>().await })
                })
                .collect();
            let mut all = join(receivers).await.concat();
            join(senders).await;
            all.sort_unstable();
            assert_eq!(all, (0..4000).collect::<Vec<_>>());
        }
    });
}

#[test]
fn receives_that_are_given_up_lose_nothing() {
    on_workers(async {
        let (sender, receiver) = channel::bounded(1);
        let sending = spawn(async move {
            for number in 0..2000 {
                sender.send(number).await.unwrap();
                if number % 50 == 0 {
                    sleep(Duration::from_millis(1)).await;
                }
            }
        });
        let receivers: Vec<_> = (0..4)
            .map(|_| {
                let receiver = receiver.clone();
                spawn(async move {
                    let mut got = Vec::new();
                    loop {
                        // Polled once, then dropped.
                        match futures_lite::future::poll_once(receiver.recv()).await {
                            Some(Ok(number)) => got.push(number),
                            Some(Err(_)) => return got,
                            None => yield_now().await,
                        }
                    }
                })
            })
            .collect();
        let mut all = join(receivers).await.concat();
        sending.await.unwrap();
        all.sort_unstable();
        assert_eq!(all, (0..2000).collect::<Vec<_>>());
    });
}

/// One worker, and a task whose channel is never empty and never full: others are polled all the same.
#[test]
fn a_channel_that_is_always_ready_does_not_shut_others_out() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let ended = runtime.block_on(timeout(Duration::from_secs(60), async {
        let stop = Arc::new(AtomicBool::new(false));
        let hog = spawn({
            let stop = stop.clone();
            async move {
                let (sender, receiver) = channel::bounded(2);
                sender.send(0).await.unwrap();
                while !stop.load(Ordering::Relaxed) {
                    sender.send(1).await.unwrap();
                    receiver.recv().await.unwrap();
                }
            }
        });
        let turns = spawn(async {
            for _ in 0..100 {
                yield_now().await;
            }
        });
        turns.await.unwrap();
        stop.store(true, Ordering::Relaxed);
        hog.await.unwrap();
    }));
    ended.expect("it ends");
}

/// Polls of another executor begin without the runtime's knowing.
#[test]
fn a_channel_works_outside_a_runtime() {
    let (sender, receiver) = channel::bounded(4);
    let thread = std::thread::spawn(move || {
        futures_lite::future::block_on(async {
            for number in 0..10_000 {
                sender.send(number).await.unwrap();
            }
        });
    });
    let sum = futures_lite::future::block_on(receiver.fold(0u64, |sum, number| sum + number));
    thread.join().unwrap();
    assert_eq!(sum, 10_000 * 9_999 / 2);
}

#[test]
fn a_oneshot_carries_one_message_or_its_absence() {
    on_workers(async {
        for number in 0..500 {
            let (sender, receiver) = oneshot::channel();
            let task = spawn(async move {
                if number % 3 > 0 {
                    sender.send(number).unwrap();
                }
            });
            assert_eq!(receiver.await.ok(), (number % 3 > 0).then_some(number));
            task.await.unwrap();
        }
    });
}

#[test]
fn a_oneshot_sender_stops_when_nobody_waits_for_it() {
    on_workers(async {
        let (mut sender, receiver) = oneshot::channel::<()>();
        let worker = spawn(async move { sender.closed().await });
        assert!(timeout(Duration::from_millis(10), receiver).await.is_err());
        worker.await.unwrap();
    });
}

#[test]
fn broadcast_reaches_everyone_in_order() {
    on_workers(async {
        let (sender, receiver) = broadcast::channel(10_000);
        let receivers: Vec<_> = (0..4)
            .map(|_| {
                let mut receiver = receiver.clone();
                spawn(async move {
                    let mut got = Vec::new();
                    while let Ok(number) = receiver.recv().await {
                        got.push(number);
                    }
                    got
                })
            })
            .collect();
        drop(receiver);
        for number in 0..5000 {
            assert_eq!(sender.send(number), Ok(4));
            if number % 100 == 0 {
                yield_now().await;
            }
        }
        drop(sender);
        for got in join(receivers).await {
            assert_eq!(got, (0..5000).collect::<Vec<_>>());
        }
    });
}

#[test]
fn broadcast_counts_what_each_receiver_missed() {
    on_workers(async {
        let (sender, receiver) = broadcast::channel(4);
        let receivers: Vec<_> = (0..4)
            .map(|place| {
                let mut receiver = receiver.clone();
                spawn(async move {
                    let (mut seen, mut missed) = (0, 0);
                    loop {
                        match receiver.recv().await {
                            Ok(_) => seen += 1,
                            Err(broadcast::RecvError::Lagged(count)) => missed += count,
                            Err(broadcast::RecvError::Closed) => return seen + missed,
                        }
                        if seen % 10 == place {
                            sleep(Duration::from_millis(1)).await;
                        }
                    }
                })
            })
            .collect();
        for number in 0..2000 {
            sender.send(number).unwrap();
            if number % 20 == 0 {
                sleep(Duration::from_millis(1)).await;
            }
        }
        drop(sender);
        assert_eq!(join(receivers).await, [2000; 4]);
    });
}

#[test]
fn watchers_see_the_last_value() {
    on_workers(async {
        let (sender, receiver) = watch::channel(0);
        let watchers: Vec<_> = (0..4)
            .map(|_| {
                let mut receiver = receiver.clone();
                spawn(async move {
                    let mut last = 0;
                    while receiver.changed().await.is_ok() {
                        let value = *receiver.borrow_and_update();
                        assert!(value >= last, "values go forward");
                        last = value;
                    }
                    last
                })
            })
            .collect();
        let mut waiting = receiver.clone();
        let until = spawn(async move { waiting.wait_for(|value| *value >= 500).await.is_ok() });
        for _ in 0..1000 {
            sender.send_modify(|value| *value += 1);
            yield_now().await;
        }
        drop(sender);
        assert_eq!(join(watchers).await, [1000; 4]);
        assert!(until.await.unwrap());
    });
}

#[test]
fn locks_let_one_change_at_a_time() {
    on_workers(async {
        let mutex = Arc::new(Mutex::new(0));
        let lock = Arc::new(RwLock::new((0, 0)));
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let (mutex, lock) = (mutex.clone(), lock.clone());
                spawn(async move {
                    for _ in 0..100 {
                        let mut count = mutex.lock().await;
                        let before = *count;
                        yield_now().await;
                        *count = before + 1;
                        drop(count);

                        let mut both = lock.write().await;
                        both.0 += 1;
                        yield_now().await;
                        both.1 += 1;
                        drop(both);
                        let both = lock.read().await;
                        assert_eq!(both.0, both.1);
                    }
                })
            })
            .collect();
        join(tasks).await;
        assert_eq!(*mutex.lock().await, 800);
        assert_eq!(*lock.read().await, (800, 800));
    });
}

#[test]
fn a_lock_outlives_the_panic_and_the_abort_of_its_holder() {
    on_workers(async {
        let mutex = Arc::new(Mutex::new(1));
        let other = mutex.clone();
        let panics = spawn(async move {
            let mut guard = other.lock().await;
            *guard = 2;
            panic!("on purpose");
        });
        panics.await.unwrap_err();
        assert_eq!(*mutex.lock().await, 2);

        let (other, held) = (mutex.clone(), Arc::new(Notify::new()));
        let holds = held.clone();
        let aborted = spawn(async move {
            let _guard = other.lock().await;
            holds.notify_one();
            std::future::pending::<()>().await;
        });
        held.notified().await;
        assert!(mutex.try_lock().is_none());
        aborted.abort();
        aborted.await.unwrap_err();
        assert_eq!(*mutex.lock().await, 2);
    });
}

#[test]
fn a_semaphore_admits_as_many_as_it_has_permits() {
    on_workers(async {
        let semaphore = Arc::new(Semaphore::new(3));
        let (inside, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..16)
            .map(|place| {
                let (semaphore, inside, most) = (semaphore.clone(), inside.clone(), most.clone());
                spawn(async move {
                    for round in 0..50 {
                        let wanted = 1 + (place + round) % 3;
                        let permit = semaphore.clone().acquire_many_owned(wanted).await;
                        let now = inside.fetch_add(wanted, Ordering::SeqCst) + wanted;
                        most.fetch_max(now, Ordering::SeqCst);
                        yield_now().await;
                        inside.fetch_sub(wanted, Ordering::SeqCst);
                        drop(permit);
                    }
                })
            })
            .collect();
        join(tasks).await;
        assert!(most.load(Ordering::SeqCst) <= 3);
        assert_eq!(semaphore.available_permits(), 3);
    });
}

/// Waits that are given up at any moment neither lose a permit nor stop the line.
#[test]
fn a_semaphore_survives_waiters_that_give_up() {
    on_workers(async {
        let semaphore = Arc::new(Semaphore::new(2));
        let tasks: Vec<_> = (0..8)
            .map(|place| {
                let semaphore = semaphore.clone();
                spawn(async move {
                    for _ in 0..200 {
                        let wait: Pin<Box<dyn Future<Output = _> + Send>> =
                            Box::pin(semaphore.acquire());
                        let permit = if place % 2 == 0 {
                            futures_lite::future::poll_once(wait).await
                        } else {
                            Some(wait.await)
                        };
                        yield_now().await;
                        drop(permit);
                    }
                })
            })
            .collect();
        join(tasks).await;
        assert_eq!(semaphore.available_permits(), 2);
    });
}

#[test]
fn each_notification_reaches_a_task() {
    on_workers(async {
        let notify = Arc::new(Notify::new());
        let acknowledged = Arc::new(MVar::empty());
        let waiter = spawn({
            let (notify, acknowledged) = (notify.clone(), acknowledged.clone());
            async move {
                for _ in 0..1000 {
                    notify.notified().await;
                    acknowledged.put(()).await;
                }
            }
        });
        for _ in 0..1000 {
            notify.notify_one();
            acknowledged.take().await;
        }
        waiter.await.unwrap();
    });
}

#[test]
fn a_notification_for_all_ends_every_wait_there_is() {
    on_workers(async {
        let notify = Arc::new(Notify::new());
        let ready = Arc::new(Barrier::new(9));
        let waiters: Vec<_> = (0..8)
            .map(|_| {
                let (notify, ready) = (notify.clone(), ready.clone());
                spawn(async move {
                    let notified = notify.notified();
                    ready.wait().await;
                    notified.await;
                })
            })
            .collect();
        ready.wait().await;
        notify.notify_waiters();
        join(waiters).await;
    });
}

#[test]
fn a_barrier_keeps_tasks_in_step() {
    on_workers(async {
        const TASKS: usize = 6;
        const ROUNDS: usize = 100;
        let barrier = Arc::new(Barrier::new(TASKS));
        let arrived = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..TASKS)
            .map(|_| {
                let (barrier, arrived) = (barrier.clone(), arrived.clone());
                spawn(async move {
                    let mut led = 0;
                    for round in 1..=ROUNDS {
                        arrived.fetch_add(1, Ordering::SeqCst);
                        led += usize::from(barrier.wait().await.is_leader());
                        assert!(arrived.load(Ordering::SeqCst) >= round * TASKS);
                    }
                    led
                })
            })
            .collect();
        assert_eq!(join(tasks).await.iter().sum::<usize>(), ROUNDS);
    });
}

#[test]
fn a_cell_is_filled_once() {
    on_workers(async {
        static CELL: OnceCell<usize> = OnceCell::new();
        let made = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let made = made.clone();
                spawn(async move {
                    *CELL
                        .get_or_init(|| async move {
                            yield_now().await;
                            made.fetch_add(1, Ordering::SeqCst) + 7
                        })
                        .await
                })
            })
            .collect();
        assert_eq!(join(tasks).await, [7; 8]);
        assert_eq!(made.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn an_mvar_carries_every_value_across_workers() {
    on_workers(async {
        let variable = Arc::new(MVar::empty());
        let putters: Vec<_> = (0..4)
            .map(|place| {
                let variable = variable.clone();
                spawn(async move {
                    for number in 0..500 {
                        variable.put(place * 500 + number).await;
                    }
                })
            })
            .collect();
        let takers: Vec<_> = (0..4)
            .map(|_| {
                let variable = variable.clone();
                spawn(async move {
                    let mut got = Vec::new();
                    for _ in 0..500 {
                        got.push(variable.take().await);
                    }
                    got
                })
            })
            .collect();
        join(putters).await;
        let mut all = join(takers).await.concat();
        all.sort_unstable();
        assert_eq!(all, (0..2000).collect::<Vec<_>>());
    });
}
