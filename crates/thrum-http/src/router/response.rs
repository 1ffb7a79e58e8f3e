//! What handlers may answer with.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};

use super::ParamError;
use crate::{Body, BodyError};

/// Anything that turns into a response.
///
/// | value | response |
/// |---|---|
/// | `()` | 200, no body |
/// | `&'static str`, `String` | 200, `text/plain; charset=utf-8` |
/// | [`Bytes`], `Vec<u8>`, `&'static [u8]` | 200, `application/octet-stream` |
/// | [`Body`] | 200 |
/// | [`StatusCode`] | that, no body |
/// | `(StatusCode, T)` | the one of `T` with that status |
/// | `Response<T>` | as it is, if `T` turns into a [`Body`] |
/// | `Result<T, E>` | that of either: errors are answers too |
/// | [`BodyError`] | 413 if the body is too large, 408 if it came too slowly, 400 if it is malformed or cut, else 500 |
/// | [`ParamError`] | 400; 500 if the route has no such parameter |
/// | `Json<T>` (feature `json`) | 200, `application/json` |
pub trait IntoResponse {
    /// Turns it into a response.
    fn into_response(self) -> Response<Body>;
}

impl<T: Into<Body>> IntoResponse for Response<T> {
    fn into_response(self) -> Response<Body> {
        self.map(Into::into)
    }
}

impl<T: IntoResponse, E: IntoResponse> IntoResponse for Result<T, E> {
    fn into_response(self) -> Response<Body> {
        match self {
            Ok(value) => value.into_response(),
            Err(error) => error.into_response(),
        }
    }
}

impl<T: IntoResponse> IntoResponse for (StatusCode, T) {
    fn into_response(self) -> Response<Body> {
        let (status, value) = self;
        let mut response = value.into_response();
        *response.status_mut() = status;
        response
    }
}

impl IntoResponse for StatusCode {
    fn into_response(self) -> Response<Body> {
        (self, ()).into_response()
    }
}

impl IntoResponse for Body {
    fn into_response(self) -> Response<Body> {
        Response::new(self)
    }
}

impl IntoResponse for () {
    fn into_response(self) -> Response<Body> {
        Response::new(Body::empty())
    }
}

impl IntoResponse for Infallible {
    fn into_response(self) -> Response<Body> {
        match self {}
    }
}

impl IntoResponse for BodyError {
    fn into_response(self) -> Response<Body> {
        let status = match &self {
            _ if is_too_large(&self) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::Malformed(_) | Self::Truncated => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, format!("{self}\n")).into_response()
    }
}

/// Whether a limit has been passed, that of the server, of a handler, or of a layer around it.
fn is_too_large(error: &BodyError) -> bool {
    match error {
        BodyError::TooLarge => true,
        BodyError::Other(other) => {
            #[cfg(feature = "middleware")]
            if other.is::<http_body_util::LengthLimitError>() {
                return true;
            }
            other.downcast_ref().is_some_and(is_too_large)
        }
        _ => false,
    }
}

impl IntoResponse for ParamError {
    fn into_response(self) -> Response<Body> {
        let status = match self {
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::Unknown(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, format!("{self}\n")).into_response()
    }
}

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const BYTES: HeaderValue = HeaderValue::from_static("application/octet-stream");

fn typed(body: impl Into<Body>, content_type: HeaderValue) -> Response<Body> {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

macro_rules! typed {
    ($($type:ty => $content_type:expr,)+) => {$(
        impl IntoResponse for $type {
            fn into_response(self) -> Response<Body> {
                typed(self, $content_type)
            }
        }
    )+};
}

typed! {
    &'static str => TEXT,
    String => TEXT,
    Bytes => BYTES,
    Vec<u8> => BYTES,
    &'static [u8] => BYTES,
}

/// A value as JSON. One that cannot be written as JSON is answered with 500.
///
/// ```
/// use thrum_http::router::{IntoResponse, Json};
///
/// let response = Json([1, 2, 3]).into_response();
/// assert_eq!(response.headers()["content-type"], "application/json");
/// ```
#[cfg(feature = "json")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

#[cfg(feature = "json")]
impl<T: serde::Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response<Body> {
        match serde_json::to_vec(&self.0) {
            Ok(text) => typed(text, HeaderValue::from_static("application/json")),
            Err(error) => {
                tracing::error!(%error, "an answer cannot be written as JSON");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}
