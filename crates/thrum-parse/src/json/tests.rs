//! What is JSON and what is not, whole and in pieces, beside serde_json.

use proptest::prelude::*;

use super::*;
use crate::input::EXAMINED;

/// Each is one value.
const GOOD: &[&[u8]] = &[
    b"null",
    b"true",
    b"false",
    b" \t\r\nnull\n",
    b"[]",
    b"{}",
    b"[ ]",
    b"{ }",
    b"[\n]\t",
    b"0",
    b"-0",
    b"1",
    b"-1",
    b"10",
    b"123456789",
    b"1234567890123456789",
    b"9223372036854775807",
    b"9223372036854775808",
    b"-9223372036854775808",
    b"-9223372036854775809",
    b"18446744073709551615",
    b"18446744073709551616",
    b"-18446744073709551616",
    b"100000000000000000000000000000000000000000000000000",
    b"0.0",
    b"-0.0",
    b"0.5",
    b"1.5",
    b"-1.5",
    b"3.14159265358979323846264338327950288",
    b"1e1",
    b"1E1",
    b"1e+1",
    b"1e-1",
    b"1e01",
    b"0e0",
    b"-0e-0",
    b"0E+5",
    b"1.5e300",
    b"1e308",
    b"123e-400",
    b"1e-99999999999",
    b"0e99999999999",
    b"9007199254740993",
    b"9007199254740993.0",
    b"2.2250738585072014e-308",
    b"4.9e-324",
    b"1.7976931348623157e308",
    b"0.1e22",
    b"1e22",
    b"1e23",
    b"0.000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
    b"[1]",
    b"[1,2]",
    b"[1 , 2]",
    b"[null,true,false,0,\"\",[],{}]",
    b"[[[[[[]]]]]]",
    b"{\"a\":1}",
    b"{\"a\":1,\"b\":2}",
    b"{ \"a\" : 1 , \"b\" : [ ] }",
    b"{\"\":0}",
    b"{\"a\":1,\"a\":2}",
    b"{\"a\":{\"a\":{\"a\":{}}}}",
    b"[{\"a\":[{\"b\":[]}]}]",
    b"{\"\\u0061\":0}",
    b"\"\"",
    b"\"a\"",
    b"\" \"",
    b"\"a b\"",
    b"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    b"\"\\u0000\"",
    b"\"\\u0041\\u00e9\\u65e5\"",
    b"\"\\uABCD\\uabcd\"",
    b"\"\\ud83d\\ude00\"",
    b"\"\\uD834\\uDD1E\"",
    b"\"\\uDBFF\\uDFFF\"",
    b"\"\\u2028\\uFFFF\\uFFFE\"",
    b"\"\\ud83d\\ude00\\ud83d\\ude00\"",
    "\"é\"".as_bytes(),
    "\"日本語\"".as_bytes(),
    "\"😀\"".as_bytes(),
    "\"\u{7f}\u{80}\"".as_bytes(),
    "\"\u{2028}\u{2029}\u{feff}\u{ffff}\u{10ffff}\"".as_bytes(),
    "{\"é\":\"日\\n本\"}".as_bytes(),
    b"\"a\\u0000b\"",
    b"\"//comment\"",
    b"\"/*\"",
    b"\"\x7f\"",
    b"[\"\\\\\"]",
];

