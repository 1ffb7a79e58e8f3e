//! Compressed bodies, both ways.

use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, Response};
use tower_http::compression::{CompressionLayer, Predicate};
use tower_http::decompression::RequestDecompressionLayer;
use tower_http::limit::RequestBodyLimitLayer;

use crate::is_compressible_type;

/// Compresses responses with zstd, brotli or gzip, as the client likes best, where it is worth it: see [`Compressible`].
///
/// Pages that show a secret next to what an attacker can have in them should not be compressed: the size tells (BREACH).
///
/// ```
/// use thrum_http::middleware::{Layer, compression};
/// use thrum_http::{Body, Request, Response, service_fn};
///
/// let application = service_fn(async |_: Request<Body>| Response::new("hello"));
/// let application = compression().layer(application);
/// # fn is_application(_: impl thrum_http::Application) {}
/// # is_application(application);
/// ```
pub fn compression() -> CompressionLayer<Compressible> {
    CompressionLayer::new().compress_when(Compressible)
}

/// Decompresses requests that are compressed with zstd, brotli or gzip, and limits every request's body to `limit` bytes *once
/// decompressed*: no more is made of a small one that would expand to gigabytes.
///
/// A request that is not compressed and says to be larger is answered with 413. Otherwise the body fails for the handler that
/// reads too far, as a [`BodyError`](crate::BodyError) which the router's handlers may return: it is answered with 413. Other
/// encodings are answered with 415.
///
/// The body is of another type than before, which a router and `plain` functions do not mind.
pub fn decompression(limit: usize) -> (RequestDecompressionLayer, RequestBodyLimitLayer) {
    (
        RequestDecompressionLayer::new(),
        RequestBodyLimitLayer::new(limit),
    )
}

/// Bytes below which a body is sent as it is: it fits a packet anyway.
const SMALLEST: u64 = 1024;

/// Tells what is worth compressing: text, and what is known not to be compressed already. Not: images but SVG and bitmaps,
/// sound, film, archives, WOFF; what has a `content-encoding`; server-sent events; bodies known to be smaller than 1 KiB; what
/// says `cache-control: no-transform` or has no type.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compressible;

impl Predicate for Compressible {
    fn should_compress<B: http_body::Body>(&self, response: &Response<B>) -> bool {
        let size = response.body().size_hint().exact();
        size.is_none_or(|size| size >= SMALLEST) && is_compressible(response.headers())
    }
}

fn is_compressible(fields: &HeaderMap) -> bool {
    let field = |name: HeaderName| fields.get(name).and_then(|value| value.to_str().ok());
    let kept = field(CACHE_CONTROL).is_some_and(|value| value.contains("no-transform"));
    !kept
        && !fields.contains_key(CONTENT_ENCODING)
        && field(CONTENT_TYPE).is_some_and(is_compressible_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worth_it() {
        for (content_type, worth) in [
            ("text/html; charset=utf-8", true),
            ("TEXT/CSS", true),
            ("application/json", true),
            ("application/problem+json", true),
            ("image/svg+xml", true),
            ("font/ttf", true),
            ("text/event-stream", false),
            ("image/png", false),
            ("font/woff2", false),
            ("application/zip", false),
            ("application/octet-stream", false),
            ("video/mp4", false),
            ("", false),
        ] {
            let mut response = Response::new(crate::Body::from(vec![b'x'; 2000]));
            let value = content_type.parse().unwrap();
            response.headers_mut().insert(CONTENT_TYPE, value);
            assert_eq!(
                Compressible.should_compress(&response),
                worth,
                "{content_type}"
            );
            if worth {
                let small = response.map(|_| crate::Body::from("small"));
                assert!(!Compressible.should_compress(&small), "{content_type}");
            }
        }
        let mut fields = HeaderMap::new();
        fields.insert(CONTENT_TYPE, "text/plain".parse().unwrap());
        assert!(is_compressible(&fields));
        fields.insert(CACHE_CONTROL, "public, no-transform".parse().unwrap());
        assert!(!is_compressible(&fields));
        fields.remove(CACHE_CONTROL);
        fields.insert(CONTENT_ENCODING, "gzip".parse().unwrap());
        assert!(!is_compressible(&fields));
    }
}
