//! Grammars nested at random and fed in random pieces: what comes of them is what comes of the whole input.

use std::fmt::{self, Debug};
use std::rc::Rc;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use thrum_parse::{
    Feed, In, Need, Parsed, Parser, Reason, Stop, any_byte, any_char, at_end, byte, choice, class,
    count, decimal, delimited, dispatch, either, end_of_input, end_of_line, explain, float,
    hexadecimal, length_prefixed, length_value, line, many, many_count, many_till, not_followed_by,
    opt, peek, run, satisfy, scan, sep_by, sep_end_by, separated_pair, signed, skip, skip_while1,
    string, tag, tag_no_case, take, take_rest, take_till, take_until, take_while, take_while_char1,
    take_while1, terminated, within, word,
};

/// A grammar that a strategy has made, and how it was made.
#[derive(Clone)]
struct Grammar {
    name: String,
    run: Rc<Run>,
}

type Run = dyn for<'a> Fn(&mut In<'a>) -> Parsed<String>;

impl<'a> Parser<'a> for Grammar {
    type Output = String;

    fn parse(&self, i: &mut In<'a>) -> Parsed<String> {
        (self.run)(i)
    }
}

impl Debug for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

macro_rules! grammar {
    ($name:expr, $parser:expr) => {
        Grammar {
            name: $name,
            run: Rc::new(move |i| $parser.map(|value| format!("{value:?}")).parse(i)),
        }
    };
}

macro_rules! terminals {
    ($($parser:expr;)+) => {
        select(vec![$(grammar!(stringify!($parser).to_owned(), $parser)),+])
    };
}

fn terminal() -> impl Strategy<Value = Grammar> {
    terminals! {
        any_byte();
        byte(b'a');
        satisfy(&class::DIGIT);
        satisfy(|byte| byte != b'a');
        tag(b"ab");
        tag(b"aba");
        tag_no_case(b"AB1");
        take(2);
        take(0);
        skip(3);
        take_while(&class::ALPHA);
        take_while1(&class::DIGIT);
        take_while1(&class::ALPHA).up_to(2, Reason::TooLong);
        take_while(|byte| byte < b'5');
        take_till(&class::SPACE);
        skip_while1(&class::BLANK);
        scan(0u8, |n, byte| if byte == b',' { None } else { n.checked_add(60) });
        take_until(b"ab", 4);
        end_of_line();
        line(4);
        take_rest();
        at_end();
        end_of_input();
        any_char();
        take_while_char1(char::is_alphabetic).up_to(5, Reason::TooLong);
        string("é1");
        decimal::<u8>();
        signed::<i64>();
        hexadecimal::<u16>(3);
        float::<f32>();
        word::be::<u16>();
        length_prefixed(3, word::be::<u8>().map(|byte| byte & 3));
        length_prefixed(4, decimal::<u8>());
        decimal::<u8>().verify(|n| n % 2 == 0);
        dispatch(|next, i| match next {
            b'a' => tag(b"ab").parse(i),
            b'1' => take_while1(&class::DIGIT).parse(i),
            _ => take(1).parse(i),
        });
    }
}

fn grammars() -> impl Strategy<Value = Grammar> {
    terminal().prop_recursive(5, 24, 3, |inner| {
        (inner.clone(), inner.clone(), inner, 0..26usize, 0..4usize).prop_map(nested)
    })
}

