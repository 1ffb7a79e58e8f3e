//! What people are told: where, what was expected there, inside what, and what the line looks like.

use thrum_parse::{
    ByteSet, Expected, In, Need, Needed, Outcome, Parser, Reason, any_byte, byte, char, choice,
    class, count, decimal, delimited, end_of_input, end_of_line, explain, explain_partial,
    length_value, many, many_till, not_followed_by, opt, preceded, run, satisfy_char, sep_by,
    sep_end_by, separated_pair, string, tag, take, take_rest, take_till1, take_until, take_while,
    take_while1, terminated, within, word,
};

static LOWER: ByteSet = class::LOWER;

fn said<'a>(parser: impl Parser<'a>, text: &'a [u8]) -> String {
    explain(parser, text).map_or(String::new(), |said| said.to_string())
}

/// The first line of it.
fn headline<'a>(parser: impl Parser<'a>, text: &'a [u8]) -> String {
    let said = said(parser, text);
    said.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn explanations() {
    let pair = || {
        (
            take_while1(&LOWER).context("a name"),
            byte(b'='),
            decimal::<u8>(),
        )
    };
    let setting = || (pair().context("a setting"), byte(b'\n'));
    let say = |text: &[u8]| explain(many(1..=3, setting()), text).map(|said| said.to_string());
    assert_eq!(say(b"a=1\nb=2\n"), None);
    for (text, said) in [
        (
            &b"1"[..],
            "1:1: expected [a-z] in a name in a setting, found '1'\n  1\n  ^",
        ),
        (
            b"a:1\n",
            "1:2: expected '=' in a setting, found ':'\n  a:1\n   ^",
        ),
        (b"a=1", "1:4: expected '\\n', found the end\n  a=1\n     ^"),
        (
            b"a=256\n",
            "1:5: a number is too large in a setting, found '6'\n  a=256\n      ^",
        ),
        (
            b"a=1\na=1\na=1\na=1\n",
            "4:1: this is longer than allowed, found 'a'\n  a=1\n  ^",
        ),
    ] {
        assert_eq!(say(text).as_deref(), Some(said), "{}", text.escape_ascii());
    }
    // What came before a byte that can't be shown counts as it is shown.
    let said = explain(tag(b"\x01x").context("a mark"), b"\x01y").unwrap();
    assert_eq!(said.at, 0);
    assert!(said.to_string().contains(r#"expected "\x01x" in a mark"#));
}

#[test]
fn the_furthest_place_is_what_is_told() {
    let item =
        || separated_pair(take_while1(&LOWER), byte(b'='), decimal::<u8>()).context("an item");
    // The repetition ends before the second item, and the end is not there: but that is not what is wrong.
    let items = || (many(0..=9, terminated(item(), byte(b';'))), end_of_input()).context("a list");
    assert_eq!(
        headline(items(), b"a=1;b=x;"),
        "1:7: expected [0-9] in an item, found 'x'"
    );
    assert_eq!(
        headline(items(), b"a=1;!"),
        "1:5: expected [a-z] or the end of the input in a list, found '!'"
    );
    // The parser's own answer is kept.
    let said = explain(items(), b"a=1;b=x;").unwrap();
    assert_eq!((said.at, said.stop.at()), (6, Some(4)));
    let list = || (sep_by(1..=9, item(), byte(b',')), byte(b'.'));
    assert_eq!(
        headline(list(), b"a=1,b"),
        "1:6: expected '=' in an item, found the end"
    );
    assert_eq!(
        headline(list(), b"a=1,b?"),
        "1:6: expected '=' in an item, found '?'"
    );
    assert_eq!(
        headline(list(), b"a=1?"),
        "1:4: expected ',' or '.', found '?'"
    );
    let ended = (sep_end_by(1..=9, item(), byte(b',')), byte(b'.'));
    assert_eq!(
        headline(ended, b"a=1,?"),
        "1:5: expected [a-z] or '.', found '?'"
    );
}

#[test]
fn contexts_of_alternatives_given_up_are_not_told() {
    let either = || choice((tag(b"ab").context("a left"), tag(b"cd").context("a right")));
    assert_eq!(
        headline(either(), b"xy"),
        "1:1: expected \"ab\" or \"cd\" in a right, found 'x'"
    );
    let optional = (opt(decimal::<u8>().context("a number")), byte(b';')).context("a line");
    assert_eq!(
        headline(optional, b"x"),
        "1:1: expected [0-9] or ';' in a line, found 'x'"
    );
    let word = (
        not_followed_by(tag(b"end").context("an end")),
        take_while1(&LOWER).context("a word"),
    );
    assert_eq!(
        headline(word, b"endless"),
        "1:1: this does not belong here, found 'e'"
    );
    let till = many_till(0..=9, tag(b"a").context("a letter"), tag(b"."));
    assert_eq!(
        headline(till, b"ab"),
        "1:2: expected \".\" or \"a\" in a letter, found 'b'"
    );
}

#[test]
fn what_each_family_expects() {
    assert_eq!(
        headline(take_till1(&class::SPACE), b" "),
        "1:1: expected none of [\\t-\\r ], found ' '"
    );
    assert_eq!(
        headline(take_until(b"*/", 9), b"ab"),
        "1:3: expected \"*/\", found the end"
    );
    assert_eq!(
        headline(take_until(b"*/", 1), b"abcdef"),
        "1:2: this is longer than allowed, found 'b'"
    );
    assert_eq!(
        headline(end_of_line(), b"a"),
        "1:1: expected the end of the line, found 'a'"
    );
    assert_eq!(
        headline(string("日本"), "日é".as_bytes()),
        "1:1: expected \"日本\", found '日'"
    );
    assert_eq!(headline(char('é'), b"e"), "1:1: expected 'é', found 'e'");
    assert_eq!(
        headline(tag(b"abc"), b"ab"),
        "1:3: expected \"abc\", found the end"
    );
    assert_eq!(
        headline(word::be::<u32>(), b"ab"),
        "1:3: expected more bytes, found the end"
    );
    assert_eq!(
        headline(count(2, any_byte()), b"a"),
        "1:2: expected a byte, found the end"
    );
    let even = decimal::<u8>()
        .verify(|n| n % 2 == 0)
        .context("an even number");
    assert_eq!(
        headline((byte(b'#'), even), b"#7"),
        "1:2: this value is not allowed in an even number, found '7'"
    );
    assert_eq!(
        headline(take_rest().text().context("a name"), b"ab\xff"),
        "1:3: expected UTF-8 text in a name, found '\\xff'"
    );
}

#[test]
fn what_is_inside_a_window_is_told_too() {
    let number = || delimited(byte(b'<'), decimal::<u8>(), byte(b'>')).context("a number");
    let counted = (
        byte(b':'),
        length_value(9, word::be::<u8>(), number()).context("a field"),
    );
    assert_eq!(
        headline(counted, b":\x04<1!>"),
        "1:5: expected '>' in a number in a field, found '!'"
    );
    // What follows the window is not shown to the parser in it.
    assert_eq!(
        headline(counted, b":\x02<1>"),
        "1:5: expected '>' in a number in a field, found the end"
    );
    assert_eq!(
        headline(counted, b":\x04<1>>"),
        "1:6: expected the end of what was counted in a field, found '>'"
    );
    assert_eq!(
        headline(within(5, number()), b"<1!>"),
        "1:3: expected '>' in a number, found '!'"
    );
    assert_eq!(
        headline(within(2, number()).context("a box"), b"<123>"),
        "1:3: this is longer than allowed in a box, found '2'"
    );
}

#[test]
fn lines_are_shown_as_text() {
    let eq = || (take_while(|b: u8| b != b'='), byte(b'='), byte(b'1'));
    let second = || preceded(end_of_line(), eq());
    assert_eq!(
        said(second(), "\ngröße \"x\" \\ = 1\nlast".as_bytes()),
        "2:14: expected '1', found ' '\n  größe \"x\" \\ = 1\n               ^"
    );
    // Wide characters take two columns on the screen and are one in the count.
    assert_eq!(
        said(eq(), "日本=2".as_bytes()),
        "1:4: expected '1', found '2'\n  日本=2\n       ^"
    );
    // What is no text, or would change the text around it, is escaped.
    assert_eq!(
        said(eq(), b"\t\xff\xe2\x80\xae=\x1b[m"),
        "1:5: expected '1', found '\\u{1b}'\n  \\t\\xff\\u{202e}=\\u{1b}[m\n                 ^"
    );
    let letters = satisfy_char(char::is_alphabetic);
    assert_eq!(
        said(preceded(take(2), letters), "é!".as_bytes()),
        "1:2: expected another character, found '!'\n  é!\n   ^"
    );
}

#[test]
fn long_lines_are_shown_around_the_fault_in_whole_characters() {
    for shift in 0..4 {
        let text =
            "x".repeat(shift) + &"日".repeat(99) + "!" + &"本".repeat(99) + &"y".repeat(shift);
        let at = text.find('!').unwrap();
        let shown = said((take(at), byte(b'?')), text.as_bytes());
        let (line, caret) = {
            let mut lines = shown.lines().skip(1);
            (lines.next().unwrap(), lines.next().unwrap())
        };
        let before: String = line
            .trim_start()
            .chars()
            .take_while(|&c| c != '!')
            .collect();
        assert!(
            before.chars().all(|c| c == '日') && before.len() > 36,
            "{shown}"
        );
        assert!(
            line.split('!').nth(1).unwrap().chars().all(|c| c == '本'),
            "{shown}"
        );
        assert_eq!(caret.len() - 3, 2 * before.chars().count(), "{shown}");
        assert_eq!(
            shown.split(':').nth(1),
            Some((shift + 100).to_string().as_str())
        );
    }
}

#[test]
fn partial_input_is_told_what_would_be_needed() {
    let setting =
        || separated_pair(take_while1(&LOWER), byte(b'='), decimal::<u8>()).context("a setting");
    let partial = explain_partial(setting(), b"ab").unwrap();
    assert_eq!(
        (partial.at, partial.need, partial.reason),
        (2, Some(Need::EndOfRun), Reason::EndOfInput)
    );
    assert_eq!(
        partial.to_string(),
        "1:3: expected [a-z] in a setting, which has yet to come\n  ab\n    ^"
    );
    let partial = explain_partial(tag(b"HTTP/"), b"HT").unwrap();
    assert_eq!(partial.need, Some(Need::bytes(3)));
    // What is wrong already is told as ever.
    let wrong = explain_partial(setting(), b"ab!").unwrap();
    assert_eq!(
        (wrong.need, wrong.expected.as_slice()),
        (None, &[Expected::Byte(b'=')][..])
    );
    assert!(explain_partial(tag(b"a"), b"a").is_none());
    let error: Box<dyn std::error::Error> = wrong.into();
    assert!(error.to_string().starts_with("1:3: "));
}

#[test]
fn explaining_within_a_parser_that_is_explained() {
    fn inner(i: &mut In<'_>) -> thrum_parse::Parsed<()> {
        let bytes = take(2).parse(i)?;
        let why = explain((take(1), byte(b'?').context("another input")), bytes);
        assert_eq!(why.map(|why| why.at), Some(1));
        // Another input that is parsed on the way leaves no notes here.
        let _ = within(9, tag(b"zz")).parse(&mut In::whole(b"zy"));
        byte(b'!').parse(i).map(|_| ())
    }
    assert_eq!(
        headline(inner.context("this"), b"abc"),
        "1:3: expected '!' in this, found 'c'"
    );
}

#[test]
fn the_three_outcomes() {
    let line = || terminated(decimal::<u8>(), opt(end_of_line()));
    assert!(matches!(
        run(line(), In::partial(b"12\nx")),
        Outcome::Done {
            value: 12,
            rest: b"x"
        }
    ));
    assert!(matches!(
        run(line(), In::partial(b"12")),
        Outcome::Partial { need: Needed::Until(set), end_allowed: true } if set.contains(b'7')
    ));
    assert!(matches!(
        run((line(), word::be::<u16>()), In::partial(b"12\n\0")),
        Outcome::Partial { need: Needed::Bytes(one), end_allowed: false } if one.get() == 1
    ));
    assert!(matches!(
        run(end_of_input(), In::partial(b"")),
        Outcome::Partial {
            need: Needed::More,
            end_allowed: true
        }
    ));
    assert!(matches!(run(line(), In::partial(b"x")), Outcome::Failed(why) if why.at == 0));
}

#[test]
fn a_label_stands_for_what_could_come_first() {
    let word = take_while1(&LOWER).label("a word");
    let pair = (byte(b'<'), word, byte(b'>')).label("a tag");
    let either = choice((pair, word.map(|w| (b' ', w, b' '))));
    assert_eq!(
        headline(either, b"1"),
        "1:1: expected a tag or a word, found '1'"
    );
    // What has begun says itself what is missing.
    assert_eq!(headline(either, b"<1"), "1:2: expected a word, found '1'");
    assert_eq!(headline(either, b"<a"), "1:3: expected '>', found the end");
}

#[test]
fn what_is_nested_in_its_kind_says_so_once() {
    let nested = byte(b'x')
        .context("a list")
        .context("a list")
        .context("a file");
    assert_eq!(
        headline(nested, b"y"),
        "1:1: expected 'x' in a list in a file, found 'y'"
    );
}
