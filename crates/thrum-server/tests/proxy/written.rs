//! What may be written, and what is said of what may not.

use thrum_server::site::Kept;

use super::support::sites;

fn wrong(route: &str) -> String {
    match sites(route, &Kept::default()) {
        Ok(_) => panic!("{route} is well"),
        Err(why) => why,
    }
}

#[test]
fn mistakes_are_named() {
    for (route, expected) in [
        (
            "/ >> ftp://a",
            "the scheme ftp is none of http, https and h2c",
        ),
        ("/ >> a:b", "\"a:b\" is no HOST:PORT"),
        ("/ >> unix:app", "a Unix socket is written unix:/PATH"),
        (
            "/ >> a:1 { weight b:1 2 }",
            "b:1 is none of the route's upstreams",
        ),
        (
            "/ >> a:1 { balance cookie }",
            "the name of the cookie is missing",
        ),
        (
            "/ >> a:1 { balance client x }",
            "client is not followed by a name",
        ),
        ("/ >> a:1 { host a@b }", "a@b is no host"),
        (
            "/ >> a:1 { request-header set X-A }",
            "the value of x-a is missing",
        ),
        (
            "/ >> a:1 { request-header set X-A \"{id}\" }",
            "the route's path has no {id}",
        ),
        (
            "/ >> a:1 { request-header remove Host }",
            "host is not for a rule to change",
        ),
        (
            "/ >> a:1 { health ok }",
            "ok is no path: it begins with no /",
        ),
        ("/ >> a:1 { limit 0 }", "`0` is not a number that fits here"),
        ("/ >> a:1 { timeout 10 }", "`10` is not"),
    ] {
        let said = wrong(route);
        assert!(said.contains(expected), "{route}: {said}");
    }
}

#[test]
fn all_of_it_can_be_written() {
    let all = "/api/{id} >> 127.0.0.1:3000 http://b.example:81/x/ h2c://c:1 unix:/run/d {
        balance header X-User
        weight h2c://c:1 5
        limit 200; queue 10; queue-timeout 1s
        connect-timeout 1s; timeout 10s; idle-timeout 30s; tunnel-timeout 10m
        fails 5; for 30s
        health /healthz { every 1s; timeout 500ms; expect 200 204; fails 1; passes 2; host h }
        retries 1; retry-time 2s; retry-budget 10
        host upstream; forwarded rfc; via off
        request-header set X-Id \"{id}\"
        request-header remove Cookie
        buffer on; buffer-size 64KiB
        keep-alive 10; keep-alive-timeout 4s; connection-age 1m
        tls-name n
    }";
    sites(all, &Kept::default()).unwrap();
}
