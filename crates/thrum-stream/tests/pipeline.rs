//! What holds for every pipeline: results, early ends, leftovers, closing, aborting, flushing.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use thrum_rt::{block_on, io, spawn};
use thrum_stream::{Cause, Error, Result, Sink, Source, Stage, sink, source, stage};

/// What was done to a source or a sink.
type Journal = Arc<Mutex<Vec<&'static str>>>;

struct Noted<S> {
    inner: S,
    journal: Journal,
}

impl<S: Source> Source for Noted<S> {
    type Item = S::Item;

    async fn next(&mut self) -> Result<Option<S::Item>> {
        self.inner.next().await
    }

    async fn close(self) -> Result<()> {
        self.journal.lock().unwrap().push("source closed");
        self.inner.close().await
    }
}

struct NotedSink(Journal);

impl Sink<u32> for NotedSink {
    type Output = ();

    async fn push(&mut self, item: u32) -> Result<()> {
        if item == 13 {
            return Err(Error::new("noted", Cause::Other("unlucky".into())));
        }
        self.0.lock().unwrap().push("pushed");
        Ok(())
    }

    async fn flush(&mut self) -> Result<()> {
        self.0.lock().unwrap().push("flushed");
        Ok(())
    }

    async fn close(self) -> Result<()> {
        self.0.lock().unwrap().push("sink closed");
        Ok(())
    }

    async fn abort(self, _: &Error) {
        self.0.lock().unwrap().push("sink aborted");
    }
}

fn noted(items: Vec<u32>) -> (Noted<impl Source<Item = u32>>, NotedSink, Journal) {
    let journal = Journal::default();
    let inner = source::iter(items);
    let source = Noted {
        inner,
        journal: journal.clone(),
    };
    (source, NotedSink(journal.clone()), journal)
}

#[test]
fn both_ends_are_closed_after_success() {
    let (source, sink, journal) = noted(vec![1]);
    block_on(source.run(sink)).unwrap();
    let journal = journal.lock().unwrap();
    assert_eq!(*journal, ["pushed", "source closed", "sink closed"]);
}

#[test]
fn a_failed_sink_is_aborted_and_its_source_closed() {
    let (source, sink, journal) = noted(vec![1, 13, 2]);
    let error = block_on(source.run(sink)).unwrap_err();
    assert_eq!(error.to_string(), "noted: unlucky");
    let journal = journal.lock().unwrap();
    assert_eq!(*journal, ["pushed", "source closed", "sink aborted"]);
}

#[test]
fn a_failed_stage_aborts_the_sink() {
    let (source, sink, journal) = noted(vec![1]);
    let long = source.pipe(stage::map(|_| Bytes::from_static(b"longer")));
    let stages = stage::lines(3).then(stage::map(|_| 1));
    let error = block_on(long.run(stages.to(sink))).unwrap_err();
    assert_eq!(error.stage(), "lines");
    let journal = journal.lock().unwrap();
    assert_eq!(*journal, ["source closed", "sink aborted"]);
}

#[test]
fn dropping_is_only_the_abort() {
    let (source, sink, journal) = noted(vec![1]);
    block_on(async {
        drop(source.run(sink));
    });
    assert!(journal.lock().unwrap().is_empty());
}

#[test]
fn gathered_bytes_are_written_when_nothing_is_ready() {
    block_on(async {
        let (mut near, far) = io::duplex(1024);
        let (read, write) = io::split(far);
        let echo = spawn(source::reader(read).run(sink::writer(write)));
        use io::{AsyncReadExt, AsyncWriteExt};
        for _ in 0..3 {
            near.write_all(b"ping").await.unwrap();
            let mut answer = [0; 4];
            near.read_exact(&mut answer).await.unwrap();
            assert_eq!(&answer, b"ping");
        }
        near.close().await.unwrap();
        assert_eq!(echo.await.unwrap().unwrap(), 12);
    });
}

