//! Input that comes in pieces: what a parser answers to the beginning of an input, it stands by when the rest has come.

use proptest::prelude::*;
use proptest::sample::select;
use thrum_parse::{
    ByteSet, In, Need, Outcome, Parsed, Parser, Reason, Stop, any_byte, any_char, at_end, binary,
    byte, char, choice, class, count, decimal, delimited, dispatch, either, end_of_input,
    end_of_line, explain, explain_partial, float, hexadecimal, length_prefixed, length_value, line,
    many, many_count, many_till, not_followed_by, octal, opt, peek, peek_byte, preceded, run,
    satisfy, satisfy_char, scan, scientific, sep_by, sep_end_by, separated_pair, signed, skip,
    skip_while, skip_while1, string, tag, tag_no_case, take, take_rest, take_till, take_till1,
    take_until, take_while, take_while_char, take_while_char1, take_while1, terminated, within,
    word,
};

static NAME: ByteSet = class::ALPHANUMERIC.with(b"_");

// Where a list ends before a number that is too large, the numbers are larger than any that comes up: who waits for the
// end of a run of digits is told of it when the run has ended.
type Grammar = for<'a> fn(&mut In<'a>) -> Parsed<String>;

macro_rules! grammars {
    ($($name:ident: $parser:expr;)+) => {
        $(fn $name(i: &mut In<'_>) -> Parsed<String> {
            $parser.map(|value| format!("{value:?}")).parse(i)
        })+
        const GRAMMARS: &[(&str, Grammar)] = &[$((stringify!($name), $name)),+];
    };
}

grammars! {
    bytes: (any_byte(), satisfy(&class::DIGIT), satisfy(|b: u8| b != b'a'), peek_byte(), skip(2));
    tags: choice((tag(b"ab").value(1), tag(b"abc").value(2), tag_no_case(b"AF-e").value(3)));
    no_case: tag_no_case(b"a1b");
    lengths: (take(1), take(3), opt(take(2)));
    whiles: (take_while(&NAME), skip_while(&class::BLANK), take_while1(&class::PUNCTUATION));
    limited: take_while(&NAME).up_to(4, Reason::TooLong);
    by_closure: (take_while(|b: u8| b < b'5'), take_while1(|b: u8| b > b'4').up_to(3, Reason::Rejected));
    tills: (take_till(&class::SPACE), skip_while1(|b: u8| b == b' '), take_till1(|b: u8| b == b','));
    scanned: scan(0u8, |n, b| if b == b'"' { None } else { n.checked_add(50) }).up_to(4, Reason::TooLong).with_state();
    until: (take_until(b"*/", 6), tag(b"*/"));
    until_byte: take_until(b"\n", 3);
    until_nothing: take_until(b"", 3);
    lines: many(0..=4, line(5));
    line_ends: many(0..=4, (take_while(&NAME), end_of_line()));
    rest: (opt(byte(b'a')), take_rest());
    ends: (take_while(&NAME), at_end());
    all: (take_while(&NAME), end_of_input());
    text: take_till(&class::SPACE).text();
    chars: (any_char(), char('é'), satisfy_char(char::is_alphabetic));
    char_runs: (take_while_char(char::is_alphanumeric), take_while_char1(|c| c != '1').up_to(6, Reason::TooLong));
    strings: choice((string("日本"), string("日é"), string("a")));
    decimals: (decimal::<u8>(), opt(preceded(byte(b','), decimal::<u128>())));
    signeds: (signed::<i8>(), skip_while(&class::SPACE), signed::<i64>());
    radixes: (hexadecimal::<u16>(5), byte(b','), octal::<u8>(3), byte(b','), binary::<u8>(9));
    floats: (float::<f64>(), opt(preceded(byte(b','), float::<f32>())));
    recognized: scientific().text();
    be: (word::be::<u8>(), word::be::<i16>(), word::be::<f32>());
    le: (word::le::<u16>(), word::le::<u128>());
    counted: count(3, terminated(decimal::<u8>(), byte(b',')));
    listed: sep_by(0..=3, decimal::<u128>(), byte(b','));
    listed_some: sep_by(2..=3, take_while(&NAME), (byte(b','), skip_while(&class::BLANK)));
    ended: sep_end_by(1..=3, decimal::<u128>(), choice((byte(b','), byte(b';'))));
    till: many_till(0..=5, any_byte(), tag(b"*/"));
    till_some: many_till(1..=5, satisfy(&NAME), opt(byte(b' ')).verify(Option::is_some));
    folded: many(1..=4, any_byte()).fold(|| 0u32, |sum, b| sum + u32::from(b));
    many_words: many(1..=3, terminated(take_while1(&NAME), end_of_line()));
    counted_only: many_count(0..=3, tag(b"ab"));
    eithers: either(terminated(decimal::<u8>(), byte(b';')), take_while1(&NAME));
    nots: (not_followed_by(tag(b"ab")), take_while1(&NAME), not_followed_by(satisfy(&class::SPACE)));
    peeks: (peek(opt(tag(b"ab"))), take_while(&NAME));
    nested: delimited(byte(b'"'), take_till(|b: u8| b == b'"'), byte(b'"'));
    pairs: separated_pair(take_while1(&NAME), byte(b'='), signed::<i16>()).with_span();
    verified: decimal::<u8>().verify(|n| n % 2 == 0);
    chained: decimal::<usize>().verify(|&n| n < 9).flat_map(take);
    reasons: choice((tag(b"ab").fail_with(Reason::Grammar(1)), tag(b"12").must(Reason::Grammar(2))));
    prefixed: length_prefixed(12, terminated(decimal::<u16>(), byte(b',')));
    negative: length_prefixed(12, signed::<i32>());
    valued: length_value(12, terminated(decimal::<u8>(), byte(b',')), sep_by(0..=9, decimal::<u8>(), byte(b',')));
    valued_rest: length_value(9, word::be::<u8>().map(|b| b & 7), (opt(byte(b'a')), take_rest()));
    limited_list: within(5, sep_by(0..=9, decimal::<u128>(), byte(b',')));
    limited_tag: within(3, opt(tag(b"abab")));
    limited_rest: within(4, take_rest());
    limited_twice: within(6, (within(2, take_while(&NAME)), take_while(&class::SPACE), line(9)));
    dispatched: dispatch(|next, i| match next {
        b'"' => delimited(byte(b'"'), take_until(b"\"", 5), byte(b'"')).parse(i),
        b'0'..=b'9' => scientific().parse(i),
        _ => take_while1(&NAME).parse(i),
    });
}

