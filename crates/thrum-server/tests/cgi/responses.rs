//! What becomes of what programs write.

use std::io::Write;

use crate::support::*;

#[test]
fn documents_and_redirects() {
    let programs = Programs::new()
        .shell("plain", "printf 'Content-Type: text/plain\\n\\nHello'")
        .shell(
            "status",
            "printf 'Status: 404 Nowhere\\r\\nContent-Type: text/plain\\r\\n\\r\\nno'",
        )
        .shell("client", "printf 'Location: https://example.org/\\n\\n'")
        .shell(
            "cookie",
            "printf 'Location: /other\\nSet-Cookie: a=b\\nSet-Cookie: c=d\\n\\n'",
        )
        .shell(
            "length",
            "printf 'Content-Type: text/plain\\nContent-Length: 5\\n\\nHello, world'",
        )
        .shell(
            "slowly",
            "printf 'Content-Ty'; sleep 0.05; printf 'pe: a/b\\n'; sleep 0.05; printf '\\nx'",
        )
        .shell("nothing", "printf 'Status: 204\\n\\n'")
        .shell(
            "nph-all",
            "printf 'HTTP/1.1 402 Pay\\r\\nContent-Type: a/b\\r\\nX-A: b\\r\\n\\r\\nall'",
        );
    serve(programs.cgi(), |address| {
        let get = |name: &str| {
            let response = get(address, &format!("/cgi-bin/{name}"));
            assert!(!response.cut, "{name}: {response:?}");
            response
        };
        let response = get("plain");
        assert_eq!((response.status, response.text()), (200, "Hello"));
        assert_eq!(response.field("content-type"), Some("text/plain"));
        let response = get("status");
        assert_eq!((response.status, response.text()), (404, "no"));
        let response = get("client");
        assert_eq!(response.status, 302);
        assert_eq!(response.field("location"), Some("https://example.org/"));
        let response = get("cookie");
        assert_eq!((response.status, response.text()), (302, ""));
        assert_eq!(response.head.matches("set-cookie: ").count(), 2);
        let response = get("length");
        assert_eq!(
            (response.text(), response.field("content-length")),
            ("Hello", Some("5"))
        );
        let response = get("slowly");
        assert_eq!(
            (response.text(), response.field("content-type")),
            ("x", Some("a/b"))
        );
        assert_eq!(get("nothing").status, 204);
        let response = get("nph-all");
        assert_eq!((response.status, response.text()), (402, "all"));
        assert_eq!(response.field("x-a"), Some("b"));
    });
}

#[test]
fn what_goes_wrong() {
    let programs = Programs::new()
        .shell("silent", "exit 0")
        .shell("fails", "echo 'it is broken' >&2; exit 3")
        .shell("killed", "kill -SEGV $$")
        .shell("nonsense", "echo Hello")
        .shell("nothing", "printf '\\n\\nHello'")
        .shell(
            "late",
            "printf 'Content-Type: text/plain\\n\\npart'; exit 3",
        )
        .shell(
            "shot",
            "printf 'Content-Type: text/plain\\n\\npart'; kill -KILL $$",
        )
        .shell(
            "short",
            "printf 'Content-Type: text/plain\\nContent-Length: 9\\n\\npart'",
        )
        .shell(
            "longhead",
            "printf 'X: '; head -c 100000 /dev/zero | tr '\\0' x; printf '\\n\\n'",
        )
        .shell("nph-none", "printf 'Content-Type: text/plain\\n\\n'")
        .file("no-interpreter", "#!/nowhere/at/all\n", 0o755)
        .file("no-format", "\u{1}\u{2}", 0o755);
    serve(programs.cgi(), |address| {
        for name in [
            "silent",
            "fails",
            "killed",
            "nonsense",
            "nothing",
            "longhead",
            "nph-none",
            "no-interpreter",
            "no-format",
        ] {
            let response = get(address, &format!("/cgi-bin/{name}"));
            assert_eq!(response.status, 502, "{name}");
            assert!(!response.cut, "{name}");
        }
        for name in ["late", "shot", "short"] {
            let response = get(address, &format!("/cgi-bin/{name}"));
            assert_eq!((response.status, response.text()), (200, "part"), "{name}");
            assert!(response.cut, "{name}");
        }
    });
}

#[test]
fn nobody_wants_the_body_but_the_program_ends() {
    let script = "printf 'Content-Type: text/plain\\nContent-Length: 200004\\n\\n'; \
                  head -c 200000 /dev/zero; sleep 0.1; echo yes > done; printf 'end.'";
    let programs = Programs::new().shell("count", script);
    serve(programs.cgi(), |address| {
        let head = "HEAD /cgi-bin/count HTTP/1.1\r\nHost: x\r\n";
        let response = ask(address, head, b"");
        assert_eq!((response.status, response.body.len()), (200, 0));
        assert_eq!(response.field("content-length"), Some("200004"));
        assert_eq!(programs.written("done"), "yes\n");
        assert_eq!(get(address, "/cgi-bin/count").body.len(), 200_004);
    });
}

#[test]
fn a_connection_goes_on() {
    let programs = Programs::new().shell("plain", "printf 'Content-Type: text/plain\\n\\nHello'");
    serve(programs.cgi(), |address| {
        let mut stream = connect(address);
        let one = "GET /cgi-bin/plain HTTP/1.1\r\nHost: x\r\n\r\n";
        let last = "GET /cgi-bin/plain HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        stream
            .write_all(format!("{one}{one}{last}").as_bytes())
            .unwrap();
        let mut all = String::new();
        std::io::Read::read_to_string(&mut stream, &mut all).unwrap();
        assert_eq!(all.matches("HTTP/1.1 200 OK").count(), 3);
        assert_eq!(all.matches("Hello").count(), 3);
    });
}

/// The examples that people try first are in C.
#[test]
fn a_program_in_c() {
    let source = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) {\n\
                  printf(\"Content-Type: text/plain\\r\\n\\r\\n%s\", getenv(\"QUERY_STRING\")); return 0; }\n";
    let programs = Programs::new().file("hello.c", source, 0o644);
    let compiled = std::process::Command::new("cc")
        .args([
            "-o".into(),
            programs.path("hello"),
            programs.path("hello.c"),
        ])
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        return skipped("CGI in C", "cc");
    }
    serve(programs.cgi(), |address| {
        for n in 0..50 {
            assert_eq!(
                get(address, &format!("/cgi-bin/hello?{n}")).text(),
                n.to_string()
            );
        }
    });
}