#[test]
fn nothing_is_read_for_a_sink_that_has_enough() {
    let reads = Arc::new(AtomicU32::new(0));
    let counted = {
        let reads = reads.clone();
        source::iter(std::iter::repeat_with(move || {
            reads.fetch_add(1, Ordering::Relaxed);
            Bytes::from_static(b"abc")
        }))
    };
    block_on(async {
        let mut counted = counted.resumable();
        let none = counted.feed(stage::take_bytes(0).to(sink::concat(9))).await;
        assert_eq!(none.unwrap(), b"");
        assert_eq!(reads.load(Ordering::Relaxed), 0);
        let some = counted.feed(stage::take_bytes(4).to(sink::concat(9))).await;
        assert_eq!(some.unwrap(), b"abca");
        assert_eq!(counted.next().await.unwrap().unwrap(), "bc");
        assert_eq!(reads.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn a_stage_hands_back_all_it_has_not_used() {
    // The line is cut over two pieces, and the second one holds more.
    let input = b"one\ntw o\nthree".as_slice();
    for chunk in 1..=input.len() {
        block_on(async {
            let mut input = source::reader(input).chunk(chunk).resumable();
            let two = stage::lines(9).then(stage::map(|line: Bytes| line.len()));
            let first = input.feed(two.to(sink::head())).await.unwrap();
            assert_eq!(first, Some(3));
            assert_eq!(input.run(sink::concat(99)).await.unwrap(), b"tw o\nthree");
        });
    }
}

#[test]
fn names_of_ones_own() {
    let short = stage::lines(1).named("greeting");
    let long = source::reader(&b"hello"[..]);
    let error = block_on(long.pipe(short).run(sink::count())).unwrap_err();
    assert_eq!(error.to_string(), "greeting: longer than 1 bytes");
    let kind = std::io::Error::from(error).kind();
    assert_eq!(kind, std::io::ErrorKind::InvalidData);
}

#[test]
fn the_end_of_the_source_leaves_nothing_over() {
    block_on(async {
        let mut input = source::reader(&b"one\ntwo\nthree"[..]).resumable();
        let first = input.feed(stage::lines(9).to(sink::head())).await.unwrap();
        assert_eq!(first.unwrap(), "one");
        let others = stage::lines(9).to(sink::collect(9));
        assert_eq!(input.feed(others).await.unwrap(), ["two", "three"]);
        assert_eq!(input.next().await.unwrap(), None);
    });
}

#[test]
fn a_source_that_has_failed_is_not_asked_again() {
    struct Failing(Arc<AtomicU32>);

    impl Source for Failing {
        type Item = u32;

        async fn next(&mut self) -> Result<Option<u32>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Err(Error::new("failing", Cause::Truncated("it")))
        }
    }
    let asked = Arc::new(AtomicU32::new(0));
    block_on(async {
        let mut failing = Failing(asked.clone()).resumable();
        failing.feed(sink::count()).await.unwrap_err();
        assert_eq!(failing.feed(sink::count()).await.unwrap(), 0);
    });
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[test]
fn errors_of_inner_pipelines_stay_as_they_are() {
    async fn lines(text: &'static str) -> Result<u64> {
        let lines = source::reader(text.as_bytes()).pipe(stage::lines(3));
        lines.run(sink::count()).await
    }
    let texts = || source::iter(["a", "longer"]);
    block_on(async {
        let each = sink::for_each_async(async |text| {
            lines(text).await?;
            Result::Ok(())
        });
        let sum = sink::try_fold(0, |sum: &mut u64, lines: Result<u64>| {
            *sum += lines?;
            Result::Ok(())
        });
        let counted = texts().map_concurrent(2, async |text| Result::Ok(lines(text).await));
        let unfolded = source::unfold(2, async |n| Result::Ok(Some((lines("longer").await?, n))));
        let errors = [
            texts().run(each).await.unwrap_err(),
            counted.run(sum).await.unwrap_err(),
            unfolded.run(sink::count()).await.unwrap_err(),
            source::try_iter([lines("longer").await])
                .run(sink::count())
                .await
                .unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.to_string(), "lines: longer than 3 bytes");
        }
    });
}
