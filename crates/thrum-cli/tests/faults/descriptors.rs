//! No descriptor is left for the next connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};

use crate::support::place::Place;
use crate::support::{PATIENCE, Running, connect, get_and_stay, wait_for};

#[test]
fn more_clients_than_descriptors_are_told_so() {
    crowd(256, 400);
}

#[test]
fn a_server_without_descriptors_rests_and_goes_on_later() {
    exhaust(200, 400);
}

/// It takes as many descriptors itself, and some seconds.
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
    let mine = limit.maximum.unwrap_or(u64::MAX).min(22_000) as usize - 500;
    crowd(mine.min(20_000) as u64, mine);
    // Fewer than it would tell that they are too many.
    exhaust(mine as u64 / 2, mine / 2 + 500);
}

/// More clients come, and stay, than a server has descriptors for.
fn crowd(limit: u64, clients: usize) {
    let place = site();
    let server = limited(&place, limit);
    let address = server.addresses()[0];
    let mut first = connect(address);
    get_and_stay(&mut first, "/known.txt", "known");

    let start = Instant::now();
    let mut held: Vec<_> = (0..clients).map(|_| open(address)).collect();
    let came = start.elapsed();
    wait_for("the word that they are too many", || {
        held.iter().any(is_told)
    });

    let cpu = cpu_in_a_second(&place);
    let told = held.iter().filter(|stream| is_told(stream)).count();
    eprintln!(
        "{clients} clients came within {came:?} to a server of {limit} descriptors, and {told} of them were told that they are too \
         many; in the second after that it took {cpu:?} of CPU"
    );
    assert!(cpu < Duration::from_millis(300), "it spins: {cpu:?}");
    // Who is in is served, files that were not asked for before too.
    get_and_stay(&mut first, "/known.txt", "known");
    get_and_stay(&mut first, "/other.txt", "other");
    get_and_stay(&mut held[clients / 4], "/known.txt", "known");
    leave(held, first, address);
    ends_well(&place, server);
}

/// The descriptors are gone, whatever they were used for.
fn exhaust(limit: u64, clients: usize) {
    let place = site();
    let server = place.run(&[]);
    let address = server.addresses()[0];
    let mut first = connect(address);
    get_and_stay(&mut first, "/known.txt", "known");
    let lower = Rlimit {
        current: Some(limit),
        maximum: Some(limit),
    };
    prlimit(Pid::from_raw(place.pid()), Resource::Nofile, lower).unwrap();

    let start = Instant::now();
    let held: Vec<_> = (0..clients).map(|_| open(address)).collect();
    wait_for("the end of its descriptors", || complaints(&server) > 0);
    let came = start.elapsed();

    // It has nothing to do, and says so now and then.
    let said = complaints(&server);
    let cpu = cpu_in_a_second(&place);
    let said = complaints(&server) - said;
    eprintln!(
        "{clients} clients came within {came:?} to a server whose descriptors end at {limit}; in the second after that it took \
         {cpu:?} of CPU and said {said} times that it cannot accept"
    );
    assert!(cpu < Duration::from_millis(300), "it spins: {cpu:?}");
    assert!(said <= 3, "{}", server.stderr());
    get_and_stay(&mut first, "/known.txt", "known");
    leave(held, first, address);
    ends_well(&place, server);
}

/// Whether a client was told that there are too many.
fn is_told(stream: &TcpStream) -> bool {
    let mut told = [0; 12];
    stream.set_nonblocking(true).unwrap();
    let read = stream.peek(&mut told);
    stream.set_nonblocking(false).unwrap();
    read.is_ok_and(|read| told[..read] == *b"HTTP/1.1 503")
}

fn site() -> Place {
    let place = Place::new("");
    let www = place.folder.path().join("www");
    std::fs::create_dir(&www).unwrap();
    std::fs::write(www.join("known.txt"), "known").unwrap();
    std::fs::write(www.join("other.txt"), "other").unwrap();
    place.write("127.0.0.1:0 {\n / -> www\n}\n");
    // However long it takes until all have come, none is sent away for having said nothing.
    let text = std::fs::read_to_string(place.config()).unwrap();
    let text = text.replace("last-call 1s", "last-call 1s; idle 10m");
    std::fs::write(place.config(), text).unwrap();
    place
}

/// The clients leave, and another one comes.
fn leave(held: Vec<TcpStream>, mut first: TcpStream, address: SocketAddr) {
    let start = Instant::now();
    drop(held);
    wait_for("an answer to somebody new", || {
        // There may be no room yet.
        let mut stream = open(address);
        let _ = stream.write_all(b"GET /known.txt HTTP/1.0\r\n\r\n");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer.ends_with(b"known")
    });
    let back = start.elapsed();
    eprintln!("{back:?} after they have left, somebody new is served");
    assert!(back < PATIENCE / 2, "{back:?}");
    get_and_stay(&mut first, "/known.txt", "known");
}

fn ends_well(place: &Place, server: Running) {
    assert_eq!(place.tell("stop").code(), Some(0));
    let said = server.ended();
    assert_eq!(said.code(), Some(0), "{}", said.stderr);
    assert!(!said.stderr.contains("panicked"), "{}", said.stderr);
}

/// A server with so many descriptors.
fn limited(place: &Place, limit: u64) -> Running {
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

/// What the process computes in a second from now.
fn cpu_in_a_second(place: &Place) -> Duration {
    let before = cpu_time(place);
    thread::sleep(Duration::from_secs(1));
    cpu_time(place) - before
}

/// What the process has computed, in its own name and in the kernel's.
fn cpu_time(place: &Place) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", place.pid())).unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1;
    let ticks = after_name.split_whitespace().skip(11).take(2);
    let ticks: u32 = ticks.map(|ticks| ticks.parse::<u32>().unwrap()).sum();
    Duration::from_millis(10) * ticks
}
