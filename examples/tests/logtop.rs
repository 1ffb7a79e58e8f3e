//! logtop, run as a program.
#![cfg(feature = "gzip")]

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::process::{Pid, Signal, kill_process};
use rustix::{pty, termios};
use serde_json::Value;

/// A log of so many lines, and the hits and bytes of each path.
fn log(lines: u64) -> (String, HashMap<String, (u64, u64)>) {
    let mut state = 1_u64;
    let mut below = |most: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % most
    };
    let (mut log, mut counts) = (String::new(), HashMap::<_, (u64, u64)>::new());
    for _ in 0..lines {
        let (path, bytes) = (format!("/p{}", below(40) * below(40)), below(100_000));
        let query = ["", "?", "?a=/b?c"][below(3) as usize];
        let more = ["", " \"-\" \"curl/8.5\"", " \"-\" \"A \\\"b\\\"\" 0.1"][below(3) as usize];
        let end = ["\n", "\r\n"][below(2) as usize];
        log += &format!(
            "192.0.2.7 - - [21/Nov/2026:02:07:00 +0000] \"GET {path}{query} HTTP/1.1\" 200 {bytes}{more}{end}"
        );
        let count = counts.entry(path).or_default();
        *count = (count.0 + 1, count.1 + bytes);
    }
    (log, counts)
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn logtop(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_logtop"));
    command.args(arguments);
    command
}

/// Runs it over a file with these bytes.
fn over(file: &[u8], arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log");
    std::fs::write(&path, file).unwrap();
    logtop(arguments).arg(&path).output().unwrap()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(output: &Output) -> &str {
    assert!(output.status.success(), "{output:?}");
    str::from_utf8(&output.stdout).unwrap()
}

/// Checks the answer against all that was counted in another way.
fn check(answer: &Value, lines: u64, bytes: usize, counts: &HashMap<String, (u64, u64)>) {
    assert_eq!(answer["lines"], lines);
    assert_eq!(answer["bytes"], bytes);
    assert_eq!(
        (&answer["bad_lines"], &answer["may_miss"]),
        (&0.into(), &0.into())
    );
    assert_eq!(
        answer["bytes_sent"],
        counts.values().map(|count| count.1).sum::<u64>()
    );
    let paths = answer["paths"].as_array().unwrap();
    assert_eq!(paths.len(), counts.len());
    let hits: Vec<_> = paths
        .iter()
        .map(|each| each["hits"].as_u64().unwrap())
        .collect();
    assert!(hits.is_sorted_by(|one, next| one >= next));
    for each in paths {
        let (hits, bytes) = counts[each["path"].as_str().unwrap()];
        assert_eq!(
            (&each["hits"], &each["bytes"]),
            (&hits.into(), &bytes.into())
        );
        assert_eq!(each["share"], hits as f64 / lines as f64);
    }
}

#[test]
fn counts_are_right_whatever_the_log_comes_in() {
    let (log, counts) = log(20_000);
    let (one, other) = log.split_at(log.len() / 3);
    let all = ["--json", "--top", "99999"];
    let members = [gzip(one), gzip(other)].concat();
    for file in [log.as_bytes(), log.trim_end().as_bytes(), &members] {
        let answer = json(&over(file, &all));
        let bytes = if file == log.trim_end().as_bytes() {
            file.len()
        } else {
            log.len()
        };
        check(&answer, 20_000, bytes, &counts);
    }
}

#[test]
#[cfg(feature = "zstd")]
fn zstandard_says_what_it_is() {
    // `printf 'h - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 5\n'`, as one raw block.
    let line = b"h - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 5\n";
    let mut file = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, line.len() as u8];
    let block = 1 | (line.len() as u32) << 3;
    file.extend(&block.to_le_bytes()[..3]);
    file.extend(line);
    let answer = json(&over(&file, &["--json"]));
    assert_eq!(answer["paths"][0]["path"], "/a", "{answer}");
    assert_eq!(answer["bytes"], line.len());
}

