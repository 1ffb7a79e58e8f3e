//! A file as it is served: what was found out about it once, and is kept.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT_RANGES, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, LAST_MODIFIED};
use thrum_http::Body;
use thrum_parse::http::value::HttpDate;

use super::conditional::Validators;
use super::range::ByteRange;

/// Files up to this size are kept in memory, and sent in the same write as their head.
pub(super) const SMALL: u64 = 64 * 1024;

pub(super) struct Entry {
    pub(super) size: u64,
    content: Content,
    etag: String,
    modified: HttpDate,
    /// The fields of a response with the file, ready to be copied.
    pub(super) headers: HeaderMap,
    identity: Identity,
}

enum Content {
    Memory(Bytes),
    Descriptor(Arc<File>),
}

/// Tells whether a file is still the one that was read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Identity {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

impl Entry {
    /// Reads what is to be kept of a regular file. `path` gives the type.
    pub(super) fn load(file: File, metadata: &Metadata, path: &str) -> io::Result<Self> {
        let mut size = metadata.len();
        let content = if size <= SMALL {
            let bytes = read_up_to(&file, size as usize)?;
            size = bytes.len() as u64; // it may have shrunk meanwhile
            Content::Memory(bytes)
        } else {
            Content::Descriptor(Arc::new(file))
        };
        // A time that HTTP cannot tell is held at the nearest that it can.
        let modified = HttpDate::clamped(metadata.mtime());
        let etag = format!(
            "\"{:x}-{:x}{:08x}\"",
            size,
            metadata.mtime(),
            metadata.mtime_nsec()
        );
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(CONTENT_TYPE, content_type(path));
        headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        headers.insert(ETAG, value(&etag));
        headers.insert(LAST_MODIFIED, value(&modified.to_string()));
        let identity = Identity::of(metadata);
        Ok(Self {
            size,
            content,
            etag,
            modified,
            headers,
            identity,
        })
    }

    pub(super) fn validators(&self) -> Validators<'_> {
        Validators {
            etag: &self.etag,
            modified: self.modified,
        }
    }

    pub(super) fn identity(&self) -> Identity {
        self.identity
    }

    /// Bytes of memory that it holds, besides itself.
    pub(super) fn weight(&self) -> usize {
        match &self.content {
            Content::Memory(bytes) => bytes.len(),
            Content::Descriptor(_) => 0,
        }
    }

    pub(super) fn holds_descriptor(&self) -> bool {
        matches!(self.content, Content::Descriptor(_))
    }

    /// A part of it as a body.
    pub(super) fn body(&self, part: ByteRange) -> Body {
        match &self.content {
            Content::Memory(bytes) => bytes.slice(part.start as usize..part.end as usize).into(),
            Content::Descriptor(file) => Body::file(file.clone(), part.start, part.len()),
        }
    }

    pub(super) fn whole(&self) -> ByteRange {
        ByteRange {
            start: 0,
            end: self.size,
        }
    }
}

fn read_up_to(file: &File, size: usize) -> io::Result<Bytes> {
    let mut bytes = vec![0; size];
    let mut read = 0;
    while read < size {
        match file.read_at(&mut bytes[read..], read as u64)? {
            0 => break,
            count => read += count,
        }
    }
    bytes.truncate(read);
    Ok(bytes.into())
}

/// The type by the name's extension; text is taken to be UTF-8.
fn content_type(path: &str) -> HeaderValue {
    let Some(mime) = mime_guess::from_path(Path::new(path)).first_raw() else {
        return HeaderValue::from_static("application/octet-stream");
    };
    let is_text = mime.starts_with("text/")
        || matches!(
            mime,
            "application/javascript" | "application/json" | "application/xml" | "image/svg+xml"
        );
    if is_text {
        value(&format!("{mime}; charset=utf-8"))
    } else {
        HeaderValue::from_static(mime)
    }
}

/// A value made of visible ASCII.
fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_by_extension() {
        for (path, expected) in [
            ("a/index.html", "text/html; charset=utf-8"),
            ("x.CSS", "text/css; charset=utf-8"),
            ("x.svg", "image/svg+xml; charset=utf-8"),
            ("x.json", "application/json; charset=utf-8"),
            ("x.png", "image/png"),
            ("x.wasm", "application/wasm"),
            ("README", "application/octet-stream"),
            ("x.unheard-of", "application/octet-stream"),
        ] {
            assert_eq!(content_type(path), expected, "{path}");
        }
    }
}
