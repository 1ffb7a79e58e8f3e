//! Lists: `#element` of RFC 9110, 5.6.1.

use std::fmt;
use std::marker::PhantomData;

use super::syntax::{fault, ows};
use super::{Fault, FieldValue, Token};
use crate::stop::Parsed;
use crate::{In, Level, Parser, byte};

/// Empty elements that a list may have.
const MOST_EMPTY: usize = 16;

/// A list of elements with commas between them, each of which has been checked.
///
/// It may have no element at all. Up to 16 empty ones are passed over, as a recipient must; more of them, and more
/// elements than [`FieldValue::MOST_IN_LIST`], are [`Fault::TooMany`].
///
/// ```
/// use thrum_parse::http::value::{FieldValue, Tokens};
///
/// let options = Tokens::parse(b"close,, Upgrade").unwrap();
/// assert_eq!(options.len(), 2);
/// assert!(options.contains("upgrade"));
/// ```
pub struct List<'a, T> {
    value: &'a [u8],
    len: usize,
    element: PhantomData<fn() -> T>,
}

/// `#token`: the value of `Connection`, `Trailer`, `Vary`, `Allow` and `Content-Encoding`.
pub type Tokens<'a> = List<'a, Token<'a>>;

impl<'a, T: FieldValue<'a>> List<'a, T> {
    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements, as they come.
    pub fn iter(&self) -> Elements<'a, T> {
        Elements {
            value: self.value,
            position: 0,
            left: self.len,
            element: PhantomData,
        }
    }

    /// A list that has an element.
    pub(super) fn read_some(i: &mut In<'a>) -> Parsed<Self> {
        let list = Self::read(i)?;
        if list.is_empty() {
            return Err(fault(i, i.position(), Fault::Empty));
        }
        Ok(list)
    }
}

impl Tokens<'_> {
    /// Whether one of them is `name`, in any case.
    pub fn contains(&self, name: &str) -> bool {
        self.iter().any(|token| token.is(name))
    }
}

/// Takes all of the input: a list ends where its field does.
impl<'a, T: FieldValue<'a>> FieldValue<'a> for List<'a, T> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let (start, mut len, mut empty) = (i.position(), 0, 0);
        while let Some(at) = next(i, len == 0, &mut empty)? {
            if len == T::MOST_IN_LIST {
                return Err(fault(i, at, Fault::TooMany));
            }
            T::read(i)?;
            len += 1;
        }
        Ok(List {
            value: i.slice_from(start),
            len,
            element: PhantomData,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        for (n, element) in self.iter().enumerate() {
            if n > 0 {
                out.extend_from_slice(b", ");
            }
            element.write(out);
        }
    }
}

/// [ element ] *( OWS "," OWS [ element ] ): goes to where the next element starts.
#[inline]
fn next(i: &mut In<'_>, first: bool, empty: &mut usize) -> Parsed<Option<usize>> {
    ows(i)?;
    if !first && i.next_byte().is_some() {
        byte(b',').must(Fault::Unseparated).parse(i)?;
        ows(i)?;
    }
    while i.next_byte() == Some(b',') {
        *empty += 1;
        if *empty > MOST_EMPTY {
            return Err(fault(i, i.position(), Fault::TooMany));
        }
        i.advance(1);
        ows(i)?;
    }
    Ok(i.next_byte().map(|_| i.position()))
}

/// The elements of a [`List`].
#[derive(Clone, Debug)]
pub struct Elements<'a, T> {
    value: &'a [u8],
    position: usize,
    left: usize,
    element: PhantomData<fn() -> T>,
}

impl<'a, T: FieldValue<'a>> Iterator for Elements<'a, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        let mut i = In::starting(self.value, self.position, true, Level::best());
        // They have been read once, so there is one more.
        next(&mut i, self.position == 0, &mut 0).ok()?;
        let element = T::read(&mut i).ok()?;
        self.position = i.position();
        Some(element)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'a, T: FieldValue<'a>> ExactSizeIterator for Elements<'a, T> {}

impl<T> Clone for List<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<'_, T> {}

impl<'a, T: FieldValue<'a> + PartialEq> PartialEq for List<'a, T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'a, T: FieldValue<'a> + Eq> Eq for List<'a, T> {}

impl<'a, T: FieldValue<'a> + fmt::Debug> fmt::Debug for List<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, T: FieldValue<'a>> IntoIterator for List<'a, T> {
    type Item = T;
    type IntoIter = Elements<'a, T>;

    fn into_iter(self) -> Elements<'a, T> {
        self.iter()
    }
}
