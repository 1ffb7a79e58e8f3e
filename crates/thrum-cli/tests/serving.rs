//! A folder is served, and what is served where is said.

mod support;

use std::fs;

use support::{Running, connect, get, get_and_stay, run, serve, site, thrum};

#[test]
fn serves_a_folder_on_a_free_port_that_it_prints() {
    let site = site();
    let server = serve(site.path(), &[]);
    let addresses = server.addresses();
    assert_eq!(addresses.len(), 1);
    assert_ne!(addresses[0].port(), 0);

    let response = server.get("/");
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    assert!(response.ends_with("\r\n\r\nhello"), "{response}");
    assert!(server.get("/missing").starts_with("HTTP/1.1 404 "));

    let full = site.path().canonicalize().unwrap();
    assert!(
        server.stderr().contains(full.to_str().unwrap()),
        "{}",
        server.stderr()
    );
}

#[test]
fn serves_the_current_folder_by_default() {
    let site = site();
    let mut command = thrum(&["serve", "--listen", "0"]);
    command.current_dir(site.path());
    let server = Running::new(command);
    server.wait_for_stderr("Ctrl-C to stop");
    assert!(server.get("/").ends_with("hello"));
}

#[test]
fn listens_at_several_addresses() {
    let site = site();
    let server = serve(site.path(), &["--listen", "127.0.0.2:0", "--listen", "0"]);
    let addresses = server.addresses();
    assert_eq!(addresses.len(), 3, "{addresses:?}");
    for address in addresses {
        assert!(get(connect(address), "/").ends_with("hello"));
    }
}

#[test]
fn a_port_alone_is_all_addresses() {
    let site = site();
    let folder = site.path().to_str().unwrap();
    let server = Running::new(thrum(&["serve", folder, "--listen", ":0"]));
    server.wait_for_stderr("Ctrl-C to stop");
    let stderr = server.stderr();
    let port = stderr.split_once("http://localhost:").unwrap().1;
    let port: u16 = port.split_once('/').unwrap().0.parse().unwrap();
    assert!(get(connect(([127, 0, 0, 3], port).into()), "/").ends_with("hello"));
}

#[test]
fn index_and_listing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("start.html"), "started").unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    fs::write(folder.path().join("empty/some-file"), "").unwrap();

    let server = serve(folder.path(), &["--index", "start.html", "--listing"]);
    assert!(server.get("/").ends_with("started"));
    assert!(server.get("/empty/").contains("some-file"));

    let server = serve(
        folder.path(),
        &["--index", "home.html", "--index", "start.html"],
    );
    assert!(server.get("/").ends_with("started"));
    assert!(!server.get("/empty/").contains("some-file"));
}

#[test]
fn counts_on_exit() {
    let site = site();
    let server = serve(site.path(), &[]);
    let mut stream = server.connect();
    for _ in 0..3 {
        get_and_stay(&mut stream, "/", "hello");
    }
    server.get("/");
    let said = server.interrupted();
    assert_eq!(said.code(), Some(0), "{}", said.stderr);
    assert!(
        said.stderr
            .contains("Answered 4 requests on 2 connections in "),
        "{}",
        said.stderr
    );
}

#[test]
fn quiet_says_nothing() {
    let site = site();
    let folder = site.path().to_str().unwrap();
    // The port cannot be had from what it prints. One that was free a moment ago will do.
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let server = Running::new(thrum(&[
        "serve",
        folder,
        "-q",
        "--listen",
        &port.to_string(),
    ]));
    support::wait_until(
        "listener",
        || std::net::TcpStream::connect(port).is_ok(),
        String::new,
    );
    assert!(get(connect(port), "/").ends_with("hello"));
    let said = server.interrupted();
    assert_eq!(said.code(), Some(0));
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", ""));
}

#[test]
fn no_colours_where_there_is_no_terminal() {
    let site = site();
    let said = serve(site.path(), &[]).interrupted();
    assert!(!said.stderr.contains('\x1b'), "{}", said.stderr);

    let mut command = thrum(&["serve", site.path().to_str().unwrap(), "--listen", "0"]);
    let server = Running::new({
        command.env("CLICOLOR_FORCE", "1");
        command
    });
    server.wait_for_stderr("Ctrl-C to stop");
    assert!(server.stderr().contains("\x1b["));
}

#[test]
fn workers_by_flag_or_environment() {
    let site = site();
    let said = serve(site.path(), &["--workers", "1"]).interrupted();
    assert!(said.stderr.contains("1 worker,"), "{}", said.stderr);

    let mut command = thrum(&["serve", site.path().to_str().unwrap(), "--listen", "0"]);
    command.env("THRUM_WORKERS", "3");
    let server = Running::new(command);
    server.wait_for_stderr("3 workers,");
    assert!(server.get("/").ends_with("hello"));
}

#[test]
fn help_teaches() {
    let said = run(&["serve", "--help"]);
    assert_eq!(said.code(), Some(0));
    for needed in [
        "--listen",
        "--workers",
        "--log",
        "--index",
        "--listing",
        "--open",
        "--quiet",
        "Examples:",
        "THRUM_WORKERS",
        "127.0.0.1:8080",
    ] {
        assert!(
            said.stdout.contains(needed),
            "no {needed} in {}",
            said.stdout
        );
    }
    assert!(
        run(&["--help"])
            .stdout
            .contains("thrum serve public --open")
    );
    assert!(run(&["--version"]).stdout.starts_with("thrum "));
}

#[test]
fn no_arguments_is_help() {
    let said = run(&[]);
    assert_eq!(said.code(), Some(2));
    assert!(
        said.stderr.contains("Usage:") && said.stderr.contains("Examples:"),
        "{}",
        said.stderr
    );
}
