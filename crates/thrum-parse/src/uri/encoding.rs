//! Percent-encoding (RFC 3986, 2.1), strict in both directions; the pairs of a query.

use std::borrow::Cow;
use std::fmt::{self, Write};

use super::UriError::{self, BadEscape, NotUtf8, TooLong};

/// The bytes of a text that is percent-encoded. Where there is no `%`, that is the text itself.
///
/// ```
/// use thrum_parse::uri::decode;
///
/// assert_eq!(&*decode(b"a%20b").unwrap(), b"a b");
/// assert!(decode(b"100%").is_err());
/// ```
///
/// # Errors
/// [`UriError::BadEscape`]: a `%` that is not followed by two hexadecimal digits.
pub fn decode(text: &[u8]) -> Result<Cow<'_, [u8]>, UriError> {
    let Some(first) = memchr::memchr(b'%', text) else {
        return Ok(Cow::Borrowed(text));
    };
    let (plain, mut rest) = text.split_at(first);
    let mut decoded = Vec::with_capacity(text.len());
    decoded.extend_from_slice(plain);
    while let [_, digits @ ..] = rest {
        let (&[high, low], behind) = digits.split_first_chunk().ok_or(BadEscape)?;
        decoded.push(hexdig(high)? << 4 | hexdig(low)?);
        let end = memchr::memchr(b'%', behind).unwrap_or(behind.len());
        decoded.extend_from_slice(&behind[..end]);
        rest = &behind[end..];
    }
    Ok(Cow::Owned(decoded))
}

/// Like [`decode`], for text.
///
/// # Errors
/// As [`decode`]; and [`UriError::NotUtf8`].
pub fn decode_str(text: &str) -> Result<Cow<'_, str>, UriError> {
    match decode(text.as_bytes())? {
        Cow::Borrowed(_) => Ok(Cow::Borrowed(text)),
        Cow::Owned(decoded) => utf8(decoded).map(Cow::Owned),
    }
}

/// Percent-encodes all bytes but letters, digits and `-._~`, so that the text stands for itself wherever it is put: in a
/// segment, a name, a value.
///
/// ```
/// use thrum_parse::uri::encode;
///
/// assert_eq!(encode("a b/ü").to_string(), "a%20b%2F%C3%BC");
/// ```
pub fn encode(text: &str) -> impl fmt::Display + '_ {
    struct Encoded<'a>(&'a str);

    impl fmt::Display for Encoded<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            for byte in self.0.bytes() {
                if is_unreserved(byte) {
                    f.write_char(byte.into())?;
                } else {
                    write!(f, "%{byte:02X}")?;
                }
            }
            Ok(())
        }
    }
    Encoded(text)
}

/// The pairs of a query or a body that is `application/x-www-form-urlencoded`: `a=1&b=2`, with `+` for a space. At most
/// `limit` of them; more are an error. A part without `=` is a name whose value is empty; empty parts are left out.
///
/// ```
/// use thrum_parse::uri::query_pairs;
///
/// let pairs: Result<Vec<_>, _> = query_pairs("q=a+b%26c&all", 16).collect();
/// assert_eq!(pairs.unwrap(), [("q".into(), "a b&c".into()), ("all".into(), "".into())]);
/// ```
pub fn query_pairs(query: &str, limit: usize) -> QueryPairs<'_> {
    QueryPairs {
        rest: Some(query),
        left: limit,
    }
}

/// See [`query_pairs`]. An item is an error where a name or value is not encoded right, or there are too many; the
/// latter is the last.
#[derive(Clone, Debug)]
pub struct QueryPairs<'a> {
    rest: Option<&'a str>,
    left: usize,
}

impl<'a> Iterator for QueryPairs<'a> {
    type Item = Result<(Cow<'a, str>, Cow<'a, str>), UriError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = self.rest.take()?;
            let part = match rest.split_once('&') {
                Some((part, rest)) => {
                    self.rest = Some(rest);
                    part
                }
                None => rest,
            };
            if part.is_empty() {
                continue;
            }
            if self.left == 0 {
                self.rest = None;
                return Some(Err(TooLong));
            }
            self.left -= 1;
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            return Some(form(name).and_then(|name| Ok((name, form(value)?))));
        }
    }
}

/// A name or value of a form.
fn form(text: &str) -> Result<Cow<'_, str>, UriError> {
    if !text.contains('+') {
        return decode_str(text);
    }
    let spaced = text.replace('+', " ");
    decode(spaced.as_bytes())
        .map(Cow::into_owned)
        .and_then(utf8)
        .map(Cow::Owned)
}

fn utf8(bytes: Vec<u8>) -> Result<String, UriError> {
    String::from_utf8(bytes).or(Err(NotUtf8))
}

fn hexdig(byte: u8) -> Result<u8, UriError> {
    let digit = char::from(byte).to_digit(16).ok_or(BadEscape)?;
    Ok(digit as u8)
}

/// RFC 3986, 2.3
pub(super) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}
