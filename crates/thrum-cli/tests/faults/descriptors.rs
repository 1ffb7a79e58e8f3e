//! No descriptor is left for the next connection.

use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::place::Place;
use crate::support::{PATIENCE, Running, connect, get_and_stay, wait_for};

#[test]
fn a_server_without_descriptors_rests_and_goes_on_later() {
    exhaust(256, 400);
}

/// It takes as many descriptors itself, and a few seconds.
#[test]
#[ignore = "takes 20,000 descriptors here and there"]
fn twenty_thousand_descriptors_are_used_up() {
    let limit = getrlimit(Resource::Nofile);
    let all = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, all).unwrap();
    // The clients are this process's.
    let mine = limit.maximum.unwrap_or(u64::MAX).min(21_000) as usize;
    exhaust((mine - 1_000).min(20_000), mine - 200);
}

/// More clients come, and stay, than a server has descriptors.
fn exhaust(limit: usize, clients: usize) {
    let place = Place::new("");
    let www = place.folder.path().join("www");
    std::fs::create_dir(&www).unwrap();
    std::fs::write(www.join("known.txt"), "known").unwrap();
    std::fs::write(www.join("other.txt"), "other").unwrap();
    place.write("127.0.0.1:0 {\n / -> www\n}\n");
    let server = limited(&place, limit);
    let address = server.addresses()[0];
    let mut first = connect(address);
    get_and_stay(&mut first, "/known.txt", "known");

    let start = Instant::now();
    let held: Vec<_> = (0..clients).map(|_| open(address)).collect();
    wait_for("the end of its descriptors", || {
        server.stderr().contains("cannot accept connections")
    });
    let came = start.elapsed();

    // It has nothing to do, and says so now and then.
    let (said, cpu) = (complaints(&server), cpu_time(&place));
    thread::sleep(Duration::from_secs(1));
    let cpu = cpu_time(&place) - cpu;
    let said = complaints(&server) - said;
    eprintln!(
        "{clients} clients came within {came:?} to a server of {limit} descriptors; in the second after that it took {cpu:?} of \
         CPU and said {said} times that it cannot accept"
    );
    assert!(cpu < Duration::from_millis(300), "it spins: {cpu:?}");
    assert!(said <= 3, "{}", server.stderr());

    // Who is in is served, files that were not asked for before too.
    get_and_stay(&mut first, "/known.txt", "known");
    get_and_stay(&mut first, "/other.txt", "other");

    let start = Instant::now();
    drop(held);
    get_and_stay(&mut open(address), "/known.txt", "known");
    let back = start.elapsed();
    get_and_stay(&mut first, "/known.txt", "known");
    eprintln!("{back:?} after they have left, somebody new is served");
    assert!(back < PATIENCE / 2, "{back:?}");
    assert_eq!(place.tell("stop").code(), Some(0));
    let said = server.ended();
    assert_eq!(said.code(), Some(0), "{}", said.stderr);
}

/// A server with so many descriptors.
fn limited(place: &Place, limit: usize) -> Running {
    let run = place.command(&[]);
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -n $0 && exec \"$@\"", &limit.to_string()])
        .arg(run.get_program())
        .args(run.get_args())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let server = Running::new(command);
    server.wait_for_stderr("Ctrl-C to stop");
    server
}

/// A connection, which may have to wait for others to be taken.
fn open(address: SocketAddr) -> TcpStream {
    let start = Instant::now();
    loop {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                return stream;
            }
            Err(error) if start.elapsed() > PATIENCE => panic!("{error}"),
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
}

fn complaints(server: &Running) -> usize {
    server.stderr().matches("cannot accept connections").count()
}

/// What the process has computed, in its own name and in the kernel's.
fn cpu_time(place: &Place) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", place.pid())).unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1;
    let ticks = after_name.split_whitespace().skip(11).take(2);
    let ticks: u32 = ticks.map(|ticks| ticks.parse::<u32>().unwrap()).sum();
    Duration::from_millis(10) * ticks
}