/// The combinator of this number over some of these grammars.
fn nested((a, b, c, which, n): (Grammar, Grammar, Grammar, usize, usize)) -> Grammar {
    // Closures, since the parsers are to be made anew for each run.
    macro_rules! of {
        ($make:expr) => {{
            let name = format!("({} of {a:?}, {b:?}, {c:?})", stringify!($make));
            grammar!(name, $make(a.clone(), b.clone(), c.clone()))
        }};
    }
    match which {
        0 => of!(|a, b, _| (a, b)),
        1 => of!(|a, b, c| (a, b, c)),
        2 => of!(|a, b, _| choice((a, b))),
        3 => of!(|a, b, c| choice((a, b, c))),
        4 => of!(|a, b, _| either(a, b)),
        5 => of!(|a, _, _| opt(a)),
        6 => of!(|a, b, _| (opt(a), b)),
        7 => of!(|a, _, _| peek(a)),
        8 => of!(|a, b, _| (not_followed_by(a), b)),
        9 => of!(delimited),
        10 => of!(separated_pair),
        11 => of!(|a, _, _| many(0..=n, a)),
        12 => of!(|a, _, _| many(n..=5, a)),
        13 => of!(|a, _, _| many_count(1..=9, a)),
        14 => of!(|a, _, _| count(n, a)),
        15 => of!(|a, b, _| sep_by(0..=n, a, b)),
        16 => of!(|a, b, _| sep_by(n..=6, a, b)),
        17 => of!(|a, b, _| sep_end_by(1..=5, a, b)),
        18 => of!(|a, b, _| many_till(n..=5, a, b)),
        19 => of!(|a, _, _| within(n, a)),
        20 => of!(|a, _, _| within(6, a)),
        21 => of!(|a, _, _| { length_value(5, word::be::<u8>().map(|byte| byte & 3), a) }),
        22 => of!(|a: Grammar, _, _| a.flat_map(|v| take(v.len() % 4))),
        23 => of!(|a: Grammar, _, _| a.cut().context("a")),
        24 => of!(|a, b, _| { terminated(a, b).recognize().fail_with(Reason::Grammar(1)) }),
        _ => of!(|a: Grammar, _, _| move |i: &mut In<'_>| {
            let value = a.parse(i)?;
            i.commit();
            Ok(value)
        }),
    }
}

fn inputs() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&[u8]] = &[
        b"0",
        b"1",
        b"12",
        b"256",
        b"a",
        b"b",
        b"ab",
        b"aba",
        b"AB1",
        b",",
        b" ",
        b"\r",
        b"\n",
        b".",
        b"e",
        b"-",
        b"\x00",
        b"\x01",
        b"\x02",
        b"\xff",
        b"\xc3",
        b"\xa9",
        "é".as_bytes(),
        "日".as_bytes(),
    ];
    prop::collection::vec(select(PIECES), 0..14).prop_map(|pieces| pieces.concat())
}

/// The values of an input, and what went wrong behind them: where, and why.
type Answer = (Vec<String>, Option<(usize, Reason)>);

fn of_whole(input: &[u8], grammar: &Grammar) -> Answer {
    let (mut values, mut start) = (Vec::new(), 0);
    while start < input.len() {
        let mut i = In::whole(&input[start..]);
        match grammar.parse(&mut i) {
            Ok(_) if i.position() == 0 => return (values, Some((start, Reason::Unexpected))),
            Ok(value) => values.push(value),
            Err(stop) => {
                let at = start + stop.at().expect("nothing more can come");
                return (values, Some((at, stop.reason().unwrap())));
            }
        }
        start += i.position();
    }
    (values, None)
}

