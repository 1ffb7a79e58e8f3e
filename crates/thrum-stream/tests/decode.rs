//! Text of bytes and bytes of text: every cut, every kind of error, and what is not copied.

use bytes::Bytes;
use bytestring::ByteString;
use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, ISO_2022_JP, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE,
    WINDOWS_1252,
};
use proptest::collection::vec;
use proptest::prelude::{any, prop_assert_eq, proptest};
use proptest::sample::select;
use thrum_stream::stage::{Bom, decode, encode, text_lines};
use thrum_stream::{Cause, Error, Input, Result, Stage, Step};

/// The most bytes in one item, whichever way.
const PIECE: usize = 32 * 1024;

/// What comes of these items.
fn run<I, T: Stage<I>>(items: impl IntoIterator<Item = I>, mut stage: T) -> Result<Vec<T::Item>> {
    let mut items = items.into_iter();
    let mut input = Input::new();
    let mut output = Vec::new();
    loop {
        match stage.step(&mut input)? {
            Step::Item(item) => output.push(item),
            Step::Need => match items.next() {
                Some(item) => input.give(item),
                None => input.end(),
            },
            Step::Done => return Ok(output),
        }
    }
}

/// The text of these bytes, in pieces of this size.
fn decoded(
    bytes: &[u8],
    size: usize,
    stage: impl Stage<Bytes, Item = ByteString>,
) -> Result<String> {
    let pieces = bytes.chunks(size).map(Bytes::copy_from_slice);
    let texts = run(pieces, stage)?;
    assert!(texts.iter().all(|text| !text.is_empty()));
    Ok(texts.concat())
}

fn encoded(text: &str, encoding: &'static Encoding) -> Result<Vec<u8>> {
    let pieces = run([ByteString::from(text)], encode(encoding))?;
    assert!(pieces.iter().all(|piece| !piece.is_empty()));
    Ok(pieces.concat())
}

const JAPANESE: &str = "abc ｶﾅ 日本語 \\~ 1\n漢字とASCII";

#[test]
fn every_cut_of_every_character() {
    let texts = [
        (UTF_8, "aé€𝄞日本z\u{10ffff}"),
        (UTF_16LE, "aé€𝄞日本z\u{10ffff}"),
        (UTF_16BE, "aé€𝄞日本z\u{10ffff}"),
        (SHIFT_JIS, JAPANESE),
        (EUC_JP, JAPANESE),
        (ISO_2022_JP, "abc 日本語 \\~ 1\n漢字とASCII 日"),
        (GB18030, "aé€𝄞日本z\u{10ffff}"),
        (BIG5, "日本 abc"),
        (EUC_KR, "한국어 abc"),
        (WINDOWS_1252, "café €"),
    ];
    for (encoding, text) in texts {
        let bytes = encoded(text, encoding).unwrap();
        for lossy in [false, true] {
            let stage = || {
                if lossy {
                    decode(encoding).lossy()
                } else {
                    decode(encoding)
                }
            };
            for size in 1..=bytes.len() {
                assert_eq!(
                    decoded(&bytes, size, stage()).unwrap(),
                    text,
                    "{encoding:?}, {size}"
                );
            }
            for at in 0..=bytes.len() {
                let pieces = [&bytes[..at], &bytes[at..]].map(Bytes::copy_from_slice);
                assert_eq!(
                    run(pieces, stage()).unwrap().concat(),
                    text,
                    "{encoding:?}, {at}"
                );
            }
        }
    }
}

