//! `timeout`, `throttle` and `batch_timeout`.

use bytes::Bytes;
use thrum_rt::test;
use thrum_rt::time::{Duration, Instant, sleep, timeout};
use thrum_stream::{Source, sink, source};

use crate::paced::*;

#[test]
fn an_item_that_takes_too_long_is_an_error() {
    test::run(async {
        let journal = Journal::default();
        let quick = paced(SECOND, [1, 2, 3], &journal).timeout(2 * SECOND);
        // What the reader takes does not count.
        let slow = paced_sink(10 * SECOND, &Journal::default());
        quick.run(slow).await.unwrap();

        let begin = Instant::now();
        let slow = paced(3 * SECOND, [1], &journal).timeout(2 * SECOND);
        let error = slow.run(sink::count()).await.unwrap_err();
        assert_eq!(error.to_string(), "timeout: nothing came for 2s");
        assert_eq!(begin.elapsed().as_secs(), 2);
    });
}

#[test]
fn a_wait_that_is_begun_anew_is_one_wait_to_a_timeout() {
    test::run(async {
        let begin = Instant::now();
        let silent = ready([NEVER], &Journal::default()).timeout(10 * SECOND);
        let lively = paced(SECOND, vec![1; 100], &Journal::default());
        // The merge drops the silent one's `next` for each item of the lively one.
        let error = silent.merge(lively).run(sink::count()).await.unwrap_err();
        assert_eq!(error.stage(), "timeout");
        assert_eq!(begin.elapsed().as_secs(), 10);
    });
}

#[test]
fn a_throttle_lets_a_burst_pass_and_then_its_rate() {
    test::run(async {
        let journal = Journal::default();
        let begin = Instant::now();
        let mut throttled = ready(0..1000, &journal).throttle(10, 5);
        for count in 1..=25 {
            throttled.next().await.unwrap();
            // Five at once, then one every 100 ms; and nothing is read before it may pass.
            let due = Duration::from_millis(100 * u64::saturating_sub(count, 5));
            let late = begin.elapsed() - due;
            assert!(
                begin.elapsed() >= due && late < SECOND / 10,
                "{count}: {late:?}"
            );
            assert_eq!(u64::from(journal.reads()), count);
        }
        // A pause fills the bucket, and no more than that.
        sleep(60 * SECOND).await;
        let begin = Instant::now();
        for _ in 0..15 {
            throttled.next().await.unwrap();
        }
        assert_eq!(begin.elapsed().as_millis() / 100, 10);
    });
}

#[test]
fn bytes_are_throttled_by_their_length() {
    test::run(async {
        let begin = Instant::now();
        let pieces = source::iter([100, 900, 3000, 1].map(|length| Bytes::from(vec![0; length])));
        let mut slow = pieces.throttle_by(1000, 1000, |piece| piece.len() as u64);
        let mut passed = Vec::new();
        while slow.next().await.unwrap().is_some() {
            passed.push(begin.elapsed().as_millis());
        }
        // A thousand at once; the three thousand, which no bucket holds, when there is one; the last when all is paid.
        assert_eq!(passed, [0, 0, 1, 3001]);
        // No cost is too high to be counted.
        let dear = source::iter(0..2).throttle_by(1, 1, |_| u64::MAX);
        assert!(timeout(SECOND, dear.run(sink::count())).await.is_err());
    });
}

#[test]
fn a_batch_goes_when_it_is_full_or_old() {
    test::run(async {
        let journal = Journal::default();
        let fast = ready(0..5, &journal).batch_timeout(2, SECOND);
        assert_eq!(all(fast).await, [vec![0, 1], vec![2, 3], vec![4]]);
        // Items at 1, 2, 3, ...; the first one's age counts.
        let slow = paced(SECOND, 0..6, &journal).batch_timeout(9, 2500 * SECOND / 1000);
        assert_eq!(all(slow).await, [vec![0, 1, 2], vec![3, 4, 5]]);
        // None of nothing, however long that takes.
        let rare = paced(100 * SECOND, 0..2, &journal).batch_timeout(9, SECOND);
        assert_eq!(all(rare).await, [[0], [1]]);
    });
}
