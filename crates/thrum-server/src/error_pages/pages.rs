//! The pages of a folder, in memory, read anew when the folder has changed.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use crate::files::negotiation;

/// How long the pages are believed.
const RECHECK: Duration = Duration::from_secs(1);

/// Pages that are read. Others are left out, with a line in the log.
const MAX_PAGES: usize = 1000;

/// Bytes of a page that is read. A larger one is left out, with a line in the log.
const MAX_SIZE: u64 = 256 * 1024;

pub(super) struct Pages {
    folder: PathBuf,
    current: Mutex<Current>,
}

struct Current {
    pages: Arc<All>,
    read_at: Instant,
}

/// By what stands before `.html`: `404`, `4xx`.
type All = HashMap<String, Vec<Arc<Page>>>;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) language: Option<String>,
    pub(super) bytes: Bytes,
}

impl Pages {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let (pages, left_out) = read(folder)?;
        if left_out > 0 {
            let folder = folder.display();
            tracing::warn!(
                %folder,
                left_out,
                "error pages are left out: no more than {MAX_PAGES} files of {MAX_SIZE} bytes are read"
            );
        }
        let current = Current {
            pages: Arc::new(pages),
            read_at: Instant::now(),
        };
        Ok(Self {
            folder: folder.to_owned(),
            current: Mutex::new(current),
        })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The page for a status, and whether it depends on the language: the status' own page in the language that is wanted,
    /// else without one, else in any; then those of its class.
    pub(super) fn find(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Option<(Arc<Page>, bool)> {
        let all = self.current();
        let class = format!("{}xx", status.as_u16() / 100);
        let pages = all.get(status.as_str()).or_else(|| all.get(&class))?;
        let tags = pages.iter().filter_map(|page| page.language.as_deref());
        let wanted = negotiation::language(headers, tags);
        let of = |language: Option<&str>| {
            pages
                .iter()
                .find(move |page| page.language.as_deref() == language)
        };
        let page = wanted.and_then(|wanted| of(Some(wanted)));
        let page = page.or_else(|| of(None)).or_else(|| pages.first())?;
        Some((page.clone(), pages.len() > 1))
    }

    fn current(&self) -> Arc<All> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.read_at.elapsed() >= RECHECK {
            match read(&self.folder) {
                Ok((pages, _)) => current.pages = Arc::new(pages),
                // The old ones are better than none.
                Err(error) => {
                    tracing::warn!(%error, folder = %self.folder.display(), "error pages cannot be read");
                }
            }
            current.read_at = Instant::now();
        }
        current.pages.clone()
    }
}

/// The pages of a folder, and how many are left out.
fn read(folder: &Path) -> io::Result<(All, usize)> {
    let mut all = All::new();
    let (mut count, mut left_out) = (0, 0);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some((status, language)) = name.to_str().and_then(parse) else {
            continue;
        };
        count += 1;
        let bytes = Some(entry.path()).filter(|_| count <= MAX_PAGES);
        match bytes.map(|path| content(&path)) {
            Some(Ok(Some(bytes))) => {
                let page = Page {
                    language: language.map(str::to_owned),
                    bytes,
                };
                all.entry(status.to_owned()).or_default().push(page.into());
            }
            _ => left_out += 1,
        }
    }
    // In an order that does not depend on the file system.
    for pages in all.values_mut() {
        pages.sort_by(|one, other| one.language.cmp(&other.language));
    }
    Ok((all, left_out))
}

/// `None`: it is no regular file, or too large.
fn content(path: &Path) -> io::Result<Option<Bytes>> {
    if !fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let mut file = fs::File::open(path)?.take(MAX_SIZE + 1);
    file.read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MAX_SIZE).then(|| bytes.into()))
}

/// `404` and the language of `404.html.ja`. `None`: it is no error page.
fn parse(name: &str) -> Option<(&str, Option<&str>)> {
    let (status, rest) = name.split_once(".html")?;
    let language = match rest {
        "" => None,
        rest => Some(rest.strip_prefix('.').filter(|tag| is_language(tag))?),
    };
    let is_status = match status.as_bytes() {
        [b'4' | b'5', b'x', b'x'] => true,
        [b'4' | b'5', digits @ ..] => digits.len() == 2 && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    is_status.then_some((status, language))
}

fn is_language(tag: &str) -> bool {
    let is_subtag = |subtag: &str| {
        (1..=8).contains(&subtag.len()) && subtag.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    tag.split('-').all(is_subtag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_pages() {
        assert_eq!(parse("404.html"), Some(("404", None)));
        assert_eq!(parse("404.html.ja"), Some(("404", Some("ja"))));
        assert_eq!(parse("5xx.html.zh-Hant"), Some(("5xx", Some("zh-Hant"))));
        for name in [
            "200.html",
            "40.html",
            "4x4.html",
            "404.htm",
            "404.html.",
            "404.html~",
            "index.html",
        ] {
            assert_eq!(parse(name), None, "{name}");
        }
    }
}
