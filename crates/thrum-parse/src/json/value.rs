//! Values, and how events become one.

use super::{Event, Number};

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// An object: its members in order. Names may repeat.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// The last member of this name, if it is an object that has one: of several, that is what other readers take.
    pub fn member(&self, name: &str) -> Option<&Value> {
        let members = self.as_object()?.iter().rev();
        let mut found = members.filter(|(this, _)| this == name);
        found.next().map(|(_, value)| value)
    }

    /// The members, if it is an object.
    pub fn as_object(&self) -> Option<&[(String, Value)]> {
        match self {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The elements, if it is an array.
    pub fn as_array(&self) -> Option<&[Value]> {
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
}

/// Makes a value of events.
///
/// Elements wait on one stack until their array ends, so each array and object is allocated once, in its size.
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
pub struct Builder {
    text: String,
    names: Vec<String>,
    values: Vec<Value>,
    /// How many values there were when each open array and object began.
    open: Vec<usize>,
}

impl Builder {
    /// One that knows nothing yet.
    pub const fn new() -> Self {
        Builder {
            text: String::new(),
            names: Vec::new(),
            values: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Takes the next event.
    #[inline(always)]
    pub fn take(&mut self, event: Event<'_>) {
        let value = match event {
            Event::Null => Value::Null,
            Event::Bool(bool) => Value::Bool(bool),
            Event::Number(number) => Value::Number(number),
            Event::Text(text) if self.text.is_empty() => return self.text = text.to_owned(),
            Event::Text(text) => return self.text.push_str(text),
            Event::Name => return self.names.push(std::mem::take(&mut self.text)),
            Event::String => Value::String(std::mem::take(&mut self.text)),
            Event::ArrayStart | Event::ObjectStart => return self.open.push(self.values.len()),
            Event::ArrayEnd => self.array(),
            Event::ObjectEnd => self.object(),
        };
        self.values.push(value);
    }

    /// The value, once all of its events were taken.
    pub fn finish(mut self) -> Option<Value> {
        self.values.pop()
    }

    #[inline(always)]
    fn array(&mut self) -> Value {
        let start = self.start();
        Value::Array(self.values.drain(start..).collect())
    }

    #[inline(always)]
    fn object(&mut self) -> Value {
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
