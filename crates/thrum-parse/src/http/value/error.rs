//! What is wrong with a field value.

use crate::{Reason, Stop};

/// Why a field value is refused, and where. It is the sender's fault.
///
/// ```
/// use thrum_parse::http::value::{Fault, FieldValue, MediaType};
///
/// let error = MediaType::parse(b"text/html; charset").unwrap_err();
/// assert_eq!((error.fault, error.at), (Fault::Truncated, 18));
/// assert_eq!(error.to_string(), "the value ends too early, at byte 18");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{fault}, at byte {at}")]
pub struct ValueError {
    /// What is wrong.
    pub fault: Fault,
    /// Where, in bytes from the start of the value.
    pub at: usize,
}

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// What can be wrong with a field value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
        #[non_exhaustive]
        pub enum Fault {
            $($(#[doc = $doc])+ #[error($text)] $name,)+
        }

        impl Fault {
            /// In the order of their numbers.
            const ALL: &[Fault] = &[$(Fault::$name),+];
        }
    };
}

faults! {
    /// The value ends before it is complete.
    Truncated = "the value ends too early",
    /// This byte does not belong here.
    Unexpected = "a byte does not belong here",
    /// There are more elements, parameters, attributes or empty ones than allowed.
    TooMany = "there are too many parts",
    /// A part is longer than allowed.
    TooLong = "a part is too long",
    /// A number is larger than its type.
    Overflow = "a number is too large",
    /// There is no element where one is required.
    Empty = "there is nothing where something is required",
    /// Two elements have something other than a comma between them.
    Unseparated = "no comma separates two elements",
    /// A token is required here.
    BadToken = "this is not a token",
    /// A quoted string holds a control character, or a quote is required here.
    BadQuotedString = "a quoted string is malformed",
    /// A parameter is not `name=value`.
    BadParameter = "a parameter is not name=value",
    /// A parameter comes twice.
    DuplicateParameter = "a parameter comes twice",
    /// A media type is not `type/subtype`, or a range of them is `*/subtype`.
    BadMediaType = "a media type is not type/subtype",
    /// A weight is not a number from 0 to 1 with three decimals at most.
    BadWeight = "a weight is not between 0 and 1 with three decimals",
    /// A language range is not subtags of one to eight letters and digits.
    BadLanguage = "a language range is malformed",
    /// A range is not `first-last`, `first-` or `-length`, or ends before it starts.
    BadRange = "a range is malformed or ends before it starts",
    /// A range is in a unit other than bytes.
    UnknownUnit = "the range unit is not bytes",
    /// A date is in none of HTTP's three forms, or is no date.
    BadDate = "this is not a date",
    /// A date's day of the week is another one.
    BadWeekday = "the day of the week is not that of the date",
    /// An entity tag is not an opaque string in quotes.
    BadEntityTag = "an entity tag is malformed",
    /// A cookie holds a control character, has neither name nor value, or a domain that none can be in.
    BadCookie = "a cookie is malformed",
    /// A content length is not a number.
    BadLength = "a content length is not a number",
    /// Two content lengths differ.
    ConflictingLengths = "two content lengths differ",
    /// `chunked` is repeated, has parameters, or is not the last coding; or a coding is empty.
    BadTransferCoding = "the transfer codings are malformed or chunked is not the last",
    /// A node is not an address, `unknown` or an obfuscated name, with or without a port.
    BadNode = "a node is malformed",
    /// Credentials or a challenge are neither a token68 nor parameters.
    BadCredentials = "credentials are malformed",
}

impl From<Fault> for Reason {
    #[inline(always)]
    fn from(fault: Fault) -> Reason {
        Reason::Grammar(fault as u8)
    }
}

impl From<Stop> for ValueError {
    #[cold]
    fn from(stop: Stop) -> ValueError {
        let fault = match stop.reason() {
            Some(Reason::Grammar(n)) => Fault::ALL.get(usize::from(n)).copied(),
            Some(Reason::EndOfInput) => Some(Fault::Truncated),
            Some(Reason::Overflow) => Some(Fault::Overflow),
            // Only a value of more than 4 GiB needs more than is there.
            Some(Reason::TooLong) | None => Some(Fault::TooLong),
            Some(Reason::Unexpected | Reason::Rejected) => None,
        };
        ValueError {
            fault: fault.unwrap_or(Fault::Unexpected),
            at: stop.at().unwrap_or(u32::MAX as usize),
        }
    }
}
