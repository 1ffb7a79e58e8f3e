//! A configuration with logs, numbers and health, served: what a request leaves behind, and where.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use thrum_http::Server;
use thrum_rt::net::TcpListener;
use thrum_server::config::Config;
use thrum_server::metrics::{Readiness, Registry, State};
use thrum_server::observe::Watcher;
use thrum_server::site::{App, Kept, Sites, TABLES};

/// Serves a configuration, whose one endpoint must be port 1, at a free port.
fn served(text: &str, test: impl FnOnce(&dyn Fn(&str, &str) -> String, &Kept, &App)) {
    let kept = Kept::default();
    let sites = built(text, &kept);
    let watcher: Arc<Watcher> = kept.get("", Watcher::default);
    let registry: Arc<Registry> = kept.get("", Registry::default);
    let server = watcher.watch(Server::new(), &registry);
    thrum_rt::block_on(async {
        let endpoint = sites.endpoints().next().unwrap().0.clone();
        let app = App::new(sites);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (serving, at) = (server.clone(), app.at(endpoint));
        thrum_rt::spawn(async move { serving.serve(listener, at).await });
        test(&|host, path| get(address, host, path), &kept, &app);
        server.shutdown(Duration::from_secs(5)).await;
    });
    watcher.close_logs();
}

fn built(text: &str, kept: &Kept) -> Sites {
    let config = Config::parse(text, &TABLES).unwrap_or_else(|report| panic!("{report:?}"));
    Sites::build(&config, kept).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn get(address: SocketAddr, host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    let _ = stream.read_to_string(&mut response);
    response
}

/// Sorted, as those of different threads are in no order.
fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(
            begin.elapsed() < Duration::from_secs(10),
            "{what} did not happen"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn each_request_is_in_the_log_of_its_route_site_or_server() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = format!(
        "log {all} \"{{site}} {{route}} {{target}} {{status}}\"
        http://a:1, http://www.a:1 {{
            log {a} json
            log {more} \"{{route}} {{status}}\"
            /x health
            /dir/ health
            /quiet health {{ log off }}
        }}
        http://b:1 {{
            /y health
        }}\n",
        all = at("all").display(),
        a = at("a").display(),
        more = at("more").display(),
    );
    served(&text, |get, _, _| {
        for (host, path, status) in [
            ("a", "/x", 200),
            ("www.a", "/x", 200),
            ("a", "/none", 404),
            ("a", "/dir", 301),
            ("a", "/quiet", 200),
            ("b", "/y", 200),
            ("b", "/none", 404),
            ("nobody", "/", 421),
        ] {
            let answer = get(host, path);
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{host} {path}: {answer}"
            );
        }
    });
    assert_eq!(
        lines(&at("all")),
        [
            "- - / 421",
            "http://b:1 - /none 404",
            "http://b:1 /y /y 200"
        ]
    );
    assert_eq!(lines(&at("more")), ["- 301", "- 404", "/x 200", "/x 200"]);
    let json = lines(&at("a"));
    assert_eq!(json.len(), 4);
    let first: serde_json::Value = serde_json::from_str(&json[0]).unwrap();
    assert_eq!(first["site"], "http://a:1");
    assert_eq!(
        (&first["client"], &first["host"]),
        (&"127.0.0.1".into(), &"a".into())
    );
}

#[test]
fn numbers_health_and_history() {
    let text = "http://a:1 {\n/metrics metrics\n/healthz health\n/readyz ready\n}\n";
    served(text, |get, kept, _| {
        assert!(get("a", "/healthz").ends_with("\r\n\r\nok\n"));
        let not_ready = get("a", "/readyz");
        assert!(not_ready.starts_with("HTTP/1.1 503 "), "{not_ready}");
        assert!(
            not_ready.ends_with("\r\n\r\nthe server is starting\n"),
            "{not_ready}"
        );
        let readiness: Arc<Readiness> = kept.get("", Readiness::default);
        readiness.set(State::Ready);
        assert!(get("a", "/readyz").ends_with("\r\n\r\nready\n"));
        assert!(get("a", "/none").starts_with("HTTP/1.1 404 "));

        let page = get("a", "/metrics");
        let series = |route: &str, class: &str| {
            format!(
                "thrum_http_requests_total{{site=\"http://a:1\",route=\"{route}\",class=\"{class}\"}} "
            )
        };
        for (line, value) in [
            (series("/healthz", "2xx"), "1"),
            (series("/readyz", "2xx"), "1"),
            (series("/readyz", "5xx"), "1"),
            (series("", "4xx"), "1"),
            ("thrum_http_connections_accepted_total ".to_owned(), "5"),
        ] {
            assert!(
                page.lines().any(|found| found == format!("{line}{value}")),
                "{line}{value} in\n{page}"
            );
        }
        assert!(
            page.contains("\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n"),
            "{page}"
        );
        assert!(page.contains("\nthrum_runtime_hand_offs_total "), "{page}");

        let watcher: Arc<Watcher> = kept.get("", Watcher::default);
        wait_until("a second with requests", || {
            get("a", "/healthz");
            let seconds = watcher.history().since(0);
            seconds
                .iter()
                .any(|second| second.classes[1] > 0 && !second.top.is_empty())
        });
    });
}

