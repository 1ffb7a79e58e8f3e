//! Content in the store: a path's value is got, put and deleted by HTTP, and told apart by its version.
//!
//! | request | answer |
//! |---|---|
//! | GET, HEAD | the value with its type, entity tag and date; conditions and single ranges |
//! | PUT | 201 or 204, with the new tag. `Cache-Control: max-age=60` has it gone in a minute |
//! | DELETE | 204, or 404 |
//! | GET of a path that ends in `/` | where listings are on: the names that begin with it, as HTML, or as JSON for who accepts that |
//!
//! `If-Match`, `If-None-Match` and `If-Unmodified-Since` of PUT and DELETE hold in the same step as the change.

mod config;
mod content;
mod listing;
mod precondition;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::header::{
    ACCEPT_RANGES, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG,
    LAST_MODIFIED, RANGE, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use thrum_http::{Body, BodyError, http_date};
use thrum_parse::http::value::HttpDate;
use thrum_parse::uri::decode_str;

pub use self::config::{KIND, VERB};

use self::content::Content;
use crate::files::conditional::{Outcome, Validators, judge};
use crate::files::range::{Selection, select};
use crate::site::{Answer, Handler, Visit, reply};
use crate::store::{Entry, Key, MAX_KEY, Put, Store, StoreError};

/// Serves values of a store.
#[derive(Clone, Debug)]
pub struct Kv {
    store: Arc<dyn Store>,
    namespace: String,
    write: Write,
    listing: bool,
    max_body: usize,
}

/// Who may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// Nobody.
    Nobody,
    /// Whom a guard of the route has authenticated.
    Users,
    /// Everybody who can reach it.
    Anyone,
}

impl Kv {
    /// Serves the values of a namespace: to be read, not listed.
    ///
    /// # Errors
    /// [`StoreError::BadKey`] for what is no namespace.
    pub fn new(store: Arc<dyn Store>, namespace: &str) -> Result<Self, StoreError> {
        let namespace = format!("kv.{namespace}");
        Key::new(&namespace, "")?;
        Ok(Self {
            store,
            namespace,
            write: Write::Nobody,
            listing: false,
            max_body: 1 << 20,
        })
    }

    /// Who may put and delete. Default: nobody.
    pub fn write(mut self, write: Write) -> Self {
        self.write = write;
        self
    }

    /// Whether names are listed. Default: no.
    pub fn listing(mut self, listing: bool) -> Self {
        self.listing = listing;
        self
    }

    /// The largest value that may be put, in bytes. Default: 1 MiB.
    pub fn max_body(mut self, max_body: usize) -> Self {
        self.max_body = max_body;
        self
    }

    /// Answers a request for a name, percent-encoded as it is in the path. `user` is who was authenticated, if anyone was.
    ///
    /// # Cancellation
    /// A change may be made or not.
    pub async fn respond(
        &self,
        request: Request<Body>,
        name: &str,
        user: Option<&str>,
    ) -> Response<Body> {
        let answer = self.answer(request, name, user).await;
        answer.unwrap_or_else(|refusal| refusal.response())
    }

    async fn answer(
        &self,
        request: Request<Body>,
        name: &str,
        user: Option<&str>,
    ) -> Result<Response<Body>, Refusal> {
        // Three bytes of a path for one of a name, at most.
        if name.len() > 3 * MAX_KEY {
            return Err(StatusCode::URI_TOO_LONG.into());
        }
        let name = decode_str(name).or(Err(StatusCode::BAD_REQUEST))?;
        let key = Key::new(&self.namespace, &name)?;
        let is_list = name.is_empty() || name.ends_with('/');
        let (head, body) = request.into_parts();
        match head.method {
            Method::GET | Method::HEAD if is_list && self.listing => self.list(&head, &key).await,
            Method::GET | Method::HEAD => self.get(&head, &key).await,
            Method::OPTIONS => Ok(self.allowed(StatusCode::NO_CONTENT)),
            Method::PUT | Method::DELETE if self.write != Write::Nobody && !name.is_empty() => {
                if self.write == Write::Users && user.is_none() {
                    return Err(StatusCode::FORBIDDEN.into());
                }
                if head.method == Method::PUT {
                    self.put(&head, body, &key).await
                } else {
                    self.delete(&head, &key).await
                }
            }
            _ => Ok(self.allowed(StatusCode::METHOD_NOT_ALLOWED)),
        }
    }

    async fn get(&self, head: &Parts, key: &Key) -> Result<Response<Body>, Refusal> {
        let entry = self.store.get(key).await?;
        let entry = entry.ok_or(StatusCode::NOT_FOUND)?;
        let content = Content::read(&entry.value).ok_or(StatusCode::INTERNAL_SERVER_ERROR)?;
        let etag = etag(&entry);
        let validators = Validators {
            etag: &etag,
            modified: HttpDate::from_system_time(entry.modified),
        };
        let headers = &head.headers;
        let mut response = Response::new(Body::empty());
        validate(response.headers_mut(), &etag, entry.modified);
        fresh(response.headers_mut(), &entry);
        let outcome = judge(headers, validators);
        match outcome {
            Outcome::NotModified => *response.status_mut() = StatusCode::NOT_MODIFIED,
            Outcome::Failed => return Err(StatusCode::PRECONDITION_FAILED.into()),
            Outcome::Proceed | Outcome::ProceedWhole => {
                let range = headers
                    .get(RANGE)
                    .filter(|_| outcome == Outcome::Proceed && head.method == Method::GET);
                let size = content.body.len() as u64;
                let selected = range.map(|range| select(range.as_bytes(), size));
                let fields = response.headers_mut();
                fields.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
                fields.insert(CONTENT_TYPE, content.kind);
                fields.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
                match selected {
                    Some(Selection::Unsatisfiable) => {
                        let mut refused = reply::status(StatusCode::RANGE_NOT_SATISFIABLE);
                        refused
                            .headers_mut()
                            .insert(CONTENT_RANGE, text(format!("bytes */{size}")));
                        return Ok(refused);
                    }
                    // Several parts would need a body of their own kind: who asks for them gets all of it, as is allowed.
                    Some(Selection::Parts(parts)) if parts.len() == 1 => {
                        let (start, end) = (parts[0].start, parts[0].end);
                        let range = format!("bytes {start}-{}/{size}", end - 1);
                        fields.insert(CONTENT_RANGE, text(range));
                        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
                        // Within a value that is in memory.
                        *response.body_mut() =
                            content.body.slice(start as usize..end as usize).into();
                    }
                    _ => *response.body_mut() = content.body.into(),
                }
            }
        }
        Ok(response)
    }

