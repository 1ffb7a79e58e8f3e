//! Where items go: files, processes, channels, values, and several of them at once.

mod child;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use sha2::{Digest, Sha256};
use thrum_rt::process::Command;
use thrum_rt::sync::channel;
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{block_on, spawn};
use thrum_stream::{Cause, Error, Result, Sink, Source, Stage, sink, source, stage};

use self::child::{failure, sh};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names = Vec::from_iter(entries.map(|entry| name(entry.unwrap())));
        names.sort();
        names
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Items, then an error.
fn breaking<I: Send>(items: impl IntoIterator<Item = I>) -> impl Source<Item = I> {
    let items = Vec::from_iter(items).into_iter().map(Ok);
    source::try_iter(items.chain([Err(Cause::Malformed("broken".into()))]))
}

#[test]
fn a_file_is_made_or_emptied() {
    let folder = Folder::new();
    let path = folder.path("file");
    block_on(async {
        let lines = || source::iter((0..10_000).map(|n| format!("{n}\n")));
        let written = lines().run(sink::file(&path).sync(true)).await?;
        let expected = String::from_iter((0..10_000).map(|n| format!("{n}\n")));
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
        assert_eq!(written, expected.len() as u64);
        assert_eq!(source::empty::<Bytes>().run(sink::file(&path)).await?, 0);
        assert_eq!(fs::read(&path).unwrap(), b"");
        Result::Ok(())
    })
    .unwrap();
}

#[test]
fn a_file_that_cannot_be_made_is_named_before_anything_is_read() {
    let unread = source::iter(std::iter::from_fn(|| -> Option<Bytes> {
        panic!("it was read")
    }));
    let error = block_on(unread.run(sink::file("/no/such/folder/file"))).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("file: /no/such/folder/file: No such"),
        "{text}"
    );

    let unread = source::iter(std::iter::from_fn(|| -> Option<Bytes> {
        panic!("it was read")
    }));
    let error = block_on(unread.run(sink::file_atomic("/no/such/folder/file"))).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("file_atomic: /no/such/folder/file: "),
        "{text}"
    );
    let kind = std::io::Error::from(error).kind();
    assert_eq!(kind, std::io::ErrorKind::NotFound);
}

#[test]
fn the_old_file_is_there_until_the_new_one_is_whole() {
    let folder = Folder::new();
    let path = folder.path("file");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o2604)).unwrap();
    for sync in [true, false] {
        fs::write(&path, "old").unwrap();
        block_on(async {
            let mut atomic = sink::file_atomic(&path).sync(sync);
            for _ in 0..3 {
                atomic.push(vec![b'n'; 20_000]).await?;
                assert_eq!(fs::read(&path).unwrap(), b"old");
                assert_eq!(folder.names().len(), 2);
            }
            assert_eq!(Sink::<Vec<u8>>::close(atomic).await?, 60_000);
            Result::Ok(())
        })
        .unwrap();
        assert_eq!(fs::read(&path).unwrap(), vec![b'n'; 60_000]);
        assert_eq!(folder.names(), ["file"]);
        assert_eq!(mode(&path), 0o604);
    }
}

#[test]
fn a_new_file_has_the_usual_permissions() {
    let folder = Folder::new();
    let (usual, atomic) = (folder.path("usual"), folder.path("atomic"));
    fs::write(&usual, "").unwrap();
    block_on(source::once("new").run(sink::file_atomic(&atomic))).unwrap();
    assert_eq!(mode(&atomic), mode(&usual));
}

#[test]
fn an_error_leaves_nothing_half_made() {
    let folder = Folder::new();
    let path = folder.path("file");
    fs::write(&path, "old").unwrap();
    let error = block_on(breaking(["new"]).run(sink::file_atomic(&path))).unwrap_err();
    assert_eq!(error.to_string(), "try_iter: broken");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(folder.names(), ["file"]);

    // A folder cannot be replaced by a file.
    fs::create_dir(folder.path("folder")).unwrap();
    let replace = source::once("new").run(sink::file_atomic(folder.path("folder")));
    let error = block_on(replace).unwrap_err();
    assert_eq!(error.stage(), "file_atomic");
    assert_eq!(folder.names(), ["file", "folder"]);
}

#[test]
fn a_drop_leaves_nothing_half_made() {
    let folder = Folder::new();
    let path = folder.path("file");
    fs::write(&path, "old").unwrap();
    block_on(async {
        let (sender, receiver) = channel::bounded(1);
        let atomic = sink::file_atomic(&path);
        let writing = spawn(source::channel(receiver).run(atomic));
        for _ in 0..3 {
            sender.send("new").await.unwrap();
        }
        assert_eq!(folder.names().len(), 2);
        writing.abort();
        assert!(writing.await.is_err());
    });
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(folder.names(), ["file"]);
}

