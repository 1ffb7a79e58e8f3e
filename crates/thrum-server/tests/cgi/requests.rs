//! What programs learn of requests.

use std::collections::BTreeMap;

use crate::support::*;

const ENVIRONMENT: &str = "printf 'Content-Type: text/plain\\n\\n'; env";

fn variables(response: &Response) -> BTreeMap<String, String> {
    assert_eq!(response.status, 200, "{response:?}");
    let lines = response
        .text()
        .lines()
        .filter_map(|line| line.split_once('='));
    lines
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

#[test]
fn all_that_there_is_to_know() {
    let programs = Programs::new().shell("a b/env", ENVIRONMENT);
    let cgi = programs
        .cgi()
        .env("LANG", "C")
        .env("SERVER_SOFTWARE", "mine")
        .root("/srv/www");
    serve(cgi, |address| {
        let head = "POST /cgi-bin/a%20b/env/x%20y//z?q=%20&r HTTP/1.1\r\nHost: WWW.example.com:8080\r\n\
                    Content-Type: text/x\r\nContent-Length: 3\r\nCookie: a=b\r\nCookie: c=d\r\nX-Two: 1\r\n\
                    X-Two: 2\r\nProxy: evil\r\nX_Two: 3\r\nTE: trailers\r\nAuthorization: Basic eDp5\r\n\
                    User-Agent: test\r\n";
        let found = variables(&ask(address, head, b"abc"));
        let file = programs.path("a b/env");
        let folder = programs.path("a b");
        for (name, expected) in [
            ("CONTENT_LENGTH", "3"),
            ("CONTENT_TYPE", "text/x"),
            ("DOCUMENT_ROOT", "/srv/www"),
            ("GATEWAY_INTERFACE", "CGI/1.1"),
            ("HTTP_AUTHORIZATION", "Basic eDp5"),
            ("HTTP_COOKIE", "a=b; c=d"),
            ("HTTP_HOST", "WWW.example.com:8080"),
            ("HTTP_USER_AGENT", "test"),
            ("HTTP_X_TWO", "1, 2"),
            ("LANG", "C"),
            ("PATH_INFO", "/x y//z"),
            ("PATH_TRANSLATED", "/srv/www/x y//z"),
            ("PWD", folder.to_str().unwrap()),
            ("QUERY_STRING", "q=%20&r"),
            ("REDIRECT_STATUS", "200"),
            ("REMOTE_ADDR", "127.0.0.1"),
            ("REMOTE_HOST", "127.0.0.1"),
            ("REQUEST_METHOD", "POST"),
            ("REQUEST_SCHEME", "http"),
            ("REQUEST_URI", "/cgi-bin/a%20b/env/x%20y//z?q=%20&r"),
            ("SCRIPT_FILENAME", file.to_str().unwrap()),
            ("SCRIPT_NAME", "/cgi-bin/a b/env"),
            ("SERVER_ADDR", "127.0.0.1"),
            ("SERVER_NAME", "www.example.com"),
            ("SERVER_PORT", "8080"),
            ("SERVER_PROTOCOL", "HTTP/1.1"),
            ("SERVER_SOFTWARE", "mine"),
        ] {
            assert_eq!(
                found.get(name).map(String::as_str),
                Some(expected),
                "{name}"
            );
        }
        let known = ["PATH", "REMOTE_PORT", "SHLVL", "_", "OLDPWD"];
        let others: Vec<_> = found
            .keys()
            .filter(|name| !known.contains(&name.as_str()))
            .collect();
        assert_eq!(others.len(), 27, "nothing else is there: {others:?}");
        assert!(found["REMOTE_PORT"].parse::<u16>().is_ok());
    });
}

#[test]
fn who_has_been_authenticated() {
    let programs = Programs::new().shell("env", ENVIRONMENT);
    serve(programs.cgi(), |address| {
        let head = "GET /cgi-bin/env HTTP/1.0\r\nX-User: me\r\nAuthorization: Bearer secret\r\n";
        let found = variables(&ask(address, head, b""));
        assert_eq!(found["REMOTE_USER"], "me");
        assert_eq!(found["AUTH_TYPE"], "Bearer");
        assert!(!found.contains_key("HTTP_AUTHORIZATION"));
        // Without a Host there is the address.
        assert_eq!(found["SERVER_NAME"], "127.0.0.1");
        assert_eq!(found["SERVER_PORT"], address.port().to_string());
        assert_eq!(found["SERVER_PROTOCOL"], "HTTP/1.0");
        assert_eq!(found["QUERY_STRING"], "");
        for absent in [
            "CONTENT_LENGTH",
            "CONTENT_TYPE",
            "PATH_INFO",
            "PATH_TRANSLATED",
            "HTTPS",
        ] {
            assert!(!found.contains_key(absent), "{absent}");
        }
    });
}

#[test]
fn bodies_with_a_length_and_without() {
    let script = "printf 'Content-Type: text/plain\\n\\n'; echo \"${CONTENT_LENGTH-none}\"; wc -c";
    let programs = Programs::new().shell("count", script);
    let chunked = |bytes: usize| {
        let mut body = format!("{bytes:x}\r\n").into_bytes();
        body.resize(body.len() + bytes, b'x');
        body.extend_from_slice(b"\r\n0\r\n\r\n");
        body
    };
    let post = |address, field: &str, body: &[u8]| {
        let head = format!("POST /cgi-bin/count HTTP/1.1\r\nHost: x\r\n{field}\r\n");
        let response = ask(address, &head, body);
        assert!(!response.cut, "{response:?}");
        response
            .text()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    serve(programs.cgi().buffer(Some(1000)), |address| {
        assert_eq!(post(address, "Content-Length: 0", b""), "0 0");
        let large = vec![b'x'; 300_000];
        assert_eq!(
            post(address, "Content-Length: 300000", &large),
            "300000 300000"
        );
        let field = "Transfer-Encoding: chunked";
        assert_eq!(post(address, field, &chunked(1000)), "1000 1000");
        assert_eq!(post(address, field, &chunked(300_000)), "none 300000");
    });
    serve(programs.cgi().buffer(None), |address| {
        assert_eq!(
            post(address, "Transfer-Encoding: chunked", &chunked(5)),
            "none 5"
        );
    });
}

#[test]
fn a_program_reads_while_it_writes() {
    let programs = Programs::new()
        .shell("cat", "printf 'Content-Type: text/plain\\n\\n'; exec cat")
        .shell("deaf", "printf 'Content-Type: text/plain\\n\\ndeaf'");
    serve(programs.cgi(), |address| {
        // More than all the buffers on the way.
        let body: Vec<u8> = (0..8_000_000_u32).map(|n| (n % 251) as u8).collect();
        let head = format!(
            "POST /cgi-bin/cat HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n",
            body.len()
        );
        let response = ask(address, &head, &body);
        assert!(!response.cut && response.body == body);
        let head = "POST /cgi-bin/deaf HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n";
        assert_eq!(ask(address, head, &[b'x'; 100_000]).text(), "deaf");
    });
}

#[test]
fn folders() {
    let programs =
        Programs::new()
            .shell("sub/index.cgi", ENVIRONMENT)
            .file("sub/text", "no program", 0o644);
    serve(programs.cgi(), |address| {
        let found = variables(&get(address, "/cgi-bin/sub/?a"));
        assert_eq!(found["SCRIPT_NAME"], "/cgi-bin/sub/index.cgi");
        let response = get(address, "/cgi-bin/sub?a");
        assert_eq!(response.status, 301);
        assert_eq!(response.field("location"), Some("/cgi-bin/sub/?a"));
        assert_eq!(get(address, "/cgi-bin/").status, 404);
        assert_eq!(get(address, "/cgi-bin/sub/text").status, 403);
        assert_eq!(get(address, "/cgi-bin/sub/%2e%2e/sub/").status, 400);
    });
    let one = thrum_server::cgi::Cgi::new(programs.path("sub/index.cgi")).unwrap();
    serve_at("/app/", one, |address| {
        let found = variables(&get(address, "/app/x/y"));
        assert_eq!(
            (found["SCRIPT_NAME"].as_str(), found["PATH_INFO"].as_str()),
            ("/app", "/x/y")
        );
    });
}
