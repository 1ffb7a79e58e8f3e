//! Several futures in one task: `select!`, `join!`, `try_join!`, `race`; and task-locals.

use std::future::{Future, pending, ready};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use thrum_rt::sync::MVar;
use thrum_rt::time::sleep;
use thrum_rt::{
    Runtime, block_on, join, race, race_all, select, spawn, task_local, try_join, yield_now,
};

/// Counts its drops.
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

async fn never(guard: Guard) -> u32 {
    let _guard = guard;
    pending().await
}

#[test]
fn losers_are_dropped_before_the_body_runs() {
    block_on(async {
        let dropped = Arc::new(AtomicUsize::new(0));
        let mut shared = vec![1];
        let seen = select! {
            _ = never(Guard(dropped.clone())) => unreachable!(),
            _ = async { shared.push(0); pending::<()>().await } => unreachable!(),
            number = async { yield_now().await; 2 } => {
                shared.push(number); // the loser's borrow is over
                dropped.load(Ordering::SeqCst)
            }
            _ = never(Guard(dropped.clone())) => unreachable!(),
        };
        assert_eq!(seen, 2);
        assert_eq!(*shared.last().unwrap(), 2);
    });
}

#[test]
fn select_is_fair_unless_biased() {
    block_on(async {
        let mut wins = [0; 3];
        for _ in 0..3000 {
            let winner = select! {
                () = ready(()) => 0,
                () = ready(()) => 1,
                () = ready(()) => 2,
            };
            wins[winner] += 1;
        }
        assert!(wins.iter().all(|&wins| wins > 700), "{wins:?}");
        for _ in 0..100 {
            select! {
                biased;
                () = ready(()) => {}
                () = ready(()) => unreachable!(),
            }
        }
    });
}

#[test]
fn a_random_start_still_polls_each_branch_once() {
    let polls = AtomicUsize::new(0);
    let count = || {
        std::future::poll_fn(|_| {
            polls.fetch_add(1, Ordering::SeqCst);
            Poll::<()>::Pending
        })
    };
    let mut selected = pin!(async {
        select! {
            () = count() => {}
            () = count() => {}
            () = count() => {}
            () = count() => {}
            () = count() => {}
        }
    });
    for _ in 0..100 {
        let mut cx = Context::from_waker(Waker::noop());
        assert!(selected.as_mut().poll(&mut cx).is_pending());
    }
    assert_eq!(polls.load(Ordering::SeqCst), 500);
}

#[test]
fn conditions_and_patterns_take_branches_out() {
    block_on(async {
        let taken = select! {
            _ = ready(1), if false => "disabled",
            Some(_) = ready(None::<u32>) => "no match",
            Ok(mut text) = ready(Ok::<String, ()>("match".to_owned())), if true => {
                assert_eq!(text.pop(), Some('h'));
                "match"
            }
        };
        assert_eq!(taken, "match");
        let taken = select! {
            Some(1 | 2) = ready(Some(3)) => "no match",
            _ = pending::<()>(), if taken.is_empty() => "disabled",
            else => "else",
        };
        assert_eq!(taken, "else");
        let slow = select! {
            Some(_) = ready(None::<u32>) => 0,
            Some(number) = async { yield_now().await; Some(4) } => number,
            else => 1,
        };
        assert_eq!(slow, 4);
    });
}

#[test]
#[should_panic(expected = "has no `else`")]
fn no_branch_left_is_a_panic() {
    block_on(async {
        select! {
            Some(()) = ready(None) => {}
        }
    });
}

#[test]
fn bodies_are_code_of_their_function() {
    async fn first_even() -> Result<u32, String> {
        let mut number = 0;
        let mut rest = pin!(sleep(Duration::from_secs(3600)));
        loop {
            number += 1;
            select! {
                odd = async { number % 2 == 1 } => {
                    if odd {
                        continue;
                    }
                    yield_now().await;
                    break;
                }
                () = &mut rest => return Err("late".to_owned()),
            }
        }
        select! {
            done = async { Err::<u32, _>("failed".to_owned()) }, if number != 2 => Ok(done?),
            done = async { Ok::<_, String>(number) } => Ok(done?),
        }
    }
    block_on(async { assert_eq!(first_even().await, Ok(2)) });
}

#[test]
fn a_select_can_be_spawned_and_nested() {
    block_on(async {
        let nested = spawn(async {
            select! {
                inner = async {
                    select! { one = ready(1) => one, _ = pending::<()>() => 0 }
                } => select! { two = ready(2) => inner + two },
                () = sleep(Duration::from_secs(3600)) => 0,
            }
        });
        assert_eq!(nested.await.unwrap(), 3);
    });
}