proptest! {
    /// `encoding_rs` says the same of the whole, right or wrong, with and without a mark.
    #[test]
    fn as_the_whole(
        bytes in vec(select(vec![0_u8, 0x1b, 0x24, 0x28, 0x41, 0x42, 0x80, 0x81, 0xbb, 0xbf, 0xc3, 0xd8, 0xdc, 0xe2, 0xef, 0xf0, 0xfe, 0xff]), 0..40),
        size in 1..9_usize,
        encoding in select(vec![UTF_8, UTF_16LE, UTF_16BE, SHIFT_JIS, EUC_JP, ISO_2022_JP, GB18030, WINDOWS_1252]),
    ) {
        let (text, _, wrong) = encoding.decode(&bytes);
        prop_assert_eq!(decoded(&bytes, size, decode(encoding).lossy()).unwrap(), text.to_string());
        prop_assert_eq!(decoded(&bytes, size, decode(encoding)).is_err(), wrong);
        let (text, _) = encoding.decode_with_bom_removal(&bytes);
        prop_assert_eq!(decoded(&bytes, size, decode(encoding).bom(Bom::Strip).lossy()).unwrap(), text.to_string());
        let (text, _) = encoding.decode_without_bom_handling(&bytes);
        prop_assert_eq!(decoded(&bytes, size, decode(encoding).bom(Bom::Keep).lossy()).unwrap(), text.to_string());
    }

    /// What was encoded comes back.
    #[test]
    fn round_trips(
        text in any::<String>(),
        size in 1..9_usize,
        encoding in select(vec![UTF_8, UTF_16LE, UTF_16BE, GB18030]),
    ) {
        let bytes = encoded(&text, encoding).unwrap();
        // A few of GB18030's characters have come to Unicode since, and decode to where they are now.
        let again = decoded(&bytes, size, decode(encoding).bom(Bom::Keep)).unwrap();
        prop_assert_eq!(encoded(&again, encoding).unwrap(), bytes);
        if encoding != GB18030 {
            prop_assert_eq!(again, text);
        }
    }
}

#[test]
fn errors_say_where() {
    for (encoding, bytes, at) in [
        (UTF_8, &b"abc\xffdef"[..], 3),
        (UTF_8, b"\xef\xbb\xbfabc\xe2\x82def", 6),
        (UTF_16LE, b"a\0\0\xdcb\0", 2),
        (UTF_16LE, b"\xff\xfea\0\0\xd8b\0", 4),
        (SHIFT_JIS, b"abc\x81\xfe", 3),
        (ISO_2022_JP, b"abc\x1b$B\xff\xff", 6),
    ] {
        for size in 1..=bytes.len() {
            let error = decoded(bytes, size, decode(encoding)).unwrap_err();
            let expected = format!("decode: at byte {at}: not {}", encoding.name());
            assert_eq!(error.to_string(), expected, "in pieces of {size}");
        }
    }
    let cut = |error: Error| matches!(error.cause(), Cause::Truncated(_));
    assert!(cut(decoded(b"a\xe2\x82", 9, decode(UTF_8)).unwrap_err()));
    assert!(cut(decoded(b"a\0b", 9, decode(UTF_16LE)).unwrap_err()));
    assert!(cut(decoded(b"\x81", 9, decode(SHIFT_JIS)).unwrap_err()));
    assert_eq!(
        decoded(b"a\xe2\x82", 9, decode(UTF_8).lossy()).unwrap(),
        "a\u{fffd}"
    );
}

#[test]
fn marks_say_more_than_labels() {
    for size in 1..9 {
        let text = |bytes: &[u8], bom| decoded(bytes, size, decode(WINDOWS_1252).bom(bom)).unwrap();
        assert_eq!(text(b"\xef\xbb\xbf\xc3\xa9", Bom::Detect), "é");
        assert_eq!(text(b"\xff\xfe\xe9\0", Bom::Detect), "é");
        assert_eq!(text(b"\xfe\xff\0\xe9", Bom::Detect), "é");
        assert_eq!(text(b"\xef\xbb\xbf", Bom::Strip), "ï»¿");
        assert_eq!(text(b"\xef\xbb", Bom::Detect), "ï»");
        let keep = decode(UTF_8).bom(Bom::Keep);
        assert_eq!(decoded(b"\xef\xbb\xbfa", size, keep).unwrap(), "\u{feff}a");
    }
}

/// The item that a piece makes, and that it is a part of it.
#[track_caller]
fn passes(stage: &mut impl Stage<Bytes, Item = ByteString>, piece: &Bytes, text: &str) {
    let mut input = Input::new();
    input.give(piece.clone());
    let Step::Item(item) = stage.step(&mut input).unwrap() else {
        panic!("nothing came");
    };
    assert_eq!(item, text);
    assert!(piece.as_ptr_range().contains(&item.as_ptr()), "a copy");
}

