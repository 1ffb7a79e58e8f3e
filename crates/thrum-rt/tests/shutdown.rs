//! Asking others to stop: cancellation tokens, graceful shutdown, signals.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use thrum_rt::shutdown::Drained;
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{CancellationToken, Runtime, Shutdown, TaskSet, block_on, spawn, yield_now};

const FOR_EVER: Duration = Duration::from_secs(3600);

#[test]
fn cancelling_goes_down_and_not_up() {
    block_on(async {
        let root = CancellationToken::new();
        let (left, right) = (root.child(), root.child());
        let below_left = left.child();
        drop(root.child());
        left.clone().cancel();
        assert!(left.is_cancelled() && below_left.is_cancelled());
        assert!(!root.is_cancelled() && !right.is_cancelled());
        assert!(left.child().is_cancelled(), "it is too late for it");
        root.cancel();
        root.cancel();
        assert!(right.is_cancelled());
        right.cancelled().await;
    });
}

#[test]
fn a_token_in_the_middle_may_be_dropped() {
    let root = CancellationToken::new();
    let last = root.child().child();
    root.cancel();
    assert!(last.is_cancelled());
}

#[test]
fn all_who_wait_are_woken() {
    let runtime = Runtime::builder().workers(4).build().unwrap();
    runtime.block_on(async {
        let root = CancellationToken::new();
        let mut waiting = TaskSet::new();
        for index in 0..1000 {
            let token = match index % 2 {
                0 => root.clone(),
                _ => root.child(),
            };
            waiting.spawn(async move { token.cancelled().await });
        }
        yield_now().await;
        root.cancel();
        let ended = timeout(Duration::from_secs(10), waiting.join_all()).await;
        assert_eq!(ended.unwrap().len(), 1000);
    });
}

#[test]
fn a_run_ends_with_its_token() {
    block_on(async {
        let token = CancellationToken::new();
        assert_eq!(token.run_until_cancelled(async { 1 }).await, Some(1));
        let runner = token.clone();
        let run = spawn(async move { runner.run_until_cancelled(pending::<()>()).await });
        yield_now().await;
        token.cancel();
        assert_eq!(run.await.unwrap(), None);
        let started = AtomicUsize::new(0);
        let late = async { started.fetch_add(1, Ordering::SeqCst) };
        assert_eq!(token.run_until_cancelled(late).await, None);
        assert_eq!(started.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn a_guard_cancels_when_it_is_dropped() {
    let token = CancellationToken::new();
    let kept = token.clone().drop_guard().disarm();
    assert!(!kept.is_cancelled());
    drop(token.clone().drop_guard());
    assert!(token.is_cancelled());
}

#[test]
fn draining_waits_for_the_guards() {
    block_on(async {
        let shutdown = Shutdown::new();
        let done = Arc::new(AtomicUsize::new(0));
        for index in 0..10 {
            let (done, guard, shutdown) = (done.clone(), shutdown.guard(), shutdown.clone());
            spawn(async move {
                shutdown.begun().await;
                sleep(Duration::from_millis(index)).await;
                done.fetch_add(1, Ordering::SeqCst);
                drop(guard);
            });
        }
        let drained = shutdown.drain(FOR_EVER).await;
        assert_eq!(
            drained,
            Drained {
                finished: 10,
                left: 0
            }
        );
        assert_eq!(done.load(Ordering::SeqCst), 10);
        assert!(shutdown.has_begun());
    });
}

#[test]
fn draining_ends_with_the_grace_time() {
    block_on(async {
        let shutdown = Shutdown::new();
        let (one, _other) = (shutdown.guard(), shutdown.guard());
        let begins = shutdown.clone();
        spawn(async move {
            begins.begun().await;
            drop(one);
        });
        let drained = shutdown.drain(Duration::from_millis(100)).await;
        assert_eq!(
            drained,
            Drained {
                finished: 1,
                left: 1
            }
        );
    });
}

#[test]
fn one_signal_begins_it_and_a_second_ends_the_grace() {
    let raise = || signal_hook::low_level::raise(signal_hook::consts::SIGTERM).unwrap();
    block_on(async {
        let start = Instant::now();
        let shutdown = Shutdown::on_signals().unwrap();
        let _guard = shutdown.guard();
        assert!(!shutdown.has_begun());
        raise();
        shutdown.begun().await;
        let second = spawn(async move {
            sleep(Duration::from_millis(20)).await;
            raise();
        });
        assert_eq!(shutdown.drain(FOR_EVER).await.left, 1);
        second.await.unwrap();
        assert!(start.elapsed() < Duration::from_secs(30));
    });
}
