//! A directory as a page: readable on a phone and in the dark, without scripts and without anything from elsewhere.

use std::cmp::Ordering;
use std::fmt::Write;
use std::fs::File;
use std::io;
use std::time::SystemTime;

use rustix::fs::{AtFlags, Dir, FileType, statat};

use super::path::{RequestPath, encode_segment};

/// Names that are listed. A larger directory says how many more it has.
const MAX_NAMES: usize = 10_000;

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
li a{display:grid;grid-template-columns:1fr auto 9.5rem;gap:0 1.5rem;align-items:baseline;padding:.6rem .5rem;border-bottom:1px solid var(--line);color:inherit;text-decoration:none}\
li a:hover,li a:focus-visible{background:var(--hover)}\
.name{overflow-wrap:anywhere}.dir .name{color:var(--mark);font-weight:500}\
.size,.date{color:var(--soft);font-size:.875rem;font-variant-numeric:tabular-nums;text-align:right;white-space:nowrap}\
p{color:var(--soft)}\
@media(max-width:36rem){body{padding-top:1.25rem}li a{grid-template-columns:1fr auto;padding:.7rem .25rem}.date{grid-column:1/-1;text-align:left;order:3}}";

/// A name in a directory.
struct Name {
    text: String,
    is_directory: bool,
    size: u64,
    modified: SystemTime,
}

/// Renders the page of an open directory.
pub(super) fn page(directory: &File, path: &RequestPath) -> io::Result<String> {
    let (mut names, hidden) = read(directory)?;
    names.sort_by(|one, other| {
        other
            .is_directory
            .cmp(&one.is_directory)
            .then_with(|| natural(&one.text, &other.text))
    });
    let title = format!("/{}", path.relative());
    let mut page = String::with_capacity(2048 + names.len() * 200);
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n<h1>{}</h1>\n<ul>\n",
        Escaped(&title),
        crumbs(path),
    );
    if !path.relative().is_empty() {
        page.push_str("<li class=\"dir\"><a href=\"../\"><span class=\"name\">..</span></a>\n");
    }
    for name in &names {
        row(&mut page, name);
    }
    page.push_str("</ul>\n");
    if names.is_empty() {
        page.push_str("<p>This folder is empty.</p>\n");
    }
    if hidden > 0 {
        let _ = writeln!(page, "<p>And {hidden} more.</p>");
    }
    Ok(page)
}

/// The names that may be served: no dots, nothing but files and directories. And how many were too many.
fn read(directory: &File) -> io::Result<(Vec<Name>, usize)> {
    let mut names = Vec::new();
    let mut too_many = 0;
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let Ok(text) = entry.file_name().to_str() else {
            continue;
        };
        if text.starts_with('.') || text.contains('\\') || text.contains(char::is_control) {
            continue;
        }
        if names.len() == MAX_NAMES {
            too_many += 1;
            continue;
        }
        // Followed, so that a link shows what it leads to; one that leads nowhere is left out.
        let Ok(stat) = statat(directory, entry.file_name(), AtFlags::empty()) else {
            continue;
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind != FileType::RegularFile && kind != FileType::Directory {
            continue;
        }
        let modified = std::time::Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0));
        names.push(Name {
            text: text.to_owned(),
            is_directory: kind == FileType::Directory,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: SystemTime::UNIX_EPOCH + modified,
        });
    }
    Ok((names, too_many))
}

fn row(page: &mut String, name: &Name) {
    let slash = if name.is_directory { "/" } else { "" };
    let class = if name.is_directory {
        " class=\"dir\""
    } else {
        ""
    };
    let size = if name.is_directory {
        String::new()
    } else {
        human_size(name.size)
    };
    let _ = writeln!(
        page,
        "<li{class}><a href=\"./{}{slash}\"><span class=\"name\">{}{slash}</span>\
         <span class=\"size\">{size}</span><span class=\"date\">{}</span></a>",
        encode_segment(&name.text),
        Escaped(&name.text),
        date(name.modified),
    );
}

/// The way from the root to here, each part a link.
fn crumbs(path: &RequestPath) -> String {
    let segments: Vec<_> = path
        .relative()
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

/// `2026-11-21 14:05`, of the date as HTTP writes it, which this crate can tell already.
fn date(time: SystemTime) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let text = thrum_http::http_date(time);
    let month = MONTHS
        .iter()
        .position(|month| text.get(8..11) == Some(month))
        .unwrap_or(0)
        + 1;
    format!(
        "{}-{month:02}-{} {}",
        &text[12..16],
        &text[5..7],
        &text[17..22]
    )
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

/// The order that people expect: `file2` before `file10`, in any case.
fn natural(one: &str, other: &str) -> Ordering {
    let (mut one_rest, mut other_rest) = (one, other);
    loop {
        let (one_number, other_number) = (leading_digits(one_rest), leading_digits(other_rest));
        let order = if !one_number.is_empty() && !other_number.is_empty() {
            let value = |digits: &str| digits.trim_start_matches('0').to_owned();
            let (one_value, other_value) = (value(one_number), value(other_number));
            one_rest = &one_rest[one_number.len()..];
            other_rest = &other_rest[other_number.len()..];
            one_value
                .len()
                .cmp(&other_value.len())
                .then(one_value.cmp(&other_value))
        } else {
            let (mut one_letters, mut other_letters) = (one_rest.chars(), other_rest.chars());
            match (one_letters.next(), other_letters.next()) {
                (None, None) => return one.cmp(other),
                (None, _) => return Ordering::Less,
                (_, None) => return Ordering::Greater,
                (Some(a), Some(b)) => {
                    one_rest = one_letters.as_str();
                    other_rest = other_letters.as_str();
                    a.to_lowercase().cmp(b.to_lowercase())
                }
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn leading_digits(text: &str) -> &str {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    &text[..end]
}

/// Text in HTML, in an attribute or between tags.
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                letter => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_as_people_order_them() {
        let mut names = ["file10", "File2", "file1", "a", "B", "file", "file02"];
        names.sort_by(|one, other| natural(one, other));
        assert_eq!(
            names,
            ["a", "B", "file", "file1", "File2", "file02", "file10"]
        );
    }

    #[test]
    fn sizes_and_dates_are_readable() {
        assert_eq!(human_size(0), "0 B");
        assert_eq!(human_size(1023), "1023 B");
        assert_eq!(human_size(1536), "1.5 KiB");
        assert_eq!(human_size(1024 * 1024 - 1), "1.0 MiB");
        assert_eq!(human_size(u64::MAX), "16384.0 PiB");
        let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(784_111_777);
        assert_eq!(date(time), "1994-11-06 08:49");
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
        let page = page(&directory, &RequestPath::parse("/").unwrap()).unwrap();
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script"));
        assert!(
            page.contains("href=\"./%252e%252e\"") && page.contains("href=\"./javascript%3Ax\"")
        );
        assert!(!page.contains("\"onclick") && !page.contains("hidden"));
        assert!(
            page.find("sub/").unwrap() < page.find("&lt;script").unwrap(),
            "directories first"
        );
    }
}
