//! Bytes in pieces: lines, parts, blocks, chunks, values of a parser. However the input is cut, the items are the same.

use bytes::Bytes;
use proptest::prelude::*;
use thrum_parse::{Parser, byte, decimal};
use thrum_rt::block_on;
use thrum_stream::{Cause, Result, Source, Stage, sink, source, stage};

/// What `stage` makes of `input` when it comes in pieces of these sizes, one after the other and again.
fn items<T: Stage<Bytes>>(stage: T, input: &[u8], sizes: &[usize]) -> Result<Vec<T::Item>> {
    let mut rest = Bytes::copy_from_slice(input);
    let mut sizes = sizes.iter().copied().cycle();
    let pieces = std::iter::from_fn(move || {
        let size = sizes.next().unwrap_or(usize::MAX).min(rest.len());
        (!rest.is_empty()).then(|| rest.split_to(size))
    });
    block_on(source::iter(pieces).pipe(stage).run(sink::collect(10_000)))
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1..9usize, 1..6)
}

#[test]
fn ends_of_lines() {
    let lines = items(stage::lines(9), b"a\r\n\n\rb\r\r\nlast\r", &[]).unwrap();
    assert_eq!(lines, ["a", "", "\rb\r", "last\r"]);
    assert!(items(stage::lines(9), b"", &[]).unwrap().is_empty());
}

#[test]
fn limits() {
    for size in 1..9 {
        assert!(items(stage::lines(4), b"abc\nabc\nabc", &[size]).is_ok());
        let error = items(stage::lines(3), b"ab\nabc\nabc", &[size]).unwrap_err();
        assert_eq!(error.to_string(), "lines: longer than 3 bytes");
        assert!(items(stage::blocks(b'\n', 4), b"abc\nabcd", &[size]).is_ok());
        let number = (decimal::<u64>(), byte(b';')).map(|(n, _)| n);
        let error = items(stage::parse(4, number), b"123;1234;1;", &[size]).unwrap_err();
        assert!(
            matches!(error.cause(), Cause::TooLong { limit: 4, .. }),
            "{error}"
        );
    }
}

#[test]
fn a_fault_says_where_it_is_in_all_that_came() {
    let number = (decimal::<u64>(), byte(b';')).map(|(n, _)| n);
    for size in 1..12 {
        let error = items(stage::parse(9, number), b"12;345;6x;7", &[size]).unwrap_err();
        let text = "parse: byte 8: 1:2: expected [0-9] or ';', found 'x'";
        let said = error.to_string();
        assert!(
            said.starts_with(text) || said.starts_with(&text.replace("[0-9] or ", "")),
            "{said}"
        );
    }
}

#[test]
fn what_the_end_cuts_short() {
    let number = (decimal::<u64>(), byte(b';')).map(|(n, _)| n);
    let error = items(stage::parse(9, number), b"1;2", &[]).unwrap_err();
    assert!(error.to_string().contains("found the end"), "{error}");
    // A run is ended by the end of the input.
    assert_eq!(
        items(stage::parse(9, decimal::<u64>()), b"12", &[1]).unwrap(),
        [12]
    );
}

#[test]
fn what_follows_the_last_value_is_left_over() {
    let number = (decimal::<u32>(), byte(b'\n')).map(|(n, _)| n);
    for size in 1..12 {
        block_on(async {
            let mut input = source::reader(&b"12345\nthe body"[..])
                .chunk(size)
                .resumable();
            let head = input.feed(stage::parse(20, number).to(sink::head())).await;
            assert_eq!(head.unwrap(), Some(12345));
            assert_eq!(input.run(sink::concat(99)).await.unwrap(), b"the body");
        });
    }
}

proptest! {
    #[test]
    fn lines_are_those_of_the_standard_library(input in "[ab\r\n]{0,40}", sizes in sizes()) {
        let expected: Vec<_> = input.lines().collect();
        // The standard library takes a CR off a last line without LF; here it is part of the line.
        prop_assume!(!input.ends_with('\r'));
        prop_assert_eq!(items(stage::lines(99), input.as_bytes(), &sizes).unwrap(), expected);
    }

    #[test]
    fn parts_are_those_of_the_standard_library(input in "[ab:]{0,40}", sizes in sizes()) {
        let expected: Vec<_> = input.split_terminator(':').collect();
        prop_assert_eq!(items(stage::split(b':', 99), input.as_bytes(), &sizes).unwrap(), expected);
    }

    #[test]
    fn blocks_are_the_same_bytes(input in "[ab\n]{0,40}", sizes in sizes()) {
        let blocks = items(stage::blocks(b'\n', 99), input.as_bytes(), &sizes).unwrap();
        prop_assert_eq!(blocks.concat(), input.as_bytes());
        for block in blocks.iter().rev().skip(1) {
            prop_assert!(block.ends_with(b"\n"));
        }
    }

    #[test]
    fn long_parts_are_left_out_and_counted(input in "[ab\n]{0,99}", sizes in sizes()) {
        let skipped = stage::Tally::new();
        // A piece has no more than a part may have.
        let blocks = stage::blocks(b'\n', 8).skip_long(&skipped);
        let blocks = items(blocks, input.as_bytes(), &sizes).unwrap();
        let (short, long): (Vec<_>, Vec<_>) = input.split_inclusive('\n').partition(|part| part.len() <= 8);
        prop_assert_eq!(blocks.concat(), short.concat().into_bytes());
        prop_assert_eq!(skipped.total(), long.len() as u64);
    }

    #[test]
    fn chunks_are_of_one_size(input in "[ab]{0,40}", size in 1..12usize, sizes in sizes()) {
        let expected: Vec<_> = input.as_bytes().chunks(size).collect();
        prop_assert_eq!(items(stage::chunks(size), input.as_bytes(), &sizes).unwrap(), expected);
    }

    #[test]
    fn values_are_the_same(numbers in prop::collection::vec(any::<u64>(), 0..20), sizes in sizes()) {
        let input: String = numbers.iter().map(|n| format!("{n};")).collect();
        let number = (decimal::<u64>(), byte(b';')).map(|(n, _)| n);
        prop_assert_eq!(items(stage::parse(30, number), input.as_bytes(), &sizes).unwrap(), numbers);
    }
}

#[test]
fn one_chunk_of_any_size() {
    block_on(async {
        let pieces = source::reader(&b"abcdef"[..]).chunk(2);
        let all = pieces.pipe(stage::chunks(usize::MAX)).run(sink::collect(9));
        assert_eq!(all.await.unwrap(), ["abcdef"]);
    });
}

#[test]
fn fewer_bytes_than_promised() {
    block_on(async {
        for (count, whole) in [(0, true), (6, true), (7, false), (u64::MAX, false)] {
            let pieces = source::reader(&b"abcdef"[..]).chunk(4);
            let taken = pieces.pipe(stage::take_bytes(count).exactly());
            let taken = taken.run(sink::concat(9)).await;
            assert_eq!(taken.is_ok(), whole, "{count}");

            let pieces = source::reader(&b"abcdef"[..]).chunk(4);
            let before = stage::take_bytes(count).exactly().to(sink::concat(9));
            assert_eq!(pieces.run(before).await.is_ok(), whole, "{count}");
        }
    });
}
