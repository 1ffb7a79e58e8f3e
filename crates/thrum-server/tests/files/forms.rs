//! A file in several forms: compressed files beside it, compression, languages.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_lite::future::{block_on, zip};
use http::{Request, Response, StatusCode};
use thrum_http::Body;
use thrum_server::files::{Coding, Compression, Files};

use crate::{Site, field, site, text};

const BROWSER: (&str, &str) = ("accept-encoding", "gzip, deflate, br, zstd");

/// A style with files beside it that say what they are.
fn with_siblings() -> Site {
    let site = site();
    let root = site.root();
    for (name, content) in [
        ("a.css", "plain"),
        ("a.css.br", "brotli"),
        ("a.css.gz", "gzip!"),
        ("photo.png", "png"),
        ("photo.png.gz", "gzip!"),
    ] {
        fs::write(root.join(name), content).unwrap();
    }
    let files = site.files.clone().precompressed(Coding::ALL);
    Site { files, ..site }
}

#[test]
fn a_compressed_file_goes_in_the_place_of_the_plain_one() {
    let site = with_siblings();
    let plain = site.send("GET", "/a.css", &[]);
    assert_eq!(field(&plain, "content-encoding"), "");
    assert_eq!(field(&plain, "vary"), "accept-encoding");
    for (accepted, content, coding) in [
        ("gzip, deflate, br, zstd", "brotli", "br"),
        ("gzip", "gzip!", "gzip"),
        ("gzip, br;q=0.5", "gzip!", "gzip"),
        ("br;q=0, *", "gzip!", "gzip"),
        ("zstd", "plain", ""),
        ("identity", "plain", ""),
        ("br;;", "plain", ""),
        ("", "plain", ""),
    ] {
        let response = site.send("GET", "/a.css", &[("accept-encoding", accepted)]);
        assert_eq!(field(&response, "content-encoding"), coding, "{accepted}");
        assert_eq!(field(&response, "content-type"), "text/css; charset=utf-8");
        assert_eq!(field(&response, "vary"), "accept-encoding");
        let is_plain = field(&response, "etag") == field(&plain, "etag");
        assert_eq!(is_plain, coding.is_empty(), "each form has its own tag");
        assert_eq!(text(response), (StatusCode::OK, content.into()));
    }
    let image = site.send("GET", "/photo.png", &[BROWSER]);
    assert_eq!(
        (field(&image, "vary"), field(&image, "content-encoding")),
        ("", "")
    );
    assert_eq!(text(image).1, "png");
}

#[test]
fn conditions_are_those_of_the_form_and_ranges_those_of_the_file() {
    let site = with_siblings();
    let coded = site.send("GET", "/a.css", &[BROWSER]);
    let etag = field(&coded, "etag").to_owned();
    assert_eq!(field(&coded, "accept-ranges"), "");
    let again = site.send("GET", "/a.css", &[BROWSER, ("if-none-match", &etag)]);
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(
        (field(&again, "etag"), field(&again, "vary")),
        (&*etag, "accept-encoding")
    );
    let plain = site.send("GET", "/a.css", &[("if-none-match", &etag)]);
    assert_eq!(
        plain.status(),
        StatusCode::OK,
        "the plain file is another one"
    );
    let part = site.send("GET", "/a.css", &[BROWSER, ("range", "bytes=0-1")]);
    assert_eq!(field(&part, "content-encoding"), "");
    assert_eq!(text(part), (StatusCode::PARTIAL_CONTENT, "pl".into()));
    let part = [BROWSER, ("range", "bytes=0-1"), ("if-range", &etag)];
    let whole = site.send("GET", "/a.css", &part);
    assert_eq!(
        text(whole),
        (StatusCode::OK, "plain".into()),
        "parts of two forms never mix"
    );
}

#[test]
fn a_compressed_file_that_is_older_is_not_used() {
    let site = with_siblings();
    let sibling = fs::File::options()
        .write(true)
        .open(site.root().join("a.css.br"))
        .unwrap();
    sibling
        .set_modified(SystemTime::now() - Duration::from_secs(60))
        .unwrap();
    assert_eq!(text(site.send("GET", "/a.css", &[BROWSER])).1, "gzip!");
}

#[test]
fn compressed_files_come_and_go() {
    let site = with_siblings();
    assert_eq!(text(site.send("GET", "/a.css", &[BROWSER])).1, "brotli");
    fs::remove_file(site.root().join("a.css.br")).unwrap();
    std::thread::sleep(Duration::from_millis(1000));
    assert_eq!(text(site.send("GET", "/a.css", &[BROWSER])).1, "gzip!");
    fs::write(site.root().join("a.css.zst"), "zstd!").unwrap();
    std::thread::sleep(Duration::from_millis(1000));
    assert_eq!(text(site.send("GET", "/a.css", &[BROWSER])).1, "zstd!");
}

