//! The request field `Cookie`, as a server must read it: RFC 6265, 4.2, and what browsers send beyond it.

use super::syntax::fault;
use super::{Fault, FieldValue};
use crate::http::terminals::TEXT;
use crate::stop::Parsed;
use crate::{ByteSet, In, Parser, byte, opt, take_while};

/// Cookies that a value may have, empty ones included. Browsers keep 50 to 180 for a site.
const MOST: usize = 256;

static NOT_SEMICOLON: ByteSet = TEXT.without(b";");

/// The value of `Cookie`.
///
/// A browser sends what some program once set, so all bytes but control characters and the semicolon are taken, and
/// what is wrong with one cookie is not held against the others. A part without `=` is the value of a cookie that has no
/// name.
///
/// ```
/// use thrum_parse::http::value::{Cookies, FieldValue};
///
/// let cookies = Cookies::parse(b"id=31d4; theme=\"dark\"; id=old").unwrap();
/// assert_eq!(cookies.get(b"id").unwrap().value, b"31d4");
/// assert_eq!(cookies.get(b"theme").unwrap().unquoted(), b"dark");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Cookies<'a>(&'a [u8]);

/// A cookie that a client sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cookie<'a> {
    /// Its name, which is compared exactly. It may be empty.
    pub name: &'a [u8],
    /// Its value, with the quotes that it may be in: to a browser they are part of it.
    pub value: &'a [u8],
}

impl<'a> Cookies<'a> {
    /// The cookies, as they come: a browser puts those of longer paths first.
    pub fn iter(&self) -> impl Iterator<Item = Cookie<'a>> + Clone + use<'a> {
        self.0.split(|&byte| byte == b';').filter_map(Cookie::of)
    }

    /// The first one that is called `name`: the one of the longest path, if the client is a browser.
    pub fn get(&self, name: &[u8]) -> Option<Cookie<'a>> {
        self.iter().find(|cookie| cookie.name == name)
    }
}

impl<'a> Cookie<'a> {
    /// Its value without the quotes, if it is in quotes.
    pub fn unquoted(self) -> &'a [u8] {
        match self.value {
            [b'"', value @ .., b'"'] => value,
            value => value,
        }
    }

    /// Of what is between two semicolons; `None` if that is nothing.
    fn of(part: &'a [u8]) -> Option<Self> {
        let (name, value) = name_and_value(part);
        (!name.is_empty() || !value.is_empty()).then_some(Cookie { name, value })
    }
}

impl<'a> FieldValue<'a> for Cookies<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let start = i.position();
        let mut count = 1;
        take_while(&NOT_SEMICOLON).parse(i)?;
        while opt(byte(b';')).parse(i)?.is_some() {
            count += 1;
            if count > MOST {
                return Err(fault(i, i.position() - 1, Fault::TooMany));
            }
            take_while(&NOT_SEMICOLON).parse(i)?;
        }
        if i.next_byte().is_some() {
            return Err(fault(i, i.position(), Fault::BadCookie));
        }
        Ok(Cookies(i.slice_from(start)))
    }

    fn write(&self, out: &mut Vec<u8>) {
        for (n, cookie) in self.iter().enumerate() {
            if n > 0 {
                out.extend_from_slice(b"; ");
            }
            out.extend_from_slice(cookie.name);
            out.push(b'=');
            out.extend_from_slice(cookie.value);
        }
    }
}

impl PartialEq for Cookies<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Cookies<'_> {}

/// What is before the first `=` and what is behind it, each without space around it; without `=` it is all value.
pub(super) fn name_and_value(part: &[u8]) -> (&[u8], &[u8]) {
    let (name, value) = match part.iter().position(|&byte| byte == b'=') {
        Some(equals) => (&part[..equals], &part[equals + 1..]),
        None => (&b""[..], part),
    };
    (trimmed(name), trimmed(value))
}

/// Without the space and tabs around it.
pub(super) fn trimmed(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = bytes {
        bytes = rest;
    }
    bytes
}