#[test]
fn upstreams_caches_stores_and_guards_are_in_the_numbers() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("page.txt"), "page").unwrap();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = nobody.local_addr().unwrap();
    drop(nobody);
    let folder = folder.path().display();
    let text = format!(
        "store memory\n\
         http://a:1 {{\n\
         /metrics metrics\n\
         /notes/ kv notes\n\
         /closed/ respond 200 hello {{ deny 127.0.0.0/8 }}\n\
         /kept/ respond 200 hello {{ cache on {{ fresh 1m }} }}\n\
         /up/ >> {upstream}\n\
         / -> {folder}\n}}\n"
    );
    served(&text, |get, _, _| {
        for path in [
            "/notes/x",
            "/closed/",
            "/kept/",
            "/kept/",
            "/up/",
            "/page.txt",
            "/page.txt",
        ] {
            get("a", path);
        }
        let page = get("a", "/metrics");
        let up = format!("{{upstream=\"http://{upstream}\"}}");
        let files = format!("{{name=\"{folder}\"}}");
        for line in [
            format!("thrum_upstream_up{up} "),
            format!("thrum_upstream_requests_total{up} 1"),
            format!("thrum_upstream_failures_total{up} 1"),
            format!("thrum_file_cache_paths{files} 1"),
            format!(
                "thrum_cache_requests_total{{cache=\"files\",name=\"{folder}\",result=\"hit\"}} 1"
            ),
            "thrum_cache_requests_total{cache=\"responses\",name=\"memory\",result=\"hit\"} 1"
                .to_owned(),
            "thrum_response_cache_requests_total{name=\"memory\",result=\"fresh\"} 1".to_owned(),
            "thrum_response_cache_requests_total{name=\"memory\",result=\"miss\"} 1".to_owned(),
            "thrum_response_cache_stored_total{name=\"memory\"} 1".to_owned(),
            "thrum_store_operations_total{store=\"default\",operation=\"get\",result=\"ok\"} 1"
                .to_owned(),
            // Other tests of this process may have been refused as well.
            "thrum_guard_refused_requests_total{guard=\"allow/deny\"} ".to_owned(),
        ] {
            assert!(
                page.lines().any(|found| found.starts_with(&line)),
                "no {line} in\n{page}"
            );
        }
    });
}

/// A file of a log goes on over a reload, and counters do not begin again.
#[test]
fn over_a_reload() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let text = |route: &str| {
        format!(
            "http://a:1 {{\nlog {} common\n{route} health\n}}\n",
            path.display()
        )
    };
    served(&text("/x"), |get, kept, app| {
        get("a", "/x");
        app.swap(built(&text("/y"), kept));
        kept.sweep();
        get("a", "/y");
        assert!(get("a", "/x").starts_with("HTTP/1.1 404 "));
        let registry: Arc<Registry> = kept.get("", Registry::default);
        let page = registry.prometheus();
        assert!(page.contains("route=\"/x\",class=\"2xx\"} 1\n"), "{page}");
        assert!(page.contains("route=\"/y\",class=\"2xx\"} 1\n"), "{page}");
        let watcher: Arc<Watcher> = kept.get("", Watcher::default);
        watcher.reopen_logs();
    });
    let mut statuses: Vec<_> = lines(&path)
        .iter()
        .map(|line| line.rsplit(' ').nth(1).unwrap().to_owned())
        .collect();
    statuses.sort_unstable();
    assert_eq!(statuses, ["200", "200", "404"]);
}
