//! `thrum run` and the commands for it: reload, upgrade, retire, stop; the PID file; how it is confined.

mod support;

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use support::place::Place;
use support::{get, get_and_stay, run, wait_for};

fn answers(text: &str) -> String {
    format!("127.0.0.1:0 {{\n / respond 200 \"{text}\"\n}}\n")
}

fn is_gone(pid: i32) -> bool {
    test_kill_process(Pid::from_raw(pid).unwrap()).is_err()
}

fn page(address: SocketAddr) -> String {
    get(TcpStream::connect(address).unwrap(), "/")
}

#[test]
fn a_site_is_served_confined_until_the_process_is_stopped() {
    let place = Place::new(&answers("hello"));
    let server = place.run(&[]);
    assert!(server.get("/").ends_with("hello"), "{}", server.get("/"));
    assert!(
        server.stderr().contains("serves 1 site"),
        "{}",
        server.stderr()
    );
    let status = fs::read_to_string(format!("/proc/{}/status", place.pid())).unwrap();
    if server.stderr().contains("seccomp") {
        assert!(status.contains("Seccomp:\t2"), "{status}");
        assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    }
    assert_eq!(place.tell("stop").code(), Some(0));
    let said = server.ended();
    assert_eq!(said.code(), Some(0), "{}", said.stderr);
    assert!(said.stderr.contains("Answered "), "{}", said.stderr);
    assert_eq!(
        fs::read_dir(place.folder.path()).unwrap().count(),
        1,
        "only the configuration"
    );
}

#[test]
fn a_reload_changes_the_sites_and_keeps_sockets_and_connections() {
    let place = Place::new(&answers("before"));
    let server = place.run(&[]);
    let address = server.addresses()[0];
    let mut open = server.connect();
    get_and_stay(&mut open, "/", "before");
    place.write(&answers("after."));
    let said = place.tell("reload");
    assert_eq!(said.code(), Some(0), "{}", said.stderr);
    let words = format!("{}{}", said.stdout, said.stderr);
    assert!(
        words.contains("1 site") && !words.contains("1 sites"),
        "{words}"
    );
    get_and_stay(&mut open, "/", "after.");
    assert!(page(address).ends_with("after."));
    // Often, and at the same sockets.
    for _ in 0..5 {
        assert_eq!(place.tell("reload").code(), Some(0));
    }
    get_and_stay(&mut open, "/", "after.");
    assert_eq!(place.tell("stop").code(), Some(0));
    assert_eq!(server.ended().code(), Some(0));
}

#[test]
fn a_configuration_that_is_wrong_changes_nothing() {
    let place = Place::new(&answers("right"));
    let server = place.run(&[]);
    place.write("127.0.0.1:0 {\n / respont 200 \"wrong\"\n}\n");
    let said = place.tell("reload");
    assert_eq!(said.code(), Some(1));
    assert!(said.stderr.contains("respont"), "{}", said.stderr);
    // The process finds it too.
    server.signal(Signal::HUP);
    server.wait_for_stderr("the configuration is as it was");
    assert!(server.get("/").ends_with("right"));
    assert!(run(&["run", "--check", place.config().to_str().unwrap()]).code() == Some(1));
}

#[test]
fn a_file_that_changes_is_read_again() {
    let place = Place::new(&answers("before"));
    let text = fs::read_to_string(place.config()).unwrap();
    let text = text.replace("watch off", "watch 50ms");
    fs::write(place.config(), &text).unwrap();
    let server = place.run(&[]);
    fs::write(place.config(), text.replace("before", "after.")).unwrap();
    wait_for("the new page", || server.get("/").ends_with("after."));
    // What is wrong is not read again and again, and what is right then is.
    fs::write(place.config(), "what is this").unwrap();
    server.wait_for_stderr("the configuration is as it was");
    fs::write(place.config(), text.replace("before", "healed")).unwrap();
    wait_for("the healed page", || server.get("/").ends_with("healed"));
}

