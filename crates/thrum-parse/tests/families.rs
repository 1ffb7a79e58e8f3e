//! Each family of parsers: where it ends, what it leaves, and what limits it.

use thrum_parse::{
    In, Need, Parsed, Parser, Reason, Stop, any_byte, any_char, byte, class, count, decimal,
    either, end_of_line, length_prefixed, length_value, line, many, many_till, not_followed_by,
    opt, scan, sep_by, sep_end_by, separated_pair, skip, skip_while1, tag, tag_no_case, take,
    take_rest, take_till, take_till1, take_until, take_while, take_while_char, take_while_char1,
    take_while1, terminated, within, word,
};

/// The value and what is left.
fn left<'a, P: Parser<'a>>(parser: P, text: &'a [u8]) -> Result<(P::Output, &'a [u8]), Stop> {
    let mut i = In::whole(text);
    let value = parser.parse(&mut i)?;
    Ok((value, i.rest()))
}

fn cut_at(at: u32) -> Stop {
    let reason = Reason::TooLong;
    Stop::Cut { at, reason }
}

#[test]
fn classes_are_those_of_ascii() {
    for byte in 0..=255u8 {
        for (class, member) in [
            (class::ASCII, byte.is_ascii()),
            (class::LOWER, byte.is_ascii_lowercase()),
            (class::UPPER, byte.is_ascii_uppercase()),
            (class::ALPHA, byte.is_ascii_alphabetic()),
            (class::DIGIT, byte.is_ascii_digit()),
            (class::ALPHANUMERIC, byte.is_ascii_alphanumeric()),
            (class::HEXDIG, byte.is_ascii_hexdigit()),
            (class::VISIBLE, byte.is_ascii_graphic()),
            (class::PUNCTUATION, byte.is_ascii_punctuation()),
            (class::CONTROL, byte.is_ascii_control()),
            (class::SPACE, byte.is_ascii_whitespace() || byte == 0x0b),
            (class::ANY, true),
        ] {
            assert_eq!(class.contains(byte), member, "{byte:#x} {class}");
        }
    }
}

#[test]
fn tags() {
    assert_eq!(
        left(tag_no_case(b"keep-alive"), b"Keep-Alive, x"),
        Ok((&b"Keep-Alive"[..], &b", x"[..]))
    );
    // A letter is one bit away from what is no letter.
    assert!(left(tag_no_case(b"a@"), b"A`").is_err());
    assert_eq!(left(skip(3), b"abc"), Ok(((), &b""[..])));
    assert_eq!(
        skip(3).parse(&mut In::partial(b"ab")),
        Err(Stop::Need(Need::bytes(1)))
    );
}

#[test]
fn runs() {
    let text = b"key: value\r\nnext";
    assert_eq!(
        left(take_till(|b: u8| b == b':'), text),
        Ok((&b"key"[..], &b": value\r\nnext"[..]))
    );
    assert_eq!(
        left(take_till(&class::CONTROL), text).unwrap().1,
        b"\r\nnext"
    );
    assert_eq!(left(take_till(&class::CONTROL), b"all").unwrap().0, b"all");
    assert!(left(take_till1(|b: u8| b == b'k'), text).is_err());
    assert_eq!(
        left(take_till(&class::SPACE).up_to(2, Reason::TooLong), b"abc "),
        Err(cut_at(2))
    );
    assert!(left(skip_while1(&class::SPACE), text).is_err());
    let pair = scan(0, |n, _| (n < 2).then_some(n + 1));
    assert_eq!(left(pair, b"abc"), Ok((&b"ab"[..], &b"c"[..])));
    assert_eq!(left(pair.up_to(1, Reason::TooLong), b"abc"), Err(cut_at(1)));
    assert_eq!(
        pair.parse(&mut In::partial(b"ab")),
        Err(Stop::Need(Need::EndOfRun))
    );
}

#[test]
fn up_to_a_mark() {
    assert_eq!(
        left(take_until(b"--", 3), b"a-b--"),
        Ok((&b"a-b"[..], &b"--"[..]))
    );
    assert_eq!(left(take_until(b"--", 2), b"a-b--"), Err(cut_at(2)));
    assert_eq!(
        left(take_until(b"--", usize::MAX), b"--"),
        Ok((&b""[..], &b"--"[..]))
    );
    // No need to try again before the last byte of the mark has come.
    let mut i = In::partial(b"a\r\n\r");
    assert!(take_until(b"\r\n\r\n", 99).parse(&mut i).is_err());
    let run = i.run_cut_short().unwrap();
    assert!(run.contains(b'\r') && !run.contains(b'\n'));

    assert_eq!(left(line(3), b"abc\r\nd"), Ok((&b"abc"[..], &b"d"[..])));
    assert_eq!(left(line(3), b"ab\rd\n"), Err(cut_at(3)));
    assert_eq!(left(line(3), b"abc"), Ok((&b"abc"[..], &b""[..])));
    assert_eq!(left(line(3), b"abcd"), Err(cut_at(3)));
    assert_eq!(line(3).parse(&mut In::partial(b"abcde")), Err(cut_at(3)));
    assert!(left(line(3), b"").is_err());
    assert!(left(end_of_line(), b"\rx").is_err());
    assert_eq!(
        left((take(1), take_rest()), b"abc"),
        Ok(((&b"a"[..], &b"bc"[..]), &b""[..]))
    );
}

