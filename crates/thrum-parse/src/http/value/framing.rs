//! How a message is framed, and what the connection is for: RFC 9110, 7.6.1, 7.8, 8.6 and 10.1.1; RFC 9112, 6.1.

use super::syntax::{fault, number, ows, token, write_number};
use super::{Fault, FieldValue, List, Parameters, Text};
use crate::http::terminals::OWS;
use crate::stop::Parsed;
use crate::{In, Parser, byte, opt, skip_while};

/// The value of `Content-Length`.
///
/// The same number several times with commas between, which some program along the way may have made of several fields,
/// is read as that number (RFC 9110, 8.6), and said to be repeated, so that who would rather refuse it can. Different
/// numbers are [`Fault::ConflictingLengths`]; no element may be empty.
///
/// ```
/// use thrum_parse::http::value::{ContentLength, Fault, FieldValue};
///
/// let length = ContentLength::parse(b"5, 5").unwrap();
/// assert_eq!((length.bytes, length.is_repeated), (5, true));
/// let error = ContentLength::parse(b"5, 6").unwrap_err();
/// assert_eq!(error.fault, Fault::ConflictingLengths);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentLength {
    /// Bytes of the content.
    pub bytes: u64,
    /// Whether the number was there more than once.
    pub is_repeated: bool,
}

impl<'a> FieldValue<'a> for ContentLength {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let bytes = number(i, Fault::BadLength)?;
        let mut is_repeated = false;
        let mut count = 1;
        while opt((skip_while(&OWS), byte(b','))).parse(i)?.is_some() {
            ows(i)?;
            let at = i.position();
            count += 1;
            if count > Self::MOST_IN_LIST {
                return Err(fault(i, at, Fault::TooMany));
            }
            if number(i, Fault::BadLength)? != bytes {
                return Err(fault(i, at, Fault::ConflictingLengths));
            }
            is_repeated = true;
        }
        Ok(ContentLength { bytes, is_repeated })
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_number(self.bytes, out);
        if self.is_repeated {
            out.extend_from_slice(b", ");
            write_number(self.bytes, out);
        }
    }
}

/// The value of `Transfer-Encoding`: the codings in the order they were applied in.
///
/// `chunked` is taken once, as the last one and without parameters. Unlike in other lists, no element may be empty:
/// where a message ends is nothing to be guessed. All else is [`Fault::BadTransferCoding`].
///
/// ```
/// use thrum_parse::http::value::{FieldValue, TransferEncoding};
///
/// let codings = TransferEncoding::parse(b"gzip, chunked").unwrap();
/// assert!(codings.ends_in_chunked());
/// assert_eq!(codings.len(), 2);
/// assert!(TransferEncoding::parse(b"chunked, gzip").is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferEncoding<'a> {
    codings: List<'a, TransferCoding<'a>>,
    ends_in_chunked: bool,
}

/// One transfer coding.
#[derive(Clone, Copy, Debug)]
pub struct TransferCoding<'a> {
    /// Its name, in the case it was written in.
    pub name: &'a str,
    /// Its parameters.
    pub parameters: Parameters<'a>,
}

impl<'a> TransferEncoding<'a> {
    /// Whether the last coding is `chunked`, so that the content says itself where it ends.
    pub fn ends_in_chunked(&self) -> bool {
        self.ends_in_chunked
    }

    /// How many codings there are, `chunked` included: at least one.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.codings.len()
    }

    /// The codings, as they come.
    pub fn iter(&self) -> impl Iterator<Item = TransferCoding<'a>> + Clone + use<'a> {
        self.codings.iter()
    }
}

impl TransferCoding<'_> {
    /// Whether it is called `name`, in any case.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

