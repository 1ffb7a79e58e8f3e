//! A directory as a page: readable on a phone and in the dark, without scripts and without anything from elsewhere.

use std::fmt::Write;

use thrum_parse::uri::decode_str;

use super::names::{Name, Names};
use super::{Order, SortBy};
use crate::files::path::encode_segment;
use crate::html::Escaped;

/// What a page may do: nothing but show its own style.
pub(super) const CONTENT_SECURITY_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1d2230;--soft:#697186;--line:#e4e7ee;--ground:#fcfcfd;--mark:#b4552d;--hover:#f3f1ee}\
@media(prefers-color-scheme:dark){:root{--ink:#e6e8ee;--soft:#939bb0;--line:#2a2f3c;--ground:#14161c;--mark:#e59a6f;--hover:#1d212b}}\
*{box-sizing:border-box}\
body{margin:0 auto;padding:2rem 1rem 3rem;max-width:54rem;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}\
h1{margin:0 0 1.25rem;font-size:1.25rem;font-weight:600;overflow-wrap:anywhere}\
h1 a{color:var(--mark);text-decoration:none}h1 span{color:var(--soft);font-weight:400;padding:0 .15em}\
ul{list-style:none;margin:0;padding:0;border-top:1px solid var(--line)}\
li a,.sort{display:grid;grid-template-columns:1fr auto 9.5rem;gap:0 1.5rem;align-items:baseline;padding:.6rem .5rem;border-bottom:1px solid var(--line);color:inherit;text-decoration:none}\
.sort{border-bottom:0;font-size:.875rem}.sort a{color:var(--soft);text-decoration:none}.sort a:hover{text-decoration:underline}.sort a+a{text-align:right}\
li a:hover,li a:focus-visible{background:var(--hover)}\
.name{overflow-wrap:anywhere}.dir .name{color:var(--mark);font-weight:500}\
.size,.date{color:var(--soft);font-size:.875rem;font-variant-numeric:tabular-nums;text-align:right;white-space:nowrap}\
p{color:var(--soft)}\
@media(max-width:36rem){body{padding-top:1.25rem}.sort{grid-template-columns:1fr auto auto}li a{grid-template-columns:1fr auto;padding:.7rem .25rem}.date{grid-column:1/-1;text-align:left;order:3}}";

/// The page of the directory with that URI path.
pub(super) fn page(names: &Names, uri: &str, order: Order) -> String {
    let title = decode_str(uri).unwrap_or(uri.into());
    let mut page = String::with_capacity(2048 + names.names.len() * 200);
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n<h1>{}</h1>\n{}<ul>\n",
        Escaped(&title),
        crumbs(&title),
        sorts(order),
    );
    if uri != "/" {
        page.push_str("<li class=\"dir\"><a href=\"../\"><span class=\"name\">..</span></a>\n");
    }
    for name in &names.names {
        row(&mut page, name);
    }
    page.push_str("</ul>\n");
    if names.names.is_empty() {
        page.push_str("<p>This folder is empty.</p>\n");
    }
    if names.omitted > 0 {
        let _ = writeln!(page, "<p>And {} more.</p>", names.omitted);
    }
    page
}

/// Links to the same page in other orders; the one that it is in leads to its reverse.
fn sorts(order: Order) -> String {
    let mut sorts = String::from("<div class=\"sort\">");
    for by in SortBy::ALL {
        let is_it = by == order.by;
        let (next, arrow) = match (is_it, order.descending) {
            (true, false) => ("desc", " \u{2191}"),
            (true, true) => ("asc", " \u{2193}"),
            (false, _) => ("asc", ""),
        };
        let name = by.name();
        let _ = write!(
            sorts,
            "<a href=\"?sort={name}&amp;order={next}\">{name}{arrow}</a>"
        );
    }
    sorts.push_str("</div>\n");
    sorts
}

fn row(page: &mut String, name: &Name) {
    let (slash, class, size) = if name.is_directory {
        ("/", " class=\"dir\"", String::new())
    } else {
        ("", "", human_size(name.size))
    };
    let _ = writeln!(
        page,
        "<li{class}><a href=\"./{}{slash}\"><span class=\"name\">{}{slash}</span>\
         <span class=\"size\">{size}</span><span class=\"date\">{}</span></a>",
        encode_segment(&name.text),
        Escaped(&name.text),
        &name.date_and_time()[..16],
    );
}

/// The way from the root to here, each part a link.
fn crumbs(title: &str) -> String {
    let segments: Vec<_> = title
        .split('/')
        .filter(|segment| !segment.is_empty())
        .collect();
    let mut crumbs = format!("<a href=\"{}\">home</a>", up(segments.len()));
    for (index, segment) in segments.iter().enumerate() {
        let href = up(segments.len() - index - 1);
        let _ = write!(
            crumbs,
            "<span>/</span><a href=\"{href}\">{}</a>",
            Escaped(segment)
        );
    }
    crumbs
}

fn up(levels: usize) -> String {
    if levels == 0 {
        "./".to_owned()
    } else {
        "../".repeat(levels)
    }
}

fn human_size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut size = bytes as f64 / 1024.0;
    let mut unit = 0;
    while size >= 1023.95 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::files::listing::names;

    #[test]
    fn sizes_are_readable() {
        assert_eq!(human_size(0), "0 B");
        assert_eq!(human_size(1023), "1023 B");
        assert_eq!(human_size(1536), "1.5 KiB");
        assert_eq!(human_size(1024 * 1024 - 1), "1.0 MiB");
        assert_eq!(human_size(u64::MAX), "16384.0 PiB");
    }

    #[test]
    fn hostile_names_stay_text() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "<script>alert(1)<",
            "a\"onclick=\"b",
            "%2e%2e",
            "javascript:x",
            ".hidden",
        ] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        let directory = File::open(folder.path()).unwrap();
        let read = |hidden| names::read(&directory, Order::default(), hidden).unwrap();
        let page = page(&read(false), "/%3Cb%3E/", Order::default());
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script"));
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b>"));
        assert!(
            page.contains("href=\"./%252e%252e\"") && page.contains("href=\"./javascript%3Ax\"")
        );
        assert!(!page.contains("\"onclick") && !page.contains("hidden"));
        assert!(
            page.find("sub/").unwrap() < page.find("&lt;script").unwrap(),
            "directories first"
        );
        assert!(read(true).names.iter().any(|name| name.text == ".hidden"));
    }
}
