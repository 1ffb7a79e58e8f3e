//! Structured concurrency: sets and scopes of tasks that end with their owner.

use std::collections::HashSet;
use std::future::{Future, pending};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_lite::FutureExt;
use thrum_rt::sync::MVar;
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{JoinError, Panic, TaskSet, block_on, scope, spawn, try_scope, yield_now};

const FOR_EVER: Duration = Duration::from_secs(3600);

/// Counts its drops.
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Counts, and waits until a count is reached.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicUsize>);

impl Counter {
    fn guard(&self) -> Guard {
        Guard(self.0.clone())
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    async fn reaches(&self, count: usize) {
        let reached = async {
            while self.count() < count {
                sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(Duration::from_secs(10), reached)
            .await
            .unwrap_or_else(|_| panic!("only {} of {count}", self.count()));
    }
}

/// The panic of a future, as text.
async fn panic_of<T>(future: impl Future<Output = T>) -> String {
    match AssertUnwindSafe(future).catch_unwind().await {
        Ok(_) => panic!("no panic"),
        Err(payload) => Panic::new(payload).message().unwrap().to_owned(),
    }
}

#[test]
fn children_are_joined_as_they_end() {
    block_on(async {
        let mut set = TaskSet::new();
        let gates: Vec<_> = (0..3).map(|_| Arc::new(MVar::<()>::empty())).collect();
        for (index, gate) in gates.iter().cloned().enumerate() {
            set.spawn(async move {
                gate.take().await;
                index
            });
        }
        assert_eq!(set.len(), 3);
        for index in [2, 0, 1] {
            gates[index].put(()).await;
            assert_eq!(set.join_next().await.unwrap().unwrap(), index);
        }
        assert!(set.is_empty());
        assert!(set.join_next().await.is_none());
    });
}

#[test]
fn a_panic_of_a_child_is_its_output() {
    block_on(async {
        let mut set = TaskSet::new();
        set.spawn(async { panic!("oh no") });
        set.spawn(async { 7 });
        let (mut panics, mut outputs) = (0, 0);
        for ended in set.join_all().await {
            match ended {
                Ok(output) => outputs += output,
                Err(error) => {
                    assert_eq!(error.panic_message(), Some("oh no"));
                    panics += 1;
                }
            }
        }
        assert_eq!((panics, outputs), (1, 7));
    });
}

#[test]
fn aborted_children_are_joined_too_and_hold_nothing() {
    block_on(async {
        let dropped = Counter::default();
        let mut set = TaskSet::new();
        for _ in 0..10 {
            let guard = dropped.guard();
            set.spawn(async move {
                let _guard = guard;
                pending::<()>().await;
            });
        }
        set.abort_all();
        for joined in 1..=10 {
            let ended = set.join_next().await.unwrap();
            assert!(matches!(ended, Err(JoinError::Aborted)));
            assert!(dropped.count() >= joined);
        }
        set.spawn(async {});
        assert!(
            set.join_next().await.unwrap().is_ok(),
            "it can be used again"
        );
    });
}

#[test]
fn a_joined_child_has_dropped_its_future() {
    struct Late(Guard);
    impl Future for Late {
        type Output = ();
        fn poll(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<()> {
            let _ = &self.0;
            std::task::Poll::Ready(())
        }
    }
    block_on(async {
        let dropped = Counter::default();
        let mut set = TaskSet::new();
        for joined in 1..=1000 {
            set.spawn(Late(dropped.guard()));
            set.join_next().await.unwrap().unwrap();
            assert_eq!(dropped.count(), joined);
        }
    });
}

#[test]
fn a_dropped_set_aborts_its_children() {
    block_on(async {
        let dropped = Counter::default();
        let mut set = TaskSet::new();
        for _ in 0..100 {
            let guard = dropped.guard();
            set.spawn(async move {
                sleep(FOR_EVER).await;
                drop(guard);
            });
        }
        yield_now().await;
        drop(set);
        dropped.reaches(100).await;
    });
}

#[test]
fn a_forgotten_wait_for_the_next_child_loses_nothing() {
    block_on(async {
        let mut set = TaskSet::new();
        let mut joined = HashSet::new();
        for number in 0..200 {
            set.spawn(async move {
                yield_now().await;
                number
            });
            while let Some(Some(ended)) = futures_lite::future::poll_once(set.join_next()).await {
                joined.insert(ended.unwrap());
            }
        }
        while let Some(ended) = set.join_next().await {
            joined.insert(ended.unwrap());
        }
        assert_eq!(joined.len(), 200);
    });
}

#[test]
fn a_set_within_a_dropped_runtime_drops_its_children() {
    let dropped = Counter::default();
    block_on(async {
        let guard = dropped.guard();
        spawn(async move {
            let mut set = TaskSet::new();
            set.spawn(async move {
                sleep(FOR_EVER).await;
                drop(guard);
            });
            set.join_next().await;
        });
        sleep(Duration::from_millis(10)).await;
    });
    assert_eq!(dropped.count(), 1);
}

#[test]
fn a_scope_ends_after_its_children() {
    block_on(async {
        let ended = Counter::default();
        let body = scope(|scope| {
            let ended = ended.clone();
            async move {
                for index in 0..20 {
                    let guard = ended.guard();
                    let deeper = scope.clone();
                    scope.spawn(async move {
                        sleep(Duration::from_millis(index % 3)).await;
                        let inner = guard.0.clone();
                        deeper.spawn(async move {
                            yield_now().await;
                            inner.fetch_add(1, Ordering::SeqCst);
                        });
                    });
                }
                "body"
            }
        })
        .await;
        assert_eq!((body, ended.count()), ("body", 40));
    });
}

#[test]
fn a_panic_of_a_child_cancels_the_others_and_goes_on() {
    block_on(async {
        let dropped = Counter::default();
        let message = panic_of(scope(|scope| {
            let dropped = dropped.clone();
            async move {
                let _body = dropped.guard();
                for _ in 0..3 {
                    let guard = dropped.guard();
                    scope.spawn(async move {
                        sleep(FOR_EVER).await;
                        drop(guard);
                    });
                }
                let bad = scope.spawn(async {
                    yield_now().await;
                    if true {
                        panic!("a child's panic");
                    }
                });
                bad.join().await;
                unreachable!("the body is cancelled where it waits");
            }
        }))
        .await;
        assert_eq!(message, "a child's panic");
        assert_eq!(dropped.count(), 4, "all are gone when the panic goes on");
    });
}

#[test]
fn a_panic_of_the_body_cancels_the_children_and_goes_on() {
    block_on(async {
        let dropped = Counter::default();
        let guard = dropped.guard();
        let message = panic_of(scope(|scope| {
            scope.spawn(async move {
                sleep(FOR_EVER).await;
                drop(guard);
            });
            assert!(dropped.count() > 0, "the body's panic");
            async {}
        }))
        .await;
        assert!(message.contains("the body's panic"));
        assert_eq!(dropped.count(), 1);
    });
}

#[test]
fn the_first_error_ends_a_scope() {
    block_on(async {
        let dropped = Counter::default();
        for of_child in [true, false] {
            let guard = dropped.guard();
            let ended: Result<(), &str> = try_scope(|scope| async move {
                scope.spawn(async move {
                    sleep(FOR_EVER).await;
                    drop(guard);
                });
                if of_child {
                    scope.try_spawn(async { Err::<(), _>("failed") });
                    pending::<()>().await;
                }
                Err("failed")
            })
            .await;
            assert_eq!(ended, Err("failed"));
        }
        assert_eq!(dropped.count(), 2);
    });
}

#[test]
fn a_dropped_scope_cancels_its_children_and_those_of_scopes_within() {
    block_on(async {
        let dropped = Counter::default();
        let outer = scope(|outer| {
            let dropped = dropped.clone();
            async move {
                for _ in 0..3 {
                    let guard = dropped.guard();
                    outer.spawn(scope(|inner| async move {
                        inner.spawn(async move {
                            sleep(FOR_EVER).await;
                            drop(guard);
                        });
                    }));
                }
                pending::<()>().await;
            }
        });
        assert!(timeout(Duration::from_millis(20), outer).await.is_err());
        dropped.reaches(3).await;
    });
}

#[test]
fn a_scope_that_is_over_takes_no_more() {
    block_on(async {
        let kept = Arc::new(Mutex::new(None));
        scope(|scope| {
            *kept.lock().unwrap() = Some(scope);
            async {}
        })
        .await;
        let dropped = Counter::default();
        let guard = dropped.guard();
        let kept = kept.lock().unwrap().take().unwrap();
        kept.spawn(async move {
            drop(guard);
            unreachable!("it must not run");
        });
        assert_eq!(dropped.count(), 1);
    });
}

#[test]
fn a_child_from_elsewhere_is_noticed() {
    block_on(async {
        let outside = Arc::new(MVar::empty());
        let strangers = outside.clone();
        spawn(async move {
            let scope: thrum_rt::Scope = strangers.take().await;
            scope.spawn(async { panic!("from elsewhere") });
        });
        let message = panic_of(timeout(
            Duration::from_secs(10),
            scope(|scope| async move {
                outside.put(scope).await;
                pending::<()>().await;
            }),
        ))
        .await;
        assert_eq!(message, "from elsewhere");
    });
}
