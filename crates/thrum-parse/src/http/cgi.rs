//! What a CGI program puts before the document it makes (RFC 3875, section 6).

use super::error::HeadError::*;
use super::grammar::status_code;
use super::head::{Grammar, Head, LineEnd};
use super::terminals::{OWS, TARGET, TCHAR, VALUE};
use super::{Field, HeadError, HeadLimits};
use crate::class::{ALPHA, ALPHANUMERIC, VISIBLE};
use crate::{
    ByteSet, In, Parsed, Parser, Span, byte, choice, end_of_input, satisfy, skip_while, tag,
    take_while, take_while1,
};

/// The head of what a CGI program answers: where its parts are in the buffer that was parsed. A
/// [`HeadParser`](super::HeadParser) reads it.
///
/// Lines end in LF or in CR LF, as programs write either; there are no folded ones. A field without a value counts as not
/// sent (RFC 3875, 6.3), so `Content-Type`, `Location` and `Status` are `None` then.
///
/// ```
/// use thrum_parse::http::{CgiHead, CgiResponse, HeadLimits, HeadParser, Status};
///
/// let mut parser = HeadParser::new(HeadLimits::default());
/// let mut head = CgiHead::new();
/// let buffer = b"Content-Type: text/plain\nStatus: 404 Not Found\n\nNothing here.\n";
/// let status = parser.parse(buffer, false, &mut head).unwrap();
/// assert_eq!(status, Status::Complete { consumed: 48 });
/// let CgiResponse::Document { content_type, status } = head.response(buffer).unwrap() else {
///     panic!("it is a document");
/// };
/// assert_eq!(content_type.of(buffer), b"text/plain");
/// assert_eq!(status.unwrap().code, 404);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CgiHead {
    /// The value of `Content-Type`, a media type that is not looked into.
    pub content_type: Option<Span>,
    /// The value of `Location`, not yet checked: [`response`](CgiHead::response) does.
    pub location: Option<Span>,
    /// The value of `Status`.
    pub status: Option<CgiStatus>,
    fields: Vec<Field>,
}

/// The value of a `Status` field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CgiStatus {
    /// The status code, 100 to 999.
    pub code: u16,
    /// The reason phrase. It may be empty, and the space before it left out, which the RFC does not do but many do.
    pub reason: Span,
}

/// What a CGI program may answer (RFC 3875, 6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CgiResponse {
    /// A document, which follows the head (6.2.1).
    Document {
        /// Its media type.
        content_type: Span,
        /// Its status; 200 if there is none.
        status: Option<CgiStatus>,
    },
    /// The server is to answer as if this had been asked for (6.2.2).
    LocalRedirect {
        /// A path with an optional query: visible ASCII that begins with a slash, without a fragment.
        target: Span,
    },
    /// The client is to ask for this, with status 302 (6.2.3).
    ClientRedirect {
        /// An absolute URI: a scheme, a colon and visible ASCII. It is not looked into any further.
        uri: Span,
    },
    /// The client is to ask for this; until it does, there is a document, which follows the head (6.2.4).
    ClientRedirectDocument {
        /// As above.
        uri: Span,
        /// A status from 300 to 399.
        status: CgiStatus,
        /// The media type of the document.
        content_type: Span,
    },
}

/// Why the fields of a CGI program's answer, each of them right, are no answer together (RFC 3875, 6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum CgiError {
    /// There is neither a `Content-Type` nor a `Location`.
    #[error("there is neither a Content-Type nor a Location")]
    NoContentType,
    /// The `Location` is neither a path with an optional query nor an absolute URI.
    #[error("the Location is neither a path nor an absolute URI")]
    BadLocation,
    /// There are other fields beside the `Location` of a local redirect.
    #[error("a local redirect has other fields")]
    LocalRedirectWithFields,
    /// There are fields beside the `Location` of a client redirect whose names do not begin with `X-CGI-`, but neither a
    /// `Status` nor a `Content-Type`.
    #[error("a client redirect without a document has other fields")]
    ClientRedirectWithFields,
    /// There are a `Location` and a `Status`, but no `Content-Type`.
    #[error("a client redirect has a Status but no Content-Type")]
    ClientRedirectWithoutContentType,
    /// There are a `Location` and a `Content-Type`, but no `Status`.
    #[error("a client redirect has a Content-Type but no Status")]
    ClientRedirectWithoutStatus,
    /// The `Status` beside a `Location` is not from 300 to 399.
    #[error("the Status of a client redirect is not that of a redirection")]
    StatusIsNoRedirection,
}

