//! Guards, redirects and rewrites as they are written.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{Method, Request, Response};
use thrum_http::Body;

use super::testing::{get, text};
use crate::config::Config;
use crate::site::{App, Endpoint, Kept, Sites, TABLES};

/// What a configuration serves.
struct Served {
    app: App,
}

impl Served {
    fn new(text: &str) -> Self {
        Self::reloaded(text, &Kept::default())
    }

    fn reloaded(text: &str, kept: &Kept) -> Self {
        let config = Config::parse(text, &TABLES).unwrap_or_else(|report| panic!("{report}"));
        let sites = Sites::build(&config, kept);
        let sites = sites.unwrap_or_else(|problems| panic!("{problems:#?}"));
        Self {
            app: App::new(sites),
        }
    }

    async fn ask(&self, path: &str, fields: &[(&str, &str)]) -> Response<Body> {
        self.send(Method::GET, path, fields).await
    }

    async fn send(&self, method: Method, path: &str, fields: &[(&str, &str)]) -> Response<Body> {
        let mut request: Request<Body> = get(fields);
        *request.uri_mut() = path.parse().unwrap();
        *request.method_mut() = method;
        self.app
            .at(Endpoint::Port(8080))
            .answer(request)
            .response()
            .await
    }
}

/// What is wrong with a line of a route's block.
fn mistakes(line: &str) -> Vec<String> {
    let text = format!(":8080 {{\n/ respond 200 x {{\n{line}\n}}\n}}\n");
    let problems = match Config::parse(&text, &TABLES) {
        Err(report) => report.problems().to_vec(),
        Ok(config) => Sites::build(&config, &Kept::default())
            .err()
            .unwrap_or_default(),
    };
    problems
        .into_iter()
        .map(|problem| problem.message)
        .collect()
}

fn basic(text: &str) -> String {
    format!("Basic {}", STANDARD.encode(text))
}

fn user_file(folder: &Path) -> String {
    let path = folder.join("users");
    let hash = bcrypt::hash("rab:bit", 4).unwrap();
    std::fs::write(&path, format!("alice:{hash}\n")).unwrap();
    path.display().to_string()
}

#[test]
fn a_site_asks_for_users_and_a_route_need_not() {
    let folder = tempfile::tempdir().unwrap();
    let users = user_file(folder.path());
    thrum_rt::block_on(async {
        let served = Served::new(&format!(
            ":8080 {{
                auth-basic \"the wiki\" {users} {{ remember off }}
                header set x-by thrum
                /public respond 200 open {{ auth-basic off }}
                /old/{{id}} rewrite /new/{{id}}
                /new/ respond 200 new
            }}"
        ));
        assert_eq!(text(served.ask("/public", &[]).await).await, "open");
        let right = basic("alice:rab:bit");
        let right = [("authorization", right.as_str())];
        // What is there, what is not, and what leads elsewhere: nobody can tell.
        for path in ["/new/1", "/nothing", "/old/1"] {
            let refused = served.ask(path, &[]).await;
            assert_eq!(refused.status(), 401, "{path}");
            assert_eq!(
                refused.headers()["www-authenticate"],
                "Basic realm=\"the wiki\", charset=\"UTF-8\""
            );
            assert_eq!(refused.headers()["x-by"], "thrum");
        }
        assert_eq!(served.ask("/nothing", &right).await.status(), 404);
        // The rewrite goes on although its guard had to wait.
        assert_eq!(text(served.ask("/old/1", &right).await).await, "new");
    });
}

#[test]
fn rewrites_go_on_and_in_circles_they_end() {
    thrum_rt::block_on(async {
        let served = Served::new(
            ":8080 {
                /a/{id} rewrite /b/{id}
                /b/{id} rewrite /c?id={id}
                /a/{*rest} << /gone/{rest} 302
                /c respond 200 c
                / rewrite /a/
            }",
        );
        assert_eq!(text(served.ask("/a/7", &[]).await).await, "c");
        let led = served.ask("/a/x/y?z", &[]).await;
        assert_eq!(
            (led.status().as_u16(), &led.headers()["location"]),
            (302, &"/gone/x/y".parse().unwrap())
        );
        // Routes before the rewrite are behind it.
        assert_eq!(served.ask("/else", &[]).await.status(), 404);
        assert_eq!(served.ask("/a/%2e%2e%2f..%2Fx/y", &[]).await.status(), 400);
    });
}

