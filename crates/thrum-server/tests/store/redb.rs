//! A file: who has it, what a kill leaves of it, and a full disk.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, setrlimit};
use tempfile::tempdir;
use thrum_server::store::{Put, Redb, RedbOptions, Store, StoreError};

use super::conformance::{self, key};

fn open(path: &Path) -> Redb {
    Redb::open(path, RedbOptions::default()).unwrap()
}

#[test]
fn a_file_conforms() {
    let folder = tempdir().unwrap();
    conformance::check(open(&folder.path().join("store.redb")));
}

#[test]
fn a_file_is_bounded() {
    let folder = tempdir().unwrap();
    let options = RedbOptions {
        max: 1 << 20,
        ..RedbOptions::default()
    };
    let store = Redb::open(folder.path().join("store.redb"), options).unwrap();
    conformance::check_full(&store, 1 << 20);
}

#[test]
fn what_was_written_is_there_again() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.redb");
    thrum_rt::block_on(async {
        let store = open(&path);
        let written = store
            .put(&key("a"), "x".into(), Put::default())
            .await
            .unwrap();
        drop(store);
        let entry = open(&path).get(&key("a")).await.unwrap().unwrap();
        assert_eq!(entry.version, written.version);
        // It opens when it is used, too.
        let store = Redb::at(&path, RedbOptions::default());
        assert!(store.get(&key("a")).await.unwrap().is_some());
    });
}

#[test]
fn a_file_that_is_no_store_is_left_alone() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.redb");
    std::fs::write(&path, "my diary".repeat(1000)).unwrap();
    let error = Redb::open(&path, RedbOptions::default()).unwrap_err();
    assert!(error.to_string().contains("store.redb"), "{error}");
    assert!(std::fs::read(&path).unwrap().starts_with(b"my diary"));
    let nowhere = Redb::open(folder.path().join("no/store.redb"), RedbOptions::default());
    assert!(
        matches!(nowhere, Err(StoreError::Unavailable(_))),
        "{nowhere:?}"
    );
}

/// A child that writes to a store, and says each write that was acknowledged: `number version`.
struct Writer {
    process: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Writer {
    fn start(path: &Path, around: &str) -> Self {
        let test = std::env::current_exe().unwrap();
        let mut process = Command::new("sh")
            .args(["-c", &format!("{around} exec \"$@\""), "sh"])
            .arg(test)
            .args([
                "redb::writes_for_its_parent",
                "--exact",
                "--ignored",
                "--nocapture",
            ])
            .env("THRUM_TEST_STORE", path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap());
        Self { process, lines }
    }

    /// The next line that begins with that word, without it.
    fn next(&mut self, word: &str) -> Option<String> {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            if let Some((_, rest)) = line.split_once(&format!("{word} ")) {
                return Some(rest.trim().to_owned());
            }
            line.clear();
        }
        None
    }

    fn kill(mut self) -> Vec<String> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        std::iter::from_fn(|| self.next("wrote")).collect()
    }
}

/// Not a test: what [`Writer`] runs.
#[test]
#[ignore = "run by others as their child"]
fn writes_for_its_parent() {
    let Some(path) = std::env::var_os("THRUM_TEST_STORE") else {
        return;
    };
    let store = open(Path::new(&path));
    let round = std::process::id();
    let say = |line: String| {
        let mut out = std::io::stdout().lock();
        out.write_all(format!("\n{line}\n").as_bytes()).unwrap();
    };
    let write = async |task: usize| {
        let mut full = false;
        for number in 0..1_000_000 {
            let name = format!("{round}-{task}-{number}");
            let value = vec![task as u8; 100 + number % 4000];
            match store.put(&key(&name), value.into(), Put::default()).await {
                Ok(written) => {
                    if std::mem::take(&mut full) {
                        say("recovered .".into());
                    }
                    say(format!("wrote {name} {}", written.version));
                }
                Err(error) => {
                    if !std::mem::replace(&mut full, true) {
                        say(format!("failed {error:?}"));
                        raise_limit();
                    }
                    thrum_rt::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
    };
    thrum_rt::block_on(async {
        thrum_rt::join!(write(0), write(1), write(2), write(3));
    });
}

/// There is room on the disk again.
fn raise_limit() {
    let unlimited = Rlimit {
        current: None,
        maximum: None,
    };
    setrlimit(Resource::Fsize, unlimited).unwrap();
}

#[test]
fn a_kill_loses_nothing_that_was_acknowledged() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let mut all: HashMap<String, String> = HashMap::new();
    for round in 0..3 {
        let mut writer = Writer::start(&path, "");
        let mut wrote = vec![];
        for _ in 0..200 * (round + 1) {
            wrote.extend(writer.next("wrote"));
        }
        wrote.extend(writer.kill());
        for line in wrote {
            // The last line may have been cut short with the process.
            if let Some((name, version)) = line.split_once(' ')
                && version.len() == 16
            {
                all.insert(name.into(), version.into());
            }
        }
        let store = open(&path);
        thrum_rt::block_on(async {
            for (name, version) in &all {
                let entry = store.get(&key(name)).await.unwrap();
                let entry = entry.unwrap_or_else(|| panic!("{name} is lost"));
                let mut parts = name.split('-').skip(1);
                let (task, number) = (parts.next().unwrap(), parts.next().unwrap());
                let (task, number): (u8, usize) = (task.parse().unwrap(), number.parse().unwrap());
                assert_eq!(entry.value, vec![task; 100 + number % 4000]);
                assert_eq!(entry.version.to_string(), *version);
            }
        });
        drop(store);
        let mut whole = ::redb::Database::open(&path).unwrap();
        assert!(whole.check_integrity().unwrap());
    }
    assert!(all.len() >= 600);
}

#[test]
fn a_locked_file_says_by_whom() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let mut writer = Writer::start(&path, "");
    writer.next("wrote").unwrap();
    let process = writer.process.id().to_string();
    let error = Redb::open(&path, RedbOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("in use by process") && error.contains(&process),
        "{error}"
    );
    // It is opened when the other has gone.
    let waiting = Redb::at(&path, RedbOptions::default());
    thrum_rt::block_on(async {
        assert!(waiting.get(&key("any")).await.is_err());
        writer.kill();
        let end = Instant::now() + Duration::from_secs(20);
        while let Err(error) = waiting.get(&key("any")).await {
            assert!(Instant::now() < end, "{error}");
            thrum_rt::time::sleep(Duration::from_millis(50)).await;
        }
    });
}

/// The file may not grow beyond 4 MiB; then it may again. In between nothing is lost, and afterwards it goes on by itself.
#[test]
fn a_full_disk_is_an_error_and_passes() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let mut writer = Writer::start(&path, "trap '' XFSZ; ulimit -S -f 8192;");
    let mut wrote = vec![];
    let failed = loop {
        let mut line = String::new();
        assert!(
            writer.lines.read_line(&mut line).unwrap() > 0,
            "the writer has ended"
        );
        match line.trim().split_once(' ') {
            Some(("wrote", rest)) => wrote.push(rest.to_owned()),
            Some(("failed", rest)) => break rest.to_owned(),
            _ => {}
        }
    };
    assert!(failed.contains("Full"), "{failed}");
    writer.next("recovered").unwrap();
    for _ in 0..100 {
        writer.next("wrote").unwrap();
    }
    writer.kill();
    let store = open(&path);
    thrum_rt::block_on(async {
        for line in wrote {
            let (name, version) = line.split_once(' ').unwrap();
            let entry = store.get(&key(name)).await.unwrap().unwrap();
            assert_eq!(entry.version.to_string(), version);
        }
    });
}
