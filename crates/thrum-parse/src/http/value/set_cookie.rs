//! The response field `Set-Cookie`: written as a server may (RFC 6265, 4.1), read as a client must (RFC 6265bis, 5.6).

use super::cookie::{name_and_value, trimmed};
use super::cookie_date::cookie_date;
use super::syntax::{fault, write_number};
use super::{Fault, FieldValue, HttpDate, ValueError};
use crate::http::terminals::{TCHAR, VALUE};
use crate::stop::Parsed;
use crate::{ByteSet, In};

/// Bytes that a cookie's name and value have together, at most; and its path, and its domain.
const MOST_BYTES: usize = 4096;
const MOST_ATTRIBUTE_BYTES: usize = 1024;
/// Attributes that are read, unknown ones included.
const MOST_ATTRIBUTES: usize = 64;

static COOKIE_OCTET: ByteSet = ByteSet::new().range(0x21, 0x7e).without(b"\",;\\");
static PATH: ByteSet = ByteSet::new().range(0x20, 0x7e).without(b";");
static DOMAIN: ByteSet = ByteSet::new()
    .range(b'a', b'z')
    .range(b'A', b'Z')
    .range(b'0', b'9')
    .with(b"-.");

/// A cookie that a server sets: the value of `Set-Cookie`.
///
/// Read, it is what a browser makes of it: the last attribute of a name counts; one that is unknown, too long or makes
/// no sense is passed over. Whether the sender may set a cookie for its domain, how long it may last at most, and what
/// `__Host-` and `__Secure-` in front of its name demand is left to who keeps it.
///
/// ```
/// use thrum_parse::http::value::{FieldValue, SameSite, SetCookie};
///
/// let mut cookie = SetCookie::new(b"id", b"31d4").unwrap().with_path(b"/").unwrap();
/// cookie.max_age = Some(3600);
/// cookie.is_http_only = true;
/// cookie.same_site = Some(SameSite::Lax);
/// assert_eq!(cookie.to_bytes(), b"id=31d4; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax");
/// assert_eq!(SetCookie::parse(&cookie.to_bytes()), Ok(cookie));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetCookie<'a> {
    name: &'a [u8],
    value: &'a [u8],
    domain: Option<&'a [u8]>,
    path: Option<&'a [u8]>,
    /// When it is to be forgotten, unless [`max_age`](Self::max_age) says so. Without both: at the end of the session.
    pub expires: Option<HttpDate>,
    /// After how many seconds it is to be forgotten; at once if that is not more than 0.
    pub max_age: Option<i64>,
    /// Whether it is only sent over a secure connection.
    pub is_secure: bool,
    /// Whether scripts don't get it.
    pub is_http_only: bool,
    /// Whether requests that other sites cause send it. `None`: as the client thinks right.
    pub same_site: Option<SameSite>,
    /// Whether it is kept apart for each site that the sender is embedded in.
    pub is_partitioned: bool,
}

/// Which requests that other sites cause send a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SameSite {
    /// None of them.
    Strict,
    /// Those that take the user to the cookie's site.
    Lax,
    /// All of them.
    None,
}

impl<'a> SetCookie<'a> {
    /// A cookie without attributes.
    ///
    /// # Errors
    /// The name is not a token, or the value holds a byte that a cookie's may not: space, quotes, comma, semicolon,
    /// backslash, control characters, and all that is not ASCII. Encode those. What is wrong is in bytes from the start
    /// of the name or of the value.
    pub fn new(name: &'a [u8], value: &'a [u8]) -> Result<Self, ValueError> {
        if name.is_empty() {
            return Err(bad(Fault::Empty, 0));
        }
        all_of(name, &TCHAR)?;
        all_of(value, &COOKIE_OCTET)?;
        if name.len() + value.len() > MOST_BYTES {
            return Err(bad(Fault::TooLong, MOST_BYTES));
        }
        Ok(Self::bare(name, value))
    }

    /// For all hosts of `domain`, not only for the one that sets it.
    ///
    /// # Errors
    /// It is empty or not letters, digits, `-` and `.`, starts with a dot, or is too long.
    pub fn with_domain(self, domain: &'a [u8]) -> Result<Self, ValueError> {
        if matches!(domain, [] | [b'.', ..]) {
            return Err(bad(Fault::BadCookie, 0));
        }
        all_of(domain, &DOMAIN)?;
        attribute_fits(domain)?;
        let domain = Some(domain);
        Ok(SetCookie { domain, ..self })
    }

    /// For `path` and what is below it.
    ///
    /// # Errors
    /// It does not start with `/`, ends in a space, holds a semicolon or anything but visible ASCII and spaces, or is too
    /// long.
    pub fn with_path(self, path: &'a [u8]) -> Result<Self, ValueError> {
        if path.first() != Some(&b'/') || path.last() == Some(&b' ') {
            return Err(bad(Fault::BadCookie, 0));
        }
        all_of(path, &PATH)?;
        attribute_fits(path)?;
        let path = Some(path);
        Ok(SetCookie { path, ..self })
    }

