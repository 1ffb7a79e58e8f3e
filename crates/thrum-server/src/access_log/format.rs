//! What a line says: a template that is compiled once, and writes a line without an allocation.
//!
//! Every text from a client is bounded and escaped, so a line is always one line, and never longer than the format's
//! [`longest`](Format::longest).

use std::str::FromStr;

use thiserror::Error;

use super::field::{FIELDS, Field};
use super::line::Line;
use crate::log::escape::Escape;
use crate::log::stamp::{Moment, Stamp};
use crate::log::target::Envelope;
use crate::log::{LONGEST, Severity, Target};

/// Apache's Common Log Format.
const COMMON: &str = r#"{client} - {user} {time} "{request}" {status} {bytes}"#;
/// Apache's Combined format.
const COMBINED: &str =
    r#"{client} - {user} {time} "{request}" {status} {bytes} "{referer}" "{agent}""#;
/// The keys of a line in JSON, each with what it says.
const JSON: &[&str] = &[
    "iso", "client", "user", "method", "target", "version", "status", "bytes", "duration",
    "referer", "agent", "host", "site", "route", "tls",
];
/// What the journal is told besides the line.
const JOURNAL: &[&str] = &[
    "client", "user", "method", "target", "status", "bytes", "duration", "site", "route",
];

/// What a line of an access log says.
///
/// | format | a line |
/// |---|---|
/// | [`combined`](Self::combined) | `192.0.2.7 - - [21/Nov/2026:02:07:00 +0000] "GET /x HTTP/1.1" 200 612 "http://example.com/" "curl/8.5"` |
/// | [`common`](Self::common) | the same without the last two |
/// | [`json`](Self::json) | an object with the keys `time`, `client`, `user`, `method`, `target`, `version`, `status`, `bytes`, `duration`, `referer`, `agent`, `host`, `site`, `route`, `tls` |
/// | a template | what is written, with these in braces: |
///
/// | field | what it is |
/// |---|---|
/// | `client` | the client's address |
/// | `user` | who was authenticated |
/// | `time`, `iso`, `unix` | the time of the line, in UTC: `[21/Nov/2026:02:07:00 +0000]`, `2026-11-21T02:07:00.123Z`, seconds since 1970 |
/// | `request` | method, target and version |
/// | `method`, `target`, `version` | each of them |
/// | `status`, `bytes` | of the response; the bytes are those of its body that were sent |
/// | `duration` | seconds from the complete request head to the last byte of the response: `0.001234` |
/// | `referer`, `agent`, `host` | header fields of the request |
/// | `header:NAME` | any header field of the request |
/// | `site`, `route` | the first name of the site, and the path of the route as it was written |
/// | `tls`, `cipher` | the version and the cipher suite |
///
/// What there is not is `-` (JSON: `null`). Of what a client sent, `"`, `\` and every byte outside printable ASCII are written
/// as `\xHH` (JSON: `\u00HH`). Of a target 2 KiB are written, of a `Referer` 1 KiB, of another header field 512 bytes; `...`
/// marks the cut. Braces of one's own are written twice.
///
/// ```
/// use thrum_server::access_log::Format;
///
/// let format: Format = r#"{iso} {client} "{request}" {status} {duration} {header:X-Request-Id}"#.parse().unwrap();
/// let error = "{clinet}".parse::<Format>().unwrap_err();
/// assert!(error.to_string().contains("clinet"));
/// # let _ = format;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    pieces: Vec<Piece>,
    /// Kept next to the pieces, as each line asks for it.
    longest: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Box<[u8]>),
    Field(Field, Style),
}

/// How a field is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// As it is; `-` if there is none.
    Text,
    /// As a JSON value.
    Json,
}

/// A template that says nothing.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// There is no such field.
    #[error("a log line has no field {{{0}}}: there are {list}, and header:NAME", list = names())]
    UnknownField(String),
    /// A brace that is not closed, or not opened.
    #[error("a brace has no partner; one that is meant is written twice")]
    Brace,
    /// It would end a line.
    #[error("a line cannot have control characters in it")]
    Control,
    /// What follows `header:` is no name.
    #[error("{0:?} is no name of a header field")]
    Header(String),
    /// There is nothing in it.
    #[error("the format of the log is empty")]
    Empty,
    /// A line could be longer than 44 KiB.
    #[error("a line could be too long: leave out a few fields")]
    TooLong,
}