#[test]
fn an_upgrade_takes_the_sockets_and_lets_the_old_process_finish() {
    let place = Place::new(&answers("hello"));
    let mut server = place.run(&[]);
    let (address, old) = (server.addresses()[0], place.pid());
    let mut open = server.connect();
    get_and_stay(&mut open, "/", "hello");
    let said = place.tell("upgrade");
    assert_eq!(said.code(), Some(0), "{}", said.stderr);
    let new = place.pid();
    assert_ne!(new, old);
    // A request that was on its way is answered, and the connection then ends.
    write!(open, "GET / HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    let mut answer = String::new();
    open.read_to_string(&mut answer).unwrap();
    assert!(
        answer.ends_with("hello") && answer.contains("connection: close"),
        "{answer}"
    );
    wait_for("the end of the old process", || server.has_ended());
    assert!(page(address).ends_with("hello"));
    assert_eq!(place.tell("stop").code(), Some(0));
    wait_for("the end of the new process", || is_gone(new));
    // Only now, as the new process writes to where the old one did.
    assert_eq!(server.ended().code(), Some(0));
    assert!(!place.pid_file().exists());
}

#[test]
fn an_upgrade_that_fails_leaves_the_old_process_as_it_was() {
    let place = Place::new(&answers("hello"));
    let server = place.run(&[]);
    let pid = place.pid();
    // The new process finds the address taken; the old one does not look.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().map(|address| (taken, address)).unwrap();
    place.write(&format!("{} {{\n / respond 200 hello\n}}\n", taken.1));
    let said = place.tell("upgrade");
    assert_eq!(said.code(), Some(1));
    assert!(
        said.stderr.contains("the old one goes on"),
        "{}",
        said.stderr
    );
    assert_eq!(place.pid(), pid);
    assert!(server.get("/").ends_with("hello"));
    place.write(&answers("reloaded"));
    assert_eq!(place.tell("reload").code(), Some(0), "it takes commands");
    assert!(server.get("/").ends_with("reloaded"));
}

#[test]
fn without_a_sandbox_a_signal_upgrades() {
    let place = Place::new(&answers("hello"));
    let mut server = place.run(&["--no-sandbox"]);
    let (address, old) = (server.addresses()[0], place.pid());
    kill_process(Pid::from_raw(old).unwrap(), Signal::USR2).unwrap();
    wait_for("the new process", || place.pid() != old);
    wait_for("the end of the old process", || server.has_ended());
    assert!(page(address).ends_with("hello"));
    assert_eq!(place.tell("stop").code(), Some(0));
    assert_eq!(server.ended().code(), Some(0));
}

#[test]
fn who_retires_hears_out_who_is_connected() {
    let place = Place::new(&answers("hello"));
    let server = place.run(&[]);
    let mut open = server.connect();
    get_and_stay(&mut open, "/", "hello");
    assert_eq!(place.tell("retire").code(), Some(0));
    write!(open, "GET / HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    let mut answer = String::new();
    open.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("hello"), "{answer}");
    assert_eq!(server.ended().code(), Some(0));
}

#[test]
fn two_processes_do_not_hold_one_pid_file() {
    let place = Place::new(&answers("hello"));
    let server = place.run(&[]);
    let said = run(&["run", place.config().to_str().unwrap()]);
    said.expect(1, &[&format!("process {} runs already", place.pid())]);
    assert!(server.get("/").ends_with("hello"));
    assert_eq!(place.tell("stop").code(), Some(0));
    assert_eq!(server.ended().code(), Some(0));
    place.tell("stop").expect(1, &["no process runs"]);
}

#[test]
fn a_unix_socket_is_listened_on_and_removed() {
    let place = Place::new("");
    let socket = place.folder.path().join("web.sock");
    place.write(&format!(
        "unix:{} {{\n / respond 200 hello\n}}\n",
        socket.display()
    ));
    let server = place.run(&[]);
    let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    write!(stream, "GET / HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("hello"), "{answer}");
    assert_eq!(place.tell("stop").code(), Some(0));
    assert_eq!(server.ended().code(), Some(0));
    assert!(!socket.exists());
}

#[test]
fn a_user_is_dropped_to_once_the_ports_are_bound() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("only root can become somebody else");
    }
    let place = Place::new(&format!("user nobody\n{}", answers("hello")));
    let server = place.run(&[]);
    assert!(server.get("/").ends_with("hello"));
    let status = fs::read_to_string(format!("/proc/{}/status", place.pid())).unwrap();
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let ids: Vec<_> = ids.unwrap().split_whitespace().collect();
    assert!(ids.iter().all(|id| *id != "0"), "{ids:?}");
    assert_eq!(place.tell("stop").code(), Some(0));
    assert_eq!(server.ended().code(), Some(0));
}
