//! Content in the store, by HTTP.

use std::sync::Arc;

use tempfile::tempdir;
use thrum_http::{Body, Request};
use thrum_server::kv::{Kv, Write};
use thrum_server::store::{Memory, Store};

use super::site::{Answered, ask, serve};

const SITE: &str = "\
store memory
:8080 {
    /data/ kv things { write anyone; listing on; max-content 1KiB }
    /read/ kv things
    /mine/ kv mine { write on }
}
";

#[test]
fn put_and_get_and_delete() {
    thrum_rt::block_on(async {
        let site = serve(SITE).unwrap();
        let none = ask(&site, "GET", "/data/a/b", &[], "").await;
        assert_eq!(none.status, 404);
        let css = [("content-type", "text/css")];
        let created = ask(&site, "PUT", "/data/a/b", &css, "p{}").await;
        assert_eq!(created.status, 201);
        let tag = created.field("etag").to_owned();
        assert!(tag.starts_with('"') && tag.len() == 18, "{tag}");

        let got = ask(&site, "GET", "/data/a/b", &[], "").await;
        assert_eq!((got.status.as_u16(), got.text()), (200, "p{}"));
        assert_eq!(got.field("content-type"), "text/css");
        assert_eq!(got.field("etag"), tag);
        assert_eq!(got.field("last-modified"), created.field("last-modified"));
        assert_eq!(got.field("x-content-type-options"), "nosniff");
        // The same content at another path, which does not write.
        let read = ask(&site, "GET", "/read/a/b", &[], "").await;
        assert_eq!(read.text(), "p{}");
        let refused = ask(&site, "PUT", "/read/a/b", &[], "x").await;
        assert_eq!(
            (refused.status.as_u16(), refused.field("allow")),
            (405, "GET, HEAD, OPTIONS")
        );
        // The path is decoded, once.
        assert_eq!(ask(&site, "GET", "/data/%61/b", &[], "").await.status, 200);
        assert_eq!(
            ask(&site, "GET", "/data/a/%2562", &[], "").await.status,
            404
        );

        let replaced = ask(&site, "PUT", "/data/a/b", &[], "2").await;
        assert_eq!(replaced.status, 204);
        assert_ne!(replaced.field("etag"), tag);
        assert_eq!(ask(&site, "DELETE", "/data/a/b", &[], "").await.status, 204);
        assert_eq!(ask(&site, "DELETE", "/data/a/b", &[], "").await.status, 404);
        let options = ask(&site, "OPTIONS", "/data/a/b", &[], "").await;
        assert_eq!(options.field("allow"), "GET, HEAD, OPTIONS, PUT, DELETE");
        assert_eq!(ask(&site, "POST", "/data/a/b", &[], "").await.status, 405);
    });
}

#[test]
fn conditions_and_ranges() {
    thrum_rt::block_on(async {
        let site = serve(SITE).unwrap();
        let put = async |fields: &[(&str, &str)], body: &'static str| {
            ask(&site, "PUT", "/data/x", fields, body).await
        };
        let first = put(&[("if-none-match", "*")], "0123456789").await;
        assert_eq!(first.status, 201);
        assert_eq!(put(&[("if-none-match", "*")], "no").await.status, 412);
        assert_eq!(
            put(&[("if-match", "\"0000000000000000\"")], "no")
                .await
                .status,
            412
        );
        let tag = first.field("etag");
        assert_eq!(put(&[("if-none-match", tag)], "no").await.status, 412);
        let old = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(put(&[("if-unmodified-since", old)], "no").await.status, 412);

        let get = async |fields: &[(&str, &str)]| ask(&site, "GET", "/data/x", fields, "").await;
        assert_eq!(get(&[]).await.text(), "0123456789");
        let same = get(&[("if-none-match", tag)]).await;
        assert_eq!((same.status.as_u16(), same.body.len()), (304, 0));
        assert_eq!(same.field("etag"), tag);
        let since = first.field("last-modified");
        assert_eq!(get(&[("if-modified-since", since)]).await.status, 304);
        assert_eq!(get(&[("if-match", "\"x\"")]).await.status, 412);
        let part = get(&[("range", "bytes=2-4")]).await;
        assert_eq!((part.status.as_u16(), part.text()), (206, "234"));
        assert_eq!(part.field("content-range"), "bytes 2-4/10");
        assert_eq!(get(&[("range", "bytes=20-")]).await.status, 416);
        assert_eq!(
            get(&[("range", "bytes=0-1,5-6")]).await.text(),
            "0123456789"
        );
        let stale = get(&[("range", "bytes=2-4"), ("if-range", "\"x\"")]).await;
        assert_eq!(stale.status, 200);

        let list = format!("\"x\", {tag}");
        let second = put(&[("if-match", &list)], "second").await;
        assert_eq!(second.status, 204);
        assert_eq!(put(&[("if-match", tag)], "no").await.status, 412);
        let delete = ask(&site, "DELETE", "/data/x", &[("if-match", tag)], "").await;
        assert_eq!(delete.status, 412);
        let delete = ask(&site, "DELETE", "/data/x", &[("if-match", "*")], "").await;
        assert_eq!(delete.status, 204);
        let delete = ask(&site, "DELETE", "/data/x", &[("if-match", "*")], "").await;
        assert_eq!(delete.status, 412);
    });
}

