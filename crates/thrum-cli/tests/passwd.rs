//! `thrum passwd` makes lines that are understood, from what it reads from standard input.

mod support;

use std::io::Write;
use std::process::{Output, Stdio};

use support::thrum;

fn passwd(args: &[&str], input: &str) -> Output {
    let args = [&["passwd"], args].concat();
    let mut child = thrum(&args).stdin(Stdio::piped()).spawn().unwrap();
    // It may end without reading.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn lines_are_printed_or_put_into_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users");
    let file = path.to_str().unwrap();
    let printed = passwd(&["alice"], "rab:bit\nmore");
    assert!(printed.status.success(), "{printed:?}");
    let line = String::from_utf8(printed.stdout).unwrap();
    assert!(
        line.starts_with("alice:$argon2id$") && line.lines().count() == 1,
        "{line}"
    );

    for (user, password) in [("alice", "one\n"), ("bob", "two"), ("alice", "three\r\n")] {
        let put = passwd(&[user, file], password);
        assert!(put.status.success() && put.stdout.is_empty(), "{put:?}");
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let users: thrum_server::guard::passwords::Users = text.parse().unwrap();
    assert!(users.verify("alice", "three") && users.verify("bob", "two"));
    assert!(!users.verify("alice", "one"));
    assert!(!text.contains("three"));
}

#[test]
fn mistakes_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users");
    std::fs::write(&path, "bob:kept\n").unwrap();
    for (user, password) in [("a:b", "x"), ("alice", ""), ("alice", "\n")] {
        let failed = passwd(&[user, path.to_str().unwrap()], password);
        assert_eq!(failed.status.code(), Some(1), "{failed:?}");
        assert!(
            String::from_utf8(failed.stderr)
                .unwrap()
                .contains("error: ")
        );
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "bob:kept\n");
}
