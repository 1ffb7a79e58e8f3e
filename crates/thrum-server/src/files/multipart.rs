//! Several ranges in one response: `multipart/byteranges` (RFC 9110 section 14.6).

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use http_body::{Body as HttpBody, Frame, SizeHint};
use thrum_http::{Body, BodyError};

use super::range::ByteRange;
use super::representation::Representation;

/// The body of a response with several ranges, and its type.
pub(super) fn multipart(file: &Representation, parts: &[ByteRange]) -> (HeaderValue, Body) {
    // It need only not occur in the file by chance; nobody gains anything by guessing it.
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let boundary = format!("thrum-{:016x}", COUNT.fetch_add(1, Ordering::Relaxed));
    let content_type = file
        .headers
        .get(CONTENT_TYPE)
        .map_or("", |value| value.to_str().unwrap_or(""));
    let mut bodies = VecDeque::new();
    for part in parts {
        let ByteRange { start, end } = *part;
        let last = end - 1;
        let head = format!(
            "\r\n--{boundary}\r\ncontent-type: {content_type}\r\ncontent-range: bytes {start}-{last}/{}\r\n\r\n",
            file.size
        );
        bodies.push_back(Body::from(head));
        bodies.push_back(file.body(*part));
    }
    bodies.push_back(Body::from(format!("\r\n--{boundary}--\r\n")));
    let value = format!("multipart/byteranges; boundary={boundary}");
    let value =
        HeaderValue::try_from(value).unwrap_or(HeaderValue::from_static("multipart/byteranges"));
    (value, Body::wrap(Chain { bodies }))
}

/// Bodies one after the other.
struct Chain {
    bodies: VecDeque<Body>,
}

impl HttpBody for Chain {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        while let Some(first) = self.bodies.front_mut() {
            if let Some(frame) = ready!(Pin::new(first).poll_frame(cx)) {
                return Poll::Ready(Some(frame));
            }
            self.bodies.pop_front();
        }
        Poll::Ready(None)
    }

    fn size_hint(&self) -> SizeHint {
        let sizes: Option<u64> = self.bodies.iter().map(Body::size).sum();
        sizes.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
