//! `ahead`, `map_async` and `map_concurrent`, and panics in tasks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use thrum_rt::time::{Duration, Instant, sleep};
use thrum_rt::{test, yield_now};
use thrum_stream::{Result, Source, Stage, sink, stage};

use crate::paced::*;

#[test]
fn so_much_is_read_ahead_and_no_more() {
    test::run_seeds(20, || async {
        let journal = Journal::default();
        let mut ahead = ready(0..100, &journal).ahead(5);
        for taken in 0..100 {
            sleep(SECOND).await;
            assert_eq!(journal.reads(), u32::min(taken + 6, 100));
            assert_eq!(ahead.next().await.unwrap(), Some(taken));
        }
        assert_eq!(ahead.next().await.unwrap(), None);
        assert_eq!(ahead.next().await.unwrap(), None);
        ahead.close().await.unwrap();
        assert_eq!(journal.take(), ["source closed"]);
    });
}

#[test]
fn both_sides_of_ahead_work_at_the_same_time() {
    test::run(async {
        let begin = Instant::now();
        let ahead = paced(SECOND, 0..10, &Journal::default()).ahead(1);
        let slow = paced_sink(SECOND, &Journal::default());
        ahead.run(slow).await.unwrap();
        assert_eq!(begin.elapsed().as_secs(), 11);
    });
}

#[test]
fn the_close_of_ahead_ends_its_task_wherever_that_waits() {
    test::run_seeds(20, || async {
        for items in [vec![1, NEVER], (0..100).collect()] {
            let journal = Journal::default();
            let mut ahead = ready(items, &journal).ahead(2);
            ahead.next().await.unwrap();
            ahead.close().await.unwrap();
            assert_eq!(journal.take(), ["source closed"]);
        }
    });
}

#[test]
fn dropping_ahead_aborts_its_task() {
    test::run_seeds(20, || async {
        let journal = Journal::default();
        let ahead = ready([1, NEVER], &journal).ahead(2);
        yield_now().await;
        drop(ahead);
        sleep(SECOND).await;
        assert!(journal.take().is_empty());
        assert_eq!(Arc::strong_count(&journal.reads), 1, "the source is gone");
    });
}

#[test]
fn errors_come_through_ahead_in_their_place_and_with_their_names() {
    test::run_seeds(20, || async {
        let journal = Journal::default();
        let doubled = ready([1, 2, FAILS], &journal)
            .named("numbers")
            .pipe(stage::map(|n| 2 * n));
        let mut ahead = doubled.ahead(9);
        sleep(SECOND).await;
        assert_eq!(ahead.next().await.unwrap(), Some(2));
        assert_eq!(ahead.next().await.unwrap(), Some(4));
        assert_eq!(ahead.next().await.unwrap_err().to_string(), "numbers: item");
        assert_eq!(ahead.next().await.unwrap(), None);
        ahead.close().await.unwrap();
        assert_eq!(journal.take(), ["source closed"]);
    });
}

#[test]
fn panics_in_tasks_go_on_in_whoever_reads() {
    fn message(run: impl FnOnce()) -> String {
        let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        (*payload.downcast::<&str>().unwrap()).to_owned()
    }
    let journal = Journal::default();
    let ahead = || ready([1, PANICS], &journal).ahead(9);
    let read = message(|| test::run(async { drop(all(ahead()).await) }));
    let closed = message(|| {
        test::run(async {
            let ahead = ahead();
            sleep(SECOND).await;
            ahead.close().await.unwrap();
        });
    });
    let worked = message(|| {
        test::run(async {
            let panicking = async |n: u32| {
                if n == 1 {
                    panic!("paced panics")
                } else {
                    Result::Ok(n)
                }
            };
            let items = ready([0, 1], &journal).map_concurrent(2, panicking);
            drop(all(items).await);
        });
    });
    let teed = message(|| {
        test::run(async {
            let panicking = stage::map(|_| panic!("paced panics"));
            let side = panicking.to(sink::fold((), |(), ()| ()));
            drop(all(ready([1], &journal).tee(side, |()| ())).await);
        });
    });
    assert_eq!([read, closed, worked, teed], ["paced panics"; 4]);
}

