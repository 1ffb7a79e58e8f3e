//! What is wrong is said plainly, with what to do about it and the right exit code.

mod support;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use support::{Running, Said, run, site, thrum_at};

/// Runs it and expects an error of this exit code that says all of these.
#[track_caller]
fn fails(args: &[&str], code: i32, needed: &[&str]) {
    let said = run(args);
    for needed in needed {
        assert!(
            said.stderr.contains(needed),
            "no {needed:?} in: {}",
            said.stderr
        );
    }
    assert_eq!(said.code(), Some(code), "{}", said.stderr);
    assert_eq!(said.stdout, "");
}

#[test]
fn missing_folder() {
    fails(
        &["serve", "no/such"],
        1,
        &["error: there is no folder no/such", "help: "],
    );
}

#[test]
fn a_file_instead_of_a_folder() {
    let site = site();
    let file = site.path().join("index.html");
    let help = format!("thrum serve {}", site.path().display());
    fails(
        &["serve", file.to_str().unwrap()],
        1,
        &["is a file, not a folder", &help],
    );
}

#[test]
fn a_folder_that_may_not_be_read() {
    let site = site();
    fs::set_permissions(site.path(), fs::Permissions::from_mode(0o000)).unwrap();
    let said = run_as_nobody(&["serve", site.path().to_str().unwrap(), "--listen", "0"]);
    fs::set_permissions(site.path(), fs::Permissions::from_mode(0o700)).unwrap();
    said.expect(1, &["may not be read by you", "ls -ld"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_port_that_is_not_allowed() {
    let first_allowed =
        fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start").unwrap();
    if first_allowed.trim() == "0" {
        return; // Here every port is allowed.
    }
    let site = site();
    fs::set_permissions(site.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let said = run_as_nobody(&[
        "serve",
        site.path().to_str().unwrap(),
        "--listen",
        "127.0.0.1:80",
    ]);
    said.expect(
        1,
        &[
            "you may not listen at port 80",
            "--listen 127.0.0.1:8080",
            "setcap",
        ],
    );
}

/// Runs it without the rights that root has, for whom nothing is forbidden.
fn run_as_nobody(args: &[&str]) -> Said {
    const NOBODY: u32 = 65534;
    if !rustix::process::geteuid().is_root() {
        return run(args);
    }
    // The build folder may be root's alone.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("thrum");
    fs::copy(env!("CARGO_BIN_EXE_thrum"), &program).unwrap();
    let mut command = thrum_at(&program, args);
    command.uid(NOBODY).gid(NOBODY).current_dir("/");
    Running::new(command).ended()
}

#[test]
fn taken_port() {
    let site = site();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let port = format!("port {} is taken by another program", address.port());
    fails(
        &[
            "serve",
            site.path().to_str().unwrap(),
            "--listen",
            &address.to_string(),
        ],
        1,
        &[&port, "--listen 127.0.0.1:0"],
    );
}

#[test]
fn address_of_another_machine() {
    let site = site();
    fails(
        &[
            "serve",
            site.path().to_str().unwrap(),
            "--listen",
            "192.0.2.200:8080",
        ],
        1,
        &[
            "does not have the address of 192.0.2.200:8080",
            "--listen :8080",
        ],
    );
}

#[test]
fn log_file_that_cannot_be_opened() {
    let site = site();
    let folder = site.path().to_str().unwrap();
    let log = format!("{folder}/no/such/access.log");
    let help = format!("mkdir -p {folder}/no/such");
    let error = format!("the access log {log} cannot be written: no such file or directory");
    fails(
        &["serve", folder, "--listen", "0", "--log", &log],
        1,
        &[&error, &help],
    );
    fails(
        &["serve", folder, "--listen", "0", "--log", folder],
        1,
        &["cannot be written: is a directory"],
    );
}

#[test]
fn wrong_command_lines() {
    fails(&["sreve"], 2, &["unrecognized subcommand 'sreve'", "serve"]);
    fails(
        &["serve", "--lisen", "80"],
        2,
        &["unexpected argument '--lisen'", "--listen"],
    );
    fails(
        &["serve", "--listen", "localhost"],
        2,
        &["did you mean localhost:8080?"],
    );
    fails(
        &["serve", "--listen", "http://localhost:80/"],
        2,
        &["that is a URL"],
    );
    fails(&["serve", "--workers", "0"], 2, &["--workers"]);
}

#[test]
fn a_folder_without_the_word_serve() {
    let site = site();
    let folder = site.path().to_str().unwrap();
    let help = format!("to serve a folder: thrum serve {folder}");
    fails(&[folder], 2, &[&help]);
}