impl CgiHead {
    /// An empty one. It allocates when fields come.
    pub const fn new() -> Self {
        CgiHead {
            content_type: None,
            location: None,
            status: None,
            fields: Vec::new(),
        }
    }

    /// Forgets what was read, but not the memory that it was in.
    pub fn clear(&mut self) {
        self.content_type = None;
        self.location = None;
        self.status = None;
        self.fields.clear();
    }

    /// The other header fields, in the order they were sent.
    pub fn headers(&self) -> &[Field] {
        &self.fields
    }

    /// Which of the four answers of the RFC this is. `buffer` is the one that it was parsed from.
    ///
    /// # Errors
    /// It is none of them. Programs get by with servers that know better than the RFC: they send a 204 or 304 without a
    /// type, or cookies with a redirect. A server that means to put up with some of these has the parts to do so.
    ///
    /// ```
    /// use thrum_parse::http::{CgiError, CgiHead, HeadLimits, HeadParser};
    ///
    /// let mut head = CgiHead::new();
    /// let buffer = b"Status: 302 Found\nLocation: https://example.com/\n\n";
    /// HeadParser::new(HeadLimits::default()).parse(buffer, true, &mut head).unwrap();
    /// assert_eq!(head.response(buffer), Err(CgiError::ClientRedirectWithoutContentType));
    /// assert_eq!(head.location.unwrap().of(buffer), b"https://example.com/");
    /// ```
    pub fn response(&self, buffer: &[u8]) -> Result<CgiResponse, CgiError> {
        let Some(location) = self.location else {
            let content_type = self.content_type.ok_or(CgiError::NoContentType)?;
            return Ok(CgiResponse::Document {
                content_type,
                status: self.status,
            });
        };
        let value = location.of(buffer);
        if local_location(&mut In::whole(value)).is_ok() {
            if self.count() > 1 {
                return Err(CgiError::LocalRedirectWithFields);
            }
            return Ok(CgiResponse::LocalRedirect { target: location });
        }
        if client_location(&mut In::whole(value)).is_err() {
            return Err(CgiError::BadLocation);
        }
        let is_extension = |field: &Field| {
            let start = field.name.of(buffer).first_chunk::<6>();
            start.is_some_and(|start| start.eq_ignore_ascii_case(b"X-CGI-"))
        };
        match (self.status, self.content_type) {
            (None, None) if self.fields.iter().all(is_extension) => {
                Ok(CgiResponse::ClientRedirect { uri: location })
            }
            (None, None) => Err(CgiError::ClientRedirectWithFields),
            (Some(_), None) => Err(CgiError::ClientRedirectWithoutContentType),
            (None, Some(_)) => Err(CgiError::ClientRedirectWithoutStatus),
            (Some(status), Some(_)) if !(300..=399).contains(&status.code) => {
                Err(CgiError::StatusIsNoRedirection)
            }
            (Some(status), Some(content_type)) => Ok(CgiResponse::ClientRedirectDocument {
                uri: location,
                status,
                content_type,
            }),
        }
    }

    /// How many fields there are.
    fn count(&self) -> usize {
        self.fields.len()
            + usize::from(self.content_type.is_some())
            + usize::from(self.location.is_some())
            + usize::from(self.status.is_some())
    }
}

impl Head for CgiHead {}

impl Grammar for CgiHead {
    const LINE_END: LineEnd = LineEnd::Lf;

    fn clear(&mut self) {
        CgiHead::clear(self);
    }

    fn start_line(&mut self, _: &mut In<'_>, _: &HeadLimits) -> Parsed<()> {
        Ok(())
    }