#[test]
fn a_process_makes_something_of_it() {
    let lines = || source::iter((0..20_000).rev().map(|n| format!("{n}\n")));
    let sorted = sink::process(sh("sort -n")).output(1 << 20);
    let sorted = block_on(lines().run(sorted)).unwrap();
    let expected = String::from_iter((0..20_000).map(|n| format!("{n}\n")));
    assert_eq!(String::from_utf8(sorted).unwrap(), expected);

    let folder = Folder::new();
    let mut to_file = sh("cat");
    to_file.stdout(fs::File::create(folder.path("out")).unwrap());
    let output = block_on(source::once("hello").run(sink::process(to_file))).unwrap();
    assert_eq!(output, b"");
    assert_eq!(fs::read(folder.path("out")).unwrap(), b"hello");
}

#[test]
fn a_process_is_started_for_nothing_too() {
    let count = sink::process(sh("wc -c")).output(100);
    let output = block_on(source::empty::<Bytes>().run(count)).unwrap();
    assert_eq!(output.trim_ascii(), b"0");
}

#[test]
fn a_process_that_answers_while_it_is_fed_does_not_get_stuck() {
    // It fills both of its outputs before it has read all.
    let talkative = "tee /dev/stderr; head -c 1000000 /dev/zero >&2";
    let bytes = source::iter((0..100).map(|_| vec![b'a'; 10_000]));
    let echoed = bytes.run(sink::process(sh(talkative)).output(2_000_000));
    let echoed = block_on(timeout(Duration::from_secs(30), echoed));
    assert_eq!(echoed.unwrap().unwrap().len(), 1_000_000);
}

#[test]
fn a_process_that_fails_is_told_with_what_it_said() {
    let feed = source::once("x").run(sink::process(sh("cat >/dev/null; echo no >&2; exit 3")));
    let error = block_on(feed).unwrap_err();
    assert_eq!(error.to_string(), "process: sh: exit status: 3: no");
    assert_eq!(failure(&error).status().code(), Some(3));

    let missing = sink::process(Command::new("/no/such/program"));
    let error = block_on(source::once("x").run(missing))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("process: /no/such/program: No such"),
        "{error}"
    );
}

#[test]
fn a_process_that_reads_no_more_has_enough() {
    // An endless source: the end comes from the process.
    let endless = || source::iter(std::iter::repeat("line\n"));
    let feed = endless().run(sink::process(sh("head -n 2")).output(100));
    let output = block_on(timeout(Duration::from_secs(20), feed)).unwrap();
    assert_eq!(output.unwrap(), b"line\nline\n");

    let feed = endless().run(sink::process(sh("echo full >&2; exit 1")));
    let error = block_on(timeout(Duration::from_secs(20), feed)).unwrap();
    assert_eq!(failure(&error.unwrap_err()).stderr(), "full");
}

#[test]
fn the_output_of_a_process_has_a_limit() {
    let endless = source::iter(std::iter::repeat("line\n"));
    let feed = endless.run(sink::process(sh("cat")).output(1000));
    let error = block_on(timeout(Duration::from_secs(20), feed)).unwrap();
    assert_eq!(
        error.unwrap_err().to_string(),
        "process: longer than 1000 bytes"
    );

    let feed = source::once("hello").run(sink::process(sh("cat")).output(4));
    assert!(matches!(
        block_on(feed).unwrap_err().cause(),
        Cause::TooLong { limit: 4, .. }
    ));
    let feed = source::once("hell").run(sink::process(sh("cat")).output(4));
    assert_eq!(block_on(feed).unwrap(), b"hell");
}

#[test]
fn a_process_that_writes_for_ever_is_not_waited_for() {
    block_on(async {
        let nothing = source::empty::<Bytes>().run(sink::process(sh("yes")).output(10));
        let stuck =
            source::iter(std::iter::repeat("more")).run(sink::process(sh("yes")).output(10));
        for run in [nothing.boxed(), stuck.boxed()] {
            let error = timeout(Duration::from_secs(20), run)
                .await
                .unwrap()
                .unwrap_err();
            assert_eq!(error.to_string(), "process: longer than 10 bytes");
        }
    });
}

#[test]
fn an_error_kills_the_process_and_reaps_it() {
    let folder = Folder::new();
    let path = folder.path("id");
    block_on(async {
        let mut command = sh("trap '' TERM; echo $$ > \"$0\"; exec sleep 1000");
        command.arg(&path);
        let mut process = sink::process(command);
        process.push("x").await.unwrap();
        let id = loop {
            let id = fs::read_to_string(&path).unwrap_or_default();
            match id.strip_suffix('\n') {
                Some(id) => break id.to_owned(),
                None => sleep(Duration::from_millis(5)).await,
            }
        };
        let process_folder = Path::new("/proc").join(id);
        assert!(process_folder.exists());
        let error = Error::new("test", Cause::Malformed("broken".into()));
        let aborted = Sink::<&str>::abort(process, &error);
        timeout(Duration::from_secs(20), aborted).await.unwrap();
        assert!(!process_folder.exists());
    });
}

