//! The standard streams, of this very program run again as a child.

use std::time::Duration;

use thrum_rt::io::{self, BufReader, Lines};
use thrum_rt::pipe::PipeReader;
use thrum_rt::process::{Child, Command, Stdio};
use thrum_rt::stdio::{stderr, stdin, stdout};
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{Runtime, block_on, spawn};

const SECONDS: Duration = Duration::from_secs(20);
const ROLE: &str = "THRUM_TEST_ROLE";

/// What the child does; run by the test harness it does nothing.
#[test]
fn child() {
    match std::env::var(ROLE).as_deref() {
        Ok("patient") => block_on(patient()),
        Ok("upper") => block_on(upper()),
        Ok("beside") => Runtime::builder()
            .workers(1)
            .build()
            .unwrap()
            .block_on(beside()),
        _ => {}
    }
}

fn start(role: &str, input: impl Into<Stdio>) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(ROLE, role)
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

type Output = Lines<BufReader<PipeReader>>;

fn output(child: &mut Child) -> Output {
    io::lines(BufReader::new(child.stdout.take().unwrap()), 1_000_000)
}

/// The rest of the next line that begins so. The test harness of the child writes lines of its own.
async fn line(lines: &mut Output, start: &str) -> String {
    let find = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            // The harness may have begun the line.
            if let Some(at) = line.find(start) {
                return line[at + start.len()..].to_owned();
            }
        }
        panic!("no line {start:?}");
    };
    timeout(SECONDS, find).await.expect("the child answers")
}

/// Gives up reading before anything comes, twice, then reads.
async fn patient() {
    let mut buffer = [0; 3];
    for _ in 0..2 {
        let early = timeout(Duration::from_millis(5), stdin().read(&mut buffer)).await;
        assert!(early.is_err());
    }
    stdout().write_all(b"ready: \n").await.unwrap();
    sleep(Duration::from_millis(50)).await;
    let mut all = Vec::new();
    loop {
        match stdin().read(&mut buffer).await.unwrap() {
            0 => break,
            read => all.extend_from_slice(&buffer[..read]),
        }
    }
    let all = String::from_utf8(all).unwrap();
    stdout()
        .write_all(format!("got: {all}\n").as_bytes())
        .await
        .unwrap();
}

#[test]
fn dropping_a_read_loses_no_byte() {
    block_on(async {
        let mut child = start("patient", Stdio::piped());
        let mut lines = output(&mut child);
        line(&mut lines, "ready: ").await;
        let stdin = child.stdin.take().unwrap();
        stdin.write_all(b"every byte").await.unwrap();
        sleep(Duration::from_millis(20)).await;
        stdin.write_all(b" of it").await.unwrap();
        drop(stdin);
        assert_eq!(line(&mut lines, "got: ").await, "every byte of it");
        assert!(child.wait().await.unwrap().success());
    });
}

/// Lines in capitals to both outputs.
async fn upper() {
    let mut lines = io::lines(BufReader::new(stdin()), 100);
    while let Some(line) = lines.next_line().await.unwrap() {
        let line = format!("line: {}\n", line.to_uppercase());
        stdout().write_all(line.as_bytes()).await.unwrap();
        stderr().write_all(line.as_bytes()).await.unwrap();
    }
    stdout().write_all(b"line: no line feed").await.unwrap();
    stdout().flush().await.unwrap();
}

#[test]
fn a_file_is_read_and_both_outputs_are_written() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("input");
        std::fs::write(&path, "one\ntwo").unwrap();
        let child = start("upper", std::fs::File::open(&path).unwrap());
        let output = timeout(SECONDS, child.wait_with_output(100_000)).await;
        let output = output.unwrap().unwrap();
        assert!(output.status.success());
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(
            stdout.contains("line: ONE\nline: TWO\nline: no line feed"),
            "{stdout}"
        );
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("line: ONE\nline: TWO\n"), "{stderr}");
    });
}

#[test]
fn no_input_at_all() {
    block_on(async {
        let child = start("upper", Stdio::null());
        let output = timeout(SECONDS, child.wait_with_output(100_000)).await;
        assert!(output.unwrap().unwrap().status.success());
    });
}

/// While the only worker's task waits for input, another task answers; then the process ends, with a read under way.
async fn beside() {
    let reading = spawn(async { stdin().read(&mut [0; 8]).await });
    sleep(Duration::from_millis(5)).await;
    for count in 0..3 {
        spawn(async move {
            let line = format!("count: {count}\n");
            stdout().write_all(line.as_bytes()).await.unwrap();
        })
        .await
        .unwrap();
    }
    assert!(!reading.is_finished());
}

#[test]
fn others_run_while_one_reads_and_the_process_ends() {
    block_on(async {
        let mut child = start("beside", Stdio::piped());
        let mut lines = output(&mut child);
        for count in 0..3 {
            assert_eq!(line(&mut lines, "count: ").await, count.to_string());
        }
        let _still_open = child.stdin.take();
        let status = timeout(SECONDS, child.wait()).await.expect("it ends");
        assert!(status.unwrap().success());
    });
}

#[test]
fn the_mode_of_a_shared_stream_is_left_alone() {
    block_on(async {
        // The pipe stays in blocking mode, as whoever shares them expects.
        let (reader, writer) = std::io::pipe().unwrap();
        let shared = reader.try_clone().unwrap();
        let mut child = start("patient", reader);
        let mut lines = output(&mut child);
        line(&mut lines, "ready: ").await;
        let flags = rustix::fs::fcntl_getfl(&shared).unwrap();
        assert!(!flags.contains(rustix::fs::OFlags::NONBLOCK));
        drop(writer);
        assert_eq!(line(&mut lines, "got: ").await, "");
        assert!(child.wait().await.unwrap().success());
    });
}

#[test]
fn a_stream_that_another_process_made_non_blocking_works() {
    block_on(async {
        let (reader, writer) = std::io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&reader, true).unwrap();
        let mut child = start("patient", reader);
        let mut lines = output(&mut child);
        line(&mut lines, "ready: ").await;
        std::io::Write::write_all(&mut &writer, b"bytes").unwrap();
        drop(writer);
        assert_eq!(line(&mut lines, "got: ").await, "bytes");
        assert!(child.wait().await.unwrap().success());
    });
}
