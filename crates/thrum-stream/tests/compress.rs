//! Compression both ways: round trips however the input is cut, other programs' streams, hostile and broken ones.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Command, Stdio};

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::{any, prop_assert_eq, proptest};
use proptest::sample::Index;
use thrum_rt::block_on;
use thrum_stream::stage::compress::{self, Compress};
use thrum_stream::stage::decompress::{self, Decompress};
use thrum_stream::{Cause, Input, Result, Source, Stage, Step, sink, source, stage};

/// An algorithm, both ways.
type Both = (fn() -> Compress, fn() -> Decompress);

/// Each algorithm.
const ALL: [Both; 5] = [
    (compress::gzip, decompress::gzip),
    (compress::zlib, decompress::zlib),
    (compress::deflate, decompress::deflate),
    (compress::zstd, decompress::zstd),
    (compress::brotli, decompress::brotli),
];

/// The most that comes out in one piece.
const PIECE: usize = 32 * 1024;

/// All that comes of these pieces.
fn run(
    pieces: impl IntoIterator<Item = Bytes>,
    stage: impl Stage<Bytes, Item = Bytes>,
) -> Result<Vec<u8>> {
    let (output, rest) = run_rest(pieces, stage)?;
    assert_eq!(rest, b"", "something is left over");
    Ok(output)
}

/// All that comes of these pieces, and what is left of the piece in which the stage ended.
fn run_rest(
    pieces: impl IntoIterator<Item = Bytes>,
    mut stage: impl Stage<Bytes, Item = Bytes>,
) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut pieces = pieces.into_iter();
    let mut input = Input::new();
    let mut output = Vec::new();
    loop {
        match stage.step(&mut input)? {
            Step::Item(item) => {
                assert!(!item.is_empty() && item.len() <= PIECE);
                output.extend_from_slice(&item);
            }
            Step::Need => match pieces.next() {
                Some(piece) => input.give(piece),
                None => input.end(),
            },
            Step::Done => break,
        }
    }
    assert_eq!(
        stage.step(&mut input)?,
        Step::Done,
        "it has changed its mind"
    );
    let rest = stage.rest().into_iter().chain(input.take()).flatten();
    Ok((output, rest.collect()))
}

/// One piece.
fn whole(bytes: &[u8]) -> [Bytes; 1] {
    [Bytes::copy_from_slice(bytes)]
}

/// Pieces of this size.
fn cut(bytes: &[u8], size: usize) -> Vec<Bytes> {
    bytes.chunks(size).map(Bytes::copy_from_slice).collect()
}

/// Lines that compress about as well as those of a log.
fn text(bytes: usize) -> Vec<u8> {
    let mut text = Vec::new();
    let mut seed = 1_u32;
    while text.len() < bytes {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        writeln!(text, "GET /page/{}?q={} HTTP/1.1", seed >> 24, seed >> 10).unwrap();
    }
    text.truncate(bytes);
    text
}

proptest! {
    /// What was compressed comes back, however it was cut on either side.
    #[test]
    fn round_trips(
        noise in vec(any::<u8>(), 0..300),
        lines in 0..60_000_usize,
        cuts in vec(any::<Index>(), 0..8),
        level in 0..7_u32,
        flush in any::<bool>(),
    ) {
        let plain = [text(lines), noise].concat();
        for (compress, decompress) in ALL {
            let compress = || if flush { compress().level(level).flush_each() } else { compress().level(level) };
            let packed = run(at(&plain, &cuts), compress()).unwrap();
            prop_assert_eq!(&plain, &run(whole(&packed), decompress()).unwrap());
            prop_assert_eq!(&plain, &run(at(&packed, &cuts), decompress()).unwrap());
        }
    }

    /// Whatever comes, something is made of it or it is an error.
    #[test]
    fn noise_is_an_answer(noise in vec(any::<u8>(), 0..200)) {
        for (_, decompress) in ALL {
            let _ = run_rest(whole(&noise), decompress());
        }
        let _ = run_rest(whole(&noise), decompress::auto());
    }
}

/// The bytes cut at these places.
fn at(bytes: &[u8], cuts: &[Index]) -> Vec<Bytes> {
    let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    cuts.sort_unstable();
    cuts.push(bytes.len());
    let mut from = 0;
    let pieces = cuts.into_iter().map(|to| {
        let piece = Bytes::copy_from_slice(&bytes[from..to]);
        from = to;
        piece
    });
    pieces.collect()
}

