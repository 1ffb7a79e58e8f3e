//! Responses that say what is the matter.

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use thrum_http::Body;

/// A short text that says the status: `404 Not Found`. Error pages of the site take its place where there are any.
pub fn status(status: StatusCode) -> Response<Body> {
    let mut response = text(status, format!("{status}\n"));
    response.extensions_mut().insert(Plain);
    response
}

/// Marks a response that says nothing but its status, in whose place a page can be put.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

/// A plain text.
pub fn text(status: StatusCode, text: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}
