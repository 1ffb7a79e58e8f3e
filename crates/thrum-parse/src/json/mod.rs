//! JSON, strictly as RFC 8259 has it, whole or in pieces.
//!
//! | module | what is in it |
//! |---|---|
//! | `grammar` | the grammar, which gives [`Event`]s; the only one there is |
//! | `number` | numbers: exact integers, correctly rounded floats |
//! | `value` | [`Value`], and the [`Builder`] that makes one of events |
//! | `reader` | [`Reader`], which takes input in pieces of any size |
//! | `error` | [`Error`] and [`Fault`]: what is wrong with an input |
//!
//! Nothing that the RFC forbids is let through: no trailing comma, no comment, no leading zero or lone surrogate, no
//! byte order mark, no byte that is not UTF-8. What it leaves open is decided like this: a number that no `f64` can hold
//! is an error, members keep their order and may repeat a name, and [`Limits`] bound the depth and the size.
//!
//! ```
//! use thrum_parse::json::{self, Value};
//!
//! let value = json::parse(br#"{"name": "thrum", "threads": [1, 2.5]}"#).unwrap();
//! assert_eq!(value.member("name").and_then(Value::as_str), Some("thrum"));
//! let owned: Value<'static> = value.into_owned();
//! assert_eq!(owned.member("threads").and_then(Value::as_array).map(<[_]>::len), Some(2));
//!
//! let explanation = json::parse(b"[1, 2,]").unwrap_err();
//! assert_eq!(explanation.to_string(), "1:7: expected a value, found ']'\n  [1, 2,]\n        ^");
//! ```

mod error;
mod grammar;
mod number;
mod reader;
#[cfg(test)]
mod tests;
mod value;

pub use error::{Error, Fault};
pub use grammar::{Event, Limits};
pub use number::{NUMBER_BYTES, Number};
pub use reader::Reader;
pub use value::{Builder, Value};

use crate::{Explanation, In, Level, Parsed, explain, simd};
use grammar::State;

/// Reads an input that is one JSON value, within the default [`Limits`]. The value borrows its texts from the input.
///
/// # Errors
/// What is wrong with it, and where.
pub fn parse(input: &[u8]) -> Result<Value<'_>, Box<Explanation>> {
    parse_within(input, Limits::default())
}

/// Like [`parse`], within these limits.
///
/// # Errors
/// What is wrong with it, and where.
pub fn parse_within(input: &[u8], limits: Limits) -> Result<Value<'_>, Box<Explanation>> {
    fn check(limits: Limits) -> impl Fn(&mut In<'_>) -> Parsed<()> {
        move |i| grammar::json_text(i, &mut State::new(limits), |_| {})
    }
    match value_at(Level::best(), input, limits) {
        Ok(value) => Ok(value),
        // What failed once fails again: the grammar depends on nothing but its input.
        Err(_) => Err(explain(check(limits), input)
            .expect("it fails as before")
            .into()),
    }
}

/// The value, by the instructions of `level`.
fn value_at(level: Level, input: &[u8], limits: Limits) -> Parsed<Value<'_>> {
    simd::run_at(
        level,
        #[inline(always)]
        |level| {
            let mut builder = Builder::new();
            let mut i = In::starting(input, 0, true, level);
            grammar::json_text(
                &mut i,
                &mut State::new(limits),
                #[inline(always)]
                |event| builder.take_borrowed(event),
            )?;
            // There is one: the grammar came to its end.
            Ok(builder.finish().unwrap_or(Value::Null))
        },
    )
}
