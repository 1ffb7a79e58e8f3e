//! A confined process sees its own folders, starts no programs, and so do its threads. No test harness: that would begin
//! threads first.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use thrum_server::process::Sandbox;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    std::fs::create_dir(&site).unwrap();
    std::fs::create_dir(folder.path().join("log")).unwrap();
    std::fs::write(site.join("page"), "hello").unwrap();
    // As /etc/shadow: this user may read it, and a server has no business to.
    let secret = folder.path().join("shadow");
    std::fs::write(&secret, "root:hash").unwrap();
    let log = folder.path().join("log/access.log");

    let mut sandbox = Sandbox::new();
    let sandbox = sandbox.read(&site).write_beside(&log);
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "root:hash");
    let confinement = sandbox.confine().unwrap();

    assert_eq!(std::fs::read_to_string(site.join("page")).unwrap(), "hello");
    std::fs::write(&log, "a line").unwrap();
    std::fs::rename(&log, log.with_extension("1")).unwrap();
    if confinement.files {
        sees_no_more(&site, &secret);
        let (site, secret) = (site.clone(), secret.clone());
        let thread = std::thread::spawn(move || sees_no_more(&site, &secret));
        thread.join().unwrap();
    } else {
        skipped("Landlock");
    }
    if confinement.system_calls {
        let refused = Command::new("/bin/true").spawn().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
    } else {
        skipped("seccomp");
    }
    println!("confined by {confinement}");
}

fn sees_no_more(site: &Path, secret: &Path) {
    let refused = |result: std::io::Result<()>| {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::PermissionDenied);
    };
    refused(std::fs::read_to_string(secret).map(drop));
    refused(std::fs::read_dir(secret.parent().unwrap()).map(drop));
    refused(std::fs::write(site.join("page"), "defaced"));
    refused(std::fs::remove_file(site.join("page")));
    refused(std::fs::write(secret.with_extension("new"), "more"));
}

/// Says that the kernel lacks something, which nothing but another kernel can change.
fn skipped(what: &str) {
    eprintln!("confined: left out: this kernel has no {what}");
}