impl<'a> FieldValue<'a> for TransferEncoding<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let mut ahead = i.clone();
        let mut ends_in_chunked = false;
        loop {
            let at = ahead.position();
            if matches!(ahead.next_byte(), None | Some(b',')) || ends_in_chunked {
                return Err(fault(i, at, Fault::BadTransferCoding));
            }
            let coding = TransferCoding::read(&mut ahead)?;
            ends_in_chunked = coding.is("chunked");
            // Not even a semicolon: RFC 9112, 7 has no empty parameters, unlike RFC 9110, 5.6.6.
            if ends_in_chunked && ahead.position() - at != coding.name.len() {
                return Err(fault(i, at, Fault::BadTransferCoding));
            }
            ows(&mut ahead)?;
            if opt(byte(b',')).parse(&mut ahead)?.is_none() {
                break;
            }
            ows(&mut ahead)?;
        }
        let codings = List::read(i)?;
        Ok(TransferEncoding {
            codings,
            ends_in_chunked,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        self.codings.write(out);
    }
}

impl<'a> FieldValue<'a> for TransferCoding<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let name = token(i)?;
        let parameters = Parameters::read(i)?;
        Ok(TransferCoding { name, parameters })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.name.as_bytes());
        self.parameters.write(out);
    }
}

impl PartialEq for TransferCoding<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.is(other.name) && self.parameters == other.parameters
    }
}

impl Eq for TransferCoding<'_> {}

/// The value of `Expect`.
pub type Expect<'a> = List<'a, Expectation<'a>>;

/// One thing that a client wants before it goes on.
#[derive(Clone, Copy, Debug)]
pub struct Expectation<'a> {
    /// Its name, in the case it was written in.
    pub name: &'a str,
    /// Its value and the parameters of that, if it has one.
    pub value: Option<(Text<'a>, Parameters<'a>)>,
}

impl Expectation<'_> {
    /// Whether it is `100-continue`, the only one there is.
    pub fn is_continue(&self) -> bool {
        self.name.eq_ignore_ascii_case("100-continue") && self.value.is_none()
    }
}

/// expectation = token [ "=" ( token / quoted-string ) parameters ]
impl<'a> FieldValue<'a> for Expectation<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let name = token(i)?;
        let value = if opt(byte(b'=')).parse(i)?.is_some() {
            Some((Text::read(i)?, Parameters::read(i)?))
        } else {
            None
        };
        Ok(Expectation { name, value })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.name.as_bytes());
        if let Some((value, parameters)) = &self.value {
            out.push(b'=');
            value.write(out);
            parameters.write(out);
        }
    }
}

impl PartialEq for Expectation<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.name.eq_ignore_ascii_case(other.name) && self.value == other.value
    }
}

impl Eq for Expectation<'_> {}

/// The value of `Upgrade`: protocols, the most wanted first.
///
/// ```
/// use thrum_parse::http::value::{FieldValue, Upgrade};
///
/// let wanted = Upgrade::parse(b"HTTP/2.0, websocket").unwrap();
/// assert!(wanted.iter().any(|protocol| protocol.is("WebSocket")));
/// ```
pub type Upgrade<'a> = List<'a, Protocol<'a>>;

/// A protocol, such as `websocket` or `HTTP/2.0`.
#[derive(Clone, Copy, Debug)]
pub struct Protocol<'a> {
    /// Its name, in the case it was written in.
    pub name: &'a str,
    /// Its version.
    pub version: Option<&'a str>,
}

impl Protocol<'_> {
    /// Whether it is called `name`, in any case.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

/// protocol = protocol-name [ "/" protocol-version ]
impl<'a> FieldValue<'a> for Protocol<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let name = token(i)?;
        let version = if opt(byte(b'/')).parse(i)?.is_some() {
            Some(token(i)?)
        } else {
            None
        };
        Ok(Protocol { name, version })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.name.as_bytes());
        if let Some(version) = self.version {
            out.push(b'/');
            out.extend_from_slice(version.as_bytes());
        }
    }
}

/// The names match in any case, the versions exactly.
impl PartialEq for Protocol<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.is(other.name) && self.version == other.version
    }
}

impl Eq for Protocol<'_> {}