    /// Its name, which may be empty.
    pub fn name(&self) -> &'a [u8] {
        self.name
    }

    /// Its value, with the quotes that it may be in.
    pub fn value(&self) -> &'a [u8] {
        self.value
    }

    /// The domain that it is for, without a dot in front and in the case it was written in. `None`: only for the host that
    /// sets it.
    pub fn domain(&self) -> Option<&'a [u8]> {
        self.domain
    }

    /// The path that it is for. `None`: the folder of the path that sets it.
    pub fn path(&self) -> Option<&'a [u8]> {
        self.path
    }

    fn bare(name: &'a [u8], value: &'a [u8]) -> Self {
        SetCookie {
            name,
            value,
            domain: None,
            path: None,
            expires: None,
            max_age: None,
            is_secure: false,
            is_http_only: false,
            same_site: None,
            is_partitioned: false,
        }
    }

    /// Takes one attribute, as sections 5.6.1 to 5.6.7 have it. `false` if the cookie is worth nothing with it.
    fn attribute(&mut self, name: &[u8], value: &'a [u8]) -> bool {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        if is("expires") {
            self.expires = cookie_date(value).or(self.expires);
        } else if is("max-age") {
            self.max_age = max_age(value).or(self.max_age);
        } else if is("domain") {
            let domain = value.strip_prefix(b".").unwrap_or(value);
            self.domain = (!domain.is_empty()).then_some(domain);
            // Nothing is in a domain such as `..x`.
            return !matches!(domain.first(), Some(b'.' | b' ' | b'\t'));
        } else if is("path") {
            self.path = (value.first() == Some(&b'/')).then_some(value);
        } else if is("secure") {
            self.is_secure = true;
        } else if is("httponly") {
            self.is_http_only = true;
        } else if is("samesite") {
            self.same_site = SameSite::named(value);
        } else if is("partitioned") {
            self.is_partitioned = true;
        }
        true
    }
}

impl SameSite {
    fn as_str(self) -> &'static str {
        match self {
            SameSite::Strict => "Strict",
            SameSite::Lax => "Lax",
            SameSite::None => "None",
        }
    }

    fn named(name: &[u8]) -> Option<Self> {
        [SameSite::Strict, SameSite::Lax, SameSite::None]
            .into_iter()
            .find(|known| known.as_str().as_bytes().eq_ignore_ascii_case(name))
    }
}

impl<'a> FieldValue<'a> for SetCookie<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let (start, value) = (i.position(), i.rest());
        if let Some(bad) = value.iter().position(|&byte| !VALUE.contains(byte)) {
            return Err(fault(i, start + bad, Fault::BadCookie));
        }
        i.advance(value.len());
        let mut parts = value.split(|&byte| byte == b';');
        let (name, value) = name_and_value(parts.next().unwrap_or_default());
        if name.is_empty() && value.is_empty() {
            return Err(fault(i, start, Fault::BadCookie));
        }
        if name.len() + value.len() > MOST_BYTES {
            return Err(fault(i, start, Fault::TooLong));
        }
        let mut cookie = SetCookie::bare(name, value);
        for (n, part) in parts.enumerate() {
            let at = || i.span_of(part).start as usize;
            if n == MOST_ATTRIBUTES {
                return Err(fault(i, at(), Fault::TooMany));
            }
            let (name, value) = match name_and_value(part) {
                (b"", _) if !part.contains(&b'=') => (trimmed(part), &b""[..]),
                both => both,
            };
            if value.len() <= MOST_ATTRIBUTE_BYTES && !cookie.attribute(name, value) {
                return Err(fault(i, at(), Fault::BadCookie));
            }
        }
        Ok(cookie)
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut attribute = |name: &str, value: &[u8]| {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(value);
        };
        attribute("", self.name);
        attribute("=", self.value);
        if let Some(domain) = self.domain {
            attribute("; Domain=", domain);
        }
        if let Some(path) = self.path {
            attribute("; Path=", path);
        }
        if let Some(expires) = self.expires {
            attribute("; Expires=", &expires.to_imf_fixdate());
        }
        if let Some(seconds) = self.max_age {
            let mut number = Vec::new();
            write_number(seconds, &mut number);
            attribute("; Max-Age=", &number);
        }
        if self.is_secure {
            attribute("; Secure", b"");
        }
        if self.is_http_only {
            attribute("; HttpOnly", b"");
        }
        if let Some(same_site) = self.same_site {
            attribute("; SameSite=", same_site.as_str().as_bytes());
        }
        if self.is_partitioned {
            attribute("; Partitioned", b"");
        }
    }
}

/// Digits, perhaps with `-` in front (5.6.2). A number too large counts as the largest of its sign.
fn max_age(value: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match value {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = super::syntax::checked(digits).and_then(|number| i64::try_from(number).ok());
    Some(match (number, is_negative) {
        (Some(number), true) => -number,
        (Some(number), false) => number,
        (None, true) => i64::MIN,
        (None, false) => i64::MAX,
    })
}

fn all_of(bytes: &[u8], set: &ByteSet) -> Result<(), ValueError> {
    match bytes.iter().position(|&byte| !set.contains(byte)) {
        Some(at) => Err(bad(Fault::BadCookie, at)),
        None => Ok(()),
    }
}

fn attribute_fits(value: &[u8]) -> Result<(), ValueError> {
    if value.len() > MOST_ATTRIBUTE_BYTES {
        return Err(bad(Fault::TooLong, MOST_ATTRIBUTE_BYTES));
    }
    Ok(())
}

fn bad(fault: Fault, at: usize) -> ValueError {
    ValueError { fault, at }
}
