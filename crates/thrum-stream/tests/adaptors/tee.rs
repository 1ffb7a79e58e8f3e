//! `tee`.

use thrum_rt::test;
use thrum_rt::time::{Duration, Instant, sleep, timeout};
use thrum_stream::{Source, Stage, sink, stage};

use crate::paced::*;

#[test]
fn both_readers_of_a_tee_get_all_and_the_sinks_result_is_told() {
    test::run_seeds(20, || async {
        let journal = Journal::default();
        let mut result = None;
        let side = paced_sink(Duration::ZERO, &journal);
        let tee = ready([1, 2], &journal).tee(side, |told| result = Some(told));
        assert_eq!(all(tee).await, [1, 2]);
        assert_eq!(result, Some("result"));
        let mut entries = journal.take();
        assert_eq!(entries.pop().unwrap(), "sink closed");
        entries.retain(|entry| entry != "flushed" && entry != "source closed");
        assert_eq!(entries, ["1", "2"]);
    });
}

#[test]
fn the_slower_reader_of_a_tee_sets_the_pace() {
    test::run_seeds(20, || async {
        let begin = Instant::now();
        let (journal, side) = (Journal::default(), Journal::default());
        let slow = paced_sink(SECOND, &side);
        let mut tee = ready(100..200, &journal).tee(slow, |_| ());
        for _ in 0..100 {
            tee.next().await.unwrap().unwrap();
            let seconds = begin.elapsed().as_secs() as u32;
            assert!(
                journal.reads() <= seconds + 4,
                "{} read ahead",
                journal.reads()
            );
        }
        assert_eq!(tee.next().await.unwrap(), None);
        tee.close().await.unwrap();
        assert_eq!(begin.elapsed(), 100 * SECOND);

        let (journal, side) = (Journal::default(), Journal::default());
        let tee = ready(0..10, &journal).tee(paced_sink(Duration::ZERO, &side), |_| ());
        let slow = paced_sink(SECOND, &Journal::default());
        let mut run = std::pin::pin!(tee.run(slow));
        assert!(timeout(4500 * SECOND / 1000, &mut run).await.is_err());
        assert!(journal.reads() <= 5, "{} read ahead", journal.reads());
        run.await.unwrap();
    });
}

#[test]
fn a_sink_behind_a_tee_that_has_not_seen_all_is_aborted() {
    test::run_seeds(20, || async {
        let journal = Journal::default();
        let tee = |items: Vec<u32>| {
            let side = paced_sink(Duration::ZERO, &journal);
            ready(items, &journal).tee(side, |_| panic!("there is no result"))
        };
        let last = || journal.take().pop().unwrap();
        let failed = tee(vec![1, FAILS]).run(sink::count()).await;
        assert_eq!(failed.unwrap_err().to_string(), "paced: item");
        assert_eq!(last(), "sink aborted: paced: item");

        assert_eq!(tee(vec![1, 2]).run(sink::head()).await.unwrap(), Some(1));
        assert!(last().starts_with("sink aborted: tee: "));

        let behind = stage::try_map(|_| Err::<(), _>("no good")).to(sink::count());
        let failed = tee(vec![1, 2]).run(behind).await;
        assert_eq!(failed.unwrap_err().stage(), "try_map");
        assert!(last().starts_with("sink aborted: tee: "));

        let mut dropped = tee(vec![1, 2]);
        dropped.next().await.unwrap();
        drop(dropped);
        sleep(SECOND).await;
        let entries = journal.take();
        assert!(!entries.contains(&"sink closed".to_owned()), "{entries:?}");
    });
}

#[test]
fn what_a_sink_behind_a_tee_does_shows_in_its_reader() {
    test::run_seeds(20, || async {
        let journal = Journal::default();
        // It fails: that ends the source.
        let side = paced_sink(Duration::ZERO, &journal);
        let failed = ready(0..100, &journal)
            .tee(side, |_| ())
            .run(sink::count())
            .await;
        assert_eq!(failed.unwrap_err().to_string(), "side: unlucky");
        assert!(journal.reads() < 20);
        // It fails at the very last.
        let side = paced_sink(Duration::ZERO, &journal);
        let failed = ready([13], &journal)
            .tee(side, |_| ())
            .run(sink::count())
            .await;
        assert_eq!(failed.unwrap_err().to_string(), "side: unlucky");
        // It has enough: the items go on.
        let mut first = None;
        let tee = ready(0..100, &journal).tee(sink::head(), |told| first = told);
        assert_eq!(tee.run(sink::count()).await.unwrap(), 100);
        assert_eq!(first, Some(0));
    });
}

#[test]
fn a_sink_behind_a_tee_is_flushed_when_nothing_comes() {
    test::run(async {
        let journal = Journal::default();
        let side = paced_sink(Duration::ZERO, &journal);
        let mut tee = ready([1, NEVER], &journal).tee(side, |_| ());
        tee.next().await.unwrap();
        assert!(timeout(SECOND, tee.next()).await.is_err());
        assert_eq!(journal.take().last().unwrap(), "flushed");
    });
}

/// On real workers, where the sink's task may be in the middle of a poll when it is aborted.
#[test]
fn a_tee_that_is_dropped_never_passes_for_its_end() {
    thrum_rt::block_on(async {
        let journal = Journal::default();
        for _ in 0..2000 {
            let side = paced_sink(Duration::ZERO, &journal);
            let mut tee = ready([1, 2, 3], &journal).tee(side, |_| ());
            for _ in 0..3 {
                tee.next().await.unwrap();
            }
            drop(tee);
        }
        while std::sync::Arc::strong_count(&journal.reads) > 1 {
            sleep(Duration::from_millis(1)).await;
        }
        let entries = journal.take();
        assert!(!entries.contains(&"sink closed".to_owned()));
    });
}
