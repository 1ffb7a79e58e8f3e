//! What is written in a configuration is what is run.

use crate::support::*;

#[test]
fn routes_of_programs() {
    let programs = Programs::new()
        .shell("env.sh", "printf 'Content-Type: text/plain\\n\\n'; echo \"$GREETING $REQUEST_METHOD $QUERY_STRING $SCRIPT_NAME\"")
        .shell("local", "cat > /dev/null; printf 'Location: /cgi-bin/env.sh?from=local\\n\\n'")
        .shell("away", "printf 'Location: /nowhere\\n\\n'")
        .shell("circle", "printf 'Location: /cgi-bin/circle\\n\\n'")
        .shell("start", "printf 'Content-Type: text/plain\\n\\nstart'");
    let folder = programs.path("");
    let routes = format!(
        "/cgi-bin/ => {0} {{ env GREETING \"good day\"; timeout 20s; index start }}\n\
         /one => {0}/env.sh",
        folder.display()
    );
    serve_config(&routes, |address| {
        let text = |target: &str| get(address, target).text().trim().to_owned();
        assert_eq!(text("/cgi-bin/env.sh?a"), "good day GET a /cgi-bin/env.sh");
        assert_eq!(text("/cgi-bin/"), "start");
        assert_eq!(text("/one?b"), "GET b /one");
        // The other path is asked for with GET, and without the body.
        let head = "POST /cgi-bin/local HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n";
        let response = ask(address, head, b"abc");
        assert_eq!(response.status, 200);
        assert_eq!(
            response.text().trim(),
            "good day GET from=local /cgi-bin/env.sh"
        );
        assert_eq!(get(address, "/cgi-bin/away").status, 404);
        assert_eq!(get(address, "/cgi-bin/circle").status, 500);
    });
}

#[test]
fn mistakes() {
    let programs = Programs::new().file("text", "", 0o644);
    let file = programs.path("text");
    for (routes, expected) in [
        ("/a/ => /nowhere/at/all", "cannot run /nowhere/at/all"),
        (&format!("/a/ => {}", file.display()), "may not be run"),
        ("/a/ => /bin/sh { env A=B c }", "no name of a variable"),
        (
            "/a/ fastcgi :9000 { index x.php }",
            "no scripts without a root",
        ),
        (
            "/a/ fastcgi :9000 { root /nowhere/at/all }",
            "/nowhere/at/all",
        ),
    ] {
        let found = problems(routes);
        assert!(
            found.len() == 1 && found[0].contains(expected),
            "{routes}: {found:?}"
        );
    }
}
