//! Where items come from: files, processes, channels, functions, and whatever can be read.

mod child;

use std::future::Future;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_lite::future::poll_once;
use thrum_rt::net::{TcpListener, TcpStream, UnixStream};
use thrum_rt::process::Command;
use thrum_rt::sync::channel;
use thrum_rt::{block_on, io, pipe, spawn, yield_now};
use thrum_stream::{Cause, Result, Source, sink, source, stage};

use self::child::{failure, sh};

fn temporary(content: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    file
}

/// Bytes that are not the same twice within a piece.
fn pattern(length: usize) -> Vec<u8> {
    Vec::from_iter((0..length).map(|at| (at % 251) as u8))
}

/// Whether there is such a process, be it a zombie.
fn exists(id: u32) -> bool {
    Path::new(&format!("/proc/{id}")).exists()
}

async fn within_seconds<F: Future>(future: F) -> F::Output {
    let done = thrum_rt::time::timeout(Duration::from_secs(20), future).await;
    done.expect("it takes too long")
}

#[test]
fn a_file_is_read_whole_in_pieces_of_any_size() {
    let content = pattern(300_000);
    let file = temporary(&content);
    for chunk in [1000, 65_536, 1_000_000] {
        let mut pieces = 0;
        let read = source::file(file.path())
            .chunk(chunk)
            .pipe(stage::map(|piece: Bytes| {
                assert!(piece.len() <= chunk);
                pieces += 1;
                piece
            }));
        assert_eq!(block_on(read.run(sink::concat(400_000))).unwrap(), content);
        assert_eq!(pieces, content.len().div_ceil(chunk));
    }
}

#[test]
fn pieces_that_are_kept_stay_as_they_are() {
    let content = pattern(10_000);
    let file = temporary(&content);
    let read = source::file(file.path()).chunk(1000);
    let pieces = block_on(read.run(sink::collect(10))).unwrap();
    assert_eq!(pieces.concat(), content);
}

#[test]
fn the_end_of_a_file_is_its_end_though_it_grows() {
    let mut file = temporary(b"one");
    block_on(async {
        let mut read = source::file(file.path());
        assert_eq!(read.next().await.unwrap().unwrap(), "one");
        assert_eq!(read.next().await.unwrap(), None);
        file.write_all(b"two").unwrap();
        assert_eq!(read.next().await.unwrap(), None);
        read = read.chunk(1_000_000);
        assert_eq!(read.next().await.unwrap(), None);
    });
}

#[test]
fn a_part_of_a_file() {
    let content = pattern(1000);
    let file = temporary(&content);
    let part = |range: (std::ops::Bound<u64>, std::ops::Bound<u64>)| {
        let part = source::file_range(file.path(), range).chunk(64);
        block_on(part.run(sink::concat(1000)))
    };
    use std::ops::Bound::{Excluded, Included, Unbounded};
    assert_eq!(part((Included(0), Excluded(1000))).unwrap(), content);
    assert_eq!(part((Included(10), Excluded(11))).unwrap(), [10]);
    assert_eq!(part((Included(10), Included(11))).unwrap(), [10, 11]);
    assert_eq!(part((Excluded(900), Unbounded)).unwrap(), content[901..]);
    assert_eq!(part((Included(2000), Unbounded)).unwrap(), []);
    assert_eq!(part((Included(7), Excluded(7))).unwrap(), []);
    assert_eq!(part((Included(9), Excluded(7))).unwrap(), []);
    let error = part((Included(990), Excluded(1001))).unwrap_err();
    let path = file.path().display();
    let expected = format!("file: {path}: ends at 1000, before 1001");
    assert_eq!(error.to_string(), expected);
    assert_eq!(
        std::io::Error::from(error).kind(),
        std::io::ErrorKind::UnexpectedEof
    );
}

#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let error = block_on(source::file("/no/such/file").run(sink::drain())).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("file: /no/such/file: No such file"),
        "{text}"
    );
    let kind = std::io::Error::from(error).kind();
    assert_eq!(kind, std::io::ErrorKind::NotFound);
}

#[test]
fn what_a_process_writes() {
    let output = source::process(sh("echo hello; echo there")).run(sink::text(80));
    assert_eq!(block_on(output).unwrap(), "hello\nthere\n");
}

