//! Going back, committing, limits, and what is said about the end of the input.

use proptest::prelude::*;
use thrum_parse::{
    ByteSet, In, Need, Parsed, Parser, Reason, Stop, byte, choice, decimal, end_of_input, explain,
    hexadecimal, many, many_count, opt, peek, tag, take, take_while, take_while1,
};

static LOWER: ByteSet = ByteSet::new().range(b'a', b'z');

#[test]
fn an_alternative_starts_where_the_first_did() {
    let date = (decimal::<u16>(), byte(b'-'), decimal::<u16>()).recognize();
    let either = choice((date, decimal::<u16>().recognize()));
    let mut i = In::whole(b"2026:");
    assert_eq!(either.parse(&mut i), Ok(&b"2026"[..]));
    assert_eq!(i.rest(), b":");
    assert_eq!(opt(tag(b"::")).parse(&mut i), Ok(None));
    assert_eq!(i.rest(), b":");
}

#[test]
fn need_and_cut_end_the_search_for_alternatives() {
    let greeting = choice((tag(b"hello"), tag(b"help!")));
    assert_eq!(
        greeting.parse(&mut In::partial(b"hel")),
        Err(Stop::Need(Need::bytes(1)))
    );
    assert_eq!(
        greeting.parse(&mut In::partial(b"help!")),
        Ok(&b"help!"[..])
    );
    let strict = choice(((byte(b'a'), byte(b'b').cut()).value(1), byte(b'a').value(2)));
    let stop = strict.parse(&mut In::whole(b"ac")).unwrap_err();
    assert_eq!(
        stop,
        Stop::Cut {
            at: 1,
            reason: Reason::Unexpected
        }
    );
}

#[test]
fn nothing_goes_back_behind_a_commit() {
    fn step(i: &mut In<'_>) -> Parsed<()> {
        byte(b'a').parse(i)?;
        i.commit();
        byte(b'b').value(()).parse(i)
    }
    let mut i = In::whole(b"abac");
    let stop = many_count(0..=9, step).parse(&mut i).unwrap_err();
    assert_eq!(
        (stop, i.committed()),
        (
            Stop::Cut {
                at: 3,
                reason: Reason::Unexpected
            },
            3
        )
    );
    // Failing before the commit is nothing special.
    assert_eq!(many_count(0..=9, step).parse(&mut In::whole(b"abx")), Ok(1));
}

#[test]
fn repetition_ends() {
    // A parser that takes nothing would be repeated for ever.
    assert_eq!(
        many(0..=9, take_while(&LOWER)).parse(&mut In::whole(b"1")),
        Ok(vec![])
    );
    assert!(
        many(1..=9, take_while(&LOWER))
            .parse(&mut In::whole(b"1"))
            .is_err()
    );
    let stop = many_count(0..=2, byte(b'.'))
        .parse(&mut In::partial(b"..."))
        .unwrap_err();
    assert_eq!(
        stop,
        Stop::Cut {
            at: 2,
            reason: Reason::TooLong
        }
    );
    assert!(
        many_count(0..=3, byte(b'.'))
            .parse(&mut In::partial(b"..."))
            .unwrap_err()
            .is_need()
    );
}

#[test]
fn the_end_is_a_property_of_the_input() {
    let word = (take_while1(&LOWER), end_of_input());
    assert!(word.parse(&mut In::whole(b"word")).is_ok());
    assert_eq!(
        word.parse(&mut In::partial(b"word")),
        Err(Stop::Need(Need::EndOfRun))
    );
    let stop = take(3).parse(&mut In::whole(b"ab")).unwrap_err();
    assert_eq!(
        stop,
        Stop::Fail {
            at: 2,
            reason: Reason::EndOfInput
        }
    );
    assert_eq!(
        take(3).parse(&mut In::partial(b"ab")),
        Err(Stop::Need(Need::bytes(1)))
    );
    assert!(
        decimal::<u8>()
            .parse(&mut In::partial(b"12"))
            .unwrap_err()
            .is_need()
    );
}

#[test]
fn a_place_past_the_end_is_the_end() {
    let mut i = In::starting(b"ab", 7, true, thrum_parse::Level::best());
    assert_eq!((i.position(), i.rest()), (2, &b""[..]));
    i.advance(usize::MAX);
    assert_eq!(take_while(&LOWER).parse(&mut i), Ok(&b""[..]));
    assert!(peek(byte(b'a')).parse(&mut i).is_err());
}

proptest! {
    #[test]
    fn numbers(number: u64, rest in "[^0-9a-fA-F]{1,3}") {
        let text = format!("{number}{rest}");
        prop_assert_eq!(decimal::<u64>().parse(&mut In::whole(text.as_bytes())), Ok(number));
        prop_assert_eq!(decimal::<u32>().parse(&mut In::whole(text.as_bytes())).ok(), number.try_into().ok());
        let text = format!("{number:X}{rest}");
        prop_assert_eq!(hexadecimal::<u64>(16).parse(&mut In::whole(text.as_bytes())), Ok(number));
    }

    #[test]
    fn explaining_anything_is_no_panic(bytes in any::<Vec<u8>>()) {
        let line = (take_while1(&LOWER).context("a name"), tag(b": "), decimal::<u8>(), tag(b"\n"));
        if let Some(said) = explain(many(0..=3, line), &bytes) {
            let _ = said.to_string();
            prop_assert!(said.at <= bytes.len());
        }
    }
}