/// Bytes with sense to the grammars, in any order, and some that have none.
fn inputs() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&[u8]] = &[
        b"0",
        b"1",
        b"2",
        b"7",
        b"12",
        b"127",
        b"128",
        b"255",
        b"256",
        b"a",
        b"b",
        b"ab",
        b"F",
        b"abc",
        b"AF-e",
        b"+",
        b"-",
        b".",
        b"e",
        b"E",
        b",",
        b";",
        b"=",
        b" ",
        b"\t",
        b"\r",
        b"\n",
        b"\r\n",
        b"\"",
        b"*",
        b"*/",
        b"/",
        b"_",
        b"\x00",
        b"\x01",
        b"\x02",
        b"\xff",
        b"\xc3",
        b"\xa9",
        b"\xe6\x97",
        "é".as_bytes(),
        "日".as_bytes(),
        "本".as_bytes(),
        "😀".as_bytes(),
    ];
    prop_oneof![
        4 => prop::collection::vec(select(PIECES), 0..14).prop_map(|pieces| pieces.concat()),
        1 => prop::collection::vec(any::<u8>(), 0..24),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn an_answer_stands(input in inputs()) {
        for &(name, grammar) in GRAMMARS {
            let whole = grammar(&mut In::whole(&input));
            prop_assert!(!matches!(whole, Err(Stop::Need(_))), "{} needs more than all", name);
            for end in 0..=input.len() {
                let answer = grammar(&mut In::partial(&input[..end]));
                if !matches!(answer, Err(Stop::Need(_))) {
                    prop_assert_eq!(&answer, &whole, "{} at {}", name, end);
                }
            }
        }
    }

    #[test]
    fn less_than_what_is_needed_is_no_use(input in inputs()) {
        for &(name, grammar) in GRAMMARS {
            for end in 0..input.len() {
                let mut i = In::partial(&input[..end]);
                let of_no_use = match grammar(&mut i) {
                    Err(Stop::Need(Need::Bytes(count))) => count.get() as usize - 1,
                    Err(Stop::Need(Need::EndOfRun)) => match i.run_cut_short() {
                        Some(set) => input[end..].iter().take_while(|&&b| set.contains(b)).count(),
                        None => 0,
                    },
                    _ => 0,
                };
                for later in end + 1..=input.len().min(end + of_no_use) {
                    let answer = grammar(&mut In::partial(&input[..later]));
                    prop_assert!(answer.is_err(), "{} at {} after {}", name, later, end);
                }
            }
        }
    }

    #[test]
    fn outcomes_and_explanations_agree(input in inputs()) {
        for &(name, grammar) in GRAMMARS {
            let whole = grammar(&mut In::whole(&input));
            prop_assert_eq!(explain(grammar, &input).is_some(), whole.is_err(), "{}", name);
            for said in [explain(grammar, &input), explain_partial(grammar, &input)] {
                let Some(said) = said else { continue };
                prop_assert!(said.at <= input.len());
                prop_assert!(said.to_string().ends_with('^'));
            }
            match (run(grammar, In::partial(&input)), grammar(&mut In::partial(&input))) {
                (Outcome::Done { value, .. }, answer) => prop_assert_eq!(Ok(value), answer),
                (Outcome::Partial { end_allowed, .. }, Err(Stop::Need(_))) => {
                    prop_assert_eq!(end_allowed, whole.is_ok());
                }
                (Outcome::Failed(_), Err(Stop::Fail { .. } | Stop::Cut { .. })) => {}
                (outcome, answer) => prop_assert!(false, "{}: {:?} {:?}", name, outcome, answer),
            }
        }
    }
}
