//! Programs that take too long, write too much, or are not wanted any more: they end, and so does what they started.

use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use crate::support::*;

const SHORT: Duration = Duration::from_millis(200);

#[test]
fn too_slow() {
    let programs = Programs::new()
        .shell(
            "sleeps",
            "echo $$ > leader; sleep 1000 & echo $! > other; wait",
        )
        .shell(
            "pauses",
            "printf 'Content-Type: text/plain\\n\\npart'; sleep 1000",
        )
        .shell(
            "goes-on",
            "printf 'Content-Type: text/plain\\n\\n'; while :; do echo x; sleep 0.02; done",
        );
    let cgi = programs.cgi().timeout(SHORT).idle_timeout(SHORT);
    let cgi = cgi.total_timeout(Some(Duration::from_secs(1)));
    serve(cgi, |address| {
        assert_eq!(get(address, "/cgi-bin/sleeps").status, 504);
        gone(&programs.written("leader"));
        gone(&programs.written("other"));
        let response = get(address, "/cgi-bin/pauses");
        assert_eq!(
            (response.status, response.text(), response.cut),
            (200, "part", true)
        );
        let response = get(address, "/cgi-bin/goes-on");
        assert!(response.cut && response.body.len() > 4, "{response:?}");
    });
}

#[test]
fn a_time_begins_anew_with_what_the_program_takes() {
    let script = "cat > /dev/null; printf 'Content-Type: text/plain\\n\\ndone'";
    let programs = Programs::new().shell("takes", script);
    let limit = Duration::from_secs(2);
    serve(programs.cgi().timeout(limit), |address| {
        let mut stream = connect(address);
        let head = "POST /cgi-bin/takes HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 30\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        let start = Instant::now();
        for _ in 0..30 {
            std::thread::sleep(Duration::from_millis(100));
            stream.write_all(b"x").unwrap();
        }
        assert!(start.elapsed() > limit);
        assert_eq!(read(stream).text(), "done");
    });
}

#[test]
fn who_does_not_listen_is_killed() {
    let script = "trap '' TERM; echo $$ > leader; sh -c 'trap \"\" TERM; echo $$ > other; sleep 1000'; sleep 1000";
    let programs = Programs::new().shell("stubborn", script);
    serve(programs.cgi().timeout(Duration::from_secs(1)), |address| {
        assert_eq!(get(address, "/cgi-bin/stubborn").status, 504);
        gone(&programs.written("leader"));
        gone(&programs.written("other"));
    });
}

#[test]
fn a_client_leaves() {
    let programs = Programs::new()
        .shell("before", "echo $$ > before.pid; exec sleep 1000")
        .shell(
            "middle",
            "printf 'Content-Type: text/plain\\n\\npart'; echo $$ > middle.pid; exec sleep 1000",
        )
        .shell(
            "writes",
            "echo $$ > writes.pid; printf 'Content-Type: text/plain\\n\\n'; exec cat /dev/zero",
        )
        .shell("reads", "echo $$ > reads.pid; exec cat > /dev/null");
    serve(programs.cgi(), |address| {
        for name in ["before", "middle", "writes", "reads"] {
            let mut stream = connect(address);
            let (method, more) = match name {
                "reads" => ("POST", "Content-Length: 10\r\n"),
                _ => ("GET", ""),
            };
            let head = format!("{method} /cgi-bin/{name} HTTP/1.1\r\nHost: x\r\n{more}\r\n");
            stream.write_all(head.as_bytes()).unwrap();
            let pid = programs.written(&format!("{name}.pid"));
            if name == "middle" || name == "writes" {
                let read = stream.read(&mut [0; 1000]).unwrap();
                assert!(read > 0);
            }
            drop(stream);
            eprintln!("{name} {pid}");
            gone(&pid);
        }
    });
}

#[test]
fn too_much() {
    let script = "echo $$ > pid; printf 'Content-Type: text/plain\\n\\n'; exec cat /dev/zero";
    let programs = Programs::new().shell("zeros", script);
    serve(programs.cgi().output(Some(1_000_000)), |address| {
        let response = get(address, "/cgi-bin/zeros");
        assert!(response.cut && response.body.len() <= 1_000_000);
        gone(&programs.written("pid"));
    });
}

#[test]
fn a_slow_client_slows_the_program_down() {
    let script = "printf 'Content-Type: text/plain\\n\\n'; dd if=/dev/zero bs=65536 count=1000 2>/dev/null; echo > done";
    let programs = Programs::new().shell("large", script);
    serve(programs.cgi(), |address| {
        let mut stream = connect(address);
        let head = "GET /cgi-bin/large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        stream.read_exact(&mut [0; 1000]).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        assert!(
            !programs.path("done").exists(),
            "65 MB are nowhere to be held"
        );
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        assert!(all.len() > 65_536_000);
    });
}

#[test]
fn only_so_many_at_once() {
    let script =
        "echo x >> started; while ! [ -e go ]; do sleep 0.02; done; printf 'Status: 204\\n\\n'";
    let programs = Programs::new().shell("waits", script);
    let one = NonZeroUsize::MIN;
    serve(programs.cgi().processes(one, 1, SECONDS), |address| {
        let ask = |stream: &mut std::net::TcpStream| {
            let head = "GET /cgi-bin/waits HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
            stream.write_all(head.as_bytes()).unwrap();
        };
        let mut first = connect(address);
        ask(&mut first);
        programs.written("started");
        // Of these one waits, and the others are one too many each.
        let mut others: Vec<_> = (0..3).map(|_| connect(address)).collect();
        others.iter_mut().for_each(ask);
        std::thread::sleep(Duration::from_millis(200));
        std::fs::write(programs.path("go"), "").unwrap();
        assert_eq!(read(first).status, 204);
        let mut statuses: Vec<_> = others.into_iter().map(|other| read(other).status).collect();
        statuses.sort();
        assert_eq!(statuses, [204, 503, 503]);
        assert_eq!(programs.written("started"), "x\nx\n");
    });
}

/// What it does after its answer is its own business.
#[test]
fn more_to_do_after_the_answer() {
    let script =
        "printf 'Content-Type: text/plain\\n\\nanswer'; exec >&-; sleep 2; echo yes > after";
    let programs = Programs::new().shell("works", script);
    serve(programs.cgi(), |address| {
        let response = get(address, "/cgi-bin/works");
        assert_eq!((response.text(), response.cut), ("answer", false));
        assert!(!programs.path("after").exists());
        assert_eq!(programs.written("after"), "yes\n");
    });
}