fn of_pieces(input: &[u8], ends: &[usize], grammar: &Grammar) -> Answer {
    let (mut feed, mut values, mut fed) = (Feed::new(1000), Vec::new(), 0);
    for &end in ends.iter().chain([&input.len(), &input.len()]) {
        if fed == input.len() {
            feed.end();
        }
        feed.push(&input[fed..end]);
        fed = end;
        loop {
            match feed.next(grammar) {
                Ok(Some(value)) => values.push(value),
                Ok(None) => break,
                Err(fault) => {
                    return (values, Some((fault.offset as usize, fault.reason)));
                }
            }
        }
    }
    assert!(
        feed.rest().is_empty(),
        "{:?} is waited for to go on",
        feed.rest()
    );
    (values, None)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn pieces_are_as_good_as_the_whole(
        grammar in grammars(),
        input in inputs(),
        ends in prop::collection::vec(any::<Index>(), 0..20),
    ) {
        let whole = of_whole(&input, &grammar);
        let mut ends = Vec::from_iter(ends.iter().map(|end| end.index(input.len() + 1)));
        ends.sort_unstable();
        prop_assert_eq!(&of_pieces(&input, &ends, &grammar), &whole);
        let every = Vec::from_iter(0..=input.len());
        prop_assert_eq!(&of_pieces(&input, &every, &grammar), &whole);
    }

    #[test]
    fn an_answer_stands_and_no_more_is_asked_for_than_it_takes(
        grammar in grammars(),
        input in inputs(),
    ) {
        let whole = grammar.parse(&mut In::whole(&input));
        let answers: Vec<_> = (0..=input.len())
            .map(|end| {
                let mut i = In::partial(&input[..end]);
                let answer = grammar.parse(&mut i);
                prop_assert!(i.committed() <= i.position(), "{} has yet to be read", end);
                Ok((answer, i.run_cut_short()))
            })
            .collect::<Result<_, TestCaseError>>()?;
        for (end, (answer, run)) in answers.iter().enumerate() {
            let of_no_use = match answer {
                Err(Stop::Need(Need::Bytes(count))) => count.get() as usize - 1,
                Err(Stop::Need(Need::EndOfRun)) => {
                    let in_run = |b: &&u8| run.is_some_and(|set| set.contains(**b));
                    input[end..].iter().take_while(in_run).count()
                }
                answer => {
                    prop_assert_eq!(answer, &whole, "at {}", end);
                    continue;
                }
            };
            let in_vain = answers.iter().enumerate().skip(end + 1).take(of_no_use);
            for (later, (answer, _)) in in_vain {
                prop_assert!(answer.is_err(), "{:?} at {} after {}", answer, later, end);
            }
        }
    }

    #[test]
    fn anything_can_be_explained(grammar in grammars(), input in inputs()) {
        let failed = grammar.parse(&mut In::whole(&input)).err();
        let said = explain(|i: &mut In<'_>| grammar.parse(i), &input);
        prop_assert_eq!(said.as_ref().map(|said| said.stop), failed);
        if let Some(said) = said {
            prop_assert!(said.at <= input.len() && said.to_string().ends_with('^'));
        }
        let _ = run(|i: &mut In<'_>| grammar.parse(i), In::partial(&input));
    }
}

#[test]
fn a_grammar_that_keeps_nothing_starts_over_whatever_it_commits() {
    let line = |i: &mut In<'_>| {
        let name = terminated(take_while1(&class::ALPHA), byte(b'=')).parse(i)?;
        let length = name.len();
        i.commit();
        let value = terminated(decimal::<u8>(), byte(b';')).parse(i)?;
        Ok((length, value))
    };
    let mut feed = Feed::new(80);
    feed.push(b"ab=1");
    assert_eq!(feed.next(&line).unwrap(), None);
    feed.push(b"2;");
    assert_eq!(feed.next(&line).unwrap(), Some((2, 12)));
}

#[test]
fn a_value_that_takes_nothing_is_a_fault_and_not_repeated_for_ever() {
    let mut feed = Feed::new(80);
    feed.push(b"ab;");
    let word = |i: &mut In<'_>| take_while(&class::ALPHA).map(<[u8]>::len).parse(i);
    assert_eq!(feed.next(&word).unwrap(), Some(2));
    let fault = feed.next(&word).unwrap_err();
    assert_eq!((fault.offset, fault.reason), (2, Reason::Unexpected));
    assert_eq!(fault.to_string(), "byte 2: nothing of this is a value");
}

#[test]
fn a_fault_is_explained_where_an_alternative_came_further() {
    let mut feed = Feed::new(80);
    feed.push(b"ax");
    let either = choice(((byte(b'a'), byte(b'b')).value(1), byte(b'c').value(2)));
    assert_eq!(
        feed.next(&either).unwrap_err().to_string(),
        "byte 0: 1:2: expected 'b', found 'x'\n  ax\n   ^"
    );
}

#[test]
fn a_look_ahead_commits_nothing() {
    let committing = |i: &mut In<'_>| {
        take(2).parse(i)?;
        i.commit();
        Ok(())
    };
    let mut i = In::partial(b"abc");
    peek(committing).parse(&mut i).unwrap();
    assert_eq!((i.position(), i.committed()), (0, 0));
    assert_eq!(opt(tag(b"x")).parse(&mut i), Ok(None));
}

#[test]
fn a_commit_within_a_limit_stands_when_more_is_needed() {
    let items = |i: &mut In<'_>| {
        terminated(take(1), byte(b',')).parse(i)?;
        i.commit();
        terminated(take(1), byte(b',')).value(()).parse(i)
    };
    let mut i = In::partial(b"a,b");
    assert!(within(9, items).parse(&mut i).unwrap_err().is_need());
    assert_eq!(i.committed(), 2);
}

#[test]
fn an_optional_number_is_given_up_at_the_digit_too_many() {
    let hex = (opt(hexadecimal::<u16>(3)), take(4));
    assert_eq!(hex.parse(&mut In::whole(b"0256")), Ok((None, &b"0256"[..])));
    let mut resume = thrum_parse::Resume::new();
    assert_eq!(resume.value(b"025", false, 80, &hex), Ok(None));
    assert_eq!(
        resume.value(b"0256", false, 80, &hex),
        Ok(Some(((None, &b"0256"[..]), 4)))
    );
}