#[test]
fn several_files_and_the_standard_input_are_one() {
    let (log, counts) = log(5_000);
    let end = log[..log.len() / 2].rfind('\n').unwrap() + 1;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log.1.gz");
    std::fs::write(&path, gzip(&log[..end])).unwrap();
    let rest = folder.path().join("rest");
    std::fs::write(&rest, &log[end..]).unwrap();

    let mut command = logtop(&["--json", "--top", "99999", path.to_str().unwrap(), "-"]);
    let output = command.stdin(File::open(&rest).unwrap()).output().unwrap();
    check(&json(&output), 5_000, log.len(), &counts);

    let mut command = logtop(&["--json", "--top", "99999"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(log.as_bytes())
        .unwrap();
    check(
        &json(&child.wait_with_output().unwrap()),
        5_000,
        log.len(),
        &counts,
    );
}

#[test]
fn people_get_a_table() {
    let line = |path: &str| {
        format!("h - - [10/Oct/2000:13:55:36 -0700] \"GET {path} HTTP/1.0\" 200 1500\n")
    };
    let log = [
        line("/a").repeat(1999),
        line("/b\x1b[2J?q"),
        line("/c").repeat(2),
    ]
    .concat();
    let output = over(log.as_bytes(), &["--top", "2"]);
    let lines: Vec<_> = text(&output).lines().collect();
    assert_eq!(
        lines[1].split_whitespace().collect::<Vec<_>>(),
        ["1,999", "99.85", "%", "2,998,500", "/a"]
    );
    assert!(lines[2].ends_with("/c") && lines[3].is_empty(), "{lines:?}");
    let totals = "2,002 lines, 124,130 bytes, 3,003,000 bytes sent, read in ";
    assert_eq!(log.len(), 124_130);
    assert!(
        lines[4].starts_with(totals) && lines[4].ends_with(" MB/s"),
        "{}",
        lines[4]
    );
    assert!(
        lines.len() == 5 && output.stderr.is_empty(),
        "no bar where there is no terminal: {output:?}"
    );
    let all = over(log.as_bytes(), &[]);
    assert!(text(&all).contains("/b\u{fffd}[2J\n"), "{all:?}");
}

#[test]
fn an_empty_log_has_no_paths() {
    let answer = json(&over(b"", &["--json"]));
    assert_eq!(
        (&answer["paths"], &answer["lines"]),
        (&Value::Array(vec![]), &0.into())
    );
}

#[test]
fn the_first_line_that_is_none_is_shown() {
    let (good, _) = log(10);
    let log = format!("{good}192.0.2.7 - - [yesterday]\n{good}\n");
    let output = over(log.as_bytes(), &[]);
    let text = text(&output);
    assert!(
        text.contains("\nno log lines: 2, of them longer than 524288 bytes: 0\n"),
        "{text}"
    );
    assert!(text.contains(", line 11:\n1:16: expected a time"), "{text}");
    assert!(
        text.ends_with("\n  192.0.2.7 - - [yesterday]\n                 ^\n"),
        "{text}"
    );
}

#[test]
fn a_line_without_end_is_left_out() {
    let (good, counts) = log(100);
    let long = format!(
        "192.0.2.7 - - [21/Nov/2026:02:07:00 +0000] \"GET /{}",
        "x".repeat(3_000_000)
    );
    for log in [format!("{good}{long}"), format!("{long}\n{good}")] {
        let answer = json(&over(log.as_bytes(), &["--json", "--top", "99999"]));
        assert_eq!(
            (&answer["lines"], &answer["bad_lines"]),
            (&101.into(), &1.into())
        );
        assert_eq!(answer["paths"].as_array().unwrap().len(), counts.len());
    }
}

#[test]
fn more_paths_than_it_remembers_take_no_more_memory() {
    let mut command = logtop(&["--json", "--top", "1", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let line =
        |path: &str| format!("h - - [10/Oct/2000:13:55:36 -0700] \"GET {path} HTTP/1.0\" 200 1\n");
    for n in 0..40_u32 {
        let log: String = (0..5_000)
            .map(|m| line("/often") + &line(&format!("/{n}/{m}")))
            .collect();
        input.write_all(log.as_bytes()).unwrap();
    }
    for n in 0..5_000 {
        input
            .write_all(line(&format!("/{n}{}", "x".repeat(8_000))).as_bytes())
            .unwrap();
    }
    let peak = peak_memory(child.id());
    drop(input);
    let answer = json(&child.wait_with_output().unwrap());
    assert_eq!(answer["lines"], 405_000);
    let first = &answer["paths"][0];
    assert_eq!(
        (&first["path"], &first["hits"], &first["may_miss"]),
        (&"/often".into(), &200_000.into(), &0.into())
    );
    assert!(answer["may_miss"].as_u64().unwrap() > 0, "{answer}");
    if let Some(peak) = peak {
        assert!(peak <= 20_000, "{peak} kB");
    }
}

/// The most memory that a process has had at once, in kB, where the system says so.
fn peak_memory(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (missing, torn) = (folder.path().join("none"), folder.path().join("torn.gz"));
    let (log, _) = log(5_000);
    let whole = gzip(&log);
    std::fs::write(&torn, &whole[..whole.len() / 2]).unwrap();
    let said = |path: &Path| {
        let output = logtop(&["--json"]).arg(path).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(
            error.starts_with(&format!("{}: ", path.display())),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1, "{error}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        (error, answer["lines"].as_u64().unwrap())
    };
    let (error, lines) = said(&missing);
    assert!(
        error.contains("No such file") && error.matches("none").count() == 1,
        "{error}"
    );
    assert_eq!(lines, 0);
    assert!(said(folder.path()).0.contains("directory"));
    let (error, lines) = said(&torn);
    assert!(
        error.contains("too early") && 1_000 < lines && lines < 4_000,
        "{lines}: {error}"
    );
}

#[test]
fn a_wrong_argument_is_answered_with_the_usage() {
    for wrong in [
        &["--fast"][..],
        &["--top"],
        &["--top", "many"],
        &["--top", "-1"],
        &["-x", "file"],
    ] {
        let output = logtop(wrong).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {error}");
        assert!(error.contains("\nusage: logtop "), "{error}");
    }
    let help = logtop(&["--help"]).output().unwrap();
    assert!(text(&help).starts_with("usage: "));
}

/// Both ends of a terminal: what a program is given, and what sees what it writes.
fn terminal() -> (OwnedFd, OwnedFd) {
    let controller = pty::openpt(pty::OpenptFlags::RDWR | pty::OpenptFlags::NOCTTY).unwrap();
    pty::grantpt(&controller).unwrap();
    pty::unlockpt(&controller).unwrap();
    let name = pty::ptsname(&controller, Vec::new()).unwrap();
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
    let user = rustix::fs::open(name, flags, rustix::fs::Mode::empty()).unwrap();
    (controller, user)
}

#[test]
fn ctrl_c_leaves_the_terminal_in_order() {
    let (controller, user) = terminal();
    let before = termios::tcgetattr(&user).unwrap();
    let mut command = logtop(&[]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .env("TERM", "xterm");
    command.stderr(user.as_fd().try_clone_to_owned().unwrap());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut seen = Vec::new();
    let mut controller = File::from(controller);
    // There is a bar, though nothing comes.
    while !String::from_utf8_lossy(&seen).contains("0 B") {
        let mut piece = [0; 1024];
        let read = controller.read(&mut piece).unwrap();
        seen.extend(&piece[..read]);
    }
    let begin = seen.len();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    // Its standard input is still open.
    assert_eq!(exit_code(&mut child), 130);
    let after = termios::tcgetattr(&user).unwrap();
    assert_eq!(format!("{before:?}"), format!("{after:?}"));
    rustix::io::write(&user, b"$ ").unwrap();
    while !seen.ends_with(b"$ ") {
        let mut piece = [0; 1024];
        let read = controller.read(&mut piece).unwrap();
        seen.extend(&piece[..read]);
    }
    let (all, end) = (
        String::from_utf8_lossy(&seen),
        String::from_utf8_lossy(&seen[begin..]),
    );
    let cleared = end
        .rfind("\x1b[2K")
        .expect("the line of the bar is cleared");
    assert!(!end[cleared..].contains("B/s"), "{end:?}");
    assert_eq!(
        all.matches("\x1b[?25l").count(),
        all.matches("\x1b[?25h").count(),
        "{all:?}"
    );
}

/// Waits for the end of a program, which is near.
fn exit_code(child: &mut std::process::Child) -> i32 {
    for _ in 0..3_000 {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    panic!("it does not end");
}
