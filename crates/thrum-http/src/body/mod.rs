//! The body of a request or a response.

pub(crate) mod incoming;
mod next;
mod stream;

use std::any::Any;
use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body as HttpBody, Frame, SizeHint};
use pin_project_lite::pin_project;
use thiserror::Error;

pub(crate) use self::incoming::Incoming;
pub(crate) use self::next::{Next, poll_frame};
pub use self::stream::BodySender;
use crate::Reject;
use crate::h2::Upload;

/// A body: nothing, bytes, part of a file, what a client is sending, or any [`http_body::Body`].
///
/// It is one type for requests and responses, so that a handler may answer with the body that it got.
///
/// ```
/// use thrum_http::Body;
///
/// let body = Body::from("hello");
/// assert_eq!(body.size(), Some(5));
/// ```
#[derive(Default)]
pub struct Body {
    pub(crate) kind: Kind,
}

#[derive(Default)]
pub(crate) enum Kind {
    #[default]
    Empty,
    Bytes(Bytes),
    File(FilePart),
    Incoming(Incoming),
    /// What a client is sending over HTTP/2.
    Http2(Box<Upload>),
    Stream(Pin<Box<dyn HttpBody<Data = Bytes, Error = BodyError> + Send>>),
}

/// Part of a file, sent without passing through this process.
#[derive(Clone)]
pub(crate) struct FilePart {
    pub(crate) file: Arc<File>,
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

impl Body {
    /// A body without bytes.
    pub fn empty() -> Self {
        Self::default()
    }

    /// `length` bytes of a file from `offset`. If the file turns out to be shorter, the connection is closed: the length
    /// has been promised.
    pub fn file(file: Arc<File>, offset: u64, length: u64) -> Self {
        Self {
            kind: Kind::File(FilePart {
                file,
                offset,
                length,
            }),
        }
    }

    /// Any body whose data are [`Bytes`]. One of this type stays what it is.
    pub fn wrap<B>(body: B) -> Self
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        // Decided by the compiler, for each type of body.
        let mut body = Some(body);
        if let Some(body) = (&mut body as &mut dyn Any).downcast_mut::<Option<Body>>() {
            return body.take().unwrap_or_default();
        }
        body.map_or_else(Self::default, |body| Self {
            kind: Kind::Stream(Box::pin(Wrapped { body })),
        })
    }

    pub(crate) fn upload(upload: Upload) -> Self {
        Self {
            kind: Kind::Http2(Box::new(upload)),
        }
    }

    pub(crate) fn incoming(incoming: Incoming) -> Self {
        Self {
            kind: Kind::Incoming(incoming),
        }
    }

