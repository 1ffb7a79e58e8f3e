//! To and from the traits of `futures`, and values on a connection.

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt, TryStreamExt};
use thrum_parse::{Parser, byte, decimal};
use thrum_rt::io::{self, AsyncReadExt, AsyncWriteExt};
use thrum_rt::{block_on, spawn};
use thrum_stream::{Cause, Codec, Error, Result, Sink, Source, Stage, sink, source, stage};

#[test]
fn there_and_back() {
    block_on(async {
        let numbers = source::iter(0..5).pipe(stage::map(|n| 2 * n)).into_stream();
        let odd = source::stream(numbers.map_ok(|n| n + 1));
        assert_eq!(odd.run(sink::collect(9)).await.unwrap(), [1, 3, 5, 7, 9]);
    });
}

#[test]
fn an_error_ends_the_stream() {
    block_on(async {
        let text = source::reader(&b"one\ntoo long\nthree\n"[..]);
        let lines = text
            .pipe(stage::lines(6))
            .into_stream()
            .collect::<Vec<_>>()
            .await;
        assert_eq!(lines[0].as_ref().unwrap(), "one");
        assert_eq!(lines[1].as_ref().unwrap_err().stage(), "lines");
        assert_eq!(lines.len(), 2);
    });
}

#[test]
fn what_the_close_says_comes_last() {
    struct Failing(u32);

    impl Source for Failing {
        type Item = u32;

        async fn next(&mut self) -> Result<Option<u32>> {
            self.0 += 1;
            Ok((self.0 < 3).then_some(self.0))
        }

        async fn close(self) -> Result<()> {
            Err(Error::new("failing", Cause::Truncated("a trailer")))
        }
    }
    let all = block_on(Failing(0).into_stream().collect::<Vec<_>>());
    assert_eq!(all.len(), 3);
    assert!(all[..2].iter().all(Result::is_ok) && all[2].is_err());
}

#[test]
fn a_sink_of_the_ecosystem_and_back() {
    block_on(async {
        let mut sum = sink::fold(0, |sum, n: u32| *sum += n).into_futures();
        sum.send(1).await.unwrap();
        SinkExt::<u32>::flush(&mut sum).await.unwrap();
        let theirs = sink::futures(&mut sum);
        source::iter([2, 3]).run(theirs).await.unwrap();
        assert_eq!(sum.into_output(), Some(6));
    });
}

#[test]
fn a_sink_that_fails_says_so_once_and_for_all() {
    block_on(async {
        let mut few = sink::collect(1).into_futures();
        few.send(1).await.unwrap();
        few.send(2).await.unwrap_err();
        assert_eq!(
            few.send(3).await.unwrap_err().to_string(),
            "sink: it is closed"
        );
        assert_eq!(few.into_output(), None);
    });
}

#[test]
fn read_from_a_source() {
    block_on(async {
        let pieces = ["one", "", "two"].map(Bytes::from);
        let mut reader = source::iter(pieces).into_reader();
        let mut all = Vec::new();
        reader.read_to_end(&mut all).await.unwrap();
        assert_eq!(all, b"onetwo");
        assert_eq!(reader.read(&mut [0; 4]).await.unwrap(), 0);
    });
}

#[test]
fn values_both_ways_over_a_narrow_connection() {
    let numbers = || {
        let parser = (decimal::<u64>(), byte(b'\n')).map(|(number, _)| number);
        let encode = |number: u64, out: &mut Vec<u8>| out.extend(format!("{number}\n").bytes());
        Codec::new(20, parser, encode).until(b'\n')
    };
    block_on(async {
        let (near, far) = io::duplex(7);
        let doubling = spawn(async move {
            let mut far = numbers().on(far);
            while let Some(number) = far.next().await {
                far.feed(2 * number?).await?;
                SinkExt::flush(&mut far).await?;
            }
            SinkExt::close(&mut far).await
        });
        let mut near = numbers().on(near);
        for number in [1, 22, 333_333_333] {
            near.send(number).await.unwrap();
            assert_eq!(near.next().await.unwrap().unwrap(), 2 * number);
        }
        SinkExt::close(&mut near).await.unwrap();
        assert!(near.next().await.is_none());
        doubling.await.unwrap().unwrap();
    });
}

#[test]
fn what_follows_the_last_value_is_not_lost() {
    block_on(async {
        let (mut near, far) = io::duplex(100);
        near.write_all(b"12\nand more").await.unwrap();
        let parser = (decimal::<u64>(), byte(b'\n')).map(|(number, _)| number);
        let mut framed = Codec::new(20, parser, |(): (), _: &mut Vec<u8>| {}).on(far);
        assert_eq!(framed.next().await.unwrap().unwrap(), 12);
        let (_, rest) = framed.into_parts();
        assert_eq!(rest, ["and more"]);
    });
}

#[test]
fn malformed_values_are_told() {
    block_on(async {
        let (mut near, far) = io::duplex(100);
        near.write_all(b"12\nx\n3\n").await.unwrap();
        let parser = (decimal::<u64>(), byte(b'\n')).map(|(number, _)| number);
        let mut framed = Codec::new(20, parser, |(): (), _: &mut Vec<u8>| {}).on(far);
        assert!(framed.next().await.unwrap().is_ok());
        let error = framed.next().await.unwrap().unwrap_err();
        assert!(error.to_string().contains("byte 3"), "{error}");
        assert!(framed.next().await.is_none());
    });
}

#[test]
fn stages_before_a_sink_get_all_that_is_sent() {
    block_on(async {
        let mut lines = stage::lines(9).to(sink::collect::<Bytes>(9)).into_futures();
        for piece in ["a\nb\n", "c\n"] {
            lines.send(Bytes::from(piece)).await.unwrap();
        }
        lines.feed(Bytes::from("d")).await.unwrap();
        SinkExt::<Bytes>::close(&mut lines).await.unwrap();
        assert_eq!(lines.into_output().unwrap(), ["a", "b", "c", "d"]);
    });
}

#[test]
fn what_is_sent_to_a_sink_that_has_enough_is_dropped() {
    block_on(async {
        let mut head = sink::head().into_futures();
        for number in [1, 2, 3] {
            head.send(number).await.unwrap();
        }
        SinkExt::<u32>::close(&mut head).await.unwrap();
        assert_eq!(head.into_output().unwrap(), Some(1));
    });
}

#[test]
fn our_errors_stay_as_they_are() {
    block_on(async {
        let long = source::reader(&b"longer"[..]).pipe(stage::lines(3));
        let there_and_back = source::stream(long.into_stream());
        let error = there_and_back.run(sink::count()).await.unwrap_err();
        assert_eq!(error.to_string(), "lines: longer than 3 bytes");
        let few = sink::futures(sink::collect(1).into_futures());
        let error = source::iter([1, 2]).run(few).await.unwrap_err();
        assert_eq!(error.to_string(), "collect: longer than 1 items");
    });
}

#[test]
fn values_do_not_pile_up_when_nobody_reads_them() {
    let mut encoded = 0;
    let parser = byte(b'\n').map(drop);
    let large = Codec::new(20, parser, |(): (), out: &mut Vec<u8>| {
        encoded += 1;
        out.extend([0; 1024]);
    });
    block_on(async {
        let (_near, far) = io::duplex(1);
        let mut framed = large.on(far);
        for _ in 0..100 {
            let sent = futures_lite::future::poll_once(framed.send(())).await;
            assert!(sent.is_none());
        }
    });
    assert_eq!(encoded, 8, "8 KiB of them wait");
}