/// None is JSON, for this reason and at this byte.
const BAD: &[(&[u8], Fault, u64)] = {
    use Fault::*;
    &[
        (b"", Truncated, 0),
        (b" ", Truncated, 1),
        (b"\n\n", Truncated, 2),
        (b"nul", Truncated, 3),
        (b"t", Truncated, 1),
        (b"fals", Truncated, 4),
        (b"[", Truncated, 1),
        (b"{", Truncated, 1),
        (b"[1", Truncated, 2),
        (b"[1,", Truncated, 3),
        (b"{\"a\"", Truncated, 4),
        (b"{\"a\":", Truncated, 5),
        (b"{\"a\":1", Truncated, 6),
        (b"{\"a\":1,", Truncated, 7),
        (b"{\"a", Truncated, 3),
        (b"[[]", Truncated, 3),
        (b"\"", Truncated, 1),
        (b"\"a", Truncated, 2),
        (b"\"\\", Truncated, 2),
        (b"\"\\u", Truncated, 3),
        (b"\"\\u12", Truncated, 5),
        (b"\"\\ud83d", Truncated, 7),
        (b"\"\\ud83d\\", Truncated, 8),
        (b"\"\\ud83d\\ude0", Truncated, 12),
        (b"-", Truncated, 1),
        (b"1.", Truncated, 2),
        (b"1e", Truncated, 2),
        (b"1e+", Truncated, 3),
        (b"[-", Truncated, 2),
        (b"nulL", Unexpected, 0),
        (b"True", Unexpected, 0),
        (b"nill", Unexpected, 0),
        (b"nullx", Unexpected, 4),
        (b"truefalse", Unexpected, 4),
        (b"NaN", Unexpected, 0),
        (b"Infinity", Unexpected, 0),
        (b"-Infinity", BadNumber, 1),
        (b"undefined", Unexpected, 0),
        (b"'a'", Unexpected, 0),
        (b"a", Unexpected, 0),
        (b"\xef\xbb\xbf1", Unexpected, 0),
        (b"\xff", Unexpected, 0),
        (b"\0", Unexpected, 0),
        (b"1\0", Unexpected, 1),
        (b"\x0c1", Unexpected, 0),
        (b"\x0b[]", Unexpected, 0),
        (b"\xc2\xa01", Unexpected, 0),
        (b"/**/1", Unexpected, 0),
        (b"1//", Unexpected, 1),
        (b"#\n1", Unexpected, 0),
        (b"1 2", Unexpected, 2),
        (b"[] []", Unexpected, 3),
        (b"{}}", Unexpected, 2),
        (b"[]]", Unexpected, 2),
        (b"[1,]", Unexpected, 3),
        (b"[,1]", Unexpected, 1),
        (b"[,]", Unexpected, 1),
        (b"[1,,2]", Unexpected, 3),
        (b"[1 2]", Unexpected, 3),
        (b"[1;2]", Unexpected, 2),
        (b"[1:2]", Unexpected, 2),
        (b"[1}", Unexpected, 2),
        (b"[\"a\":1]", Unexpected, 4),
        (b"[\"a\" \"b\"]", Unexpected, 5),
        (b"]", Unexpected, 0),
        (b"}", Unexpected, 0),
        (b",", Unexpected, 0),
        (b":", Unexpected, 0),
        (b"[{]}", Unexpected, 2),
        (b"{\"a\":1,}", Unexpected, 7),
        (b"{,}", Unexpected, 1),
        (b"{\"a\"}", Unexpected, 4),
        (b"{\"a\",1}", Unexpected, 4),
        (b"{\"a\":}", Unexpected, 5),
        (b"{\"a\" 1}", Unexpected, 5),
        (b"{\"a\"::1}", Unexpected, 5),
        (b"{1:1}", Unexpected, 1),
        (b"{a:1}", Unexpected, 1),
        (b"{'a':1}", Unexpected, 1),
        (b"{null:1}", Unexpected, 1),
        (b"{\"a\":1]", Unexpected, 6),
        (b"{\"a\":1 \"b\":2}", Unexpected, 7),
        (b"{\"a\":1,,}", Unexpected, 7),
        (b"{[]:1}", Unexpected, 1),
        (b"{:1}", Unexpected, 1),
        (b"{\"a\":1,1}", Unexpected, 7),
        (b"01", BadNumber, 1),
        (b"-01", BadNumber, 2),
        (b"00", BadNumber, 1),
        (b"012.5", BadNumber, 1),
        (b"+1", Unexpected, 0),
        (b".5", Unexpected, 0),
        (b"-.5", BadNumber, 1),
        (b"1.e1", BadNumber, 2),
        (b"[1.]", BadNumber, 3),
        (b"[1e]", BadNumber, 3),
        (b"[1e+]", BadNumber, 4),
        (b"[-]", BadNumber, 2),
        (b"--1", BadNumber, 1),
        (b"1-2", BadNumber, 1),
        (b"1+2", BadNumber, 1),
        (b"1.2.3", BadNumber, 3),
        (b"1e2e3", BadNumber, 3),
        (b"1e2.3", BadNumber, 3),
        (b"1e++1", BadNumber, 3),
        (b"-e1", BadNumber, 1),
        (b"0x10", Unexpected, 1),
        (b"1a", Unexpected, 1),
        (b"1_000", Unexpected, 1),
        (b"- 1", BadNumber, 1),
        (b"1 .5", Unexpected, 2),
        (b"-\xef\xbc\x91", BadNumber, 1),
        (b"1f", Unexpected, 1),
        (b"1e309", NumberTooLarge, 0),
        (b"[-1e999]", NumberTooLarge, 1),
        (b"1e99999999999", NumberTooLarge, 0),
        (b"1.8e308", NumberTooLarge, 0),
        (b"\"\n\"", ControlCharacter, 1),
        (b"\"a\tb\"", ControlCharacter, 2),
        (b"\"\0\"", ControlCharacter, 1),
        (b"\"a\x1f\"", ControlCharacter, 2),
        (b"{\"\r\":1}", ControlCharacter, 2),
        (b"\"\\a\"", BadEscape, 2),
        (b"\"\\x41\"", BadEscape, 2),
        (b"\"\\'\"", BadEscape, 2),
        (b"\"\\ \"", BadEscape, 2),
        (b"\"\\U0041\"", BadEscape, 2),
        (b"\"\\\n\"", BadEscape, 2),
        (b"\"\\\0\"", BadEscape, 2),
        (b"\"\\u004\"", BadEscape, 6),
        (b"\"\\u00g0\"", BadEscape, 5),
        (b"\"\\u+041\"", BadEscape, 3),
        (b"\"\\u\"", BadEscape, 3),
        (b"\"\\ud83d\\u12\"", BadEscape, 11),
        (b"\"\\\xc3\xa9\"", BadEscape, 2),
        (b"\"\\ud83d\"", LoneSurrogate, 7),
        (b"\"\\ude00\"", LoneSurrogate, 1),
        (b"\"\\ud83dx\"", LoneSurrogate, 7),
        (b"\"\\ud83d\\n\"", LoneSurrogate, 7),
        (b"\"\\ud83d\\u0041\"", LoneSurrogate, 1),
        (b"\"\\ud83d\\ud83d\"", LoneSurrogate, 1),
        (b"\"\\ude00\\ud83d\"", LoneSurrogate, 1),
        (b"\"\xff\"", NotUtf8, 1),
        (b"\"\x80\"", NotUtf8, 1),
        (b"\"a\xc3\"", NotUtf8, 2),
        (b"\"\xc0\x80\"", NotUtf8, 1),
        (b"\"\xed\xa0\x80\"", NotUtf8, 1),
        (b"\"\xf4\x90\x80\x80\"", NotUtf8, 1),
        (b"\"\xe3\x81\"", NotUtf8, 1),
        (b"\"\xf0\x9f\x98\"", NotUtf8, 1),
        (b"\"\xe3\x81\\n\"", NotUtf8, 1),
        (b"\"\xf8\x88\x80\x80\x80\"", NotUtf8, 1),
        (b"\"\xe9\"", NotUtf8, 1),
        (b"\"ok\xc3", NotUtf8, 3),
        (b"{\"\xfe\":1}", NotUtf8, 2),
        (b"[\"ok\",\"\xff\"]", NotUtf8, 7),
        (b"[\"ok\" \"\xff\"]", Unexpected, 6),
        (b"\"\xfe\xff\x00a\"", NotUtf8, 1),
        (b"[\xff]", Unexpected, 1),
    ]
};

