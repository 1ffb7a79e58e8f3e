//! Where a program sends the request on to, and where a folder is that was asked for without its slash.

use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, LOCATION, TRANSFER_ENCODING,
};
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use thrum_http::Body;

use super::LocalRedirect;
use crate::site::{Visit, reply};

/// The response to a request, or that of another path of the site, if that is what the program wants (RFC 3875 section
/// 6.2.2).
pub(crate) async fn settle(
    mut response: Response<Body>,
    request: Parts,
    visit: Visit,
) -> Response<Body> {
    let Some(LocalRedirect(target)) = response.extensions_mut().remove::<LocalRedirect>() else {
        return response;
    };
    let mut uri = request.uri.into_parts();
    uri.path_and_query = Some(target);
    let Ok(uri) = Uri::from_parts(uri) else {
        return reply::status(StatusCode::BAD_GATEWAY);
    };
    let mut other = Request::new(Body::empty());
    *other.uri_mut() = uri;
    *other.version_mut() = request.version;
    *other.headers_mut() = request.headers;
    for of_the_body in [
        CONTENT_ENCODING,
        CONTENT_LENGTH,
        CONTENT_TYPE,
        EXPECT,
        TRANSFER_ENCODING,
    ] {
        other.headers_mut().remove(of_the_body);
    }
    visit.redispatch(other).response().await
}

/// A folder that was asked for without its slash.
pub(crate) fn to_folder(uri: &Uri) -> Response<Body> {
    // One slash at the start, so that it names no other host.
    let path = uri.path().trim_start_matches('/');
    let query = uri
        .query()
        .map_or(String::new(), |query| format!("?{query}"));
    let mut response = reply::status(StatusCode::MOVED_PERMANENTLY);
    if let Ok(location) = HeaderValue::try_from(format!("/{path}/{query}")) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}