#[test]
fn a_channel_that_is_closed_has_enough() {
    block_on(async {
        let (sender, receiver) = channel::bounded(1);
        let mut numbers = source::iter(1..).resumable();
        let taking = spawn(async move {
            let taken = [receiver.recv().await, receiver.recv().await];
            drop(receiver);
            taken.map(|taken| taken.unwrap())
        });
        let sent = numbers.feed(sink::channel(sender)).await.unwrap();
        assert_eq!(taking.await.unwrap(), [1, 2]);
        // What was in the channel when it was closed is gone; what was refused is not.
        assert!((2..=3).contains(&sent), "{sent}");
        assert_eq!(numbers.next().await.unwrap(), Some(sent as i32 + 1));
    });
}

#[test]
fn one_value() {
    block_on(async {
        let numbers = || source::iter([3, 1, 2]);
        assert_eq!(numbers().run(sink::last()).await?, Some(2));
        assert_eq!(source::empty::<u32>().run(sink::last()).await?, None);
        numbers().run(sink::drain()).await?;
        let mut seen = Vec::new();
        numbers().run(sink::for_each(|n| seen.push(n))).await?;
        assert_eq!(seen, [3, 1, 2]);
        let failing = sink::for_each_async(|n| async move {
            sleep(Duration::from_millis(1)).await;
            if n == 1 {
                return Err(std::io::Error::other("one"));
            }
            Ok(())
        });
        let error = numbers().run(failing).await.unwrap_err();
        assert_eq!(error.to_string(), "for_each_async: one");
        let product = sink::try_fold(1u8, |product, n| {
            *product = u8::checked_mul(*product, n).ok_or(Cause::Truncated("u8"))?;
            Ok::<(), Cause>(())
        });
        assert_eq!(source::iter([2, 3, 4]).run(product).await?, 24);
        Result::Ok(())
    })
    .unwrap();
}

#[test]
fn text_is_utf8_and_has_a_limit() {
    let text = |bytes: &'static [u8], limit| {
        block_on(source::reader(bytes).chunk(1).run(sink::text(limit))).map_err(|e| e.to_string())
    };
    assert_eq!(text("für".as_bytes(), 4).unwrap(), "für");
    assert_eq!(text(b"f\xfcr", 4).unwrap_err(), "text: not UTF-8 at byte 1");
    assert_eq!(text(b"12345", 4).unwrap_err(), "text: longer than 4 bytes");
}

#[test]
fn a_hash_and_a_file_over_one_pass() {
    let folder = Folder::new();
    let content = Vec::from_iter((0..1_000_000u32).map(|n| (n % 253) as u8));
    fs::write(folder.path("from"), &content).unwrap();
    let copy_and_hash = sink::both(
        sink::file_atomic(folder.path("to")).sync(false),
        sink::hash(Sha256::new()),
    );
    let from = source::file(folder.path("from")).chunk(10_000);
    let (written, hash) = block_on(from.run(copy_and_hash)).unwrap();
    assert_eq!(written, 1_000_000);
    assert_eq!(hash, Sha256::digest(&content));
    assert_eq!(fs::read(folder.path("to")).unwrap(), content);
}

/// Takes numbers up to `wanted` of them, fails at `fails_at`, and notes how it ended.
struct Noted {
    name: &'static str,
    wanted: usize,
    fails_at: u32,
    taken: Vec<u32>,
    closes: Result<()>,
    journal: Arc<Mutex<Vec<String>>>,
}

impl Noted {
    fn new(name: &'static str, wanted: usize, journal: &Arc<Mutex<Vec<String>>>) -> Self {
        Noted {
            name,
            wanted,
            fails_at: u32::MAX,
            taken: Vec::new(),
            closes: Ok(()),
            journal: journal.clone(),
        }
    }

    fn note(&self, what: &str) {
        self.journal
            .lock()
            .unwrap()
            .push(format!("{} {what}", self.name));
    }
}

impl Sink<u32> for Noted {
    type Output = Vec<u32>;

    async fn wants(&mut self) -> Result<bool> {
        assert!(self.taken.len() <= self.wanted, "it was asked again");
        Ok(self.taken.len() < self.wanted)
    }

    async fn push(&mut self, item: u32) -> Result<()> {
        assert!(
            self.taken.len() < self.wanted,
            "it was fed more than it wants"
        );
        if item == self.fails_at {
            return Err(Error::new(self.name, Cause::Malformed("bad number".into())));
        }
        self.taken.push(item);
        Ok(())
    }

