//! `merge`, `merge_all`, `chain` and `zip`.

use thrum_rt::test;
use thrum_stream::{Source, sink, source};

use crate::paced::*;

#[test]
fn sources_that_are_ready_take_turns() {
    test::run(async {
        let journal = Journal::default();
        let (ones, twos) = (ready([1; 50], &journal), ready([2; 50], &journal));
        let merged = all(ones.merge(twos)).await;
        assert!(merged.chunks(2).all(|pair| pair == [1, 2]), "{merged:?}");

        let sources = [1, 2, 3].map(|n| ready(vec![n; 10 * n as usize], &journal));
        let merged = all(source::merge_all(sources)).await;
        assert_eq!(merged.len(), 60);
        for turns in merged[..30].chunks(3) {
            let mut turns = turns.to_vec();
            turns.sort_unstable();
            assert_eq!(turns, [1, 2, 3]);
        }
    });
}

#[test]
fn items_are_merged_as_they_come() {
    test::run_seeds(10, || async {
        let journal = Journal::default();
        let threes = || paced(3 * SECOND, [3, 6, 9], &journal);
        let sevens = || paced(7 * SECOND, [7, 14], &journal);
        assert_eq!(all(threes().merge(sevens())).await, [3, 6, 7, 9, 14]);
        let merged = all(source::merge_all([sevens(), threes()])).await;
        assert_eq!(merged, [3, 6, 7, 9, 14]);
        assert!(all(source::merge_all::<Paced>([])).await.is_empty());
    });
}

#[test]
fn an_error_ends_a_merge_and_all_are_closed() {
    test::run(async {
        let journal = Journal::default();
        let (ends, fails) = (ready([1], &journal), ready([2, FAILS], &journal));
        let error = ends.merge(fails).run(sink::count()).await.unwrap_err();
        assert_eq!(error.stage(), "paced");
        assert_eq!(journal.take(), ["source closed", "source closed"]);

        let sources =
            [vec![], vec![1, 2, 3, 4], vec![1, FAILS]].map(|items| ready(items, &journal));
        let error = source::merge_all(sources).run(sink::count()).await;
        assert_eq!(error.unwrap_err().stage(), "paced");
        assert_eq!(journal.take().len(), 3);
    });
}

#[test]
fn the_second_of_a_chain_is_read_when_the_first_has_ended() {
    test::run(async {
        let (first, second) = (Journal::default(), Journal::default());
        let mut chain = ready([1, 2], &first).chain(ready([3], &second));
        for item in 1..=3 {
            assert_eq!(second.reads(), 0);
            assert_eq!(chain.next().await.unwrap(), Some(item));
        }
        assert_eq!(chain.next().await.unwrap(), None);
        chain.close().await.unwrap();
        assert_eq!([first.take(), second.take()], [["source closed"]; 2]);
    });
}

#[test]
fn a_zip_ends_with_the_shorter_one_and_reads_little_of_the_longer() {
    test::run(async {
        let journals = [Journal::default(), Journal::default()];
        let zip = |a: u32, b: u32| ready(0..a, &journals[0]).zip(ready(0..b, &journals[1]));
        assert_eq!(all(zip(2, 9)).await, [(0, 0), (1, 1)]);
        assert_eq!([journals[0].reads(), journals[1].reads()], [2, 2]);
        let mut zip = zip(9, 2);
        for _ in 0..2 {
            assert!(zip.next().await.unwrap().is_some());
        }
        for _ in 0..5 {
            assert!(zip.next().await.unwrap().is_none());
        }
        assert_eq!([journals[0].reads(), journals[1].reads()], [2 + 3, 2 + 2]);
        for journal in &journals {
            journal.take();
        }
        zip.close().await.unwrap();
        assert_eq!(
            journals.map(|journal| journal.take()),
            [["source closed"]; 2]
        );
    });
}
