//! Media types: `text/html; charset="utf-8"`, RFC 9110, 8.3.1.

use std::borrow::Cow;

use super::syntax::token;
use super::{Fault, FieldValue, Parameters, Text};
use crate::stop::Parsed;
use crate::{In, Parser, byte};

/// A media type with its parameters: the value of `Content-Type`.
///
/// ```
/// use thrum_parse::http::value::{FieldValue, MediaType};
///
/// let html = MediaType::parse(br#"Text/HTML; Charset="utf-8""#).unwrap();
/// assert!(html.is("text/html"));
/// assert_eq!(html.charset().as_deref(), Some("utf-8"));
/// assert_eq!(html.to_bytes(), b"Text/HTML; Charset=utf-8");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MediaType<'a> {
    kind: &'a str,
    subtype: &'a str,
    parameters: Parameters<'a>,
}

impl<'a> MediaType<'a> {
    /// What is before the slash, in the case it was written in.
    pub fn kind(&self) -> &'a str {
        self.kind
    }

    /// What is behind the slash, in the case it was written in.
    pub fn subtype(&self) -> &'a str {
        self.subtype
    }

    /// Type and subtype in lower case: `text/html`.
    pub fn essence(&self) -> String {
        let mut essence = [self.kind, self.subtype].join("/");
        essence.make_ascii_lowercase();
        essence
    }

    /// Whether its essence is `essence`, in any case.
    pub fn is(&self, essence: &str) -> bool {
        essence.split_once('/').is_some_and(|(kind, subtype)| {
            self.kind.eq_ignore_ascii_case(kind) && self.subtype.eq_ignore_ascii_case(subtype)
        })
    }

    /// What is behind the last `+` of the subtype: `json` of `application/problem+json` (RFC 6838, 4.2.8).
    pub fn suffix(&self) -> Option<&'a str> {
        Some(self.subtype.rsplit_once('+')?.1)
    }

    /// The parameters.
    pub fn parameters(&self) -> Parameters<'a> {
        self.parameters
    }

    /// The parameter `charset`, if it is text. Names of charsets are compared in any case.
    pub fn charset(&self) -> Option<Cow<'a, str>> {
        self.parameters.get("charset")?.to_text()
    }

    /// The parameter `boundary`, if it is one: 1 to 70 of the bytes that RFC 2046 section 5.1.1 allows, the last of which
    /// is not a space.
    pub fn boundary(&self) -> Option<Cow<'a, [u8]>> {
        let boundary = self
            .parameters
            .get("boundary")
            .map(Text::to_bytes_unescaped)?;
        let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(byte);
        let good = (1..=70).contains(&boundary.len())
            && boundary.iter().all(allowed)
            && boundary.last() != Some(&b' ');
        good.then_some(boundary)
    }
}

impl<'a> FieldValue<'a> for MediaType<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let kind = token(i)?;
        byte(b'/').must(Fault::BadMediaType).parse(i)?;
        let subtype = token(i)?;
        let parameters = Parameters::read(i)?;
        Ok(MediaType {
            kind,
            subtype,
            parameters,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.kind.as_bytes());
        out.push(b'/');
        out.extend_from_slice(self.subtype.as_bytes());
        self.parameters.write(out);
    }
}

/// Type and subtype match in any case, and the parameters are the same in the same order.
impl PartialEq for MediaType<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.kind.eq_ignore_ascii_case(other.kind)
            && self.subtype.eq_ignore_ascii_case(other.subtype)
            && self.parameters == other.parameters
    }
}

impl Eq for MediaType<'_> {}