#[test]
fn one_byte_at_a_time() {
    let plain = text(5_000);
    for (compress, decompress) in ALL {
        let packed = run(cut(&plain, 1), compress()).unwrap();
        assert_eq!(run(cut(&packed, 1), decompress()).unwrap(), plain);
    }
}

#[test]
fn nothing_is_a_stream_too() {
    for (compress, decompress) in ALL {
        let packed = run([], compress()).unwrap();
        assert_eq!(run(whole(&packed), decompress()).unwrap(), b"");
        assert_eq!(
            run([], compress()).unwrap(),
            run([Bytes::new()], compress()).unwrap()
        );
    }
}

#[test]
fn more_effort_makes_less_and_levels_have_ends() {
    let plain = text(100_000);
    for (compress, _) in ALL {
        let size = |level| run(whole(&plain), compress().level(level)).unwrap().len();
        assert!(size(9) < size(1), "{:?}", compress());
        assert_eq!(size(1_000), size(19));
    }
}

/// What has been pushed can be read at once, without the end.
#[test]
fn each_piece_is_flushed() {
    for (compress, decompress) in ALL {
        for size in [1, 30, 3 * PIECE] {
            let (mut compress, mut decompress) = (compress().flush_each(), decompress());
            let (mut to, mut from) = (Input::new(), Input::new());
            let plain = text(size);
            for round in 0..5 {
                to.give(Bytes::copy_from_slice(&plain));
                let mut arrived = Vec::new();
                while let Step::Item(packed) = compress.step(&mut to).unwrap() {
                    from.give(packed);
                    while let Step::Item(piece) = decompress.step(&mut from).unwrap() {
                        arrived.extend_from_slice(&piece);
                    }
                }
                assert!(
                    arrived == plain,
                    "{compress:?}, {size} bytes, round {round}"
                );
            }
        }
    }
}

#[test]
fn what_is_cut_short_is_truncated() {
    let plain = text(300);
    for (compress, decompress) in ALL {
        let packed = run(whole(&plain), compress()).unwrap();
        for end in 0..packed.len() {
            let error = run(whole(&packed[..end]), decompress()).unwrap_err();
            let truncated = matches!(error.cause(), Cause::Truncated(_));
            assert!(truncated, "{end} of {}: {error}", packed.len());
        }
    }
}

