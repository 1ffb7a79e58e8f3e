//! Error pages: a folder with a page for each status, by language if so wanted.
//!
//! `404.html` answers for 404, `4xx.html` and `5xx.html` for what has no page of its own, and `404.html.ja` for readers of
//! Japanese. A page takes the place of the few words that the server says itself ([`reply::status`](crate::site::reply::status));
//! what a program or another server says in its own words is left alone, and so is what programs get that want JSON.
//! Pages are bytes in memory: none can fail, or lead to another one.

mod pages;

use std::io;
use std::path::Path;
use std::sync::Arc;

use http::header::{
    ACCEPT, ACCEPT_LANGUAGE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE,
    ETAG, HeaderMap, HeaderValue, VARY,
};
use http::{Request, Response};
use thrum_http::Body;

use self::pages::{Page, Pages};
use crate::config::{Kind, Setting, Settings};
use crate::files::negotiation;
use crate::site::reply::Plain;
use crate::site::{Answer, Building, Handler, Layer, Visit};

/// What may stand in the block of a route or site.
pub const SETTINGS: &[Setting] = &[Setting::new(
    "errors",
    &[Kind::Folder],
    "A folder with pages for what goes wrong: `404.html`, `4xx.html` and `5xx.html` for what has no page of its own, \
     `404.html.ja` in another language. They take the place of the server's own words, but not of what programs and other \
     servers answer.",
    "errors /srv/errors",
)];

/// Puts [`ErrorPages`] around a handler.
pub const LAYER: Layer = Layer {
    settings: SETTINGS,
    build,
};

/// Puts pages in the place of what a handler says when something is wrong.
///
/// ```no_run
/// use std::sync::Arc;
/// use thrum_server::error_pages::ErrorPages;
/// use thrum_server::files::Files;
///
/// let files = Arc::new(Files::new("./public")?);
/// let handler = ErrorPages::new("./errors", files)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ErrorPages {
    pages: Arc<Pages>,
    inner: Arc<dyn Handler>,
}

impl ErrorPages {
    /// Pages of a folder. What changes in it is seen within a second.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn new(folder: impl AsRef<Path>, inner: Arc<dyn Handler>) -> io::Result<Self> {
        let pages = Arc::new(Pages::open(folder.as_ref())?);
        Ok(Self { pages, inner })
    }
}

impl Handler for ErrorPages {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        let wants = Wants::of(request.headers());
        let pages = self.pages.clone();
        match self.inner.handle(request, visit) {
            Answer::Now(mut response) => {
                replace(&mut response, &pages, &wants);
                Answer::Now(response)
            }
            answer => answer.map(move |response| replace(response, &pages, &wants)),
        }
    }
}

/// What a client wants, kept until it is known whether it matters.
struct Wants {
    accept: Option<HeaderValue>,
    language: Option<HeaderValue>,
}

impl Wants {
    fn of(headers: &HeaderMap) -> Self {
        Self {
            accept: headers.get(ACCEPT).cloned(),
            language: headers.get(ACCEPT_LANGUAGE).cloned(),
        }
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let fields = [(ACCEPT, &self.accept), (ACCEPT_LANGUAGE, &self.language)];
        for (name, value) in fields {
            if let Some(value) = value {
                headers.insert(name, value.clone());
            }
        }
        headers
    }
}

/// Puts a page in the place of a plain status, if there is one for it that the client takes.
fn replace(response: &mut Response<Body>, pages: &Pages, wants: &Wants) {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error || response.extensions().get::<Plain>().is_none() {
        return;
    }
    let wants = wants.headers();
    if !negotiation::takes_page(&wants) || negotiation::prefers_json(&wants) {
        return;
    }
    if let Some((page, by_language)) = pages.find(status, &wants) {
        show(response, &page, by_language);
    }
}

/// What the status itself needs stays: `allow`, `retry-after`, `www-authenticate`.
fn show(response: &mut Response<Body>, page: &Page, by_language: bool) {
    *response.body_mut() = page.bytes.clone().into();
    let headers = response.headers_mut();
    for name in [CONTENT_LENGTH, CONTENT_ENCODING, ETAG] {
        headers.remove(name);
    }
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    headers.insert(CONTENT_TYPE, html);
    let vary = if by_language {
        "accept, accept-language"
    } else {
        "accept"
    };
    headers.append(VARY, HeaderValue::from_static(vary));
    if let Some(language) = &page.language
        && let Ok(language) = HeaderValue::try_from(language)
    {
        headers.insert(CONTENT_LANGUAGE, language);
    }
}

fn build(
    settings: &Settings,
    inner: Arc<dyn Handler>,
    building: &mut Building<'_>,
) -> Arc<dyn Handler> {
    let Some((entry, folder)) = settings.written("errors").zip(settings.path("errors")) else {
        return inner;
    };
    let made = ErrorPages::new(&folder, inner.clone())
        .map_err(|error| format!("cannot read the folder {}: {error}", folder.display()));
    match building.problems.check(entry.span(), made) {
        Some(pages) => Arc::new(pages),
        None => inner,
    }
}

impl std::fmt::Debug for ErrorPages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ErrorPages")
            .field("folder", &self.pages.folder())
            .finish_non_exhaustive()
    }
}