/// Of writers who all saw the same version, one wins.
#[test]
fn one_of_many_wins() {
    thrum_rt::block_on(async {
        let site = serve(SITE).unwrap();
        let first = ask(&site, "PUT", "/data/x", &[], "0").await;
        let tag = first.field("etag").to_owned();
        let tasks = (0..8).map(|number: u32| {
            let (site, tag) = (site.clone(), tag.clone());
            thrum_rt::spawn(async move {
                let fields = [("if-match", tag.as_str())];
                ask(&site, "PUT", "/data/x", &fields, number.to_string())
                    .await
                    .status
            })
        });
        let tasks: Vec<_> = tasks.collect();
        let mut won = 0;
        for task in tasks {
            match task.await.unwrap().as_u16() {
                204 => won += 1,
                status => assert_eq!(status, 412),
            }
        }
        assert_eq!(won, 1);
    });
}

#[test]
fn what_is_refused() {
    thrum_rt::block_on(async {
        let site = serve(SITE).unwrap();
        let put = async |path: &str, fields: &[(&str, &str)], body: Body| {
            ask(&site, "PUT", path, fields, body).await.status.as_u16()
        };
        assert_eq!(put("/data/x", &[], vec![0; 1025].into()).await, 413);
        assert_eq!(put("/data/x", &[], vec![0; 1024].into()).await, 201);
        assert_eq!(put("/data/", &[], "x".into()).await, 405);
        assert_eq!(
            put("/data/x", &[("content-encoding", "gzip")], "x".into()).await,
            415
        );
        assert_eq!(
            put("/data/x", &[("content-range", "bytes 0-0/1")], "x".into()).await,
            400
        );
        let long = format!("/data/{}", "x".repeat(513));
        assert_eq!(put(&long, &[], "x".into()).await, 400);
        let longer = format!("/data/{}", "x".repeat(2000));
        assert_eq!(put(&longer, &[], "x".into()).await, 414);
        // Nobody has authenticated who writes.
        assert_eq!(put("/mine/x", &[], "x".into()).await, 403);
        let kv = Kv::new(Arc::new(Memory::new(1 << 20)), "mine")
            .unwrap()
            .write(Write::Users);
        let request = || Request::put("/").body(Body::from("x")).unwrap();
        assert_eq!(kv.respond(request(), "x", None).await.status(), 403);
        assert_eq!(
            kv.respond(request(), "x", Some("alice")).await.status(),
            201
        );
    });
}

#[test]
fn what_expires_and_a_store_that_is_gone() {
    thrum_rt::block_on(async {
        let store = Arc::new(Memory::new(1 << 20));
        let kv = Kv::new(store.clone(), "x").unwrap().write(Write::Anyone);
        let request = Request::put("/").header("cache-control", "max-age=1");
        let put = kv
            .respond(request.body(Body::from("x")).unwrap(), "x", None)
            .await;
        assert_eq!(put.status(), 201);
        let get = || Request::get("/").body(Body::empty()).unwrap();
        let got = Answered::of(kv.respond(get(), "x", None).await).await;
        assert!(["max-age=0", "max-age=1"].contains(&got.field("cache-control")));
        thrum_rt::time::sleep(std::time::Duration::from_millis(1100)).await;
        assert_eq!(kv.respond(get(), "x", None).await.status(), 404);
        store.close();
        let gone = Answered::of(kv.respond(get(), "x", None).await).await;
        assert_eq!(
            (gone.status.as_u16(), gone.field("retry-after")),
            (503, "1")
        );
    });
}