/// What a reader tells, with the texts put together that belong to one string.
type Told = (Vec<String>, Result<(), Error>);

/// Reads pieces that end at each of `ends`.
fn told(input: &[u8], ends: impl IntoIterator<Item = usize>, limits: Limits) -> Told {
    let mut reader = Reader::new(limits);
    let (mut events, mut text) = (Vec::new(), String::new());
    let mut on = |event: Event<'_>| match event {
        Event::Text(piece) => {
            assert!(!piece.is_empty());
            text.push_str(piece);
        }
        Event::Escape(char) => text.push(char),
        other => events.push(format!("{}{other:?}", std::mem::take(&mut text))),
    };
    let mut start = 0;
    let mut read = Ok(());
    for end in ends.into_iter().chain([input.len()]) {
        read = reader.feed(&input[start..end], &mut on);
        start = end;
        if read.is_err() {
            assert_eq!(reader.feed(b"1", &mut on), read, "it stays wrong");
            break;
        }
    }
    let read = read.and_then(|()| reader.finish(&mut on));
    events.push(text);
    (events, read)
}

/// Whole, by every split in two, and byte by byte.
fn read_always(input: &[u8]) -> Told {
    let whole = told(input, [], Limits::default());
    assert_eq!(told(input, 0..input.len(), Limits::default()), whole);
    for split in 0..input.len() {
        assert_eq!(told(input, [split], Limits::default()), whole, "at {split}");
    }
    whole
}