#[test]
fn what_is_utf_8_already_is_not_copied() {
    let piece = Bytes::from("grün und weiß");
    passes(&mut decode(UTF_8), &piece, "grün und weiß");
    passes(&mut decode(UTF_8), &piece.slice(..3), "gr");
    // What completes a character is a copy, what follows is not.
    let mut stage = decode(UTF_8);
    let mut input = Input::new();
    input.give(piece.slice(..3));
    assert_eq!(stage.step(&mut input).unwrap(), Step::Item("gr".into()));
    assert_eq!(stage.step(&mut input).unwrap(), Step::Need);
    input.give(piece.slice(3..));
    let Step::Item(joined) = stage.step(&mut input).unwrap() else {
        panic!("nothing came");
    };
    assert!(joined.len() <= 4 && joined.starts_with('ü'));
    let rest = input.take().unwrap();
    let text = &"grün und weiß"[2 + joined.len()..];
    passes(&mut stage, &rest, text);

    let ascii = Bytes::from("all ASCII");
    for encoding in [WINDOWS_1252, SHIFT_JIS, EUC_JP, ISO_2022_JP, GB18030] {
        passes(&mut decode(encoding), &ascii, "all ASCII");
    }
    // But not while another character set is on: these bytes are a Kanji and a half.
    let mut stage = decode(ISO_2022_JP);
    let mut input = Input::new();
    input.give(Bytes::from_static(b"\x1b$B"));
    assert_eq!(stage.step(&mut input).unwrap(), Step::Need);
    input.give(Bytes::from_static(b"F|\x4b"));
    assert_eq!(stage.step(&mut input).unwrap(), Step::Item("日".into()));
}

#[test]
fn long_texts_come_in_pieces() {
    let text = "日本 and more, ".repeat(20_000);
    for encoding in [UTF_16LE, SHIFT_JIS, ISO_2022_JP, GB18030] {
        let pieces = run([ByteString::from(text.as_str())], encode(encoding)).unwrap();
        assert!(pieces.iter().all(|piece| piece.len() <= PIECE + 16));
        let bytes = Bytes::from(pieces.concat());
        let texts = run([bytes], decode(encoding)).unwrap();
        assert!(texts.iter().all(|text| text.len() <= PIECE));
        assert!(texts.concat() == text, "{encoding:?}");
    }
    let pieces = run(
        [ByteString::from("日".repeat(100_000))],
        encode(WINDOWS_1252).lossy(),
    )
    .unwrap();
    assert!(pieces.iter().all(|piece| piece.len() <= PIECE + 16));
    assert_eq!(pieces.concat(), b"?".repeat(100_000));
}

#[test]
fn what_an_encoding_does_not_have() {
    let error = encoded("a€", SHIFT_JIS).unwrap_err();
    assert_eq!(error.to_string(), "encode: '€' is not in Shift_JIS");
    let lossy = |text: &str, encoding| {
        run([ByteString::from(text)], encode(encoding).lossy())
            .unwrap()
            .concat()
    };
    assert_eq!(lossy("a€b", SHIFT_JIS), b"a?b");
    // Within Kanji, a question mark has to leave them first.
    let bytes = lossy("日€本", ISO_2022_JP);
    assert_eq!(decoded(&bytes, 99, decode(ISO_2022_JP)).unwrap(), "日?本");
}

#[test]
fn lines_of_text() {
    let bytes = encoded("日本\r\n\nfin", UTF_16LE).unwrap();
    for size in 1..=bytes.len() {
        let pieces = bytes.chunks(size).map(Bytes::copy_from_slice);
        let lines = run(pieces, decode(UTF_16LE).then(text_lines(8))).unwrap();
        assert_eq!(lines, ["日本", "", "fin"]);
        let pieces = bytes.chunks(size).map(Bytes::copy_from_slice);
        let error = run(pieces, decode(UTF_16LE).then(text_lines(7))).unwrap_err();
        assert_eq!(error.to_string(), "lines: longer than 7 bytes");
    }
}

#[test]
fn a_large_piece_is_not_looked_at_again_and_again() {
    // In 10 MB, each 5 KB something is wrong: looking at all that is left each time would take minutes.
    let text = ["x".repeat(5_000).as_bytes(), b"\xff"]
        .concat()
        .repeat(2_000);
    let pieces = run([Bytes::from(text)], decode(UTF_8).lossy()).unwrap();
    assert_eq!(
        pieces.iter().map(|text| text.len()).sum::<usize>(),
        2_000 * 5_003
    );
}
