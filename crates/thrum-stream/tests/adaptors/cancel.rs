//! A `next` that is dropped half-way loses nothing.

use std::fmt::Debug;

use thrum_rt::test;
use thrum_rt::time::{self, Duration, sleep};
use thrum_stream::{Result, Source, source, stage};

use crate::paced::*;

/// All items, with each wait given up again and again.
async fn interrupted<S: Source<Item: Debug>>(mut source: S) -> String {
    let mut items = Vec::new();
    loop {
        // None of these divides another, so that waits are given up anywhere.
        let patience = Duration::from_millis(7 + items.len() as u64 % 3);
        match time::timeout(patience, source.next()).await {
            Ok(Ok(Some(item))) => items.push(item),
            Ok(end) => {
                end.unwrap();
                source.close().await.unwrap();
                return format!("{items:?}");
            }
            Err(time::Elapsed) => {}
        }
    }
}

#[test]
fn a_next_that_is_dropped_loses_nothing() {
    test::run_seeds(20, || async {
        let journal = Journal::default();
        let ms = Duration::from_millis;
        let slow = |first: u32| paced(ms(20), first..first + 6, &journal);
        async fn work(n: u32) -> Result<u32> {
            sleep(Duration::from_millis(30)).await;
            Ok(n)
        }

        let six = "[0, 1, 2, 3, 4, 5]";
        assert_eq!(interrupted(slow(0).pipe(stage::inspect(|_| ()))).await, six);
        assert_eq!(interrupted(slow(0).ahead(2)).await, six);
        assert_eq!(interrupted(slow(0).timeout(SECOND)).await, six);
        assert_eq!(interrupted(slow(0).throttle(20, 1)).await, six);
        assert_eq!(interrupted(slow(0).map_async(work)).await, six);
        assert_eq!(interrupted(slow(0).map_concurrent(2, work)).await, six);
        let chained = interrupted(slow(0).chain(slow(6))).await;
        assert_eq!(chained, "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]");
        let zipped = interrupted(slow(0).zip(slow(0))).await;
        assert_eq!(zipped, "[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]");
        let batches = interrupted(slow(0).batch_timeout(4, SECOND)).await;
        assert_eq!(batches, "[[0, 1, 2, 3], [4, 5]]");

        let uneven = paced(ms(33), 6..9, &journal);
        let merged = interrupted(slow(0).merge(uneven)).await;
        assert_eq!(merged, "[0, 6, 1, 2, 7, 3, 8, 4, 5]");
        let uneven = paced(ms(33), 6..9, &journal);
        let merged = interrupted(source::merge_all([slow(0), uneven])).await;
        assert_eq!(merged, "[0, 6, 1, 2, 7, 3, 8, 4, 5]");

        let side = Journal::default();
        let tee = slow(0).tee(paced_sink(ms(50), &side), |_| ());
        assert_eq!(interrupted(tee).await, six);
        let mut copies = side.take();
        copies.retain(|entry| entry != "flushed");
        assert_eq!(copies, ["0", "1", "2", "3", "4", "5", "sink closed"]);
    });
}