fn same(ours: &Value<'_>, theirs: &serde_json::Value) -> bool {
    match (ours, theirs) {
        (Value::Null, serde_json::Value::Null) => true,
        (Value::Bool(ours), serde_json::Value::Bool(theirs)) => ours == theirs,
        (Value::String(ours), serde_json::Value::String(theirs)) => ours == theirs,
        (Value::Number(Number::Unsigned(ours)), theirs) => theirs.as_u64() == Some(*ours),
        (Value::Number(Number::Negative(ours)), theirs) => theirs.as_i64() == Some(*ours),
        (Value::Number(Number::Float(ours)), theirs) => theirs.as_f64().is_some_and(|theirs| {
            // As it is built here, it is wrong in the last place now and then.
            !theirs.is_nan() && ours.to_bits().abs_diff(theirs.to_bits()) <= 1
        }),
        (Value::Array(ours), serde_json::Value::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(theirs)
                    .all(|(ours, theirs)| same(ours, theirs))
        }
        (Value::Object(ours), serde_json::Value::Object(theirs)) => {
            ours.iter().all(|(name, _)| theirs.contains_key(&**name))
                && theirs.iter().all(|(name, theirs)| {
                    let members = ours.iter().rev();
                    let ours = members.clone().find(|(this, _)| this == name);
                    ours.is_some_and(|(_, ours)| same(ours, theirs))
                })
        }
        _ => false,
    }
}

/// Both take it and find the same in it, or neither does.
fn differential(input: &[u8]) {
    let theirs: Result<serde_json::Value, _> = serde_json::from_slice(input);
    let limits = Limits {
        depth: 127,
        ..Limits::default()
    };
    for level in Level::all() {
        match (value_at(level, input, limits), &theirs) {
            (Ok(ours), Ok(theirs)) => assert!(same(&ours, theirs), "{ours:?} {theirs:?}"),
            (Err(_), Err(_)) => {}
            (ours, theirs) => panic!(
                "{:?}: {ours:?} {theirs:?}",
                input.escape_ascii().to_string()
            ),
        }
    }
}

#[test]
fn good_values() {
    for input in GOOD {
        let name = input.escape_ascii();
        let value = parse(input).unwrap_or_else(|explanation| panic!("{name}: {explanation}"));
        assert_eq!(read_always(input).1, Ok(()), "{name}");
        let mut builder = Builder::new();
        let mut reader = Reader::new(Limits::default());
        for byte in *input {
            reader.feed(&[*byte], |event| builder.take(event)).unwrap();
        }
        reader.finish(|event| builder.take(event)).unwrap();
        assert_eq!(builder.finish(), Some(value), "{name}");
        differential(input);
    }
}