#[test]
fn limits_outlive_a_reload() {
    let kept = Kept::default();
    let config = ":8080 {
        limit-rate 2/h { by header x-key }
        /a respond 200 a
        /b respond 200 b { limit-rate 1/h { by header x-key; name b } }
        /c respond 200 c { limit-rate 1/h { by header x-key; name b } }
    }";
    thrum_rt::block_on(async {
        let served = Served::reloaded(config, &kept);
        let key = [("x-key", "1")];
        assert_eq!(served.ask("/a", &key).await.status(), 200);
        assert_eq!(served.ask("/b", &key).await.status(), 200);
        assert_eq!(
            served.ask("/c", &key).await.status(),
            429,
            "one limit for both"
        );
        let again = Served::reloaded(config, &kept);
        assert_eq!(
            again.ask("/nothing", &key).await.status(),
            404,
            "the site's limit is for all of it"
        );
        let refused = again.ask("/a", &key).await;
        assert_eq!(refused.status(), 429);
        assert!(refused.headers().contains_key("retry-after"));
        assert_eq!(again.ask("/b", &key).await.status(), 429);
        assert_eq!(again.ask("/a", &[("x-key", "2")]).await.status(), 200);
    });
}

#[test]
fn proxies_are_believed_when_they_are_trusted() {
    thrum_rt::block_on(async {
        let site = ":8080 {\n allow 192.0.2.0/24\n security-headers basic\n / respond 200 x\n}\n";
        let fields = [
            ("x-forwarded-for", "192.0.2.7"),
            ("x-forwarded-proto", "https"),
        ];
        // The tests' requests have no connection: they are like those over a Unix socket.
        let served = Served::new(&format!("trust-proxy 10.0.0.0/8\n{site}"));
        let response = served.ask("/", &fields).await;
        assert_eq!(response.status(), 200);
        assert!(response.headers().contains_key("strict-transport-security"));
        let served = Served::new(site);
        assert_eq!(served.ask("/", &fields).await.status(), 403);
    });
}

#[test]
fn preflights_need_no_user() {
    let folder = tempfile::tempdir().unwrap();
    let users = user_file(folder.path());
    thrum_rt::block_on(async {
        let served = Served::new(&format!(
            ":8080 {{
                / respond 200 x {{
                    auth-basic r {users}
                    cors https://app.example.com {{ methods GET PUT; headers content-type; credentials on; max-age 1d }}
                    max-body 1k
                }}
            }}"
        ));
        let asked = [
            ("origin", "https://app.example.com"),
            ("access-control-request-method", "PUT"),
        ];
        let preflight = served.send(Method::OPTIONS, "/", &asked).await;
        assert_eq!(preflight.status(), 204);
        assert_eq!(
            preflight.headers()["access-control-allow-methods"],
            "GET, PUT"
        );
        assert_eq!(preflight.headers()["access-control-max-age"], "86400");
        let refused = served.ask("/", &asked[..1]).await;
        assert_eq!(refused.status(), 401);
        assert_eq!(
            refused.headers()["access-control-allow-origin"],
            "https://app.example.com"
        );
    });
}

#[test]
fn mistakes_are_found_beforehand() {
    for (line, said) in [
        ("auth-basic wiki", "the file of users is missing"),
        ("auth-basic wiki no/such", "no/such cannot be used"),
        ("auth-jwt no/such", "no/such cannot be used"),
        ("cors example.com", "\"example.com\" is not an origin"),
        (
            "cors * { credentials on }",
            "scripts of all sites would act for the user",
        ),
        (
            "header set content-length 3",
            "content-length says where a message ends",
        ),
        ("header set x-a", "the value of x-a is missing"),
        ("header remove x-a b", "all fields of a name are removed"),
        (
            "limit-rate 10/s { by header }",
            "the header's name is missing",
        ),
    ] {
        let found = mistakes(line);
        assert!(
            found.len() == 1 && found[0].contains(said),
            "{line}: {found:?}"
        );
    }
    for fine in [
        "header remove x-a",
        "cors off",
        "auth-jwt off",
        "limit-concurrency 0",
        "max-body off",
        "security-headers off",
    ] {
        assert_eq!(mistakes(fine), [""; 0], "{fine}");
    }
    let redirect = "https://example.com { /a/{id} << //evil.example/{id} }";
    let config = Config::parse(
        &redirect.replace("{ /", "{\n/").replace(" }", "\n}"),
        &TABLES,
    )
    .unwrap();
    let problems = Sites::build(&config, &Kept::default()).err().unwrap();
    assert!(
        problems[0]
            .message
            .contains("another host without a scheme"),
        "{problems:?}"
    );
}
