//! A response, and its body on its way.

use bytes::Bytes;
use http::{Extensions, HeaderMap, StatusCode, Uri, Version};

use super::{Error, Phase};
use crate::{Body, BodyError};

/// A response. Its body comes while it is read.
///
/// The connection is used again once the body has been read to its end. Dropped before, it is closed, unless little is left
/// and has come already.
#[derive(Debug)]
pub struct Response {
    inner: http::Response<Body>,
    url: Uri,
    limit: usize,
}

impl Response {
    pub(crate) fn new(inner: http::Response<Body>, url: Uri, limit: usize) -> Self {
        Self { inner, url, limit }
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.inner.status()
    }

    /// The version of HTTP that the server speaks.
    pub fn version(&self) -> Version {
        self.inner.version()
    }

    /// The fields of the head.
    pub fn headers(&self) -> &HeaderMap {
        self.inner.headers()
    }

    /// The URL that it is a response to: after redirects, the last one.
    pub fn url(&self) -> &Uri {
        &self.url
    }

    /// What was noted with it.
    pub fn extensions(&self) -> &Extensions {
        self.inner.extensions()
    }

    /// What was noted with it. See [`upgrade::on`](crate::upgrade::on).
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        self.inner.extensions_mut()
    }

    /// Itself, unless its status says that the request failed: 400 to 599, and those beyond.
    ///
    /// # Errors
    /// One with that [`status`](Error::status).
    pub fn error_for_status(self) -> Result<Self, Error> {
        match self.status().as_u16() {
            400.. => Err(Error::status_of(self.status()).with_url(&self.url)),
            _ => Ok(self),
        }
    }

    /// Sets how many bytes of body are collected at most. Default:
    /// [`Limits::body_bytes`](super::Limits::body_bytes).
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// All of the body.
    ///
    /// # Errors
    /// When it is larger than the [`limit`](Self::limit), or does not come in full and in time.
    pub async fn bytes(self) -> Result<Bytes, Error> {
        let Self { inner, url, limit } = self;
        let bytes = inner.into_body().bytes(limit).await;
        bytes.map_err(|error| of_body(error, &url))
    }

    /// All of the body as text: UTF-8, where what is not becomes U+FFFD.
    ///
    /// # Errors
    /// Those of [`bytes`](Self::bytes).
    pub async fn text(self) -> Result<String, Error> {
        let bytes = self.bytes().await?;
        Ok(match String::from_utf8(Vec::from(bytes)) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }

    /// The next bytes of the body, as they come; `None` at its end. Dropping the future loses nothing.
    ///
    /// # Errors
    /// When it breaks off, is malformed, or does not come in time.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let chunk = self.inner.body_mut().chunk().await.transpose();
        chunk.map_err(|error| of_body(error, &self.url))
    }

    /// The body itself.
    pub fn into_body(self) -> Body {
        self.inner.into_body()
    }
}

/// Says which body it was.
pub(crate) fn of_body(error: BodyError, url: &Uri) -> Error {
    Error::new(Phase::Body, error).with_url(url)
}

impl From<Response> for http::Response<Body> {
    fn from(response: Response) -> Self {
        response.inner
    }
}