#[test]
fn bad_values() {
    for &(input, fault, at) in BAD {
        let name = input.escape_ascii();
        assert_eq!(read_always(input).1, Err(Error { at, fault }), "{name}");
        let explanation = parse(input).expect_err("it is wrong");
        assert_eq!(explanation.at as u64, at, "{name}");
        assert!(explanation.to_string().ends_with('^'), "{explanation}");
        differential(input);
    }
}

#[test]
fn mistakes_are_explained() {
    for (input, expected) in [
        ("", "1:1: expected a value, found the end"),
        (
            "{\"a\": 1,\n  b}",
            "2:3: expected a name in quotes, found 'b'",
        ),
        ("[1 2]", "1:4: expected ',' or ']', found '2'"),
        ("{\"a\" 2}", "1:6: expected ':', found '2'"),
        ("1 2", "1:3: expected the end of the input, found '2'"),
        ("[01]", "1:3: expected the end of a number, found '1'"),
        ("[1.]", "1:4: expected a digit, found ']'"),
        ("[1.", "1:4: expected a digit, found the end"),
        (
            "[1e999]",
            "1:2: expected a number that is not as large, found '1'",
        ),
        (
            "\"a\u{1}\"",
            "1:3: expected an escape instead of a control character, found '\\u{1}'",
        ),
        ("\"\\x\"", "1:3: expected an escape, found 'x'"),
        ("\"\\u12\"", "1:6: expected a hexadecimal digit, found '\"'"),
        (
            "\"\\udc00\"",
            "1:2: expected a pair of surrogates, found '\\'",
        ),
        ("nul", "1:4: expected \"null\", found the end"),
    ] {
        let explanation = parse(input.as_bytes())
            .expect_err("it is wrong")
            .to_string();
        assert_eq!(explanation.lines().next(), Some(expected));
    }
}

#[test]
fn numbers_are_exact() {
    use Number::*;
    for (input, expected) in [
        ("0", Unsigned(0)),
        ("18446744073709551615", Unsigned(u64::MAX)),
        ("18446744073709551616", Float(18446744073709551616.0)),
        ("-1", Negative(-1)),
        ("-9223372036854775808", Negative(i64::MIN)),
        ("-9223372036854775809", Float(-9223372036854775809.0)),
        ("-18446744073709551616", Float(-18446744073709551616.0)),
        ("-0", Float(-0.0)),
        ("1.0", Float(1.0)),
        ("9007199254740993.0", Float(9007199254740992.0)),
        ("0.1e1", Float(1.0)),
        (
            "123456789012345678901234567890e-10",
            Float(12345678901234567890.0),
        ),
        ("00000000000000000000001", Unsigned(1)),
    ] {
        let found = parse(input.as_bytes())
            .ok()
            .and_then(|value| value.as_number());
        let expected = (!input.starts_with("00")).then_some(expected);
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{input}");
    }
    let zeros = [b"0.".as_slice(), &[b'0'; 400], b"1e400"].concat();
    assert_eq!(parse(&zeros).unwrap().as_number(), Some(Float(0.1)));
    assert!(parse(&[b'9'; 310]).is_err());
}

#[test]
fn the_last_of_equal_names_counts() {
    let value = parse(b"{\"a\": 1, \"b\": [true], \"a\": null}").unwrap();
    assert_eq!(value.member("a"), Some(&Value::Null));
    assert_eq!(value.member("c"), None);
    assert_eq!(value.as_object().map(<[_]>::len), Some(3));
    let list = value.member("b").and_then(Value::as_array);
    assert_eq!(list, Some(&[Value::Bool(true)][..]));
}