/// A site that compresses, with a text that is worth it.
fn compressing(compression: Compression) -> (Site, String) {
    let site = site();
    let words: String = (0..20_000).map(|word| format!("{} ", word % 997)).collect();
    fs::write(site.root().join("words.txt"), &words).unwrap();
    fs::write(site.root().join("short.txt"), "short").unwrap();
    fs::write(site.root().join("random.txt"), noise(5000)).unwrap();
    let files = site.files.clone().compression(compression);
    (Site { files, ..site }, words)
}

/// What no compressor makes smaller.
fn noise(size: usize) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    std::iter::repeat_with(next).take(size).collect()
}

fn bytes(response: Response<Body>) -> Vec<u8> {
    block_on(response.into_body().bytes(10_000_000))
        .unwrap()
        .to_vec()
}

fn decompressed(coding: &str, packed: Vec<u8>) -> String {
    use thrum_stream::stage::decompress;
    use thrum_stream::{Source, sink, source};
    let packed = source::once(bytes::Bytes::from(packed));
    let plain = block_on(async {
        let all = sink::concat(10_000_000);
        match coding {
            "br" => packed.pipe(decompress::brotli()).run(all).await,
            "zstd" => packed.pipe(decompress::zstd()).run(all).await,
            _ => packed.pipe(decompress::gzip()).run(all).await,
        }
    });
    String::from_utf8(plain.unwrap()).unwrap()
}

#[test]
fn what_is_worth_it_is_compressed_once() {
    let (site, words) = compressing(Compression::default());
    for coding in ["br", "zstd", "gzip"] {
        let ask = [("accept-encoding", coding)];
        let response = site.send("GET", "/words.txt", &ask);
        assert_eq!(field(&response, "content-encoding"), coding);
        assert_eq!(field(&response, "vary"), "accept-encoding");
        let etag = field(&response, "etag").to_owned();
        assert!(
            etag.starts_with("W/\"") && etag.ends_with(&format!("-{coding}\"")),
            "{etag}"
        );
        let size = response.body().size().unwrap();
        let packed = bytes(response);
        assert_eq!(packed.len() as u64, size);
        assert!(packed.len() < words.len() / 4, "{coding}: {}", packed.len());
        assert_eq!(decompressed(coding, packed), words);
        let again = site.send("GET", "/words.txt", &[ask[0], ("if-none-match", &etag)]);
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    }
    let stats = site.files.stats();
    assert_eq!(
        (stats.compressed_hits, stats.compressed_misses),
        (3, 3),
        "{stats:?}"
    );
    assert!(stats.compressed_bytes > 0);
    for path in ["/short.txt", "/random.txt", "/large.bin"] {
        let response = site.send("GET", path, &[BROWSER]);
        assert_eq!(field(&response, "content-encoding"), "", "{path}");
    }
    let range = site.send("GET", "/words.txt", &[BROWSER, ("range", "bytes=0-2")]);
    assert_eq!(text(range), (StatusCode::PARTIAL_CONTENT, "0 1".into()));
}