    fn rest(&mut self) -> Vec<u32> {
        // The last one was too much.
        Vec::from_iter(self.taken.pop())
    }

    async fn close(self) -> Result<Vec<u32>> {
        self.note("closed");
        self.closes.map(|()| self.taken)
    }

    async fn abort(self, _: &Error) {
        self.note("aborted");
    }
}

#[test]
fn one_that_has_enough_is_not_fed_and_the_last_one_says_what_is_left() {
    let journal = Arc::default();
    for (a, b, results, next) in [
        (1, 3, (vec![1], vec![1, 2]), 3),
        (3, 1, (vec![1, 2], vec![1]), 3),
        (2, 2, (vec![1], vec![1, 2]), 2),
        (0, 2, (vec![], vec![1]), 2),
        (0, 0, (vec![], vec![]), 1),
    ] {
        block_on(async {
            let mut numbers = source::iter(1..).resumable();
            let (a, b) = (Noted::new("a", a, &journal), Noted::new("b", b, &journal));
            assert_eq!(numbers.feed(sink::both(a, b)).await.unwrap(), results);
            assert_eq!(numbers.next().await.unwrap(), Some(next));
        });
    }
    for (wanted, results, next) in [
        (vec![1, 3, 2], vec![vec![1], vec![1, 2], vec![1, 2]], 3),
        (vec![2, 2], vec![vec![1], vec![1, 2]], 2),
        (vec![], vec![], 1),
    ] {
        block_on(async {
            let mut numbers = source::iter(1..).resumable();
            let sinks = wanted.into_iter().map(|n| Noted::new("one", n, &journal));
            assert_eq!(numbers.feed(sink::all(sinks)).await.unwrap(), results);
            assert_eq!(numbers.next().await.unwrap(), Some(next));
        });
    }
}

#[test]
fn all_are_aborted_when_one_fails() {
    for failing in 0..2 {
        let journal = Arc::default();
        let mut sinks = ["a", "b"].map(|name| Noted::new(name, 9, &journal));
        sinks[failing].fails_at = 2;
        let [a, b] = sinks;
        let error = block_on(source::iter(1..5).run(sink::both(a, b))).unwrap_err();
        assert_eq!(error.stage(), ["a", "b"][failing]);
        assert_eq!(*journal.lock().unwrap(), ["a aborted", "b aborted"]);
    }
    let journal = Arc::default();
    let mut sinks = ["a", "b", "c"].map(|name| Noted::new(name, 9, &journal));
    sinks[1].fails_at = 2;
    sinks[2].wanted = 1;
    let error = block_on(source::iter(1..5).run(sink::all(sinks))).unwrap_err();
    assert_eq!(error.stage(), "b");
    let ends = ["a aborted", "b aborted", "c aborted"];
    assert_eq!(*journal.lock().unwrap(), ends);
}

#[test]
fn those_after_a_failed_close_are_aborted() {
    let broken = || Err(Error::new("close", Cause::Malformed("broken".into())));
    let journal = Arc::default();
    let (mut a, b) = (Noted::new("a", 9, &journal), Noted::new("b", 9, &journal));
    a.closes = broken();
    let error = block_on(source::once(1).run(sink::both(a, b))).unwrap_err();
    assert_eq!(error.stage(), "close");
    assert_eq!(*journal.lock().unwrap(), ["a closed", "b aborted"]);

    let journal = Arc::default();
    let mut sinks = ["a", "b", "c"].map(|name| Noted::new(name, 9, &journal));
    sinks[1].closes = broken();
    block_on(source::once(1).run(sink::all(sinks))).unwrap_err();
    let ends = ["a closed", "b closed", "c aborted"];
    assert_eq!(*journal.lock().unwrap(), ends);
}

#[test]
fn several_work_at_once() {
    // Each takes its first item only when the others have theirs.
    let meeting = Arc::new(thrum_rt::sync::Barrier::new(4));
    let meet = || {
        let meeting = meeting.clone();
        sink::for_each_async(move |_: u32| {
            let meeting = meeting.clone();
            async move {
                meeting.wait().await;
                Ok::<(), Cause>(())
            }
        })
    };
    let three = sink::all([meet(), meet(), meet()]);
    let run = source::once(1).run(sink::both(meet(), three));
    block_on(timeout(Duration::from_secs(20), run))
        .unwrap()
        .unwrap();

    // And so in stages before them, which push when they are asked.
    let staged = || stage::map(|n| n).to(meet());
    let run = source::once(1).run(sink::all([staged(), staged(), staged(), staged()]));
    block_on(timeout(Duration::from_secs(20), run))
        .unwrap()
        .unwrap();
}