#[test]
fn characters() {
    assert_eq!(
        left(take_while_char(|c| c > 'z'), "éé日a".as_bytes()),
        Ok(("éé日", &b"a"[..]))
    );
    // Bad bytes fail where they start, whether what came before is a run or not.
    let any = take_while_char(|_| true);
    for bad in [
        &b"ab\xff"[..],
        b"ab\xc3.",
        b"ab\xed\xa0\x80",
        b"ab\xc0\x80",
        b"ab\xf4\x90\x80\x80",
        b"ab\xe0\x80",
    ] {
        let stop = any.parse(&mut In::partial(bad)).unwrap_err();
        assert_eq!(
            (stop.at(), stop.reason()),
            (Some(2), Some(Reason::Unexpected)),
            "{}",
            bad.escape_ascii()
        );
    }
    // What is cut in two is waited for, and if nothing comes it is the end that is wrong.
    assert_eq!(
        any.parse(&mut In::partial(b"ab\xf0\x9f")),
        Err(Stop::Need(Need::bytes(1)))
    );
    assert_eq!(
        any.parse(&mut In::whole(b"ab\xf0\x9f"))
            .unwrap_err()
            .reason(),
        Some(Reason::EndOfInput)
    );
    assert_eq!(
        any_char().parse(&mut In::partial(b"")),
        Err(Stop::Need(Need::bytes(1)))
    );
    // The limit is in bytes, and no character is cut by it.
    let limited = take_while_char1(|_| true).up_to(4, Reason::TooLong);
    assert_eq!(left(limited, "éé".as_bytes()), Ok(("éé", &b""[..])));
    assert_eq!(left(limited, "é日".as_bytes()), Err(cut_at(2)));
    assert!(left(take_while_char1(|c| c == 'b'), b"a").is_err());
    let stop = left((take(1), take_while1(&class::ANY).text()), b"ab\xffc").unwrap_err();
    assert_eq!(stop.at(), Some(2));
}

#[test]
fn lists() {
    let number = decimal::<u8>;
    let comma = || byte(b',');
    assert_eq!(
        left(sep_by(0..=9, number(), comma()), b"x"),
        Ok((vec![], &b"x"[..]))
    );
    assert_eq!(
        left(sep_by(0..=9, number(), comma()), b"1,,2"),
        Ok((vec![1], &b",,2"[..]))
    );
    assert!(left(sep_by(2..=9, number(), comma()), b"1,").is_err());
    assert_eq!(
        left(sep_by(0..=2, number(), comma()), b"1,2,3"),
        Err(cut_at(4))
    );
    assert_eq!(
        left(sep_by(0..=2, number(), comma()), b"1,2,x"),
        Ok((vec![1, 2], &b",x"[..]))
    );
    assert_eq!(
        left(sep_end_by(0..=2, number(), comma()), b"1,2,"),
        Ok((vec![1, 2], &b""[..]))
    );
    assert_eq!(
        left(sep_end_by(0..=2, number(), comma()), b"1,2,3"),
        Err(cut_at(4))
    );
    assert_eq!(
        left(sep_end_by(0..=2, number(), comma()), b","),
        Ok((vec![], &b","[..]))
    );
    assert!(left(sep_end_by(1..=2, number(), comma()), b",").is_err());
    // Values that are empty are values, while the separators are not.
    let words = sep_by(0..=9, take_while(&class::ALPHA), comma());
    assert_eq!(
        left(words, b"a,,b"),
        Ok((vec![&b"a"[..], b"", b"b"], &b""[..]))
    );
    let nothing = sep_by(0..=usize::MAX, take_while(&class::ALPHA), opt(comma()));
    assert_eq!(left(nothing, b"."), Ok((vec![&b""[..]], &b"."[..])));
}

