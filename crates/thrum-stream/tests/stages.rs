//! The stages that know nothing of bytes, beside the same on iterators.

use std::collections::VecDeque;

use bytes::Bytes;
use futures_lite::future::block_on;
use proptest::collection::vec;
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use thrum_stream::{Cause, Error, Input, Result, Source, Stage, Step, sink, source, stage};

/// A stage of any kind.
struct Any(Box<dyn Stage<u8, Item = u8>>);

impl Any {
    fn new(stage: impl Stage<u8, Item = u8> + 'static) -> Self {
        Any(Box::new(stage))
    }
}

impl Stage<u8> for Any {
    type Item = u8;

    fn step(&mut self, input: &mut Input<u8>) -> Result<Step<u8>> {
        self.0.step(input)
    }

    fn rest(&mut self) -> Vec<u8> {
        self.0.rest()
    }
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    TryMap,
    FilterMap,
    FlatMap,
    Scan,
    Take(u8),
    TakeWhile(u8),
    Skip(u8),
    SkipWhile(u8),
    Batch(u8),
    Window(u8),
    Dedup,
    Enumerate,
    Intersperse(u8),
    Inspect,
}

fn kind() -> impl Strategy<Value = Kind> {
    let size = 1..6u8;
    prop_oneof![
        Just(Kind::TryMap),
        Just(Kind::FilterMap),
        Just(Kind::FlatMap),
        Just(Kind::Scan),
        (0..30u8).prop_map(Kind::Take),
        any::<u8>().prop_map(Kind::TakeWhile),
        (0..6u8).prop_map(Kind::Skip),
        any::<u8>().prop_map(Kind::SkipWhile),
        size.clone().prop_map(Kind::Batch),
        size.prop_map(Kind::Window),
        Just(Kind::Dedup),
        Just(Kind::Enumerate),
        any::<u8>().prop_map(Kind::Intersperse),
        Just(Kind::Inspect),
    ]
}

fn halve(n: u8) -> Option<u8> {
    n.is_multiple_of(2).then_some(n / 2)
}

fn countdown(n: u8) -> impl Iterator<Item = u8> + Send {
    (0..n % 4).rev()
}

fn sum_up(sum: &mut u8, n: u8) -> Option<u8> {
    *sum = sum.wrapping_add(n);
    (*sum != 0).then_some(*sum)
}

fn sum(items: impl AsRef<[u8]>) -> u8 {
    items.as_ref().iter().copied().fold(1, u8::wrapping_add)
}

fn stage_of(kind: Kind) -> Any {
    match kind {
        Kind::TryMap => Any::new(stage::try_map(|n: u8| Result::Ok(!n))),
        Kind::FilterMap => Any::new(stage::filter_map(halve)),
        Kind::FlatMap => Any::new(stage::flat_map(countdown)),
        Kind::Scan => Any::new(stage::scan(0, sum_up)),
        Kind::Take(count) => Any::new(stage::take(count.into())),
        Kind::TakeWhile(limit) => Any::new(stage::take_while(move |n| *n < limit)),
        Kind::Skip(count) => Any::new(stage::skip(count.into())),
        Kind::SkipWhile(limit) => Any::new(stage::skip_while(move |n| *n < limit)),
        Kind::Batch(size) => Any::new(stage::batch(size.into()).then(stage::map(sum))),
        Kind::Window(size) => Any::new(stage::window(size.into()).then(stage::map(sum))),
        Kind::Dedup => Any::new(stage::dedup()),
        Kind::Enumerate => {
            let numbered = |(number, n): (u64, u8)| n.wrapping_mul(number as u8);
            Any::new(stage::enumerate().then(stage::map(numbered)))
        }
        Kind::Intersperse(separator) => Any::new(stage::intersperse(separator)),
        Kind::Inspect => Any::new(stage::inspect(|_| ())),
    }
}

fn on_iterators(kind: Kind, items: Vec<u8>) -> Vec<u8> {
    let all = items.iter().copied();
    match kind {
        Kind::TryMap => all.map(|n| !n).collect(),
        Kind::FilterMap => all.filter_map(halve).collect(),
        Kind::FlatMap => all.flat_map(countdown).collect(),
        Kind::Scan => all.scan(0, sum_up).collect(),
        Kind::Take(count) => all.take(count.into()).collect(),
        Kind::TakeWhile(limit) => all.take_while(|n| *n < limit).collect(),
        Kind::Skip(count) => all.skip(count.into()).collect(),
        Kind::SkipWhile(limit) => all.skip_while(|n| *n < limit).collect(),
        Kind::Batch(size) => items.chunks(size.into()).map(sum).collect(),
        Kind::Window(size) => items.windows(size.into()).map(sum).collect(),
        Kind::Dedup => {
            let mut items = items;
            items.dedup();
            items
        }
        Kind::Enumerate => {
            let numbered = all.enumerate();
            numbered
                .map(|(number, n)| n.wrapping_mul(number as u8))
                .collect()
        }
        Kind::Intersperse(separator) => {
            let separated = all.flat_map(|n| [separator, n]);
            separated.skip(1).collect()
        }
        Kind::Inspect => items,
    }
}

