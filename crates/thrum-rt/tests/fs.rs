//! Files and directories, and that slow ones keep nobody else waiting.

use std::io::{ErrorKind, SeekFrom};
use std::time::{Duration, Instant};

use thrum_rt::fs::{self, File, OpenOptions};
use thrum_rt::io::{self, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader};
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{Runtime, block_on, spawn};

const SECONDS: Duration = Duration::from_secs(10);

#[test]
fn a_file_is_written_and_read_at_its_position() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = File::create(&path).await.unwrap();
        file.write_all(b"hello world").await.unwrap();
        file.sync_all().await.unwrap();
        file.sync_data().await.unwrap();
        let mut buffer = [0; 64];
        assert!(file.read(&mut buffer).await.is_err(), "only for writing");

        let file = File::open(&path).await.unwrap();
        assert_eq!(file.seek(SeekFrom::Start(6)).await.unwrap(), 6);
        assert_eq!(file.read(&mut buffer).await.unwrap(), 5);
        assert_eq!(&buffer[..5], b"world");
        assert_eq!(file.read(&mut buffer).await.unwrap(), 0);
        assert_eq!(file.metadata().await.unwrap().len(), 11);
    });
}

#[test]
fn a_file_is_written_and_read_at_an_offset() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(&path).await.unwrap();
        let again = options.open(&path).await.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AlreadyExists);

        file.write_all_at(b"world", 6).await.unwrap();
        assert_eq!(file.write_at(b"hello ", 0).await.unwrap(), 6);
        let mut buffer = [0; 11];
        file.read_exact_at(&mut buffer, 0).await.unwrap();
        assert_eq!(&buffer, b"hello world");
        assert_eq!(file.read_at(&mut buffer, 9).await.unwrap(), 2);
        let beyond = file.read_exact_at(&mut buffer, 9).await.unwrap_err();
        assert_eq!(beyond.kind(), ErrorKind::UnexpectedEof);
        file.set_len(5).await.unwrap();
        assert_eq!(fs::read(&path).await.unwrap(), b"hello");
    });
}

#[test]
fn files_have_the_ecosystems_traits() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true).open(&path).await.unwrap();
        assert_eq!(io::copy(&b"one\ntwo\n"[..], &file).await.unwrap(), 8);
        let mut file = file;
        AsyncWriteExt::write_all(&mut file, b"three\n")
            .await
            .unwrap();
        let mut file = File::open(&path).await.unwrap();
        AsyncSeekExt::seek(&mut file, SeekFrom::End(-6))
            .await
            .unwrap();
        let mut last = String::new();
        AsyncReadExt::read_to_string(&mut file, &mut last)
            .await
            .unwrap();
        assert_eq!(last, "three\n");
        AsyncSeekExt::seek(&mut file, SeekFrom::Start(0))
            .await
            .unwrap();
        let mut lines = io::lines(BufReader::new(file), 80);
        let mut count = 0;
        while lines.next_line().await.unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 3);
    });
}

#[test]
fn files_come_and_go_under_their_names() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "text").await.unwrap();
        fs::copy(at("a"), at("b")).await.unwrap();
        fs::rename(at("b"), at("c")).await.unwrap();
        fs::hard_link(at("c"), at("d")).await.unwrap();
        fs::symlink("d", at("e")).await.unwrap();
        assert!(!fs::exists(at("b")).await.unwrap());
        assert_eq!(fs::read_to_string(at("e")).await.unwrap(), "text");
        assert!(fs::metadata(at("e")).await.unwrap().is_file());
        assert!(fs::symlink_metadata(at("e")).await.unwrap().is_symlink());
        assert_eq!(
            fs::read_link(at("e")).await.unwrap(),
            std::path::Path::new("d")
        );
        let real = fs::canonicalize(at("e")).await.unwrap();
        assert_eq!(real, folder.path().canonicalize().unwrap().join("d"));
        let mut permissions = fs::metadata(at("a")).await.unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(at("a"), permissions).await.unwrap();
        assert!(
            fs::metadata(at("a"))
                .await
                .unwrap()
                .permissions()
                .readonly()
        );
        fs::remove_file(at("a")).await.unwrap();
        let error = fs::read(at("a")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    });
}

#[test]
fn directories_are_made_gone_through_and_removed() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("one/two/three");
        fs::create_dir_all(&deep).await.unwrap();
        // More than a poll may do.
        for index in 0..300 {
            fs::write(deep.join(index.to_string()), "").await.unwrap();
        }
        let mut entries = fs::read_dir(&deep).await.unwrap();
        let mut names = std::collections::BTreeSet::new();
        while let Some(entry) = entries.next_entry().await.unwrap() {
            names.insert(entry.file_name());
        }
        assert_eq!(names.len(), 300);
        assert!(fs::remove_dir(&deep).await.is_err(), "not empty");
        fs::remove_dir_all(folder.path().join("one")).await.unwrap();
        fs::create_dir(folder.path().join("one")).await.unwrap();
        fs::remove_dir(folder.path().join("one")).await.unwrap();
        assert!(!fs::exists(deep).await.unwrap());
    });
}

#[test]
fn reading_without_an_end_lets_others_run() {
    block_on(async {
        let endless = spawn(async {
            let zeros = File::open("/dev/zero").await.unwrap();
            let mut buffer = [0; 100];
            while zeros.read(&mut buffer).await.unwrap() > 0 {}
        });
        sleep(Duration::from_millis(20)).await;
        endless.abort();
        let aborted = timeout(SECONDS, endless)
            .await
            .expect("it has await points");
        assert!(aborted.is_err());
    });
}

#[test]
fn a_file_that_blocks_keeps_nobody_else_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let runtime = Runtime::builder().workers(1).build().unwrap();
    runtime.block_on(async {
        // Opening a pipe for reading blocks until somebody opens it for writing.
        let slow = spawn({
            let path = path.clone();
            async move { fs::read(path).await }
        });
        sleep(Duration::from_millis(20)).await;
        let start = Instant::now();
        timeout(
            SECONDS,
            spawn(async { sleep(Duration::from_millis(1)).await }),
        )
        .await
        .expect("the only worker's seat is handed off")
        .unwrap();
        assert!(start.elapsed() < SECONDS);
        assert!(!slow.is_finished());
        fs::write(&path, "at last").await.unwrap();
        assert_eq!(slow.await.unwrap().unwrap(), b"at last");
    });
}
