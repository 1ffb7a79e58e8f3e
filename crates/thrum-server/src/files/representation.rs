//! One form of a file as it is sent: its content, and the fields that go with it, ready to be copied.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT_RANGES, CONTENT_ENCODING, ETAG, HeaderMap, HeaderValue, LAST_MODIFIED};
use thrum_http::Body;
use thrum_parse::http::value::HttpDate;

use super::cache::Weigh;
use super::conditional::Validators;
use super::negotiation::Coding;
use super::range::ByteRange;

pub(super) struct Representation {
    pub(super) size: u64,
    content: Content,
    etag: String,
    modified: HttpDate,
    /// The fields of a response with it.
    pub(super) headers: HeaderMap,
    identity: Identity,
}

enum Content {
    Memory(Bytes),
    Descriptor(Arc<File>),
}

/// Tells whether a file is still the one that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

impl Representation {
    /// Reads what is to be kept of a regular file: all of it up to `small` bytes. `headers` are the fields that its name
    /// decides, `coding` how it has been compressed.
    pub(super) fn load(
        file: File,
        metadata: &Metadata,
        headers: HeaderMap,
        coding: Option<Coding>,
        small: u64,
    ) -> io::Result<Self> {
        let mut size = metadata.len();
        let content = if size <= small {
            let bytes = read_up_to(&file, size as usize)?;
            size = bytes.len() as u64; // it may have shrunk meanwhile
            Content::Memory(bytes)
        } else {
            Content::Descriptor(Arc::new(file))
        };
        let suffix = coding.map_or(String::new(), |coding| format!("-{}", coding.name()));
        let etag = format!(
            "\"{:x}-{:x}{:08x}{suffix}\"",
            size,
            metadata.mtime(),
            metadata.mtime_nsec()
        );
        let mut this = Self {
            size,
            content,
            etag,
            // A time that HTTP cannot tell is held at the nearest that it can.
            modified: HttpDate::clamped(metadata.mtime()),
            headers,
            identity: Identity::of(metadata),
        };
        this.complete_headers(coding);
        Ok(this)
    }

    /// The same file compressed, without its content so far. Its tag is a weak one: it tells one file from another, but not
    /// what one level or version of a compressor makes of it from what another does.
    pub(super) fn compressed(&self, coding: Coding, bytes: Bytes) -> Self {
        let etag = format!("W/{}-{}\"", self.etag.trim_end_matches('"'), coding.name());
        let mut this = Self {
            size: bytes.len() as u64,
            content: Content::Memory(bytes),
            etag,
            modified: self.modified,
            headers: self.headers.clone(),
            identity: self.identity,
        };
        this.complete_headers(Some(coding));
        this
    }

    fn complete_headers(&mut self, coding: Option<Coding>) {
        let (etag, modified) = (value(&self.etag), value(&self.modified.to_string()));
        let headers = &mut self.headers;
        headers.insert(ETAG, etag);
        headers.insert(LAST_MODIFIED, modified);
        match coding {
            None => headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes")),
            Some(coding) => {
                // A range is always one of the file itself.
                headers.remove(ACCEPT_RANGES);
                headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()))
            }
        };
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

impl Weigh for Representation {
    fn bytes(&self) -> usize {
        match &self.content {
            Content::Memory(bytes) => bytes.len(),
            Content::Descriptor(_) => 0,
        }
    }

    fn descriptors(&self) -> usize {
        usize::from(matches!(self.content, Content::Descriptor(_)))
    }
}

pub(super) fn read_up_to(file: &File, size: usize) -> io::Result<Bytes> {
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

/// A value made of visible ASCII.
fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}