#[test]
fn listings() {
    thrum_rt::block_on(async {
        let site = serve(SITE).unwrap();
        for name in ["b", "a/1", "a/2", "a/%3Cb%3E%22x"] {
            ask(&site, "PUT", &format!("/data/{name}"), &[], "x").await;
        }
        let json = [("accept", "application/json")];
        let all = ask(&site, "GET", "/data/", &json, "").await;
        assert_eq!(all.field("content-type"), "application/json");
        let read: serde_json::Value = serde_json::from_slice(&all.body).unwrap();
        assert_eq!(
            read["names"],
            serde_json::json!(["a/1", "a/2", "a/<b>\"x", "b"])
        );
        assert_eq!(read["next"], serde_json::Value::Null);
        let some = ask(&site, "GET", "/data/a/?limit=2", &json, "").await;
        let read: serde_json::Value = serde_json::from_slice(&some.body).unwrap();
        assert_eq!(read["names"], serde_json::json!(["a/1", "a/2"]));
        let next = format!(
            "/data/a/?limit=2&after={}",
            read["next"].as_str().unwrap().replace('/', "%2F")
        );
        let rest = ask(&site, "GET", &next, &json, "").await;
        assert!(rest.text().contains("\"next\":null"), "{}", rest.text());
        let html = ask(
            &site,
            "GET",
            "/data/a/?limit=2",
            &[("accept", "text/html")],
            "",
        )
        .await;
        assert!(
            html.text().contains("href=\"./1\"") && html.text().contains("after=a%2F2"),
            "{}",
            html.text()
        );
        let html = ask(&site, "GET", "/data/a/", &[], "").await;
        assert!(html.text().contains("&lt;b&gt;&quot;x") && !html.text().contains("<b>"));
        assert_eq!(ask(&site, "GET", "/read/", &[], "").await.status, 404);
        assert_eq!(
            ask(&site, "GET", "/data/?after=%00", &[], "").await.status,
            400
        );
    });
}

#[test]
fn configurations() {
    thrum_rt::block_on(async {
        let problem = |text: &str| serve(text).err().unwrap().join("\n");
        let none = problem(":8080 {\n / kv x\n}\n");
        assert_eq!(none, "this needs a store, and there is none");
        let unnamed = problem("store a memory\nstore b memory\n:8080 {\n / kv x\n}\n");
        assert_eq!(unnamed, "none of the stores is the default");
        let missing = problem("store a memory\n:8080 {\n / kv x { store b }\n}\n");
        assert_eq!(missing, "there is no store b");
        let twice = problem("store memory\nstore memory\n:8080 {\n / kv x\n}\n");
        assert!(twice.contains("two stores"), "{twice}");
        let url = problem("store http://a\n:8080 {\n / kv x\n}\n");
        assert!(url.contains("redis://"), "{url}");
        let nowhere = tempdir().unwrap().path().join("no/x.redb");
        let nowhere = format!("store redb {}\n:8080 {{\n / kv x\n}}\n", nowhere.display());
        assert!(problem(&nowhere).contains("folder"));
        let large = problem("store memory { max-value 1k }\n:8080 {\n / kv x\n}\n");
        assert!(large.contains("at most 1024 bytes"), "{large}");

        // One file, two sites' routes, and nothing is there before it is used.
        let folder = tempdir().unwrap();
        let path = folder.path().join("s.redb");
        let text = format!(
            "store main redb {} {{ max 1MiB }}\nstore memory\n:8080 {{\n /a/ kv x {{ store main; write anyone }}\n /b/ kv x {{ store main }}\n}}\n",
            path.display()
        );
        let site = serve(&text).unwrap();
        assert!(
            path.exists(),
            "it was opened when the configuration came to life"
        );
        assert_eq!(ask(&site, "PUT", "/a/1", &[], "one").await.status, 201);
        assert_eq!(ask(&site, "GET", "/b/1", &[], "").await.text(), "one");
    });
}
