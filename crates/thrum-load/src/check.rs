//! What an answer is expected to be.

use std::ops::RangeInclusive;
use std::str::FromStr;

use thiserror::Error;
use thrum_http::client::Fields;

use crate::ErrorKind;

/// Bytes of a body in which something is looked for; what follows is passed over.
const BODY_BYTES: usize = 16 * 1024 * 1024;

/// What every answer is expected to be; else it counts as an error.
#[derive(Clone, Debug, Default)]
pub struct Expect {
    /// Its status; empty: one below 400.
    pub statuses: Vec<StatusRange>,
    /// Fields that its head has.
    pub fields: Vec<ExpectedField>,
    /// What its body contains, decoded from nothing but chunks.
    pub body: Option<Vec<u8>>,
}

/// Some statuses: `200`, `2xx`, `200-299`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusRange(RangeInclusive<u16>);

/// A field that an answer has: `name`, or `name: what its value contains`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedField {
    name: String,
    value: Option<String>,
}

/// Why a text names no statuses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no status: write 200, 2xx or 200-299")]
pub struct BadStatus(String);

/// Why a text names no field.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} names no field: write `name` or `name: value`")]
pub struct BadField(String);

impl FromStr for StatusRange {
    type Err = BadStatus;

    fn from_str(text: &str) -> Result<Self, BadStatus> {
        let bad = || BadStatus(text.to_owned());
        let status = |text: &str| {
            let status = text.trim().parse().ok();
            let status = status.filter(|status| (100..=999u16).contains(status));
            status.ok_or_else(bad)
        };
        if let Some(class) = text.strip_suffix("xx") {
            let first = status(&format!("{class}00"))?;
            return Ok(Self(first..=first + 99));
        }
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        Ok(Self(status(from)?..=status(to)?))
    }
}

impl FromStr for ExpectedField {
    type Err = BadField;

    fn from_str(text: &str) -> Result<Self, BadField> {
        let (name, value) = match text.split_once(':') {
            Some((name, value)) => (name, Some(value.trim().to_owned())),
            None => (text, None),
        };
        let name = name.trim().to_owned();
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(BadField(text.to_owned()));
        }
        Ok(Self { name, value })
    }
}

impl Expect {
    /// Whether a status is as expected.
    pub fn status(&self, status: u16) -> Result<(), ErrorKind> {
        let is_expected = match self.statuses.as_slice() {
            [] => status < 400,
            statuses => statuses.iter().any(|range| range.0.contains(&status)),
        };
        is_expected.then_some(()).ok_or(ErrorKind::Status)
    }

    /// Whether the fields of a head are as expected, of which `values` gives those of a name.
    pub(crate) fn fields<'a, I>(&self, values: impl Fn(&str) -> I) -> Result<(), ErrorKind>
    where
        I: Iterator<Item = &'a [u8]>,
    {
        let is_there = |expected: &ExpectedField| {
            let mut found = values(&expected.name);
            match &expected.value {
                None => found.next().is_some(),
                Some(value) => found.any(|found| contains(found, value.as_bytes())),
            }
        };
        let is_expected = self.fields.iter().all(is_there);
        is_expected.then_some(()).ok_or(ErrorKind::Header)
    }

    /// As [`fields`](Self::fields), for a head as it came.
    pub(crate) fn head(&self, fields: Fields<'_>) -> Result<(), ErrorKind> {
        if self.fields.is_empty() {
            return Ok(());
        }
        self.fields(|name| fields.get(name.as_bytes()).collect::<Vec<_>>().into_iter())
    }

    /// Keeps some of a body, if it is to be looked at.
    pub(crate) fn keep(&self, body: &mut Vec<u8>, data: &[u8]) {
        if self.body.is_some() {
            let room = BODY_BYTES - body.len();
            body.extend_from_slice(&data[..data.len().min(room)]);
        }
    }

    /// Whether a body is as expected.
    pub(crate) fn body(&self, body: &[u8]) -> Result<(), ErrorKind> {
        let is_expected = match &self.body {
            None => true,
            Some(wanted) => contains(body, wanted),
        };
        is_expected.then_some(()).ok_or(ErrorKind::Body)
    }
}

fn contains(text: &[u8], wanted: &[u8]) -> bool {
    memchr::memmem::find(text, wanted).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statuses(texts: &[&str]) -> Expect {
        Expect {
            statuses: texts.iter().map(|text| text.parse().unwrap()).collect(),
            ..Expect::default()
        }
    }

    #[test]
    fn statuses_are_expected_one_by_one_by_class_and_by_range() {
        assert_eq!(statuses(&[]).status(302), Ok(()));
        assert_eq!(statuses(&[]).status(404), Err(ErrorKind::Status));
        let some = statuses(&["201", "4xx", "500-503"]);
        for (status, is_expected) in [
            (200, false),
            (201, true),
            (451, true),
            (503, true),
            (504, false),
        ] {
            assert_eq!(some.status(status).is_ok(), is_expected, "{status}");
        }
        for text in ["", "ok", "2", "20x", "1000", "xx", "200-"] {
            assert!(text.parse::<StatusRange>().is_err(), "{text}");
        }
    }

    #[test]
    fn fields_are_expected_by_name_and_by_a_part_of_their_value() {
        let head = [
            ("Content-Type", "text/html"),
            ("Vary", "accept"),
            ("Vary", "origin"),
        ];
        let check = |text: &str| {
            let expect = Expect {
                fields: vec![text.parse().unwrap()],
                ..Expect::default()
            };
            expect.fields(|name| {
                let name = name.to_owned();
                let found = head
                    .iter()
                    .filter(move |field| field.0.eq_ignore_ascii_case(&name));
                found.map(|field| field.1.as_bytes())
            })
        };
        assert_eq!(check("content-type: text/"), Ok(()));
        assert_eq!(check("vary: origin"), Ok(()));
        assert_eq!(check("Vary"), Ok(()));
        assert_eq!(check("vary: cookie"), Err(ErrorKind::Header));
        assert_eq!(check("etag"), Err(ErrorKind::Header));
        assert!(": x".parse::<ExpectedField>().is_err());
    }
}