#[test]
fn a_process_that_fails_is_told_with_what_it_said() {
    let process = source::process(sh("echo out; echo it is >&2; echo broken >&2; exit 7"));
    let error = block_on(process.run(sink::drain())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "process: sh: exit status: 7: it is\nbroken"
    );
    assert_eq!(failure(&error).status().code(), Some(7));

    let killed = source::process(sh("kill -9 $$"));
    let error = block_on(killed.run(sink::drain())).unwrap_err();
    assert_eq!(failure(&error).status().signal(), Some(9));
    assert_eq!(failure(&error).stderr(), "");
}

#[test]
fn a_process_that_cannot_be_started_is_named() {
    let process = source::process(Command::new("/no/such/program"));
    let error = block_on(process.run(sink::drain()))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("process: /no/such/program: No such"),
        "{error}"
    );
}

#[test]
fn a_process_may_say_much_and_only_the_first_of_it_is_kept() {
    let much = "head -c 1000000 /dev/zero | tr '\\0' e >&2";
    let process = source::process(sh(&format!("{much}; echo one; {much}; echo two; exit 1")));
    block_on(within_seconds(async {
        let mut lines = process.pipe(stage::lines(80));
        assert_eq!(lines.next().await.unwrap().unwrap(), "one");
        assert_eq!(lines.next().await.unwrap().unwrap(), "two");
        assert_eq!(lines.next().await.unwrap(), None);
        let error = lines.close().await.unwrap_err();
        assert_eq!(failure(&error).stderr(), "e".repeat(4096));
    }));
}

#[test]
fn an_early_close_kills_the_process_and_reaps_it() {
    // It ignores what a broken pipe and a polite request say.
    let stubborn = "trap '' PIPE TERM; echo $$; while :; do echo again 2>/dev/null; done";
    block_on(within_seconds(async {
        let process = source::process(sh(stubborn)).pipe(stage::lines(80));
        let first = process.run(sink::head()).await.unwrap().unwrap();
        let id = std::str::from_utf8(&first).unwrap().parse().unwrap();
        assert!(!exists(id));
    }));
}

#[test]
fn a_dropped_process_is_killed_and_reaped_in_time() {
    block_on(async {
        let mut process = source::process(sh("echo $$; exec sleep 1000"));
        let first = process.next().await.unwrap().unwrap();
        let id = std::str::from_utf8(first.trim_ascii()).unwrap();
        let id = id.parse().unwrap();
        assert!(exists(id));
        drop(process);
        let start = Instant::now();
        while exists(id) {
            assert!(start.elapsed() < Duration::from_secs(20));
            thrum_rt::time::sleep(Duration::from_millis(5)).await;
        }
    });
}