    fn field_lines(&mut self, i: &mut In<'_>, limits: &HeadLimits) -> Parsed<()> {
        header_fields(i, limits.fields, self)
    }
}

static SCHEME: ByteSet = ALPHANUMERIC.with(b"+-.");
static PATH_QUERY: ByteSet = VISIBLE.without(b"#");

/// *header-field NL, each committed (6.2)
fn header_fields(i: &mut In<'_>, limit: usize, head: &mut CgiHead) -> Parsed<()> {
    while !matches!(i.next_byte(), Some(b'\r' | b'\n')) {
        if head.count() >= limit && i.next_byte().is_some() {
            return Err(i.fail(TooManyFields.into()).into_cut());
        }
        header_field(i, head)?;
        i.commit();
    }
    newline(i, BareCr)
}

/// header-field = CGI-field | other-field = field-name ":" [ field-value ] NL (6.3)
fn header_field(i: &mut In<'_>, head: &mut CgiHead) -> Parsed<()> {
    let name = take_while1(&TCHAR).must(BadName).context("a field name");
    let name = name.parse(i)?;
    let span = i.span_of(name);
    byte(b':').must(SpaceBeforeColon).parse(i)?; // or something else before it
    skip_while(&OWS).parse(i)?;
    let named = |text| name.eq_ignore_ascii_case(text);
    let put = if named(b"Status") {
        put(&mut head.status, status(i)?)
    } else {
        let value = field_value(i)?;
        if named(b"Content-Type") {
            put(&mut head.content_type, value)
        } else if named(b"Location") {
            put(&mut head.location, value)
        } else {
            head.fields
                .extend(value.map(|value| Field { name: span, value }));
            Ok(())
        }
    };
    put.map_err(|error| i.fail_at(span.start as usize, error.into()).into_cut())
}

/// Status = "Status:" status-code SP reason-phrase NL (6.3.3), from behind the name
fn status(i: &mut In<'_>) -> Parsed<Option<CgiStatus>> {
    if let Some(b'\r' | b'\n') = i.next_byte() {
        newline(i, BadValue)?;
        return Ok(None);
    }
    let code = status_code(i)?;
    if !matches!(i.next_byte(), Some(b'\r' | b'\n')) {
        byte(b' ').must(BadStatus).parse(i)?;
    }
    let reason = take_while(&VALUE).context("a reason phrase").parse(i)?;
    let reason = i.span_of(reason.trim_ascii());
    newline(i, BadReason)?;
    Ok(Some(CgiStatus { code, reason }))
}

/// [ field-value ] NL, with the space behind it; those who know a value by its grammar look at it later
fn field_value(i: &mut In<'_>) -> Parsed<Option<Span>> {
    let value = take_while(&VALUE).context("a field value").parse(i)?;
    let value = i.span_of(value.trim_ascii());
    newline(i, BadValue)?;
    Ok((!value.is_empty()).then_some(value))
}

/// NL = LF | CR LF (7.2)
fn newline(i: &mut In<'_>, or: HeadError) -> Parsed<()> {
    let newline = choice((tag(b"\n").value(()), tag(b"\r\n").value(())));
    newline.must(or).parse(i)
}

/// local-pathquery = abs-path [ "?" query-string ] (6.3.2)
fn local_location(i: &mut In<'_>) -> Parsed<()> {
    (byte(b'/'), skip_while(&PATH_QUERY), end_of_input())
        .value(())
        .parse(i)
}

/// fragment-URI = absoluteURI [ "#" fragment ] (6.3.2), as far as its scheme
fn client_location(i: &mut In<'_>) -> Parsed<()> {
    let scheme = (satisfy(&ALPHA), skip_while(&SCHEME), byte(b':'));
    (scheme, take_while1(&TARGET), end_of_input())
        .value(())
        .parse(i)
}

/// Puts a value where there was none before: no CGI-field may be sent twice (6.3).
fn put<T>(place: &mut Option<T>, value: Option<T>) -> Result<(), HeadError> {
    if place.is_some() && value.is_some() {
        return Err(DuplicateField);
    }
    *place = place.take().or(value);
    Ok(())
}