#[test]
fn texts_are_slices_of_the_input() {
    fn is_slice(text: &str, input: &[u8]) -> bool {
        text.is_empty() || input.as_ptr_range().contains(&text.as_ptr())
    }
    let input =
        "{\"aé\": \"日本\", \"b\\n\": \"\\u0041bc\", \"c\": \"d\\/\\/e\", \"f\": \"\"}".as_bytes();
    let value = parse(input).unwrap();
    let members = value.as_object().unwrap();
    for ((name, value), (this, text, slices)) in members.iter().zip([
        ("aé", "日本", [true, true]),
        ("b\n", "Abc", [false, false]),
        ("c", "d//e", [true, false]),
        ("f", "", [true, true]),
    ]) {
        let Value::String(found) = value else {
            panic!("{value:?} is a string");
        };
        assert_eq!((&**name, &**found), (this, text));
        assert_eq!([is_slice(name, input), is_slice(found, input)], slices);
    }

    let copy = input.to_vec();
    let owned: Value<'static> = parse(&copy).unwrap().into_owned();
    drop(copy);
    assert_eq!(owned, value);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn values_are_small() {
    assert_eq!(size_of::<Value<'_>>(), 24);
}

#[test]
fn limits() {
    let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    assert!(parse(&nested(128)).is_ok());
    assert_eq!(parse(&nested(129)).unwrap_err().at, 128);
    for depth in [0, 1, 64, 65, 1023, 1024] {
        let limits = Limits {
            depth,
            ..Limits::default()
        };
        let fault = Err(Error {
            at: depth.into(),
            fault: Fault::TooDeep,
        });
        let objects = [
            b"{\"a\":".repeat(depth.into()),
            b"1".into(),
            b"}".repeat(depth.into()),
        ]
        .concat();
        assert!(parse_within(&nested(depth.into()), limits).is_ok() || depth == 0);
        assert!(parse_within(&objects, limits).is_ok());
        assert_eq!(told(&nested(usize::from(depth) + 1), [], limits).1, fault);
    }
    let deepest = Limits {
        depth: u16::MAX,
        ..Limits::default()
    };
    assert_eq!(
        parse_within(&nested(100_000), deepest).unwrap_err().at,
        1024
    );

    let limits = Limits {
        bytes: 4,
        ..Limits::default()
    };
    assert!(parse_within(b"[10]", limits).is_ok());
    assert_eq!(parse_within(b"[100]", limits).unwrap_err().at, 4);
    for split in 0..5 {
        let fault = Err(Error {
            at: 4,
            fault: Fault::TooLong,
        });
        assert_eq!(told(b"[100]", [split], limits).1, fault);
    }

    let long = [b'1'; NUMBER_BYTES + 500];
    assert!(
        read_always(&long[..NUMBER_BYTES]).1.is_err(),
        "it is infinite"
    );
    let fault = Err(Error {
        at: NUMBER_BYTES as u64,
        fault: Fault::NumberTooLong,
    });
    assert_eq!(read_always(&long).1, fault);
    let zeros = [b"0.".as_slice(), &[b'0'; NUMBER_BYTES - 2]].concat();
    assert_eq!(read_always(&zeros).1, Ok(()));
}

/// How many bytes are examined when the input comes in pieces of this size.
fn examined(input: &[u8], size: usize) -> usize {
    EXAMINED.set(0);
    let ends = (0..input.len()).step_by(size);
    let _ = told(input, ends, Limits::default());
    EXAMINED.get()
}

#[test]
fn one_byte_at_a_time_is_examined_twice() {
    for input in [
        &b"[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"[..],
        b"[12345678.5e12, -123456789012345678901234567890.5]",
        &[b'7'; 1000],
        &[b'8'; 100_000],
        b"[true,false,null,true,false,null,true,false,null,true,false,null]",
        "\"日本語日本語日本語日本語日本語日本語日本語\"".as_bytes(),
        "\"😀😀😀😀😀😀😀😀😀😀😀😀😀\"".as_bytes(),
        "\"ééééééééééééééé\"".as_bytes(),
        b"\"\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\"",
        b"\"\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\"",
        b"\"\\ud83d\\ude00\\ud83d\\ude00\\ud83d\\ude00\"",
        &[b' '; 1000],
        &[b"\"".as_slice(), &[b'a'; 10_000]].concat(),
        &[b"\"".as_slice(), &[b'\xff'; 1000]].concat(),
        b"{\"a\" : {\"b\" : [ {} , {} ]}, \"c\\td\": [[[[[[]]]]]]}",
    ] {
        for size in [1, 2, 3, 7] {
            let examined = examined(input, size);
            assert!(
                examined * 10 <= input.len() * 21,
                "{examined} of {}",
                input.len()
            );
        }
    }
    let whole = b"{\"a\": [1, true, \"b\\n\"]}";
    assert_eq!(examined(whole, whole.len()), whole.len());
}

/// Any value, as text with any white space.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["null", "true", "false", "0", "-0", "{}", "[]", "\"\""])
            .prop_map(String::from),
        any::<u64>().prop_map(|number| number.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("JSON has none", |number| number.is_finite())
            .prop_map(|number| format!("{number:e}")),
        (any::<i32>(), any::<u16>(), -330..300_i32)
            .prop_map(|(int, part, exp)| format!("{int}.{part}e{exp}")),
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        "[a-cé日😀]{0,9}".prop_map(|text| format!(
            "\"{}\"",
            text.encode_utf16()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect::<String>()
        )),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let space = "[ \n\t]{0,2}";
        prop_oneof![
            (space, prop::collection::vec(inner.clone(), 0..6)).prop_map(
                |(space, elements)| format!(
                    "[{space}{}{space}]",
                    elements.join(&format!("{space},{space}"))
                )
            ),
            (
                space,
                prop::collection::vec(("[a-c\"\u{e9}\n]{0,2}", inner), 0..6)
            )
                .prop_map(|(space, members)| {
                    let members: Vec<_> = members
                        .into_iter()
                        .map(|(name, value)| {
                            format!(
                                "{}{space}:{space}{value}",
                                serde_json::to_string(&name).unwrap()
                            )
                        })
                        .collect();
                    format!("{{{space}{}{space}}}", members.join(&format!("{space},")))
                }),
        ]
    })
}