#[test]
fn the_end_of_a_process_does_not_wait_for_what_it_left_behind() {
    // The one left behind has the standard error.
    let leaving = source::process(sh("sleep 30 >/dev/null & echo bad >&2; exit 1"));
    let start = Instant::now();
    let error = block_on(leaving.run(sink::drain())).unwrap_err();
    assert_eq!(failure(&error).stderr(), "bad");
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn nothing_is_lost_by_a_next_that_is_dropped() {
    block_on(within_seconds(async {
        let slow = sh("for n in 1 2 3 4 5; do echo $n; echo noise >&2; sleep 0.02; done");
        let mut process = source::process(slow);
        let mut all = Vec::new();
        loop {
            match poll_once(process.next()).await {
                Some(next) => match next.unwrap() {
                    Some(piece) => all.extend_from_slice(&piece),
                    None => break,
                },
                None => yield_now().await,
            }
        }
        assert_eq!(all, b"1\n2\n3\n4\n5\n");
        process.close().await.unwrap();

        // So much that the task has to give way in between.
        let content = pattern(5_000_000);
        let file = temporary(&content);
        let (mut read, mut all, mut waits) = (source::file(file.path()), Vec::new(), 0);
        loop {
            match poll_once(read.next()).await {
                Some(next) => match next.unwrap() {
                    Some(piece) => all.extend_from_slice(&piece),
                    None => break,
                },
                None => {
                    waits += 1;
                    yield_now().await;
                }
            }
        }
        assert_eq!(all, content);
        assert!(waits > 0);

        let mut steps = source::unfold(0, |n: u32| async move {
            yield_now().await;
            Ok::<_, Cause>((n < 3).then_some((n, n + 1)))
        });
        let mut all = Vec::new();
        loop {
            match poll_once(steps.next()).await {
                Some(next) => match next.unwrap() {
                    Some(n) => all.push(n),
                    None => break,
                },
                None => yield_now().await,
            }
        }
        assert_eq!(all, [0, 1, 2]);
        assert_eq!(steps.next().await.unwrap(), None);
    }));
}

#[test]
fn a_channel_waits_for_its_reader() {
    block_on(async {
        let (sender, receiver) = channel::bounded(2);
        let sent = Arc::new(AtomicU32::new(0));
        let sending = spawn({
            let sent = sent.clone();
            async move {
                while sender.send(sent.load(Ordering::Relaxed)).await.is_ok() {
                    sent.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        let mut numbers = source::channel(receiver);
        for n in 0..3 {
            assert_eq!(numbers.next().await.unwrap(), Some(n));
        }
        assert!(sent.load(Ordering::Relaxed) <= 6);
        // The sender learns that nobody listens any more.
        numbers.close().await.unwrap();
        sending.await.unwrap();
    });
}

#[test]
fn the_first_error_ends_it() {
    let items = [Ok(1), Err(std::io::Error::other("broken")), Ok(2)];
    let error = block_on(source::try_iter(items).run(sink::drain())).unwrap_err();
    assert_eq!(error.to_string(), "try_iter: broken");

    let failing = source::unfold((), |()| async {
        Err::<Option<((), ())>, _>(std::io::Error::other("no step"))
    });
    let error = block_on(failing.run(sink::drain())).unwrap_err();
    assert_eq!(error.to_string(), "unfold: no step");
}

#[test]
fn one_item_and_none() {
    block_on(async {
        assert_eq!(source::once(7).run(sink::collect(9)).await?, [7]);
        assert_eq!(source::empty::<u32>().run(sink::count()).await?, 0);
        Result::Ok(())
    })
    .unwrap();
}

/// Sends a question over one end, lent and kept open, and reads the answer from the same, lent and then owned.
macro_rules! a_connection {
    ($near:expr, $far:expr) => {{
        let (near, far) = ($near, $far);
        let echo = spawn(async move {
            let question = source::reader(&far).pipe(stage::take_bytes(8));
            let question = question.run(sink::concat(8)).await?;
            // Owned: its close sends the end.
            source::once(question).run(sink::writer(far)).await
        });
        let words = source::iter(["ques", "tion"]);
        let sent = words.run(sink::writer(&near).keep_open()).await.unwrap();
        assert_eq!(sent, 8);
        let start = source::reader(&near).chunk(3);
        let start = start.pipe(stage::take_bytes(3)).run(sink::text(9)).await;
        assert_eq!(start.unwrap(), "que");
        let rest = source::reader(near).run(sink::text(9)).await;
        assert_eq!(rest.unwrap(), "stion");
        echo.await.unwrap().unwrap();
    }};
}

#[test]
fn connections_lent_and_owned() {
    block_on(within_seconds(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).await;
        let (far, _) = listener.accept().await.unwrap();
        a_connection!(near.unwrap(), far);

        let (near, far) = UnixStream::pair().unwrap();
        a_connection!(near, far);

        let (near, mut far) = io::duplex(16);
        let sent = spawn(async move {
            source::once("over").run(sink::writer(&mut far)).await?;
            Result::Ok(())
        });
        assert_eq!(
            source::reader(near).run(sink::text(9)).await.unwrap(),
            "over"
        );
        sent.await.unwrap().unwrap();

        let (reader, writer) = pipe::pipe().unwrap();
        source::once("lent ")
            .run(sink::writer(&writer))
            .await
            .unwrap();
        source::once("owned")
            .run(sink::writer(writer))
            .await
            .unwrap();
        let start = source::reader(&reader).chunk(5).pipe(stage::take_bytes(5));
        assert_eq!(start.run(sink::text(9)).await.unwrap(), "lent ");
        assert_eq!(
            source::reader(reader).run(sink::text(9)).await.unwrap(),
            "owned"
        );
    }));
}

#[test]
fn the_first_error_of_an_iterator_ends_it() {
    block_on(async {
        let mut items = source::try_iter([Ok(1), Err("broken"), Ok(2)]);
        assert_eq!(items.next().await.unwrap(), Some(1));
        items.next().await.unwrap_err();
        assert_eq!(items.next().await.unwrap(), None);
    });
}

#[test]
fn a_process_that_reads_a_pipe_to_which_nobody_writes() {
    block_on(async {
        let mut cat = sh("cat");
        cat.stdin(std::process::Stdio::piped());
        let run = source::process(cat).run(sink::count());
        let count = thrum_rt::time::timeout(Duration::from_secs(20), run).await;
        assert_eq!(count.unwrap().unwrap(), 0);
    });
}
