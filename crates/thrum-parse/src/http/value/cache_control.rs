//! `Cache-Control`, RFC 9111, 5.2.

use super::syntax::{checked, token};
use super::{FieldValue, List, Text};
use crate::stop::Parsed;
use crate::{In, Parser, byte, opt};

/// What a number of seconds too large for 31 bits counts as (RFC 9111, 1.2.2).
const MOST_SECONDS: u32 = 1 << 31;

/// The value of `Cache-Control`. Where a directive is repeated, its first one counts (RFC 9111, 4.2.1).
///
/// ```
/// use thrum_parse::http::value::{CacheControl, FieldValue};
///
/// let control = CacheControl::parse(b"private, max-age=600").unwrap();
/// assert!(control.has("private") && !control.has("no-store"));
/// assert_eq!(control.seconds("max-age"), Some(600));
/// ```
pub type CacheControl<'a> = List<'a, Directive<'a>>;

/// One cache directive.
#[derive(Clone, Copy, Debug)]
pub struct Directive<'a> {
    /// Its name, in the case it was written in.
    pub name: &'a str,
    /// Its argument, if it has one.
    pub argument: Option<Text<'a>>,
}

impl<'a> CacheControl<'a> {
    /// The directive that is called `name`, in any case.
    pub fn get(&self, name: &str) -> Option<Directive<'a>> {
        self.iter().find(|directive| directive.is(name))
    }

    /// Whether there is one that is called `name`.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The seconds that the directive `name` gives, in a token or in quotes: 2^31 for all numbers from there on. What is
    /// no number counts as 0, so that it makes a response stale, as RFC 9111 section 4.2.1 advises. `None` if there is
    /// no such directive.
    pub fn seconds(&self, name: &str) -> Option<u32> {
        self.get(name)
            .map(|directive| directive.seconds().unwrap_or(0))
    }
}

impl Directive<'_> {
    /// Whether it is called `name`, in any case.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// The argument as a number of seconds, if it is one.
    pub fn seconds(&self) -> Option<u32> {
        let digits = self.argument?.plain()?;
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let seconds = checked(digits).and_then(|seconds| u32::try_from(seconds).ok());
        Some(seconds.unwrap_or(MOST_SECONDS).min(MOST_SECONDS))
    }
}

/// cache-directive = token [ "=" ( token / quoted-string ) ]
impl<'a> FieldValue<'a> for Directive<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let name = token(i)?;
        let argument = if opt(byte(b'=')).parse(i)?.is_some() {
            Some(Text::read(i)?)
        } else {
            None
        };
        Ok(Directive { name, argument })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.name.as_bytes());
        if let Some(argument) = &self.argument {
            out.push(b'=');
            argument.write(out);
        }
    }
}

impl PartialEq for Directive<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.is(other.name) && self.argument == other.argument
    }
}

impl Eq for Directive<'_> {}
