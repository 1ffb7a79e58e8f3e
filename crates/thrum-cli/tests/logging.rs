//! The access log: where it goes, what is in it, and that it never stands in the way.

mod support;

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use support::{PATIENCE, Running, serve, site, thrum, wait_until};

#[test]
fn a_file_has_a_line_for_each_request() {
    let site = site();
    let path = site.path().join("access.log");
    let server = serve(site.path(), &["--log", path.to_str().unwrap()]);
    server.get("/");
    server.get("/no%22such?x=1");
    assert_eq!(server.interrupted().code(), Some(0));

    let log = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 2, "{log}");
    assert!(
        lines.iter().all(|line| line.starts_with("127.0.0.1 - - [")),
        "{log}"
    );
    assert!(
        log.contains("\"GET / HTTP/1.1\" 200 5 \"-\" \"-\"\n"),
        "{log}"
    );
    assert!(
        log.contains("\"GET /no%22such?x=1 HTTP/1.1\" 404 "),
        "{log}"
    );
}

#[test]
fn lines_are_appended_and_seen_within_a_moment() {
    let site = site();
    let path = site.path().join("access.log");
    fs::write(&path, "before\n").unwrap();
    let server = serve(site.path(), &["--log", path.to_str().unwrap()]);
    server.get("/");
    let log = || fs::read_to_string(&path).unwrap();
    wait_until("line", || log().lines().count() == 2, log);
    assert!(log().starts_with("before\n127.0.0.1 "));
}

#[test]
fn a_moved_file_is_opened_anew() {
    let site = site();
    let path = site.path().join("access.log");
    let server = serve(site.path(), &["--log", path.to_str().unwrap()]);
    server.get("/one");
    let log = || fs::read_to_string(&path).unwrap_or_default();
    wait_until("line", || log().contains("/one"), log);

    fs::rename(&path, site.path().join("access.log.1")).unwrap();
    server.get("/two");
    wait_until("new file", || log().contains("/two"), log);
    assert!(!log().contains("/one"));
}

#[test]
fn standard_output_is_the_logs_alone() {
    let site = site();
    let server = serve(site.path(), &["--log", "-"]);
    server.get("/");
    server.wait_for_stdout("\"GET / HTTP/1.1\" 200 5");
    let said = server.interrupted();
    assert_eq!(said.stdout.lines().count(), 1, "{}", said.stdout);
    assert!(
        said.stderr.contains("Answered 1 request"),
        "{}",
        said.stderr
    );
}

#[test]
fn off_by_default_where_nobody_looks_on() {
    let site = site();
    let server = serve(site.path(), &[]);
    server.get("/");
    let said = server.interrupted();
    assert_eq!(said.stdout, "");
    assert!(said.stderr.contains("no access log"), "{}", said.stderr);
}

#[test]
fn a_reader_that_goes_away_costs_lines_only() {
    let site = site();
    let mut command = thrum(&[
        "serve",
        site.path().to_str().unwrap(),
        "--listen",
        "0",
        "--log",
        "-",
    ]);
    // A pipe without a reader, as after `| head` has had enough.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(writer);
    let server = Running::new(command);
    server.wait_for_stderr("Ctrl-C to stop");
    server.get("/");
    server.wait_for_stderr("cannot write to the access log on standard output");
    assert!(server.get("/").ends_with("hello"));
    let said = server.interrupted();
    assert_eq!(said.code(), Some(0));
    assert!(
        said.stderr
            .contains("2 lines are missing in the access log"),
        "{}",
        said.stderr
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_costs_lines_only() {
    let site = site();
    let server = serve(site.path(), &["--log", "/dev/full"]);
    for _ in 0..5 {
        assert!(server.get("/").ends_with("hello"));
    }
    server.wait_for_stderr("WARN");
    let said = server.interrupted();
    assert_eq!(said.code(), Some(0));
    assert!(
        said.stderr.contains("5 lines are missing"),
        "{}",
        said.stderr
    );
}

#[test]
fn a_stuck_reader_does_not_hold_up_the_end() {
    let site = site();
    let mut command = thrum(&[
        "serve",
        site.path().to_str().unwrap(),
        "--listen",
        "0",
        "--log",
        "-",
    ]);
    let (reader, writer) = std::io::pipe().unwrap();
    // Full, so that the first write of a line waits.
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    while rustix::io::write(&writer, &[0; 4096]).is_ok() {}
    rustix::io::ioctl_fionbio(&writer, false).unwrap();
    command.stdout(Stdio::from(writer));
    let server = Running::new(command);
    server.wait_for_stderr("Ctrl-C to stop");
    assert!(server.get("/").ends_with("hello"));

    let start = std::time::Instant::now();
    let said = server.interrupted();
    assert!(start.elapsed() < PATIENCE / 2);
    assert_eq!(said.code(), Some(0));
    assert!(said.stderr.contains("1 line is missing"), "{}", said.stderr);
    drop(reader);
}

#[test]
#[cfg(target_os = "linux")]
fn an_idle_server_is_not_woken_up() {
    let site = site();
    let path = site.path().join("access.log");
    let server = serve(site.path(), &["--log", path.to_str().unwrap()]);
    server.get("/");
    let log = || fs::read_to_string(&path).unwrap();
    wait_until("line", || !log().is_empty(), log);
    // What follows a request may take a moment to come to rest.
    let wakes = || {
        let before = server.wakes();
        std::thread::sleep(Duration::from_millis(1500));
        server.wakes() - before
    };
    wait_until("rest", || wakes() == 0, || format!("{} wake-ups", wakes()));
}