#[test]
fn whoever_has_it_already_costs_no_work() {
    let (site, _) = compressing(Compression::default());
    let etag = {
        let (other, _) = (site.files.clone(), ());
        let request = Request::builder()
            .uri("/words.txt")
            .header("accept-encoding", "br");
        let response = crate::answer(&other, request.body(()).unwrap());
        field(&response, "etag").to_owned()
    };
    let fresh = site.files.clone().compression(Compression::default());
    let request = Request::builder()
        .uri("/words.txt")
        .header("accept-encoding", "br")
        .header("if-none-match", &etag);
    let response = crate::answer(&fresh, request.body(()).unwrap());
    assert_eq!(response.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(fresh.stats().compressed_bytes, 0);
}

#[test]
fn large_files_are_compressed_up_to_a_limit() {
    let compression = Compression {
        max: 300_000,
        ..Compression::default()
    };
    let (site, _) = compressing(compression);
    for (size, coding) in [(300_000, "br"), (300_001, "")] {
        fs::write(site.root().join("log.txt"), vec![b'x'; size]).unwrap();
        let files = site.files.clone().hidden(false); // with a cache of its own
        let request = Request::builder()
            .uri("/log.txt")
            .header("accept-encoding", "br");
        let response = crate::answer(&files, request.body(()).unwrap());
        assert_eq!(field(&response, "content-encoding"), coding, "{size}");
        if !coding.is_empty() {
            assert_eq!(decompressed(coding, bytes(response)).len(), size);
        }
    }
}

#[test]
fn what_is_kept_of_compressed_files_is_bounded() {
    let compression = Compression {
        kept: 20_000,
        ..Compression::default()
    };
    let (site, words) = compressing(compression);
    for index in 0..50 {
        let path = format!("{index}.txt");
        fs::write(
            site.root().join(&path),
            format!("{index} {}", &words[..30_000]),
        )
        .unwrap();
        let response = site.send("GET", &format!("/{path}"), &[BROWSER]);
        assert_eq!(field(&response, "content-encoding"), "br");
    }
    let stats = site.files.stats();
    assert!(
        stats.compressed_bytes <= 20_000 && stats.compressed_bytes > 0,
        "{stats:?}"
    );
}

#[test]
fn requests_at_the_same_time_share_the_work() {
    let (site, words) = compressing(Compression {
        brotli_level: 9,
        ..Compression::default()
    });
    let files = Arc::new(site.files.clone());
    // Two spellings are two entries, but one file.
    let ask = |uri: &str| {
        let request = Request::builder().uri(uri).header("accept-encoding", "br");
        files.answer(&request.body(()).unwrap()).response()
    };
    let (one, other) = block_on(zip(ask("/words.txt"), ask("//words.txt")));
    let (one, other) = (bytes(one), bytes(other));
    assert_eq!(one, other);
    assert_eq!(decompressed("br", one), words);
    // One whose client leaves in the middle is no loss for the others.
    let other = site.files.clone().compression(Compression::default());
    let request = || {
        let request = Request::builder()
            .uri("/words.txt")
            .header("accept-encoding", "br");
        other.answer(&request.body(()).unwrap()).response()
    };
    let mut leaves = Box::pin(request());
    assert!(block_on(futures_lite::future::poll_once(&mut leaves)).is_none());
    let stays = request();
    drop(leaves);
    assert_eq!(decompressed("br", bytes(block_on(stays))), words);
}

/// Pages in two languages; the plain one is English.
fn in_languages() -> Site {
    let site = site();
    let root = site.root();
    for (name, content) in [
        ("page.html", "hello"),
        ("page.html.ja", "konnichiwa"),
        ("page.html.ja.gz", "KONNICHIWA"),
        ("index.html.ja", "ie"),
        ("only.html.fr", "bonjour"),
        ("own.html", "plain"),
        ("own.html.en", "English"),
        ("own.html.ja", "Japanese"),
        ("style.css", "style"),
        ("style.css.ja", "no style"),
    ] {
        fs::write(root.join(name), content).unwrap();
    }
    let files = site.files.clone().languages(["en", "ja", "fr"]);
    let files = files.precompressed([Coding::Gzip]);
    Site { files, ..site }
}

#[test]
fn the_reader_s_language_is_answered_in() {
    let site = in_languages();
    for (path, accepted, content, language) in [
        ("/page.html", "", "hello", "en"),
        ("/page.html", "ja", "konnichiwa", "ja"),
        ("/page.html", "ja-JP, en;q=0.5", "konnichiwa", "ja"),
        ("/page.html", "en, ja;q=0.5", "hello", "en"),
        ("/page.html", "en-GB;q=0.5, ja;q=0.4", "hello", "en"),
        ("/page.html", "fr, ja;q=0.1", "konnichiwa", "ja"),
        ("/page.html", "fr", "hello", "en"),
        ("/", "ja", "ie", "ja"),
        ("/only.html", "ja", "bonjour", "fr"),
        ("/own.html", "fr", "plain", ""),
        ("/own.html", "en", "English", "en"),
        ("/style.css", "ja", "style", ""),
        ("/page.html.ja", "en", "konnichiwa", ""),
    ] {
        let response = site.send("GET", path, &[("accept-language", accepted)]);
        assert_eq!(
            field(&response, "content-language"),
            language,
            "{path} {accepted}"
        );
        let of_page = if path.contains("css") {
            "text/css"
        } else {
            "text/html"
        };
        assert!(
            field(&response, "content-type").starts_with(of_page),
            "{path}"
        );
        assert_eq!(
            text(response),
            (StatusCode::OK, content.into()),
            "{path} {accepted}"
        );
    }
    let varies = |path| field(&site.send("GET", path, &[]), "vary").to_owned();
    assert_eq!(varies("/page.html"), "accept-encoding, accept-language");
    assert_eq!(varies("/style.css"), "accept-encoding");
}

#[test]
fn each_language_has_its_compressed_files() {
    let site = in_languages();
    let ask = |language| {
        site.send(
            "GET",
            "/page.html",
            &[BROWSER, ("accept-language", language)],
        )
    };
    assert_eq!(text(ask("ja")).1, "KONNICHIWA");
    assert_eq!(text(ask("en")).1, "hello");
}

#[test]
fn a_language_that_is_gone_is_seen() {
    let site = in_languages();
    let ask = || text(site.send("GET", "/page.html", &[("accept-language", "ja")])).1;
    assert_eq!(ask(), "konnichiwa");
    fs::remove_file(site.root().join("page.html.ja")).unwrap();
    std::thread::sleep(Duration::from_millis(1000));
    assert_eq!(ask(), "hello");
}

#[test]
fn nothing_is_looked_for_unless_it_is_wanted() {
    let site = with_siblings();
    fs::write(site.root().join("page.html.ja"), "x").unwrap();
    let files = Files::new(site.root()).unwrap();
    let plain = Site { files, ..site };
    let response = plain.send("GET", "/a.css", &[BROWSER]);
    assert_eq!(
        (
            field(&response, "vary"),
            field(&response, "content-encoding")
        ),
        ("", "")
    );
    let response = plain.send("GET", "/page.html", &[("accept-language", "ja")]);
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
}