proptest! {
    #[test]
    fn a_chain_of_stages_is_one_of_iterators(items in vec(any::<u8>(), 0..60), kinds in vec(kind(), 0..5)) {
        let expected = kinds.iter().fold(items.clone(), |items, kind| on_iterators(*kind, items));
        let chain = || kinds.iter().fold(Any::new(stage::map(|n| n)), |chain, kind| {
            Any::new(chain.then(stage_of(*kind)))
        });
        let before = source::iter(items.clone()).pipe(chain()).run(sink::collect(9999));
        prop_assert_eq!(&block_on(before).unwrap(), &expected);
        let behind = source::iter(items).run(chain().to(sink::collect(9999)));
        prop_assert_eq!(&block_on(behind).unwrap(), &expected);
    }

    /// What a sink behind one stage has not used is there for the next, be it in the stage or in its input.
    #[test]
    fn nothing_is_lost_behind_a_full_sink(
        items in vec(any::<u8>(), 0..30),
        kind in prop_oneof![(0..30u8).prop_map(Kind::Take), any::<u8>().prop_map(Kind::TakeWhile), Just(Kind::Inspect)],
        wanted in 0..30u64,
    ) {
        let expected = on_iterators(Kind::Take(wanted as u8), on_iterators(kind, items.clone()));
        block_on(async {
            let mut input = source::iter(items.clone()).resumable();
            let some = stage_of(kind).then(stage::take(wanted)).to(sink::collect(99));
            let mut all = input.feed(some).await.unwrap();
            assert_eq!(all, expected);
            all.extend(input.run(sink::collect(99)).await.unwrap());
            assert_eq!(all, items);
        });
    }

    #[test]
    fn a_batch_that_is_not_full_is_handed_back(items in vec(any::<u8>(), 0..30), size in 1..9usize) {
        let mut batch = stage::batch(size);
        let mut input = Input::new();
        let mut all = Vec::new();
        for item in &items {
            input.give(*item);
            if let Step::Item(full) = batch.step(&mut input).unwrap() {
                assert_eq!(full.len(), size);
                all.extend(full);
            }
        }
        all.extend(batch.rest());
        prop_assert_eq!(all, items);
    }
}

#[test]
fn flat_map_makes_nothing_before_it_is_wanted() {
    let endless = source::iter([0u64, 100]).pipe(stage::flat_map(|n| n..));
    let some = endless.pipe(stage::take(3)).run(sink::collect(9));
    assert_eq!(block_on(some).unwrap(), [0, 1, 2]);
}

#[test]
fn take_asks_for_no_more_than_it_gives() {
    let mut left = VecDeque::from([1, 2, 3]);
    let some = source::iter(std::iter::from_fn(|| left.pop_front())).pipe(stage::take(2));
    assert_eq!(block_on(some.run(sink::count())).unwrap(), 2);
    assert_eq!(left, [3]);
}

#[test]
fn the_first_windows_items_are_handed_back_until_it_is_full() {
    let mut window = stage::window(2);
    let mut input = Input::new();
    input.give(1);
    assert_eq!(window.step(&mut input).unwrap(), Step::Need);
    assert_eq!(window.rest(), [1]);
    let mut full = stage::window(1);
    input.give(1);
    assert_eq!(full.step(&mut input).unwrap(), Step::Item(vec![1]));
    assert!(full.rest().is_empty());
}

#[test]
fn errors_of_ones_own_code_keep_what_they_are() {
    fn fail<E>(error: E) -> Error
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>> + Send,
    {
        let failing = stage::try_map(|error: E| Err::<(), E>(error));
        block_on(source::iter([error]).pipe(failing).run(sink::count())).unwrap_err()
    }
    assert_eq!(fail("no good").to_string(), "try_map: no good");
    let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
    let error = fail(refused);
    assert_eq!(error.stage(), "try_map");
    assert!(matches!(error.cause(), Cause::Io(_)));
    let malformed = fail(Cause::Malformed("bad".into()));
    assert!(matches!(malformed.cause(), Cause::Malformed(_)));
    let inner = fail(Error::new("inner", Cause::Truncated("tail")));
    assert_eq!(inner.stage(), "inner");
}

#[test]
fn a_tally_is_read_on_the_way() {
    let (items, bytes) = (stage::Tally::new(), stage::Tally::new());
    let mut words = source::iter(["one", "three"].map(Bytes::from))
        .pipe(bytes.bytes())
        .pipe(items.items());
    block_on(async {
        assert_eq!((items.total(), bytes.total()), (0, 0));
        words.next().await.unwrap();
        assert_eq!((items.total(), bytes.total()), (1, 3));
        words.next().await.unwrap();
        words.next().await.unwrap();
        assert_eq!((items.total(), bytes.total()), (2, 8));
    });
}

#[test]
fn a_digest_is_that_of_the_whole_and_told_at_the_end_only() {
    let pieces = || source::iter(["a", "b", "c"].map(Bytes::from));
    let mut told = Vec::new();
    let hashed = pieces().pipe(stage::hash(Sha256::new(), |digest| told.push(digest)));
    assert_eq!(block_on(hashed.run(sink::concat(9))).unwrap(), b"abc");
    assert_eq!(told, [Sha256::digest(b"abc")]);

    let mut told = Vec::new();
    let hash = stage::hash(Sha256::new(), |digest| told.push(digest));
    assert_eq!(
        block_on(pieces().run(hash.to(sink::head()))).unwrap(),
        Some("a".into())
    );
    assert!(told.is_empty());
}