#[test]
fn map_async_takes_one_item_after_the_other() {
    test::run(async {
        let begin = Instant::now();
        let slow = ready([3, 2, 1], &Journal::default()).map_async(async |n| {
            sleep(n * SECOND).await;
            if n == 1 { Err("one") } else { Ok(n) }
        });
        let (items, error) = until_error(slow).await;
        assert_eq!((items, error.as_str()), (vec![3, 2], "map_async: one"));
        assert_eq!(begin.elapsed(), 6 * SECOND);
    });
}

#[test]
fn map_concurrent_works_on_so_many_at_a_time_and_keeps_their_order() {
    test::run_seeds(20, || async {
        let begin = Instant::now();
        let (working, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let journal = Journal::default();
        let counted = {
            let (working, most) = (working.clone(), most.clone());
            move |n: u32| {
                let (working, most) = (working.clone(), most.clone());
                async move {
                    let now = working.fetch_add(1, Ordering::Relaxed) + 1;
                    most.fetch_max(now, Ordering::Relaxed);
                    sleep(SECOND * (1 + n % 2)).await;
                    working.fetch_sub(1, Ordering::Relaxed);
                    Result::Ok(n)
                }
            }
        };
        let mut mapped = ready(0..40, &journal).map_concurrent(4, counted);
        for n in 0..40 {
            assert_eq!(mapped.next().await.unwrap(), Some(n));
            assert!(journal.reads() <= n + 4);
        }
        assert_eq!(mapped.next().await.unwrap(), None);
        assert_eq!(mapped.next().await.unwrap(), None);
        assert_eq!(most.load(Ordering::Relaxed), 4);
        assert!(begin.elapsed() < 30 * SECOND, "{:?}", begin.elapsed());
    });
}

#[test]
fn the_tasks_of_map_concurrent_run_while_nobody_reads() {
    test::run(async {
        let mut mapped = ready([1, 2], &Journal::default()).map_concurrent(2, async |n| {
            sleep(SECOND).await;
            Result::Ok(n)
        });
        mapped.next().await.unwrap();
        sleep(SECOND).await;
        let begin = Instant::now();
        assert_eq!(mapped.next().await.unwrap(), Some(2));
        assert_eq!(begin.elapsed(), Duration::ZERO);
    });
}

#[test]
fn errors_of_map_concurrent_come_in_the_order_of_the_items() {
    test::run_seeds(20, || async {
        let identity = async |n: u32| {
            sleep((5 - n) * SECOND).await;
            if n == 4 { Err("four") } else { Ok(n) }
        };
        let journal = Journal::default();
        let mapped = ready([1, 2, 4, 3], &journal).map_concurrent(9, identity);
        let (items, error) = until_error(mapped).await;
        assert_eq!(
            (items, error.as_str()),
            (vec![1, 2], "map_concurrent: four")
        );
        let mapped = ready([1, 2, FAILS], &journal).map_concurrent(9, identity);
        let (items, error) = until_error(mapped).await;
        assert_eq!((items, error.as_str()), (vec![1, 2], "paced: item"));
    });
}

#[test]
fn the_close_of_map_concurrent_drops_what_is_in_work() {
    test::run_seeds(20, || async {
        let journal = Journal::default();
        let held = journal.clone();
        let mut mapped = ready([1, 2, 3], &journal).map_concurrent(2, move |n| {
            let held = held.clone();
            async move {
                if n > 1 {
                    std::future::pending::<()>().await;
                }
                drop(held);
                Result::Ok(n)
            }
        });
        assert_eq!(mapped.next().await.unwrap(), Some(1));
        mapped.close().await.unwrap();
        assert_eq!(journal.take(), ["source closed"]);
        assert_eq!(Arc::strong_count(&journal.reads), 1);
    });
}

async fn until_error<S: Source>(mut source: S) -> (Vec<S::Item>, String) {
    let mut items = Vec::new();
    let error = loop {
        match source.next().await {
            Ok(item) => items.push(item.expect("an error comes first")),
            Err(error) => break error,
        }
    };
    (items, error.to_string())
}
