//! `git http-backend` behind the server, and a git that clones from it and pushes to it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use thrum_server::cgi::Cgi;

use crate::support::*;

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(folder)
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.com",
            "-c",
            "protocol.version=2",
        ])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "git {arguments:?}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

fn backend() -> Option<PathBuf> {
    let output = Command::new("git").arg("--exec-path").output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    Some(path.join("git-http-backend")).filter(|path| path.exists())
}

#[test]
fn clone_and_push() {
    let Some(backend) = backend() else {
        return skipped("git over CGI", "git");
    };
    let folder = tempfile::tempdir().unwrap();
    let served = folder.path().join("served");
    let work = folder.path().join("work");
    std::fs::create_dir_all(served.join("a.git")).unwrap();
    std::fs::create_dir_all(&work).unwrap();
    git(
        &served.join("a.git"),
        &["init", "-q", "--bare", "-b", "main"],
    );
    git(
        &served.join("a.git"),
        &["config", "http.receivepack", "true"],
    );
    let cgi = Cgi::new(backend)
        .unwrap()
        .env("GIT_PROJECT_ROOT", served.to_str().unwrap())
        .env("GIT_HTTP_EXPORT_ALL", "1");
    serve_at("/git/", cgi, |address: SocketAddr| {
        let url = format!("http://{address}/git/a.git");
        git(&work, &["clone", "-q", &url, "one"]);
        let one = work.join("one");
        // Larger than http.postBuffer, so that it is pushed in chunks; random, so that it stays so.
        let mut seed = 1_u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 56) as u8
        })
        .take(3_000_000)
        .collect();
        std::fs::write(one.join("noise"), &noise).unwrap();
        std::fs::write(one.join("text"), "hello\n").unwrap();
        git(&one, &["add", "."]);
        git(&one, &["commit", "-q", "-m", "first"]);
        git(&one, &["push", "-q", "origin", "HEAD:main"]);

        git(&work, &["clone", "-q", "-b", "main", &url, "two"]);
        let two = work.join("two");
        assert_eq!(std::fs::read(two.join("noise")).unwrap(), noise);
        std::fs::write(two.join("text"), "changed\n").unwrap();
        git(&two, &["commit", "-q", "-a", "-m", "second"]);
        git(&two, &["push", "-q", "origin", "HEAD:main"]);
        git(&one, &["pull", "-q", "origin", "main"]);
        assert_eq!(
            std::fs::read_to_string(one.join("text")).unwrap(),
            "changed\n"
        );
        assert_eq!(git(&one, &["log", "--format=%s", "-1"]), "second\n");

        // What is not there is a 404 of the program's.
        assert_eq!(get(address, "/git/b.git/info/refs").status, 404);
    });
}