fn names() -> String {
    let names: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

impl Format {
    /// Apache's Combined format.
    pub fn combined() -> Self {
        Self::known(Self::template(COMBINED))
    }

    /// Apache's Common Log Format.
    pub fn common() -> Self {
        Self::known(Self::template(COMMON))
    }

    /// A JSON object.
    pub fn json() -> Self {
        let mut builder = Builder::default();
        for (at, name) in JSON.iter().enumerate() {
            let key = if *name == "iso" { "time" } else { name };
            builder.text(format!("{}\"{key}\":", if at == 0 { "{" } else { "," }).as_bytes());
            builder.known(name, Style::Json);
        }
        builder.text(b"}");
        Self::known(builder.finish())
    }

    /// Whether no line would be too long for a target.
    pub(crate) fn fits(&self, target: &Target) -> Result<(), FormatError> {
        self.wrapped(target.envelope()).map(|_| ())
    }

    /// The longest line there can be, in bytes.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Appends a line, of at most so many bytes.
    pub(super) fn write(&self, line: &Line<'_>, at: Moment, stamp: &mut Stamp, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                Piece::Field(field, style) => field.write(*style, line, at, stamp, out),
            }
        }
    }

    /// The format with all that a target wants around a line.
    pub(super) fn wrapped(&self, envelope: Envelope) -> Result<Self, FormatError> {
        let mut builder = Builder::default();
        match envelope {
            Envelope::Bare => {
                builder.pieces(self);
                builder.text(b"\n");
            }
            Envelope::Syslog(facility) => {
                let priority = facility.priority(Severity::Info);
                builder.text(format!("<{priority}>1 ").as_bytes());
                builder.known("iso", Style::Text);
                builder.text(crate::log::syslog_origin("access").as_bytes());
                builder.pieces(self);
                builder.text(b"\n");
            }
            Envelope::Journald => {
                builder.text(b"MESSAGE=");
                builder.pieces(self);
                builder.text(b"\nPRIORITY=6\nSYSLOG_IDENTIFIER=thrum");
                for name in JOURNAL {
                    builder.text(format!("\nTHRUM_{}=", name.to_uppercase()).as_bytes());
                    builder.known(name, Style::Text);
                }
                builder.text(b"\n\n");
            }
        }
        builder.finish()
    }

    fn template(text: &str) -> Result<Self, FormatError> {
        let mut builder = Builder::default();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, brace) = rest.split_at(at);
            builder.text(before.as_bytes());
            if brace.starts_with("{{") || brace.starts_with("}}") {
                builder.text(&brace.as_bytes()[..1]);
                rest = &brace[2..];
                continue;
            }
            let inside = brace.strip_prefix('{').ok_or(FormatError::Brace)?;
            let (name, after) = inside.split_once('}').ok_or(FormatError::Brace)?;
            builder.field(name, Style::Text)?;
            rest = after;
        }
        builder.text(rest.as_bytes());
        if text.bytes().any(|byte| byte.is_ascii_control()) {
            return Err(FormatError::Control);
        }
        if builder.pieces.is_empty() {
            return Err(FormatError::Empty);
        }
        builder.finish()
    }

    /// Formats of our own are right, as a test shows.
    fn known(format: Result<Self, FormatError>) -> Self {
        format.unwrap_or_else(|error| panic!("{error}"))
    }
}

impl FromStr for Format {
    type Err = FormatError;

    /// `combined`, `common`, `json`, or a template.
    fn from_str(text: &str) -> Result<Self, FormatError> {
        match text {
            "combined" => Ok(Self::combined()),
            "common" => Ok(Self::common()),
            "json" => Ok(Self::json()),
            _ => Self::template(text),
        }
    }
}

impl Default for Format {
    fn default() -> Self {
        Self::combined()
    }
}

#[derive(Default)]
struct Builder {
    pieces: Vec<Piece>,
}

