//! What a layer refuses: counted, noted, answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderValue, Response, StatusCode};

use crate::Body;

/// How much a layer and its clones have refused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refused(Arc<AtomicU64>);

impl Refused {
    /// Counts one, refused by the layer of this name.
    pub(crate) fn count(&self, layer: &'static str) {
        self.0.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(layer, "refused");
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// An answer without a body.
pub(crate) fn answer(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// Asks to be left alone so long, in seconds that are rounded up.
pub(crate) fn retry_after(response: &mut Response<Body>, after: Duration) -> u64 {
    let seconds = after.as_nanos().div_ceil(1_000_000_000) as u64;
    let fields = response.headers_mut();
    fields.insert(RETRY_AFTER, HeaderValue::from(seconds));
    seconds
}
