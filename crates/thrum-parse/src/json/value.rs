//! Values, and how events become one.

use std::borrow::Cow;

use super::{Event, Number};

/// A JSON value. What [`parse`](super::parse) gives has slices of the input for texts, but copies of those with an escape;
/// a value that was read from pieces has copies only.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Cow<'a, str>),
    /// An array.
    Array(Box<[Value<'a>]>),
    /// An object: its members in order. Names may repeat.
    Object(Box<[(Cow<'a, str>, Value<'a>)]>),
}

impl<'a> Value<'a> {
    /// The last member of this name, if it is an object that has one: of several, that is what other readers take.
    pub fn member(&self, name: &str) -> Option<&Value<'a>> {
        let members = self.as_object()?.iter().rev();
        let mut found = members.filter(|(this, _)| this == name);
        found.next().map(|(_, value)| value)
    }

    /// The members, if it is an object.
    pub fn as_object(&self) -> Option<&[(Cow<'a, str>, Value<'a>)]> {
        match self {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The elements, if it is an array.
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        match self {
            Value::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The text, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<Number> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The same value with copies of all that it borrows. It calls itself for what is nested, as dropping a value does: of
    /// one that was read, [`Limits::depth`](super::Limits::depth) bounds that.
    pub fn into_owned(self) -> Value<'static> {
        let owned = |text: Cow<'a, str>| Cow::Owned(text.into_owned());
        match self {
            Value::Null => Value::Null,
            Value::Bool(bool) => Value::Bool(bool),
            Value::Number(number) => Value::Number(number),
            Value::String(text) => Value::String(owned(text)),
            Value::Array(elements) => {
                Value::Array(elements.into_iter().map(Value::into_owned).collect())
            }
            Value::Object(members) => {
                let owned = |(name, value): (_, Value<'_>)| (owned(name), value.into_owned());
                Value::Object(members.into_iter().map(owned).collect())
            }
        }
    }
}

/// Makes a value of events.
///
/// Elements wait on one stack until their array ends, so each array and object is allocated once, in its size. So is each
/// text that is copied.
///
/// ```
/// use thrum_parse::json::{Builder, Limits, Reader, parse};
///
/// let (mut reader, mut builder) = (Reader::new(Limits::default()), Builder::new());
/// for piece in [&br#"{"na"#[..], br#"me": [1"#, br#"2, 3]}"#] {
///     reader.feed(piece, |event| builder.take(event)).unwrap();
/// }
/// reader.finish(|event| builder.take(event)).unwrap();
/// assert_eq!(builder.finish(), parse(br#"{"name": [12, 3]}"#).ok());
/// ```
#[derive(Debug, Default)]
pub struct Builder<'a> {
    /// The text so far, while that is one slice to be borrowed; else empty.
    slice: &'a str,
    /// The text so far, once it had to be copied; else empty.
    copy: String,
    names: Vec<Cow<'a, str>>,
    values: Vec<Value<'a>>,
    /// How many values there were when each open array and object began.
    open: Vec<usize>,
}

impl<'a> Builder<'a> {
    /// One that knows nothing yet.
    pub const fn new() -> Self {
        Builder {
            slice: "",
            copy: String::new(),
            names: Vec::new(),
            values: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Takes the next event, and copies its text: what a [`Reader`](super::Reader) tells of is gone with the piece.
    #[inline(always)]
    pub fn take(&mut self, event: Event<'_>) {
        let value = match event {
            Event::Null => Value::Null,
            Event::Bool(bool) => Value::Bool(bool),
            Event::Number(number) => Value::Number(number),
            Event::Text(text) => return self.copied().push_str(text),
            Event::Escape(char) => return self.copied().push(char),
            Event::Name => {
                let name = self.text();
                return self.names.push(name);
            }
            Event::String => Value::String(self.text()),
            Event::ArrayStart | Event::ObjectStart => return self.open.push(self.values.len()),
            Event::ArrayEnd => self.array(),
            Event::ObjectEnd => self.object(),
        };
        self.values.push(value);
    }

    /// Takes the next event, and borrows its text if that is all of a name or a string.
    #[inline(always)]
    pub fn take_borrowed(&mut self, event: Event<'a>) {
        match event {
            Event::Text(text) if self.slice.is_empty() && self.copy.is_empty() => self.slice = text,
            event => self.take(event),
        }
    }

    /// The value, once all of its events were taken.
    pub fn finish(mut self) -> Option<Value<'a>> {
        self.values.pop()
    }

    /// The text so far, to be added to.
    #[inline(always)]
    fn copied(&mut self) -> &mut String {
        self.copy.push_str(std::mem::take(&mut self.slice));
        &mut self.copy
    }

    /// The text, which has ended.
    #[inline(always)]
    fn text(&mut self) -> Cow<'a, str> {
        if self.copy.is_empty() {
            return Cow::Borrowed(std::mem::take(&mut self.slice));
        }
        let text = Cow::Owned(self.copy.as_str().to_owned());
        self.copy.clear();
        text
    }

    #[inline(always)]
    fn array(&mut self) -> Value<'a> {
        let start = self.start();
        Value::Array(self.values.drain(start..).collect())
    }

    #[inline(always)]
    fn object(&mut self) -> Value<'a> {
        let values = self.start()..self.values.len();
        let names = self.names.len().saturating_sub(values.len());
        Value::Object(
            self.names
                .drain(names..)
                .zip(self.values.drain(values))
                .collect(),
        )
    }

    /// Where the values of the array or object begin that ends.
    #[inline(always)]
    fn start(&mut self) -> usize {
        let all = self.values.len();
        self.open.pop().map_or(all, |start| start.min(all))
    }
}