#[test]
fn join_waits_for_all_and_borrows() {
    async fn length(text: &str, polls: usize) -> usize {
        for _ in 0..polls {
            yield_now().await;
        }
        text.len()
    }
    block_on(async {
        let text = "borrowed".to_owned();
        let (one, two, three) = join!(length(&text, 3), length(&format!("{}", 1234), 0), ready(5));
        assert_eq!((one, two, three), (8, 4, 5));
        assert_eq!(join!(ready(1)), (1,));
    });
}

#[test]
fn join_lets_its_futures_run_at_the_same_time() {
    block_on(async {
        let (there, back) = (MVar::empty(), MVar::empty());
        let ping = async {
            there.put(1).await;
            back.take().await
        };
        let pong = async { back.put(there.take().await + 1).await };
        assert_eq!(join!(ping, pong).0, 2);
    });
}

#[test]
fn try_join_ends_at_the_first_error() {
    block_on(async {
        let dropped = Arc::new(AtomicUsize::new(0));
        let guard = Guard(dropped.clone());
        let joined: Result<(u32, ()), &str> = try_join!(async { Ok(never(guard).await) }, async {
            yield_now().await;
            Err("failed")
        });
        assert_eq!(joined, Err("failed"));
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        let joined: Result<_, ()> = try_join!(ready(Ok(1)), async {
            yield_now().await;
            Ok("two")
        });
        assert_eq!(joined, Ok((1, "two")));
    });
}

#[test]
fn races_have_one_winner() {
    block_on(async {
        let dropped = Arc::new(AtomicUsize::new(0));
        let guard = || Guard(dropped.clone());
        assert_eq!(race(never(guard()), ready(1)).await, 1);
        let runners: Vec<Pin<Box<dyn Future<Output = u32>>>> = vec![
            Box::pin(never(guard())),
            Box::pin(async {
                yield_now().await;
                2
            }),
            Box::pin(never(guard())),
        ];
        assert_eq!(race_all(runners).await, Some(2));
        assert_eq!(dropped.load(Ordering::SeqCst), 3);
        assert_eq!(race_all(Vec::<std::future::Ready<()>>::new()).await, None);
        let mut wins = [0; 3];
        for _ in 0..3000 {
            wins[race_all((0..3).map(ready)).await.unwrap()] += 1;
        }
        assert!(wins.iter().all(|&wins| wins > 700), "{wins:?}");
    });
}

task_local! {
    static NAME: String;
    static DEPTH: u32;
}

#[test]
fn task_locals_follow_their_task_over_the_workers() {
    let runtime = Runtime::builder().workers(4).build().unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..200)
            .map(|number| {
                spawn(DEPTH.scope(number, async move {
                    for _ in 0..50 {
                        assert_eq!(DEPTH.get(), number);
                        yield_now().await;
                    }
                    let inner = DEPTH.scope(number + 1, async {
                        yield_now().await;
                        DEPTH.get()
                    });
                    (DEPTH.get(), inner.await, DEPTH.get())
                }))
            })
            .collect();
        for (number, task) in (0..).zip(tasks) {
            assert_eq!(task.await.unwrap(), (number, number + 1, number));
        }
    });
}

#[test]
fn task_locals_are_set_in_the_scope_only() {
    block_on(async {
        let mut scoped = pin!(NAME.scope("one".to_owned(), async {
            yield_now().await;
            NAME.get()
        }));
        assert!(
            futures_lite::future::poll_once(scoped.as_mut())
                .await
                .is_none()
        );
        assert!(NAME.try_with(|_| ()).is_err(), "not between its polls");
        assert_eq!(scoped.await, "one");
        NAME.sync_scope("outer".to_owned(), || {
            let inner = NAME.sync_scope("inner".to_owned(), || NAME.get());
            assert_eq!((inner, NAME.get()), ("inner".into(), "outer".into()));
        });
        let other = NAME.scope("one".to_owned(), async {
            spawn(async { NAME.try_with(String::clone) }).await.unwrap()
        });
        assert!(other.await.is_err(), "it is not inherited");
    });
}

#[test]
fn task_locals_are_restored_after_a_panic_and_set_in_drops() {
    struct Reader(Arc<MVar<String>>);
    impl Drop for Reader {
        fn drop(&mut self) {
            let _ = self.0.try_put(NAME.get());
        }
    }
    block_on(async {
        let panicked = std::panic::catch_unwind(|| {
            NAME.sync_scope("panicking".to_owned(), || panic!("out of the scope"))
        });
        assert!(panicked.is_err());
        assert!(NAME.try_with(|_| ()).is_err());

        let read = Arc::new(MVar::empty());
        let reader = Reader(read.clone());
        let mut scoped = Box::pin(NAME.scope("dropped".to_owned(), async move {
            let _reader = reader;
            pending::<()>().await;
        }));
        assert!(
            futures_lite::future::poll_once(scoped.as_mut())
                .await
                .is_none()
        );
        drop(scoped);
        assert_eq!(read.try_take().as_deref(), Some("dropped"));
    });
}