    async fn put(&self, head: &Parts, body: Body, key: &Key) -> Result<Response<Body>, Refusal> {
        // Part of a value, which would become the whole; a compressed one, which not every reader can read.
        if head.headers.contains_key(CONTENT_RANGE) {
            return Err(StatusCode::BAD_REQUEST.into());
        }
        if head.headers.contains_key(CONTENT_ENCODING) {
            return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE.into());
        }
        let condition = precondition::condition(&*self.store, key, &head.headers).await?;
        let body = body.bytes(self.max_body).await?;
        let value = content::write(head.headers.get(CONTENT_TYPE), &body)
            .ok_or(StatusCode::UNSUPPORTED_MEDIA_TYPE)?;
        let put = Put {
            expires: precondition::max_age(&head.headers),
            condition,
        };
        let written = self.store.put(key, value, put).await?;
        let mut response = Response::new(Body::empty());
        *response.status_mut() = match written.created {
            true => StatusCode::CREATED,
            false => StatusCode::NO_CONTENT,
        };
        let etag = format!("\"{}\"", written.version);
        validate(response.headers_mut(), &etag, written.modified);
        Ok(response)
    }

    async fn delete(&self, head: &Parts, key: &Key) -> Result<Response<Body>, Refusal> {
        let condition = precondition::condition(&*self.store, key, &head.headers).await?;
        if !self.store.delete(key, condition).await? {
            return Err(StatusCode::NOT_FOUND.into());
        }
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        Ok(response)
    }

    async fn list(&self, head: &Parts, prefix: &Key) -> Result<Response<Body>, Refusal> {
        let query = listing::Query::parse(head.uri.query().unwrap_or_default());
        let page = self
            .store
            .list(prefix, query.after.as_deref(), query.limit)
            .await?;
        let mut response = listing::response(&head.headers, prefix.name(), &page, query.limit);
        let fields = response.headers_mut();
        fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        fields.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        Ok(response)
    }

    fn allowed(&self, status: StatusCode) -> Response<Body> {
        let mut response = match status {
            StatusCode::NO_CONTENT => Response::new(Body::empty()),
            status => reply::status(status),
        };
        *response.status_mut() = status;
        let methods = match self.write {
            Write::Nobody => "GET, HEAD, OPTIONS",
            _ => "GET, HEAD, OPTIONS, PUT, DELETE",
        };
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static(methods));
        response
    }
}

impl Handler for Kv {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        let kv = self.clone();
        Answer::later(async move {
            let path = request.uri().path();
            let name = path.strip_prefix(&visit.route.mount).unwrap_or_default();
            let name = name.trim_start_matches('/').to_owned();
            kv.respond(request, &name, visit.user.as_deref()).await
        })
    }
}

/// Why a request gets no value.
enum Refusal {
    Status(StatusCode),
    Store(StoreError),
}

impl From<StatusCode> for Refusal {
    fn from(status: StatusCode) -> Self {
        Self::Status(status)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<BodyError> for Refusal {
    fn from(error: BodyError) -> Self {
        Self::Status(match error {
            BodyError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            BodyError::TooSlow => StatusCode::REQUEST_TIMEOUT,
            _ => StatusCode::BAD_REQUEST,
        })
    }
}

impl Refusal {
    fn response(self) -> Response<Body> {
        match self {
            Self::Status(status) => reply::status(status),
            Self::Store(error) => store_failed(&error),
        }
    }
}

/// The response to a request that the store failed.
pub(crate) fn store_failed(error: &StoreError) -> Response<Body> {
    let status = match error {
        StoreError::Conflict => StatusCode::PRECONDITION_FAILED,
        StoreError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        StoreError::Full(_) => StatusCode::INSUFFICIENT_STORAGE,
        StoreError::BadKey(_) | StoreError::BadCursor => StatusCode::BAD_REQUEST,
        StoreError::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
    };
    let mut response = reply::status(status);
    if status.is_server_error() {
        tracing::warn!("a request could not be answered: {error}");
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

fn etag(entry: &Entry) -> String {
    format!("\"{}\"", entry.version)
}

fn validate(fields: &mut HeaderMap, etag: &str, modified: SystemTime) {
    fields.insert(ETAG, text(etag.to_owned()));
    fields.insert(LAST_MODIFIED, text(http_date(modified)));
}

/// Caches ask each time, except for what will be gone at a known time.
fn fresh(fields: &mut HeaderMap, entry: &Entry) {
    let left = entry.expires.map(|at| at.duration_since(SystemTime::now()));
    let value = match left {
        Some(left) => format!("max-age={}", left.unwrap_or(Duration::ZERO).as_secs()),
        None => "no-cache".into(),
    };
    fields.insert(CACHE_CONTROL, text(value));
}

/// Of text that we made, in ASCII.
fn text(value: String) -> HeaderValue {
    HeaderValue::try_from(value).expect("fields of ours have no control characters")
}