proptest! {
    #[test]
    fn any_value(text in json(), mut ends in prop::collection::vec(any::<prop::sample::Index>(), 0..20)) {
        differential(text.as_bytes());
        let whole = told(text.as_bytes(), [], Limits::default());
        prop_assert_eq!(whole.1, Ok(()));
        ends.sort_by_key(|end| end.index(text.len()));
        let ends = ends.iter().map(|end| end.index(text.len()));
        prop_assert_eq!(told(text.as_bytes(), ends, Limits::default()), whole.clone());
        prop_assert_eq!(told(text.as_bytes(), 0..text.len(), Limits::default()), whole);
        prop_assert!(examined(text.as_bytes(), 1) * 10 <= text.len() * 21);
    }

    #[test]
    fn any_value_spoilt(
        text in json(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), prop::sample::select(b"[]{},:\"\\u0e-. ".to_vec())]), 1..4),
        split in any::<prop::sample::Index>(),
    ) {
        let mut bytes = text.into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        differential(&bytes);
        let whole = told(&bytes, [], Limits::default());
        prop_assert_eq!(told(&bytes, [split.index(bytes.len())], Limits::default()), whole.clone());
        prop_assert_eq!(told(&bytes, 0..bytes.len(), Limits::default()), whole.clone());
        let explanation = parse(&bytes).err().map(|explanation| explanation.at as u64);
        prop_assert_eq!(explanation, whole.1.err().map(|error| error.at));
        prop_assert!(examined(&bytes, 1) * 10 <= bytes.len() * 21 + 20);
    }

    #[test]
    fn floats_are_the_nearest(number in any::<f64>().prop_filter("JSON has none", |number| number.is_finite()), places in 0..25_usize) {
        for text in [format!("{number:e}"), format!("{number:.places$e}"), format!("{:.places$}", number % 1e17)] {
            let found = parse(text.as_bytes()).ok().and_then(|value| value.as_number()).map(Number::as_f64);
            let expected: f64 = text.parse().unwrap();
            prop_assert_eq!(found, expected.is_finite().then_some(expected), "{}", text);
        }
    }
}
