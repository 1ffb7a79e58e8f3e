//! What both ends of an opening handshake compute and look for.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName};
use sha1::{Digest, Sha1};

/// The only version of the protocol, RFC 6455's.
pub(super) const VERSION: &str = "13";

/// What a server makes of a client's key: the proof that it speaks this protocol.
pub(super) fn accept_key(key: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(key);
    hash.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    STANDARD.encode(hash.finalize())
}

/// A key is 16 bytes in base64.
pub(super) fn is_key(key: &[u8]) -> bool {
    key.len() == 24 && STANDARD.decode(key).is_ok_and(|bytes| bytes.len() == 16)
}

/// A key from 16 bytes.
pub(super) fn key(bytes: [u8; 16]) -> String {
    STANDARD.encode(bytes)
}

/// The members of a header that is a list, over all of its lines; those that are not text are left out.
pub(super) fn list(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    headers
        .get_all(name)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|member| member.trim_matches([' ', '\t']))
        .filter(|member| !member.is_empty())
}

/// Whether a list has a token, in whatever case.
pub(super) fn has_token(headers: &HeaderMap, name: HeaderName, token: &str) -> bool {
    list(headers, name).any(|member| member.eq_ignore_ascii_case(token))
}

#[cfg(test)]
mod tests {
    use http::header::CONNECTION;

    use super::*;

    #[test]
    fn the_key_of_the_rfc_gives_the_answer_of_the_rfc() {
        assert_eq!(
            accept_key(b"dGhlIHNhbXBsZSBub25jZQ=="),
            "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        );
    }

    #[test]
    fn a_key_is_sixteen_bytes() {
        assert!(is_key(key([7; 16]).as_bytes()));
        assert!(!is_key(b""));
        assert!(!is_key(b"dGhlIHNhbXBsZSBub25jZQ"));
        assert!(!is_key(b"!GhlIHNhbXBsZSBub25jZQ=="));
        assert!(!is_key(STANDARD.encode([7; 17]).as_bytes()));
    }

    #[test]
    fn tokens_are_found_in_lists_over_several_lines() {
        let mut headers = HeaderMap::new();
        headers.append(CONNECTION, "keep-alive , \tUpgrade".parse().unwrap());
        headers.append(CONNECTION, "other".parse().unwrap());
        assert!(has_token(&headers, CONNECTION, "upgrade"));
        assert!(has_token(&headers, CONNECTION, "other"));
        assert!(!has_token(&headers, CONNECTION, "alive"));
    }
}