#[test]
fn counted_and_ended() {
    assert_eq!(
        left(count(2, any_byte()), b"abc"),
        Ok((vec![b'a', b'b'], &b"c"[..]))
    );
    assert_eq!(
        left(count(0, any_byte()), b"abc"),
        Ok((vec![], &b"abc"[..]))
    );
    // However many are asked for, there are no more than the input has bytes for.
    assert!(left(count(usize::MAX, take_while(&class::DIGIT)), b"12").is_err());
    let till = |limits| many_till(limits, any_byte(), byte(b'.'));
    assert_eq!(
        left(till(0..=3), b"abc.d"),
        Ok((b"abc".to_vec(), &b"d"[..]))
    );
    assert_eq!(left(till(0..=2), b"abc.d"), Err(cut_at(2)));
    assert!(left(till(1..=2), b".").is_err());
    assert!(left(till(0..=9), b"abc").is_err());
    assert!(left(many_till(0..=usize::MAX, opt(byte(b'a')), byte(b'.')), b"b").is_err());
    let longest = sep_by(1..=9, take_while1(&class::ALPHA), byte(b' '))
        .fold(|| 0, |longest: usize, word: &[u8]| longest.max(word.len()));
    assert_eq!(left(longest, b"to whom it"), Ok((4, &b""[..])));
}

#[test]
fn alternatives() {
    let word = either(terminated(decimal::<u8>(), byte(b'.')), any_byte());
    assert_eq!(
        left(word, b"1,").map(|(word, rest)| (word, rest.len())),
        Ok((thrum_parse::Either::Right(b'1'), 1))
    );
    assert_eq!(
        left(not_followed_by(tag(b"ab")), b"ac"),
        Ok(((), &b"ac"[..]))
    );
    assert!(left(not_followed_by(tag(b"ab")), b"ab").is_err());
    assert!(left(not_followed_by(byte(b'a').cut()), b"b").is_err());
    assert!(
        not_followed_by(tag(b"ab"))
            .parse(&mut In::partial(b"a"))
            .unwrap_err()
            .is_need()
    );
    let reason = Reason::Grammar(7);
    assert_eq!(
        left(tag(b"ab").fail_with(reason), b"xy"),
        Err(Stop::Fail { at: 0, reason })
    );
    assert_eq!(
        left(opt(tag(b"ab").fail_with(reason)), b"xy"),
        Ok((None, &b"xy"[..]))
    );
    let date = separated_pair(decimal::<u8>(), byte(b'/'), decimal::<u8>());
    let ((date, span), _) = left(
        (any_byte(), date.with_span()).map(|(_, date)| date),
        b"<3/14>",
    )
    .unwrap();
    assert_eq!((date, span.of(b"<3/14>")), ((3, 14), &b"3/14"[..]));
}

#[test]
fn windows() {
    let field = |most| length_prefixed(most, word::be::<u16>());
    assert_eq!(left(field(2), b"\x00\x02abc"), Ok((&b"ab"[..], &b"c"[..])));
    assert_eq!(left(field(1), b"\x00\x02abc"), Err(cut_at(0)));
    assert_eq!(
        field(9).parse(&mut In::partial(b"\x00\x05abc")),
        Err(Stop::Need(Need::bytes(2)))
    );
    assert_eq!(
        left(length_prefixed(9, word::be::<i8>()), b"\xff"),
        Err(cut_at(0))
    );
    // The value is not tried before it is all there, and must be all that is there.
    let value = length_value(9, word::be::<u8>(), decimal::<u8>());
    assert!(
        value
            .parse(&mut In::partial(b"\x02x"))
            .unwrap_err()
            .is_need()
    );
    assert_eq!(left(value, b"\x02123"), Ok((12, &b"3"[..])));
    assert_eq!(left(value, b"\x021x").unwrap_err().at(), Some(2));

    let digits = within(3, take_while(&class::DIGIT));
    assert_eq!(left(digits, b"123x"), Ok((&b"123"[..], &b"x"[..])));
    assert_eq!(left(digits, b"1234"), Err(cut_at(3)));
    assert_eq!(digits.parse(&mut In::partial(b"1234")), Err(cut_at(3)));
    assert!(
        digits
            .parse(&mut In::partial(b"123"))
            .unwrap_err()
            .is_need()
    );
    assert_eq!(left(within(3, take(4)), b"abcd"), Err(cut_at(3)));
    assert_eq!(
        within(3, take(99)).parse(&mut In::partial(b"a")),
        Err(Stop::Need(Need::bytes(3)))
    );
    assert_eq!(
        left(within(3, many(0..=9, byte(b'a'))), b"aaab")
            .unwrap()
            .0
            .len(),
        3
    );
}

#[test]
fn commits_count_within_windows() {
    fn step(i: &mut In<'_>) -> Parsed<u8> {
        byte(b'a').parse(i)?;
        i.commit();
        byte(b'b').parse(i)
    }
    for (text, at) in [(&b"ac"[..], 1), (b"abx", 2)] {
        let mut i = In::whole(text);
        let stop = opt((within(2, step), byte(b'.')))
            .parse(&mut i)
            .unwrap_err();
        assert_eq!((stop.at(), i.committed()), (Some(at), 1));
    }
    let counted = || length_value(9, word::be::<u8>(), step);
    assert!(left(opt(counted()), b"\x02ac").is_err());
    assert!(left(opt((counted(), byte(b'.'))), b"\x02abx").is_err());
}
