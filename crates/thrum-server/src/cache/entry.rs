//! A response that is kept.

use std::fs::File;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{AGE, CONTENT_LENGTH, HeaderMap, HeaderName};
use http::{HeaderValue, Response, StatusCode};
use thrum_http::Body;

use super::policy::Lifetime;

/// What is kept for a key.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// A response.
    Entry(Arc<Entry>),
    /// The resource has variants, one for each combination of these request fields.
    Varies(Arc<[HeaderName]>),
    /// Its responses cannot be kept: requests for it do not wait for each other. Until then.
    Pass(SystemTime),
}

/// A response, and how long it is good for.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) status: StatusCode,
    /// Without what belongs to one exchange.
    pub(super) headers: HeaderMap,
    pub(super) content: Content,
    pub(super) lifetime: Lifetime,
}

/// A body that can be had again.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Memory(Bytes),
    File {
        file: Arc<File>,
        offset: u64,
        length: u64,
    },
}

impl Content {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File { length, .. } => *length,
        }
    }

    fn body(&self) -> Body {
        match self {
            Self::Memory(bytes) => Body::from(bytes.clone()),
            Self::File {
                file,
                offset,
                length,
            } => Body::file(file.clone(), *offset, *length),
        }
    }
}

impl Entry {
    /// The response as it goes to a client, with its age.
    pub(super) fn response(&self, now: SystemTime) -> Response<Body> {
        let mut response = self.head(self.status, now);
        let length = HeaderValue::from(self.content.len());
        if self.status != StatusCode::NO_CONTENT {
            response.headers_mut().insert(CONTENT_LENGTH, length);
        }
        *response.body_mut() = self.content.body();
        response
    }

    /// What a client is told that has it already.
    pub(super) fn not_modified(&self, now: SystemTime) -> Response<Body> {
        self.head(StatusCode::NOT_MODIFIED, now)
    }

    fn head(&self, status: StatusCode, now: SystemTime) -> Response<Body> {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status;
        *response.headers_mut() = self.headers.clone();
        let age = HeaderValue::from(self.lifetime.age(now).as_secs());
        response.headers_mut().insert(AGE, age);
        response
    }

    /// The same with the fields of a 304 in place of its own (RFC 9111, 3.2), good for as long as that says.
    pub(super) fn refreshed(&self, by: &HeaderMap, lifetime: Lifetime) -> Self {
        let mut headers = self.headers.clone();
        for name in by.keys() {
            if *name == CONTENT_LENGTH || !is_kept(name) {
                continue;
            }
            headers.remove(name);
            for value in by.get_all(name) {
                headers.append(name, value.clone());
            }
        }
        Self {
            status: self.status,
            headers,
            content: self.content.clone(),
            lifetime,
        }
    }

    /// How many bytes of memory it takes, about.
    pub(super) fn weight(&self) -> u64 {
        let fields = self.headers.iter();
        let fields: usize = fields
            .map(|(name, value)| name.as_str().len() + value.len() + 64)
            .sum();
        let content = match &self.content {
            Content::Memory(bytes) => bytes.len() as u64,
            Content::File { .. } => 0,
        };
        content + fields as u64 + 256
    }
}

/// The fields of a response that belong to it, not to the connection it came over.
pub(super) fn kept_fields(headers: &HeaderMap) -> HeaderMap {
    let fields = headers.iter().filter(|(name, _)| is_kept(name));
    fields
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect::<Vec<_>>()
        .into_iter()
        .fold(HeaderMap::new(), |mut all, (name, value)| {
            all.append(name, value);
            all
        })
}

fn is_kept(name: &HeaderName) -> bool {
    const NOT: [&str; 8] = [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-connection",
        "te",
        "transfer-encoding",
        "upgrade",
        "cache-status",
    ];
    !NOT.contains(&name.as_str()) && *name != AGE && *name != CONTENT_LENGTH
}
