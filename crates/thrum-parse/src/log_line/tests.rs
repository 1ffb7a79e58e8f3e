//! Lines as they are found, good and bad, whole and cut.

use proptest::prelude::*;

use super::*;
use crate::Stop;

const COMBINED: &str = "192.0.2.7 - frank [21/Nov/2026:02:07:00 +0000] \"GET /x?y HTTP/1.1\" 200 612 \
    \"http://example.com/\" \"curl/8.5 (x86_64)\"";

fn parse(line: &str) -> Result<Entry<'_>, Stop> {
    entry(&mut In::whole(line.as_bytes()))
}

#[test]
fn combined() {
    for end in ["", "\n", "\r\n"] {
        let line = format!("{COMBINED}{end}");
        let expected = Entry {
            host: b"192.0.2.7",
            ident: None,
            user: Some(b"frank"),
            time: 1_795_226_820,
            request: b"GET /x?y HTTP/1.1",
            status: 200,
            bytes: Some(612),
            referer: Some(b"http://example.com/"),
            user_agent: Some(b"curl/8.5 (x86_64)"),
            more: b"",
        };
        assert_eq!(parse(&line), Ok(expected));
    }
}

#[test]
fn common_and_extended() {
    let common = "h - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 -";
    for end in ["", "\n", "\r\n"] {
        let line = format!("{common}{end}");
        let entry = parse(&line).unwrap();
        assert_eq!((entry.time, entry.bytes), (971_211_336, None));
        assert_eq!((entry.referer, entry.user_agent), (None, None));
        let line = format!("{COMBINED} \"-\" 0.002{end}");
        assert_eq!(parse(&line).unwrap().more, b"\"-\" 0.002");
    }
}

#[test]
fn users_have_spaces() {
    let line = COMBINED.replace("frank", "frank n furter");
    assert_eq!(parse(&line).unwrap().user, Some(&b"frank n furter"[..]));
}