    /// Whether all of it is there: it is empty, bytes, or part of a file. So it can be had more than once.
    /// Whether it is there: nothing, bytes or part of a file, and not what a client sends or somebody makes as it goes.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.kind, Kind::Empty | Kind::Bytes(_) | Kind::File(_))
    }

    /// The same again, if it can be had more than once.
    pub(crate) fn try_clone(&self) -> Option<Self> {
        let kind = match &self.kind {
            Kind::Empty => Kind::Empty,
            Kind::Bytes(bytes) => Kind::Bytes(bytes.clone()),
            Kind::File(part) => Kind::File(part.clone()),
            Kind::Incoming(_) | Kind::Http2(_) | Kind::Stream(_) => return None,
        };
        Some(Self { kind })
    }

    /// How many bytes it has, if that is known. For a file: how many are to be sent.
    pub fn size(&self) -> Option<u64> {
        match &self.kind {
            Kind::Empty => Some(0),
            Kind::Bytes(bytes) => Some(bytes.len() as u64),
            Kind::File(part) => Some(part.length),
            Kind::Incoming(incoming) => incoming.size(),
            Kind::Http2(upload) => upload.size(),
            Kind::Stream(stream) => stream.size_hint().exact(),
        }
    }

    /// The next bytes, in pieces as they come. `None`: that was all.
    ///
    /// Dropping the future loses nothing. A file is read in pieces of 64 KiB.
    ///
    /// # Errors
    /// When the client goes, sends nonsense, too much, or too slowly; whatever a wrapped body says.
    pub async fn chunk(&mut self) -> Option<Result<Bytes, BodyError>> {
        loop {
            let frame = std::future::poll_fn(|cx| Pin::new(&mut *self).poll_frame(cx)).await?;
            match frame.map(Frame::into_data) {
                Ok(Ok(data)) if data.is_empty() => {}
                Ok(Ok(data)) => return Some(Ok(data)),
                Ok(Err(_trailers)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// All of its bytes.
    ///
    /// # Errors
    /// [`BodyError::TooLarge`] above `limit` bytes; else those of [`chunk`](Self::chunk).
    pub async fn bytes(mut self, limit: usize) -> Result<Bytes, BodyError> {
        if let Kind::Bytes(bytes) = &mut self.kind
            && bytes.len() <= limit
        {
            return Ok(std::mem::take(bytes));
        }
        let mut all = BytesMut::new();
        while let Some(data) = self.chunk().await {
            let data = data?;
            if data.len() > limit - all.len() {
                return Err(BodyError::TooLarge);
            }
            all.extend_from_slice(&data);
        }
        Ok(all.freeze())
    }
}

/// Bytes of a file that are read at a time, where it is not sent by the kernel.
const FILE_CHUNK: u64 = 64 * 1024;

impl HttpBody for Body {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut self.kind {
            Kind::Empty => Poll::Ready(None),
            Kind::Bytes(bytes) => {
                let bytes = std::mem::take(bytes);
                self.kind = Kind::Empty;
                Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
            }
            Kind::File(part) => {
                Poll::Ready(part.read().transpose().map(|read| read.map(Frame::data)))
            }
            Kind::Incoming(incoming) => incoming.poll_frame(cx),
            Kind::Http2(upload) => upload.poll_frame(cx),
            Kind::Stream(stream) => stream.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Empty => true,
            Kind::Bytes(bytes) => bytes.is_empty(),
            Kind::File(part) => part.length == 0,
            Kind::Incoming(_) | Kind::Http2(_) => false, // trailers may follow
            Kind::Stream(stream) => stream.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.size()
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl FilePart {
    fn read(&mut self) -> Result<Option<Bytes>, BodyError> {
        if self.length == 0 {
            return Ok(None);
        }
        let mut buffer = BytesMut::zeroed(self.length.min(FILE_CHUNK) as usize);
        let read = self.file.read_at(&mut buffer, self.offset);
        let read = read.map_err(|error| BodyError::Other(error.into()))?;
        if read == 0 {
            return Err(BodyError::Truncated);
        }
        buffer.truncate(read);
        self.offset += read as u64;
        self.length -= read as u64;
        Ok(Some(buffer.freeze()))
    }
}

pin_project! {
    /// A body with its error made ours.
    struct Wrapped<B> {
        #[pin]
        body: B,
    }
}

impl<B> HttpBody for Wrapped<B>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.project()
            .body
            .poll_frame(cx)
            .map_err(|error| BodyError::Other(error.into()))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl From<()> for Body {
    fn from((): ()) -> Self {
        Self::empty()
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self {
            kind: Kind::Bytes(bytes),
        }
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Bytes::from(text).into()
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Bytes::from_static(text.as_bytes()).into()
    }
}

impl From<&'static [u8]> for Body {
    fn from(bytes: &'static [u8]) -> Self {
        Bytes::from_static(bytes).into()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("size", &self.size()).finish()
    }
}

/// Why a body ends before its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The other end closed the connection, or a file is shorter than it was.
    #[error("the body ends too early")]
    Truncated,
    /// It is larger than the limit.
    #[error("the body is too large")]
    TooLarge,
    /// Its chunks are malformed.
    #[error("the body is malformed: {0}")]
    Malformed(Reject),
    /// It does not come, or too slowly.
    #[error("the body comes too slowly")]
    TooSlow,
    /// The exchange is over: the response was sent before the body was read.
    #[error("the exchange that the body belongs to is over")]
    Over,
    /// What the body itself says.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}
