//! What a request is answered with once its file is found: all of it, parts, or that it has not changed.

use http::header::{
    ALLOW, CONTENT_RANGE, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, IF_MATCH,
    IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, LOCATION, RANGE, VARY,
};
use http::{Response, StatusCode};
use thrum_http::Body;

use super::conditional::{Outcome, judge};
use super::multipart;
use super::range::{Selection, select};
use super::representation::Representation;
use crate::site::reply;

/// A file, or as much of it as the request wants.
pub(super) fn file(request: &HeaderMap, file: &Representation) -> Response<Body> {
    if is_plain(request) {
        return with_headers(StatusCode::OK, file, file.body(file.whole()));
    }
    let selection = match (judge(request, file.validators()), request.get(RANGE)) {
        (Outcome::NotModified, _) => return not_modified(file),
        (Outcome::Failed, _) => return reply::status(StatusCode::PRECONDITION_FAILED),
        (Outcome::Proceed, Some(range)) => select(range.as_bytes(), file.size),
        _ => Selection::Whole,
    };
    match selection {
        Selection::Whole => with_headers(StatusCode::OK, file, file.body(file.whole())),
        Selection::Parts(parts) => match parts[..] {
            [part] => {
                let mut response = with_headers(StatusCode::PARTIAL_CONTENT, file, file.body(part));
                let range = format!("bytes {}-{}/{}", part.start, part.end - 1, file.size);
                insert(&mut response, CONTENT_RANGE, range);
                response
            }
            _ => {
                let (content_type, body) = multipart::multipart(file, &parts);
                let mut response = with_headers(StatusCode::PARTIAL_CONTENT, file, body);
                response.headers_mut().insert(CONTENT_TYPE, content_type);
                response
            }
        },
        Selection::Unsatisfiable => {
            let mut response = reply::status(StatusCode::RANGE_NOT_SATISFIABLE);
            insert(
                &mut response,
                CONTENT_RANGE,
                format!("bytes */{}", file.size),
            );
            response
        }
    }
}

/// Whether the client has what a file would be compressed to already.
pub(super) fn has_it_already(request: &HeaderMap, file: &Representation) -> bool {
    !is_plain(request) && judge(request, file.validators()) == Outcome::NotModified
}

/// Whether a request has no condition and no range, as nearly all.
fn is_plain(request: &HeaderMap) -> bool {
    const SPECIAL: [HeaderName; 6] = [
        RANGE,
        IF_NONE_MATCH,
        IF_MODIFIED_SINCE,
        IF_MATCH,
        IF_UNMODIFIED_SINCE,
        IF_RANGE,
    ];
    !request.keys().any(|name| SPECIAL.contains(name))
}

fn with_headers(status: StatusCode, file: &Representation, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = file.headers.clone();
    response
}

/// A response without a body: the validators go along, the type does not (RFC 9110 section 15.4.5).
pub(super) fn not_modified(file: &Representation) -> Response<Body> {
    let mut response = with_headers(StatusCode::NOT_MODIFIED, file, Body::empty());
    response.headers_mut().remove(CONTENT_TYPE);
    response
}

/// Says that another client may get something else, which caches in between need to know.
pub(super) fn vary_by_accept(response: &mut Response<Body>) {
    let accept = HeaderValue::from_static("accept");
    response.headers_mut().append(VARY, accept);
}

pub(super) fn method_not_allowed() -> Response<Body> {
    let mut response = reply::status(StatusCode::METHOD_NOT_ALLOWED);
    let allowed = HeaderValue::from_static("GET, HEAD");
    response.headers_mut().insert(ALLOW, allowed);
    response
}

pub(super) fn moved(path: &str, query: Option<&str>) -> Response<Body> {
    let mut response = reply::status(StatusCode::MOVED_PERMANENTLY);
    let location = match query {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    insert(&mut response, LOCATION, location);
    response
}

fn insert(response: &mut Response<Body>, name: HeaderName, value: String) {
    // What is put in here is made of visible ASCII.
    if let Ok(value) = HeaderValue::try_from(value) {
        response.headers_mut().insert(name, value);
    }
}
