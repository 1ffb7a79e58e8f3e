//! A value as it lies in the store: a byte for the length of its content type, the type, the bytes.

use bytes::{BufMut, Bytes, BytesMut};
use http::HeaderValue;

const UNTYPED: &[u8] = b"application/octet-stream";

/// A value and its type.
pub(super) struct Content {
    pub(super) kind: HeaderValue,
    pub(super) body: Bytes,
}

impl Content {
    pub(super) fn read(value: &Bytes) -> Option<Self> {
        let length = usize::from(*value.first()?);
        let kind = value.get(1..1 + length)?;
        Some(Self {
            kind: HeaderValue::from_bytes(kind).ok()?,
            body: value.slice(1 + length..),
        })
    }
}

/// The value for a body of that type; `None` when the type is longer than any.
pub(super) fn write(kind: Option<&HeaderValue>, body: &[u8]) -> Option<Bytes> {
    let kind = kind.map_or(UNTYPED, HeaderValue::as_bytes);
    let length = u8::try_from(kind.len()).ok()?;
    let mut value = BytesMut::with_capacity(1 + kind.len() + body.len());
    value.put_u8(length);
    value.put_slice(kind);
    value.put_slice(body);
    Some(value.freeze())
}