#[test]
fn any_bit_may_be_wrong() {
    let plain = text(300);
    for (which, (compress, decompress)) in ALL.into_iter().enumerate() {
        let packed = run(whole(&plain), compress()).unwrap();
        // Raw deflate and Brotli have no check sum.
        let summed = ![2, 4].contains(&which);
        for bit in 0..8 * packed.len() {
            let mut wrong = packed.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            match run_rest(whole(&wrong), decompress().limit(100_000)) {
                // In a header, there are bits that mean nothing.
                Ok((output, _)) => assert!(!summed || output == plain, "bit {bit}"),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}

#[test]
fn errors_say_what_and_where() {
    let mut packed = run(whole(&text(100_000)), compress::gzip()).unwrap();
    let half = packed.len() / 2;
    packed[half..half + 64].fill(0xff);
    let error = run(cut(&packed, 100), decompress::gzip()).unwrap_err();
    let said = error.to_string();
    let at = said
        .strip_prefix("decompress::gzip: at about byte ")
        .expect(&said);
    let at: usize = at.split(':').next().unwrap().parse().unwrap();
    assert!((half - 100..half + 200).contains(&at), "{said}; {half}");

    let mut packed = run(whole(b"sum"), compress::gzip()).unwrap();
    let sum = packed.len() - 8;
    packed[sum] ^= 1;
    let error = run(whole(&packed), decompress::gzip()).unwrap_err();
    assert!(
        error.to_string().ends_with("incorrect data check"),
        "{error}"
    );
    // And the length.
    packed[sum] ^= 1;
    packed[sum + 4] ^= 1;
    let error = run(whole(&packed), decompress::gzip()).unwrap_err();
    assert!(
        error.to_string().ends_with("incorrect length check"),
        "{error}"
    );
}

#[test]
fn bombs_reach_the_limit() {
    let zeros = vec![0; 10_000_000];
    for (compress, decompress) in ALL {
        let bomb = run(whole(&zeros), compress()).unwrap();
        assert!(bomb.len() < 20_000);
        let error = run(whole(&bomb), decompress().limit(9_999_999)).unwrap_err();
        assert!(
            matches!(
                error.cause(),
                Cause::TooLong {
                    limit: 9_999_999,
                    unit: "bytes"
                }
            ),
            "{error}"
        );
        assert_eq!(
            run(whole(&bomb), decompress().limit(10_000_000)).unwrap(),
            zeros
        );
        // The stage has no more than it was asked for.
        let mut stage = decompress();
        let mut input = Input::new();
        input.give(Bytes::from(bomb));
        let Step::Item(first) = stage.step(&mut input).unwrap() else {
            panic!("nothing came")
        };
        assert!(first.len() <= PIECE);
    }
    // Streams that are small by themselves count together.
    let member = run(whole(b"0123456789"), compress::gzip()).unwrap();
    let error = run(whole(&member.repeat(11)), decompress::gzip().limit(100)).unwrap_err();
    assert!(matches!(error.cause(), Cause::TooLong { .. }));
    // And so do plain bytes.
    let error = run(whole(b"0123456789"), decompress::auto().limit(9)).unwrap_err();
    assert!(matches!(error.cause(), Cause::TooLong { .. }));
}

#[test]
fn one_member_after_the_other() {
    for (compress, decompress) in [ALL[0], ALL[3]] {
        let one = |plain: &[u8]| run(whole(plain), compress()).unwrap();
        let packed = [one(b"one, "), one(b""), one(b"two")].concat();
        for size in 1..=packed.len() {
            assert_eq!(run(cut(&packed, size), decompress()).unwrap(), b"one, two");
            let (first, rest) = run_rest(cut(&packed, size), decompress().single()).unwrap();
            assert_eq!(first, b"one, ");
            if size == packed.len() {
                assert_eq!(rest, [one(b""), one(b"two")].concat());
            }
        }
        for garbage in [&b"garbage"[..], b"\x1f", b"\x28"] {
            let error = run(whole(&[&packed, garbage].concat()), decompress()).unwrap_err();
            assert!(
                matches!(error.cause(), Cause::Malformed(_) | Cause::Truncated(_)),
                "{error}"
            );
        }
    }
}

#[test]
fn zeros_after_a_member_are_padding() {
    let one = run(whole(b"one"), compress::gzip()).unwrap();
    let padded = [&one[..], &[0; 512]].concat();
    for size in [1, 20, 512, padded.len()] {
        assert_eq!(run(cut(&padded, size), decompress::gzip()).unwrap(), b"one");
    }
    let again = [&padded[..], &one].concat();
    assert_eq!(run(whole(&again), decompress::gzip()).unwrap(), b"oneone");
    let error = run(whole(&[&padded[..], b"x"].concat()), decompress::gzip()).unwrap_err();
    assert!(
        matches!(error.cause(), Cause::Malformed(_) | Cause::Truncated(_)),
        "{error}"
    );
}

#[test]
fn what_follows_is_left_over() {
    for (compress, decompress) in [ALL[1], ALL[2], ALL[4]] {
        let mut packed = run(whole(b"head"), compress()).unwrap();
        packed.extend_from_slice(b"the body");
        block_on(async {
            let mut input = source::reader(&packed[..]).resumable();
            let head = input.feed(decompress().to(sink::concat(99))).await.unwrap();
            assert_eq!(head, b"head");
            assert_eq!(input.run(sink::concat(99)).await.unwrap(), b"the body");
        });
    }
}

#[test]
fn header_fields_are_skipped_up_to_a_limit() {
    // FEXTRA, FNAME, FCOMMENT, FHCRC: the check sum of the header is right.
    let mut head = vec![0x1f, 0x8b, 8, 0b1_1100, 0, 0, 0, 0, 0, 3];
    head.extend_from_slice(&[3, 0, b'e', b'x', b't']);
    head.extend_from_slice(b"name\0a comment\0");
    let member = run(whole(b"data"), compress::gzip()).unwrap();
    let packed = [&head[..], &member[10..]].concat();
    for size in 1..=packed.len() {
        assert_eq!(
            run(cut(&packed, size), decompress::gzip()).unwrap(),
            b"data"
        );
    }
    let name = std::iter::once(Bytes::from_static(&[0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]));
    let name = name.chain(std::iter::repeat(Bytes::from_static(&[b'n'; 1000])));
    let error = run(name, decompress::gzip()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("no data in its first 262144 bytes"),
        "{error}"
    );
}

#[test]
fn a_frame_may_not_ask_for_a_large_window() {
    // A frame header: window descriptor 10 + 14 = 2^24, then 2^30 bytes, and an empty last block.
    for log in [24, 30] {
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3, 1, 0, 0];
        let error = run(whole(&frame), decompress::zstd()).unwrap_err();
        assert!(error.to_string().contains("memory"), "{error}");
        let more = decompress::zstd().window_log(u32::from(log));
        assert_eq!(run(whole(&frame), more).unwrap(), b"");
    }
    // Brotli's large windows.
    let error = run(whole(&[0x11, 0x1e, 0x03]), decompress::brotli()).unwrap_err();
    assert!(matches!(error.cause(), Cause::Malformed(_)), "{error}");
}

#[test]
fn auto_finds_out() {
    let plain = text(1_000);
    let skipped = [
        &[0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, b'x', b'x'][..],
        &run(whole(&plain), compress::zstd()).unwrap(),
    ]
    .concat();
    let inputs = [
        plain.clone(),
        run(whole(&plain), compress::gzip()).unwrap(),
        run(whole(&plain), compress::zstd()).unwrap(),
        skipped,
    ];
    for input in inputs {
        for size in [1, 2, 3, 4, 5, 1_000] {
            assert_eq!(run(cut(&input, size), decompress::auto()).unwrap(), plain);
        }
    }
    // What only starts alike is plain.
    for plain in [
        &b""[..],
        b"\x1f",
        b"\x1f\x8b",
        b"\x1f\x8b\x07\0",
        b"(",
        b"\x28\xb5\x2f",
        b"P*M",
        b"P*Mx",
    ] {
        for size in [1, 4] {
            assert_eq!(run(cut(plain, size), decompress::auto()).unwrap(), plain);
        }
    }
    // One that cannot be known yet is handed back by whoever stops then.
    let mut auto = decompress::auto();
    let mut input = Input::new();
    input.give(Bytes::from_static(b"\x1f"));
    assert_eq!(auto.step(&mut input).unwrap(), Step::Need);
    assert_eq!(auto.rest(), [&b"\x1f"[..]]);
}

#[test]
fn plain_pieces_are_not_copied() {
    let piece = Bytes::from(text(1_000));
    let mut auto = decompress::auto();
    let mut input = Input::new();
    input.give(piece.clone());
    let Step::Item(passed) = auto.step(&mut input).unwrap() else {
        panic!("nothing came")
    };
    assert_eq!(passed.as_ptr(), piece.as_ptr());
}

#[test]
fn pipelines_of_both() {
    let plain = text(200_000);
    block_on(async {
        for (compress, decompress) in ALL {
            let there = source::reader(&plain[..]).pipe(compress());
            let back = there.pipe(decompress()).pipe(stage::lines(200));
            let lines = back.run(sink::count()).await.unwrap();
            assert_eq!(lines, plain.split(|&byte| byte == b'\n').count() as u64);
        }
    });
}

/// Other programs read what is made here, and what they make is read here.
#[test]
fn other_programs() {
    for (program, (compress, decompress)) in
        [("gzip", ALL[0]), ("zstd", ALL[3]), ("brotli", ALL[4])]
    {
        let plain = text(300_000);
        let Some(packed) = piped(program, &["-c"], &plain) else {
            skip(program);
            continue;
        };
        assert!(
            run(cut(&packed, 1_000), decompress()).unwrap() == plain,
            "{program}"
        );
        for level in [1, 9] {
            let packed = run(cut(&plain, 1_000), compress().level(level)).unwrap();
            assert!(
                piped(program, &["-dc"], &packed).unwrap() == plain,
                "{program} -{level}"
            );
        }
        let flushed = run(cut(&plain, 50_000), compress().flush_each()).unwrap();
        assert!(
            piped(program, &["-dc"], &flushed).unwrap() == plain,
            "{program}"
        );
    }
}

/// What a program makes of this input; none if it is not there.
fn piped(program: &str, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success(), "{program} {arguments:?}");
    Some(output.stdout)
}

/// Says that a program is missing, to the test command too.
fn skip(program: &str) {
    eprintln!("skipped: {program} is not installed");
    if let Some(list) = std::env::var_os("THRUM_SKIPPED") {
        let mut list = OpenOptions::new().append(true).open(list).unwrap();
        writeln!(
            list,
            "compression read and written by {program} (not installed)"
        )
        .unwrap();
    }
}
