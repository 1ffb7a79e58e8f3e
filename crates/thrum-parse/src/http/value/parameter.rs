//! Parameters: `*( OWS ";" OWS [ name "=" value ] )`, RFC 9110, 5.6.6.

use super::syntax::{fault, ows, token};
use super::{Fault, FieldValue, Text};
use crate::http::terminals::OWS;
use crate::stop::Parsed;
use crate::{In, Level, Parser, byte, opt, skip_while};

/// Parameters that a value or an element of a list may have, empty ones included.
const MOST: usize = 32;

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter<'a> {
    /// Its name, in the case it was written in; names are compared without it.
    pub name: &'a str,
    /// Its value.
    pub value: Text<'a>,
}

/// Parameters that have been checked.
///
/// No name comes twice: two programs that each take another one of them would disagree. RFC 6838 section 4.3 calls that
/// an error for media types, RFC 7239 for `Forwarded` and RFC 6266 for dispositions. At most 32 are read.
#[derive(Clone, Copy, Debug)]
pub struct Parameters<'a> {
    raw: &'a [u8],
}

impl<'a> Parameters<'a> {
    /// The parameters, as they come.
    pub fn iter(&self) -> impl Iterator<Item = Parameter<'a>> + Clone + use<'a> {
        Walk {
            raw: self.raw,
            position: 0,
        }
    }

    /// The value of the one that is called `name`, in any case.
    pub fn get(&self, name: &str) -> Option<Text<'a>> {
        self.iter()
            .find(|parameter| parameter.is(name))
            .map(|parameter| parameter.value)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Reads `pair *( OWS ";" OWS [ pair ] )` with an optional first pair, as `Forwarded` has it.
    pub(super) fn read_unled(i: &mut In<'a>) -> Parsed<Self> {
        let start = i.position();
        if i.next_byte() != Some(b';') {
            Parameter::read(i)?;
        }
        Self::read_from(start, i)
    }

    fn read_from(start: usize, i: &mut In<'a>) -> Parsed<Self> {
        let mut seen = Parameters { raw: b"" };
        for count in 0.. {
            let before = i.position();
            seen.raw = i.slice_from(start);
            let found = next(i)?;
            if i.position() == before {
                break;
            }
            if count == MOST {
                return Err(fault(i, before, Fault::TooMany));
            }
            if found.is_some_and(|parameter| seen.get(parameter.name).is_some()) {
                return Err(fault(i, before, Fault::DuplicateParameter));
            }
        }
        Ok(seen)
    }
}

impl<'a> FieldValue<'a> for Parameters<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        Self::read_from(i.position(), i)
    }

    fn write(&self, out: &mut Vec<u8>) {
        for parameter in self.iter() {
            out.extend_from_slice(b"; ");
            parameter.write(out);
        }
    }
}

/// The same ones in the same order.
impl PartialEq for Parameters<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Parameters<'_> {}

impl Parameter<'_> {
    /// Whether it is called `name`, in any case.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

impl<'a> FieldValue<'a> for Parameter<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let name = token(i)?;
        byte(b'=').must(Fault::BadParameter).parse(i)?;
        let value = Text::read(i)?;
        Ok(Parameter { name, value })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.name.as_bytes());
        out.push(b'=');
        self.value.write(out);
    }
}

/// The names match in any case, the values exactly.
impl PartialEq for Parameter<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.is(other.name) && self.value == other.value
    }
}

impl Eq for Parameter<'_> {}

/// One `OWS ";" OWS [ parameter ]`. `None` where the parameter is empty, or where there is no semicolon: then nothing
/// is taken.
fn next<'a>(i: &mut In<'a>) -> Parsed<Option<Parameter<'a>>> {
    if opt((skip_while(&OWS), byte(b';'))).parse(i)?.is_none() {
        return Ok(None);
    }
    // What follows an empty one is left for who comes next.
    let ahead = i.clone();
    ows(i)?;
    if matches!(i.next_byte(), None | Some(b';' | b',')) {
        *i = ahead;
        return Ok(None);
    }
    Parameter::read(i).map(Some)
}

#[derive(Clone)]
struct Walk<'a> {
    raw: &'a [u8],
    position: usize,
}

impl<'a> Iterator for Walk<'a> {
    type Item = Parameter<'a>;

    fn next(&mut self) -> Option<Parameter<'a>> {
        let mut i = In::starting(self.raw, self.position, true, Level::best());
        // They have been read once, so nothing fails. Only those of `read_unled` start without a semicolon.
        let found = loop {
            let before = i.position();
            if before == 0 && !matches!(i.next_byte(), None | Some(b';' | b' ' | b'\t')) {
                break Parameter::read(&mut i).ok()?;
            }
            match next(&mut i).ok()? {
                Some(parameter) => break parameter,
                None if i.position() == before => return None,
                None => {}
            }
        };
        self.position = i.position();
        Some(found)
    }
}