impl Builder {
    fn text(&mut self, text: &[u8]) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Text(before)) => *before = [before, text].concat().into(),
            _ => self.pieces.push(Piece::Text(text.into())),
        }
    }

    fn field(&mut self, name: &str, style: Style) -> Result<(), FormatError> {
        let field = match name.strip_prefix("header:") {
            Some(header) => match header.parse::<http::HeaderName>() {
                Ok(header) => Field::Header(header),
                Err(_) => return Err(FormatError::Header(header.to_owned())),
            },
            None => {
                let found = FIELDS.iter().find(|(known, _)| *known == name);
                let unknown = || FormatError::UnknownField(name.to_owned());
                found.ok_or_else(unknown)?.1.clone()
            }
        };
        self.pieces.push(Piece::Field(field, style));
        Ok(())
    }

    /// A field that there is.
    fn known(&mut self, name: &str, style: Style) {
        if let Err(error) = self.field(name, style) {
            panic!("{error}");
        }
    }

    fn pieces(&mut self, format: &Format) {
        for piece in &format.pieces {
            match piece {
                Piece::Text(text) => self.text(text),
                Piece::Field(..) => self.pieces.push(piece.clone()),
            }
        }
    }

    fn finish(self) -> Result<Format, FormatError> {
        let longest = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Field(field, Style::Text) => field.longest(Escape::Text),
            Piece::Field(field, Style::Json) => field.longest(Escape::Json),
        });
        let longest = longest.sum();
        if longest > LONGEST {
            return Err(FormatError::TooLong);
        }
        Ok(Format {
            pieces: self.pieces,
            longest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access_log::line::tests::{get_x, written};
    use crate::log::Facility;

    fn in_format(format: &str, line: &Line<'_>) -> String {
        written(&format.parse().unwrap(), line)
    }

    #[test]
    fn the_formats_that_have_names() {
        let headers = [
            ("referer", b"http://example.com/".as_slice()),
            ("user-agent", b"curl/8.5"),
            ("host", b"a"),
        ];
        let line = Line {
            headers: &|name| {
                headers
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| *value)
            },
            user: Some(b"Jo Doe"),
            ..get_x()
        };
        let common =
            r#"192.0.2.7 - Jo\x20Doe [21/Nov/2026:02:07:00 +0000] "GET /x HTTP/1.1" 200 612"#;
        assert_eq!(in_format("common", &line), common);
        let combined = format!(r#"{common} "http://example.com/" "curl/8.5""#);
        assert_eq!(in_format("combined", &line), combined);
        assert_eq!(
            in_format("json", &line),
            "{\"time\":\"2026-11-21T02:07:00.123Z\",\"client\":\"192.0.2.7\",\"user\":\"Jo Doe\",\
             \"method\":\"GET\",\"target\":\"/x\",\"version\":\"HTTP/1.1\",\"status\":200,\"bytes\":612,\
             \"duration\":0.001234,\"referer\":\"http://example.com/\",\"agent\":\"curl/8.5\",\"host\":\"a\",\
             \"site\":\"example.com\",\"route\":\"/\",\"tls\":null}"
        );
    }

    #[test]
    fn templates() {
        let line = Line {
            tls: Some(("TLSv1.3", "TLS_AES_128_GCM_SHA256")),
            headers: &|name| (name == "x-request-id").then_some(b"a\nb".as_slice()),
            ..get_x()
        };
        assert_eq!(
            in_format(
                "{unix} {{{iso}}} {site}{route} {tls}/{cipher} {header:X-Request-Id} {agent} é",
                &line
            ),
            r"1795226820 {2026-11-21T02:07:00.123Z} example.com/ TLSv1.3/TLS_AES_128_GCM_SHA256 a\x0Ab - é"
        );
        for (text, error) in [
            ("", FormatError::Empty),
            ("{", FormatError::Brace),
            ("}", FormatError::Brace),
            ("{client", FormatError::Brace),
            ("a\nb", FormatError::Control),
            ("{header:a b}", FormatError::Header("a b".into())),
            ("{nobody}", FormatError::UnknownField("nobody".into())),
        ] {
            assert_eq!(text.parse::<Format>(), Err(error), "{text:?}");
        }
        let long = "{target}".repeat(6);
        assert_eq!(long.parse::<Format>(), Err(FormatError::TooLong));
    }

    #[test]
    fn what_targets_want_around_a_line() {
        let wrapped = |envelope| written(&Format::common().wrapped(envelope).unwrap(), &get_x());
        let line = written(&Format::common(), &get_x());
        assert_eq!(wrapped(Envelope::Bare), format!("{line}\n"));

        let syslog = wrapped(Envelope::Syslog(Facility::named("local5").unwrap()));
        let parts: Vec<&str> = syslog.splitn(8, ' ').collect();
        assert_eq!(parts[..2], ["<174>1", "2026-11-21T02:07:00.123Z"]);
        assert_eq!([parts[3], parts[5], parts[6]], ["thrum", "access", "-"]);
        assert_eq!(parts[4], std::process::id().to_string());
        assert_eq!(parts[7], format!("{line}\n"));

        let journal = wrapped(Envelope::Journald);
        assert!(journal.starts_with(&format!("MESSAGE={line}\nPRIORITY=6\n")));
        assert!(journal.contains("\nTHRUM_STATUS=200\n"));
        assert!(journal.ends_with("\nTHRUM_ROUTE=/\n\n"), "{journal}");
    }
}