#[test]
fn requests_of_all_kinds() {
    for (text, expected) in [
        ("-", None),
        ("", None),
        ("GET", None),
        ("GET ", None),
        (" /", None),
        (r"\x16\x03\x01\x02\x00\x01", None),
        ("GET /", Some(("GET", "/", ""))),
        ("GET /a b HTTP/1.1", Some(("GET", "/a b", "HTTP/1.1"))),
        ("GET / HTTP/2", Some(("GET", "/", "HTTP/2"))),
        ("GET HTTP/1.1", Some(("GET", "HTTP/1.1", ""))),
        (
            r#"GET /\"q\" HTTP/1.1"#,
            Some(("GET", r#"/\"q\""#, "HTTP/1.1")),
        ),
        (
            r"GET /\x22\\ HTTP/1.1",
            Some(("GET", r"/\x22\\", "HTTP/1.1")),
        ),
    ] {
        let line = COMBINED.replace("GET /x?y HTTP/1.1", text);
        let entry = parse(&line).unwrap();
        assert_eq!(entry.request, text.as_bytes());
        let found = entry.request_line().map(
            |RequestLine {
                 method,
                 target,
                 version,
             }| {
                [method, target, version].map(|part| std::str::from_utf8(part).unwrap())
            },
        );
        let expected = expected.map(|(method, target, version)| [method, target, version]);
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn times() {
    for (time, expected) in [
        ("01/Jan/1970:00:00:00 +0000", Some(0)),
        ("31/Dec/1969:23:59:59 +0000", Some(-1)),
        ("29/Feb/2024:12:26:39 +0000", Some(1_709_209_599)),
        ("29/Feb/2024:13:26:39 +0100", Some(1_709_209_599)),
        ("29/Feb/2024:06:56:39 -0530", Some(1_709_209_599)),
        ("31/Dec/9999:23:59:59 +0000", Some(253_402_300_799)),
        ("01/Mar/0000:00:00:00 +0000", Some(-62_162_035_200)),
        ("01/Jan/0000:00:00:00 +0000", Some(-62_167_219_200)),
        ("31/Dec/2016:23:59:60 +0000", Some(1_483_228_800)),
        ("29/Feb/2023:00:00:00 +0000", None),
        ("29/Feb/1900:00:00:00 +0000", None),
        ("31/Apr/2024:00:00:00 +0000", None),
        ("00/Jan/2024:00:00:00 +0000", None),
        ("32/Jan/2024:00:00:00 +0000", None),
        ("01/Jam/2024:00:00:00 +0000", None),
        ("01/jan/2024:00:00:00 +0000", None),
        ("01/Jan/2024:24:00:00 +0000", None),
        ("01/Jan/2024:00:60:00 +0000", None),
        ("01/Jan/2024:00:00:61 +0000", None),
        ("01/Jan/2024:00:00:00 ,0000", None),
        ("01/Jan/2024:00:00:00 +0060", None),
        ("01/Jan/2024 00:00:00 +0000", None),
        ("1/Jan/2024:00:00:00 +0000", None),
    ] {
        let line = COMBINED.replace("21/Nov/2026:02:07:00 +0000", time);
        assert_eq!(
            parse(&line).ok().map(|entry| entry.time),
            expected,
            "{time}"
        );
    }
}

#[test]
fn mistakes_are_explained() {
    let time = "expected a time such as [21/Nov/2026:02:07:00 +0000] in a time";
    for (from, to, expected) in [
        (
            "192.0.2.7",
            "",
            "1:1: expected [\\x00-\\t\\x0b-\\x1f!-\\xff] in a host, found ' '",
        ),
        ("21/Nov", "21-Nov", &format!("1:22: {time}, found '-'")),
        (":00 +", ":0 +", &format!("1:39: {time}, found ' '")),
        ("200 612", "2x0 612", "1:69: expected ' ', found 'x'"),
        (
            "200 612",
            "2000 612",
            "1:68: this value is not allowed in a status, found '2'",
        ),
        (
            "200 612",
            "200 x",
            "1:72: expected [0-9] in a size, found 'x'",
        ),
        (" 612 ", "", "1:71: expected ' ', found '\"'"),
    ] {
        let line = COMBINED.replace(from, to);
        let bad = BadLine {
            line: line.as_bytes(),
        };
        let text = bad.to_string();
        assert_eq!(text.lines().next(), Some(expected), "{line}");
        assert!(text.ends_with('^'));
    }
}

#[test]
fn a_last_line_that_ends_in_the_middle_of_its_end_is_explained() {
    let log = format!("{COMBINED}\r");
    let entries = Vec::from_iter(Entries::new(log.as_bytes(), true));
    let [Err(bad)] = entries.as_slice() else {
        panic!("{entries:?}");
    };
    let text = bad.to_string();
    assert!(
        text.contains(r#"expected "\r\n""#) && text.ends_with('^'),
        "{text}"
    );
}

#[test]
fn bad_lines_are_passed_over() {
    let log = format!("{COMBINED}\nnonsense\r\n\n{COMBINED}\r\n{COMBINED}");
    let lines = |eof| {
        let mut entries = Entries::new(log.as_bytes(), eof);
        let all: Vec<_> = entries
            .by_ref()
            .map(|entry| entry.map(|entry| entry.status))
            .collect();
        (all, entries.consumed())
    };
    let (nonsense, empty) = (BadLine { line: b"nonsense" }, BadLine { line: b"" });
    let good = vec![Ok(200), Err(nonsense), Err(empty), Ok(200)];
    assert_eq!(lines(false), (good.clone(), log.len() - COMBINED.len()));
    assert_eq!(lines(true), ([good, vec![Ok(200)]].concat(), log.len()));
}

#[test]
fn a_line_without_end_is_given_up() {
    for log in [
        vec![b'x'; LINE_BYTES + 1],
        [COMBINED.as_bytes(), &[b' '; LINE_BYTES]].concat(),
    ] {
        let mut entries = Entries::new(&log, false);
        assert!(entries.next().unwrap().is_err());
        assert_eq!((entries.consumed(), entries.next()), (log.len(), None));
    }
}

#[test]
fn escapes_are_undone() {
    for (field, expected) in [
        ("plain", &b"plain"[..]),
        (r"\x22\x0D\xff", b"\"\r\xff"),
        (r#"\"\\\n\r\t\v\b\f"#, b"\"\\\n\r\t\x0b\x08\x0c"),
        (r"\x2", br"\x2"),
        (r"\xg0\q\", br"\xg0\q\"),
    ] {
        assert_eq!(&*unescaped(field.as_bytes()), expected, "{field}");
    }
}

/// A field as thrum writes it: all that is not printable ASCII, the quote and the backslash as `\xHH`.
fn escaped(bytes: &[u8]) -> String {
    let plain = |byte: u8| (0x20..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
    bytes
        .iter()
        .map(|&byte| {
            if plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("\\x{byte:02X}")
            }
        })
        .collect()
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        target in prop::collection::vec(any::<u8>(), 1..40),
        agent in prop::collection::vec(any::<u8>(), 0..40),
        status in 100..1000_u16,
        bytes: u64,
    ) {
        let line = format!(
            "2001:db8::7 - - [21/Nov/2026:02:07:00 +0000] \"GET {} HTTP/1.1\" {status} {bytes} \"-\" \"{}\"\n",
            escaped(&target), escaped(&agent),
        );
        let entry = parse(&line).unwrap();
        prop_assert_eq!((entry.status, entry.bytes, entry.referer), (status, Some(bytes), None));
        prop_assert_eq!(&*unescaped(entry.request_line().unwrap().target), &target);
        prop_assert_eq!(&*unescaped(entry.user_agent.unwrap_or(b"-")), if agent.is_empty() { b"" } else { &agent[..] });
    }

    /// A line that is cut anywhere needs more or is wrong, and it is never another entry.
    #[test]
    fn every_part_of_a_line_needs_more(cut in 0..COMBINED.len() + 1, end in prop::sample::select(vec!["\n", "\r\n"])) {
        let line = format!("{COMBINED}{end}");
        let stop = entry(&mut In::partial(&line.as_bytes()[..cut])).unwrap_err();
        prop_assert!(stop.is_need(), "{:?}", stop);
    }

    /// Whatever the bytes and wherever they are cut, the lines are the same.
    #[test]
    fn lines_are_the_same_in_pieces(
        lines in prop::collection::vec(prop_oneof![Just(COMBINED.to_owned()), "[ -~]{0,20}", Just(String::new())], 0..6),
        at in any::<prop::sample::Index>(),
    ) {
        let log = lines.join("\n");
        let all: Vec<_> = Entries::new(log.as_bytes(), true).collect();
        let at = at.index(log.len() + 1);
        let mut first = Entries::new(&log.as_bytes()[..at], false);
        let mut pieces: Vec<_> = first.by_ref().collect();
        pieces.extend(Entries::new(&log.as_bytes()[first.consumed()..], true));
        prop_assert_eq!(pieces, all);
    }
}
