//! What is asked: one request or a list of them, rendered once where nothing in them changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, COOKIE, HOST};
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use thiserror::Error;
use thrum_http::Body;

use crate::template::{Template, Values};

/// What a request is made of. Target, values of fields and body may have places to fill: `{n}` is the number of the request
/// from 0, `{random:1..100}` a number, `{uuid}` a random UUID.
#[derive(Clone, Debug)]
pub struct RequestText {
    /// The method.
    pub method: Method,
    /// Path and query, as `/search?q={n}`.
    pub target: String,
    /// Fields beyond `Host`, which follows from the URL if it is not among them, and `Content-Length`.
    pub fields: Vec<(HeaderName, String)>,
    /// The body.
    pub body: BodyText,
}

/// A request's body.
#[derive(Clone, Debug, Default)]
pub enum BodyText {
    /// None.
    #[default]
    None,
    /// Text, which may have places to fill.
    Text(String),
    /// Bytes that are sent as they are.
    Bytes(Bytes),
}

/// Why a request cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadRequest {
    /// There is nothing to be asked.
    #[error("there is no request in the list")]
    None,
    /// It would not be HTTP.
    #[error("{0:?} cannot be asked for: it begins with / and has no spaces")]
    Target(String),
    /// It would not be HTTP.
    #[error("the value of the field {0} has a character that none may have")]
    Value(HeaderName),
}

/// All that is asked, in turns.
#[derive(Debug)]
pub(crate) struct Requests {
    entries: Vec<Entry>,
    /// The number of the next request, where it matters.
    next: AtomicU64,
    host: HeaderValue,
}

#[derive(Debug)]
struct Entry {
    method: Method,
    target: Template,
    fields: Vec<(HeaderName, Template)>,
    body: Content,
    /// What HTTP/1.1 sends, if nothing in it changes.
    fixed: Option<Bytes>,
    has_host: bool,
}

#[derive(Debug)]
enum Content {
    None,
    Text(Template),
    Bytes(Bytes),
}

/// One place of the load, which asks in turn with the others.
pub(crate) struct Asker {
    requests: Arc<Requests>,
    random: fastrand::Rng,
    scratch: Vec<u8>,
}

impl Requests {
    pub(crate) fn new(texts: Vec<RequestText>, host: HeaderValue) -> Result<Self, BadRequest> {
        let entries = texts.into_iter().map(|text| Entry::new(text, &host));
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        if entries.is_empty() {
            return Err(BadRequest::None);
        }
        Ok(Self {
            entries,
            next: AtomicU64::new(0),
            host,
        })
    }

    /// What is asked next, and its number, if numbers matter.
    fn next(&self) -> (&Entry, u64) {
        match self.entries.as_slice() {
            [only] if only.fixed.is_some() => (only, 0),
            entries => {
                let number = self.next.fetch_add(1, Ordering::Relaxed);
                (&entries[(number % entries.len() as u64) as usize], number)
            }
        }
    }
}

impl Entry {
    fn new(text: RequestText, host: &HeaderValue) -> Result<Self, BadRequest> {
        let is_sound = text.target.starts_with('/')
            && text.target.bytes().all(|byte| matches!(byte, 0x21..=0x7e));
        if !is_sound {
            return Err(BadRequest::Target(text.target));
        }
        let mut entry = Self {
            method: text.method,
            has_host: text.fields.iter().any(|(name, _)| *name == HOST),
            target: Template::new(&text.target),
            fields: Vec::new(),
            body: match text.body {
                BodyText::None => Content::None,
                BodyText::Text(text) => Content::Text(Template::new(&text)),
                BodyText::Bytes(bytes) => Content::Bytes(bytes),
            },
            fixed: None,
        };
        for (name, value) in text.fields {
            if name == CONTENT_LENGTH {
                continue; // it follows from the body
            }
            if HeaderValue::from_str(&value).is_err() {
                return Err(BadRequest::Value(name));
            }
            entry.fields.push((name, Template::new(&value)));
        }
        if entry.is_fixed() {
            let mut rendered = Vec::new();
            let mut random = fastrand::Rng::with_seed(0);
            let values = &mut Values {
                number: 0,
                random: &mut random,
            };
            entry.render(values, host, None, &mut rendered);
            entry.fixed = Some(rendered.into());
        }
        Ok(entry)
    }

    fn is_fixed(&self) -> bool {
        self.target.is_fixed()
            && self.fields.iter().all(|(_, value)| value.is_fixed())
            && match &self.body {
                Content::Text(text) => text.is_fixed(),
                Content::None | Content::Bytes(_) => true,
            }
    }

