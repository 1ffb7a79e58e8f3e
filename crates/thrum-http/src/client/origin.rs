//! t
use base64::prelude::{BASE64_STANDARD, Engine};
/// The value of an Authorization field (RFC 7617).
pub(crate) fn basic(credentials: &[u8]) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(credentials))
}
