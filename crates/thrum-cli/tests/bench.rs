//! `thrum bench` against `thrum serve`: what it prints and writes, and how it ends.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{Running, Said, run, serve, site, thrum};

/// Runs `thrum bench` for 200 requests without a warm-up.
fn bench(server: &Running, path: &str, args: &[&str]) -> Said {
    let url = format!("http://{}{path}", server.addresses()[0]);
    let some = ["bench", url.as_str(), "-c", "4", "-n", "200", "-w", "0s"];
    run(&[&some[..], args].concat())
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn says_what_it_saw() {
    let site = site();
    let server = serve(site.path(), &[]);
    let said = bench(&server, "/", &[]);
    assert_eq!(said.code(), Some(0), "{}", said.stderr);
    for part in [
        "requests/s",
        "200 answered",
        "50 %",
        "200: 200",
        "none",
        "of CPU a request",
    ] {
        assert!(
            said.stdout.contains(part),
            "no {part:?} in: {}",
            said.stdout
        );
    }
    assert_eq!(said.stderr, "");
}

#[test]
fn writes_what_it_saw_for_machines() {
    let site = site();
    let server = serve(site.path(), &[]);
    let out = tempfile::tempdir().unwrap();
    let path = |name: &str| out.path().join(name);
    let names =
        ["a.json", "a.csv", "a.hdr", "a.html"].map(|name| path(name).to_str().unwrap().to_owned());
    let args = [
        "--json", &names[0], "--csv", &names[1], "--hdr", &names[2], "--report", &names[3],
        "--quiet",
    ];
    let said = bench(&server, "/", &args);
    assert_eq!(
        (said.code(), said.stdout.as_str()),
        (Some(0), ""),
        "{}",
        said.stderr
    );
    let results = json(&path("a.json"));
    assert_eq!(results["answered"], 200);
    assert!(results["figures"]["latency_ms"]["p50"].as_f64().unwrap() > 0.0);
    assert!(fs::read_to_string(path("a.csv")).unwrap().lines().count() >= 2);
    assert!(
        fs::read_to_string(path("a.hdr"))
            .unwrap()
            .starts_with("#[Logged with thrum")
    );
    assert!(fs::read_to_string(path("a.html")).unwrap().contains("<svg"));

    let said = run(&["bench", "compare", &names[0], &names[0], "--json"]);
    let comparison: Value = serde_json::from_str(&said.stdout).unwrap();
    let verdict = comparison["differences"][0]["verdict"].as_str().unwrap();
    assert!(["noise", "unknown"].contains(&verdict), "{comparison}");
    let said = bench(&server, "/", &["--json", "-"]);
    let results: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(results["statuses"]["200"], 200);
}

#[test]
fn two_targets_are_measured_in_turns() {
    let site = site();
    let (one, other) = (serve(site.path(), &[]), serve(site.path(), &[]));
    let against = format!("http://{}/", other.addresses()[0]);
    let said = bench(&one, "/", &["--against", &against, "--rounds", "3"]);
    assert_eq!(said.code(), Some(0), "{}", said.stderr);
    assert!(
        said.stdout.contains("3 rounds, made in turn"),
        "{}",
        said.stdout
    );
}

#[test]
fn lists_and_bodies_come_from_files() {
    let site = site();
    fs::write(site.path().join("other.html"), "other").unwrap();
    let server = serve(site.path(), &[]);
    let list = site.path().join("paths.txt");
    fs::write(
        &list,
        "# two that are there, one that is not\n/\nHEAD /other.html\n\n/missing # 404\n",
    )
    .unwrap();
    let said = bench(
        &server,
        "/",
        &["--urls", list.to_str().unwrap(), "--json", "-"],
    );
    let results: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(
        (&results["statuses"]["200"], &results["statuses"]["404"]),
        (&134.into(), &66.into())
    );
    assert_eq!(results["errors"]["status"], 66);

    fs::write(&list, "/\nGET /a b c\n").unwrap();
    let said = bench(&server, "/", &["--urls", list.to_str().unwrap()]);
    said.expect(1, &["paths.txt:2: a line is `[METHOD] PATH-or-URL`"]);
}

#[test]
fn a_budget_decides_on_the_exit_code() {
    let site = site();
    let server = serve(site.path(), &[]);
    let held = bench(&server, "/", &["--budget", "p99=10s,errors=0"]);
    assert_eq!(held.code(), Some(0), "{}", held.stderr);
    let broken = bench(&server, "/missing", &["--budget", "errors=1%"]);
    assert_eq!(broken.code(), Some(3), "{}", broken.stderr);
    assert!(broken.stderr.contains("errors"), "{}", broken.stderr);
    let mistaken = bench(&server, "/", &["--budget", "p99=5ms,erors=0"]);
    mistaken.expect(2, &["erors", "errors"]);
}

#[test]
fn ctrl_c_ends_it_and_it_reports() {
    let site = site();
    let server = serve(site.path(), &[]);
    let url = format!("http://{}/", server.addresses()[0]);
    let mut command = thrum(&["bench", &url, "-d", "10m", "-w", "0s", "--csv", "-"]);
    command.env("THRUM_LOG", "info");
    let bench = Running::new(command);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let said = bench.interrupted();
    assert_eq!(said.code(), Some(0), "{}", said.stderr);
    assert!(said.stdout.lines().count() >= 2, "{}", said.stdout);
}

#[test]
fn mistakes_are_explained() {
    run(&["bench"]).expect(2, &["<URL>"]);
    run(&["bench", "ftp://localhost/"]).expect(1, &["http://, https://, ws://, wss:// or tcp://"]);
    run(&["bench", "http://localhost/", "--burst", "2", "-p", "2"])
        .expect(1, &["--burst and --in-flight"]);
    run(&["bench", "http://localhost/", "--num-conns", "100"])
        .expect(2, &["httperf's", "--requests 100"]);
    run(&["bench", "http://localhost/", "-r", "fast"]).expect(2, &["100..2000"]);
    run(&["bench", "compare", "no.json", "no.json"]).expect(1, &["no.json cannot be read"]);
    let said = run(&["bench", "http://127.0.0.1:9/", "-d", "100ms", "-w", "0s"]);
    assert_eq!(said.code(), Some(1));
    assert!(said.stdout.contains("connect"), "{}", said.stdout);
}