    /// As HTTP/1.1 sends it.
    fn render(
        &self,
        values: &mut Values<'_>,
        host: &HeaderValue,
        cookie: Option<&HeaderValue>,
        output: &mut Vec<u8>,
    ) {
        let mut line = |parts: [&[u8]; 4]| output.extend(parts.concat());
        let target = self.target.fill(values);
        line([
            self.method.as_str().as_bytes(),
            b" ",
            target.as_bytes(),
            b" HTTP/1.1\r\n",
        ]);
        if !self.has_host {
            line([b"Host", b": ", host.as_bytes(), b"\r\n"]);
        }
        for (name, value) in &self.fields {
            let value = value.fill(values);
            line([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"]);
        }
        if let Some(cookie) = cookie {
            line([b"cookie", b": ", cookie.as_bytes(), b"\r\n"]);
        }
        let body = self.body(values);
        let states_length =
            body.is_some() || matches!(self.method, Method::POST | Method::PUT | Method::PATCH);
        let body = body.unwrap_or_default();
        if states_length {
            let length = body.len().to_string();
            line([b"content-length", b": ", length.as_bytes(), b"\r\n"]);
        }
        output.extend_from_slice(b"\r\n");
        output.extend_from_slice(&body);
    }

    fn body(&self, values: &mut Values<'_>) -> Option<Bytes> {
        match &self.body {
            Content::None => None,
            Content::Text(text) => Some(text.fill(values).into()),
            Content::Bytes(bytes) => Some(bytes.clone()),
        }
    }
}

impl Asker {
    /// `seed` is another for each place.
    pub(crate) fn new(requests: Arc<Requests>, seed: u64) -> Self {
        Self {
            requests,
            random: fastrand::Rng::with_seed(0xa5ce ^ seed),
            scratch: Vec::new(),
        }
    }

    /// The next request as HTTP/1.1 sends it, and its method.
    pub(crate) fn next_http1(&mut self, cookie: Option<&HeaderValue>) -> (&[u8], &Method) {
        let (entry, number) = self.requests.next();
        match &entry.fixed {
            Some(fixed) if cookie.is_none() => (fixed, &entry.method),
            _ => {
                self.scratch.clear();
                let values = &mut Values {
                    number,
                    random: &mut self.random,
                };
                entry.render(values, &self.requests.host, cookie, &mut self.scratch);
                (&self.scratch, &entry.method)
            }
        }
    }

    /// The body of the next request, for protocols that have nothing else.
    pub(crate) fn next_text(&mut self) -> String {
        let (entry, number) = self.requests.next();
        let values = &mut Values {
            number,
            random: &mut self.random,
        };
        match &entry.body {
            Content::None => String::new(),
            Content::Text(text) => text.fill(values),
            Content::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        }
    }

    /// The next request as HTTP/2 sends it; `base` has the scheme and the host.
    pub(crate) fn next_request(
        &mut self,
        base: &Uri,
        cookie: Option<&HeaderValue>,
    ) -> Result<Request<Body>, http::Error> {
        let (entry, number) = self.requests.next();
        let values = &mut Values {
            number,
            random: &mut self.random,
        };
        let mut uri = base.clone().into_parts();
        uri.path_and_query = Some(entry.target.fill(values).try_into()?);
        let mut request = Request::builder()
            .method(entry.method.clone())
            .uri(Uri::from_parts(uri)?);
        for (name, value) in &entry.fields {
            request = request.header(name, value.fill(values));
        }
        if let Some(cookie) = cookie {
            request = request.header(COOKIE, cookie);
        }
        request.body(entry.body(values).map_or_else(Body::empty, Body::from))
    }
}

#[cfg(test)]
mod tests {
    use http::header::CONTENT_TYPE;

    use super::*;

    fn text(target: &str) -> RequestText {
        RequestText {
            method: Method::GET,
            target: target.to_owned(),
            fields: Vec::new(),
            body: BodyText::None,
        }
    }

    fn asker(texts: Vec<RequestText>) -> Asker {
        let host = HeaderValue::from_static("localhost:8080");
        Asker::new(Arc::new(Requests::new(texts, host).unwrap()), 1)
    }

    fn next(asker: &mut Asker) -> String {
        String::from_utf8(asker.next_http1(None).0.to_vec()).unwrap()
    }

    #[test]
    fn lists_are_asked_in_turn_and_places_are_filled() {
        let mut asker = asker(vec![text("/a"), text("/b?{n}")]);
        let host = "Host: localhost:8080\r\n\r\n";
        assert_eq!(next(&mut asker), format!("GET /a HTTP/1.1\r\n{host}"));
        assert_eq!(next(&mut asker), format!("GET /b?1 HTTP/1.1\r\n{host}"));
        assert_eq!(next(&mut asker), format!("GET /a HTTP/1.1\r\n{host}"));
        assert_eq!(next(&mut asker), format!("GET /b?3 HTTP/1.1\r\n{host}"));
    }

    #[test]
    fn a_body_states_its_length_as_it_was_filled() {
        let mut post = text("/");
        post.method = Method::POST;
        post.fields = vec![
            (CONTENT_TYPE, "application/json".to_owned()),
            (HOST, "other".to_owned()),
        ];
        post.body = BodyText::Text("{\"id\": {n}0}".to_owned());
        let mut asker = asker(vec![post]);
        let expected = "POST / HTTP/1.1\r\ncontent-type: application/json\r\nhost: other\r\n\
            content-length: 10\r\n\r\n{\"id\": 00}";
        assert_eq!(next(&mut asker), expected);
        let base = Uri::from_static("http://localhost:8080");
        let cookie = HeaderValue::from_static("a=b");
        let request = asker.next_request(&base, Some(&cookie)).unwrap();
        assert_eq!(request.uri(), "http://localhost:8080/");
        assert_eq!(request.headers()[COOKIE], "a=b");
        let (with_cookie, method) = asker.next_http1(Some(&cookie));
        assert!(String::from_utf8_lossy(with_cookie).contains("\r\ncookie: a=b\r\n"));
        assert_eq!(method, Method::POST);
    }

    #[test]
    fn what_is_not_http_is_refused() {
        let requests = |texts| Requests::new(texts, HeaderValue::from_static("h")).map(|_| ());
        assert_eq!(requests(vec![]), Err(BadRequest::None));
        assert!(matches!(
            requests(vec![text("a b")]),
            Err(BadRequest::Target(_))
        ));
        let mut split = text("/");
        split.fields = vec![(CONTENT_TYPE, "a\r\nb: c".to_owned())];
        assert_eq!(requests(vec![split]), Err(BadRequest::Value(CONTENT_TYPE)));
    }
}
