//! Child processes: their ends are noticed, their pipes flow, none is left as a zombie.

use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use futures_lite::AsyncReadExt;
use thrum_rt::process::{Command, Stdio};
use thrum_rt::signal::SignalKind;
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{block_on, spawn};

const SECONDS: Duration = Duration::from_secs(20);

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

/// Waits until the process is gone, not merely a zombie.
async fn gone(pid: u32) {
    let deadline = Instant::now() + SECONDS;
    let process = std::path::PathBuf::from(format!("/proc/{pid}"));
    while process.exists() {
        assert!(Instant::now() < deadline, "process {pid} is still there");
        sleep(Duration::from_millis(5)).await;
    }
}

#[test]
fn the_end_is_noticed() {
    block_on(async {
        let mut child = shell("sleep 0.1; exit 7").spawn().unwrap();
        assert_eq!(child.try_wait().unwrap(), None);
        let early = timeout(Duration::from_millis(1), child.wait()).await;
        assert!(early.is_err());
        let status = timeout(SECONDS, child.wait()).await.unwrap().unwrap();
        assert_eq!(status.code(), Some(7));
        assert_eq!(child.wait().await.unwrap(), status, "again the same");
        assert_eq!(child.try_wait().unwrap(), Some(status));
    });
}

#[test]
fn many_children_at_once() {
    block_on(async {
        let children: Vec<_> = (0..20)
            .map(|code| {
                spawn(async move {
                    let status = shell(&format!("exit {code}")).status().await.unwrap();
                    assert_eq!(status.code(), Some(code));
                })
            })
            .collect();
        for child in children {
            timeout(SECONDS, child).await.unwrap().unwrap();
        }
    });
}

#[test]
fn standard_streams_flow() {
    block_on(async {
        let mut child = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // More than the two pipes hold.
        let sent: Vec<u8> = (0..500_000u32).map(|index| (index % 251) as u8).collect();
        let expected = sent.clone();
        let stdin = child.stdin.take().unwrap();
        let writer = spawn(async move { stdin.write_all(&sent).await });
        let mut received = Vec::new();
        let mut stdout = child.stdout.take().unwrap();
        let read = timeout(SECONDS, stdout.read_to_end(&mut received)).await;
        read.unwrap().unwrap();
        writer.await.unwrap().unwrap();
        assert!(received == expected);
        assert!(child.wait().await.unwrap().success());
    });
}

#[test]
fn waiting_closes_what_the_child_reads() {
    block_on(async {
        let mut child = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let status = timeout(SECONDS, child.wait()).await;
        assert!(status.unwrap().unwrap().success());
    });
}

#[test]
fn output_of_both_kinds_is_taken_up_to_a_limit() {
    block_on(async {
        let script = "printf out; printf err >&2; exit 1";
        let output = shell(script).output(3).await.unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(
            (&output.stdout[..], &output.stderr[..]),
            (&b"out"[..], &b"err"[..])
        );
        let error = shell(script).output(2).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        // Neither pipe may fill up while the other is read.
        let script = "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero";
        let output = timeout(SECONDS, shell(script).output(300_000)).await;
        let output = output.unwrap().unwrap();
        assert_eq!(
            (output.stdout.len(), output.stderr.len()),
            (300_000, 300_000)
        );
    });
}

#[test]
fn the_environment_is_as_told() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let output = shell("echo $0 $ANSWER $LEFT_OUT; pwd")
            .arg0("other")
            .args(["name"])
            .env("ANSWER", "42")
            .env("LEFT_OUT", "x")
            .env_remove("LEFT_OUT")
            .current_dir(&folder)
            .process_group(0)
            .output(4096)
            .await
            .unwrap();
        let expected = format!("name 42\n{}\n", folder.display());
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    });
}

#[test]
fn a_program_that_does_not_exist() {
    block_on(async {
        let error = Command::new("/nowhere/at/all").spawn().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    });
}

#[test]
fn signals_and_kill() {
    block_on(async {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        child.signal(SignalKind::Terminate).unwrap();
        let status = timeout(SECONDS, child.wait()).await.unwrap().unwrap();
        assert_eq!(status.signal(), Some(15));
        child.kill().unwrap();
        assert!(
            child.signal(SignalKind::Terminate).is_err(),
            "it is no more"
        );

        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        child.kill().unwrap();
        let status = timeout(SECONDS, child.wait()).await.unwrap().unwrap();
        assert_eq!(status.signal(), Some(9));
    });
}

#[test]
fn a_dropped_child_runs_on_and_is_reaped() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let child = shell("sleep 0.1; echo done > \"$MARK\"")
            .env("MARK", &mark)
            .spawn()
            .unwrap();
        let pid = child.id();
        drop(child);
        gone(pid).await;
        assert_eq!(std::fs::read(&mark).unwrap(), b"done\n");
    });
}

#[test]
fn a_dropped_child_is_killed_if_so_told() {
    block_on(async {
        let mut command = Command::new("sleep");
        let child = command.arg("1000").kill_on_drop(true).spawn().unwrap();
        let pid = child.id();
        drop(child);
        gone(pid).await;
    });
}

#[test]
fn children_left_by_a_runtime_are_reaped_later() {
    let child = block_on(async { shell("sleep 0.1").spawn().unwrap() });
    let pid = child.id();
    drop(child);
    block_on(async {
        sleep(Duration::from_millis(200)).await;
        // Whoever spawns next clears away what has ended.
        for _ in 0..50 {
            assert!(Command::new("true").status().await.unwrap().success());
            if !std::path::Path::new(&format!("/proc/{pid}")).exists() {
                return;
            }
            sleep(Duration::from_millis(100)).await;
        }
        panic!("process {pid} is still there");
    });
}

#[test]
fn a_group_ends_as_a_whole() {
    block_on(async {
        let leader = || {
            let mut command = shell("sleep 1000 & echo $!; exec sleep 1000");
            command.stdout(Stdio::piped()).process_group(0);
            command
        };
        let second = async |child: &mut thrum_rt::process::Child| {
            let mut buffer = [0; 32];
            let read = child.stdout.as_mut().unwrap().read(&mut buffer).await;
            let line = std::str::from_utf8(&buffer[..read.unwrap()]).unwrap();
            line.trim().parse::<u32>().unwrap()
        };

        let mut child = leader().spawn().unwrap();
        let other = second(&mut child).await;
        child.signal(SignalKind::Terminate).unwrap();
        timeout(SECONDS, child.ended()).await.unwrap().unwrap();
        timeout(SECONDS, child.ended()).await.unwrap().unwrap();
        assert!(
            std::path::Path::new(&format!("/proc/{other}")).exists(),
            "it is not the leader"
        );
        child.kill_group().unwrap();
        let status = timeout(SECONDS, child.wait()).await.unwrap().unwrap();
        assert_eq!(status.signal(), Some(15));
        gone(other).await;
        child.kill_group().unwrap();
        assert!(child.signal_group(SignalKind::Terminate).is_err());
        child.ended().await.unwrap();

        let mut child = leader().kill_on_drop(true).spawn().unwrap();
        let other = second(&mut child).await;
        drop(child);
        gone(other).await;
    });
}
