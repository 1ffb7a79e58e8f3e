//! The parts of a line.

use http::HeaderName;
use http::header::{HOST, REFERER, USER_AGENT};

use super::format::Style;
use super::line::Line;
use crate::log::escape::{CUT, Escape, write_address, write_number};
use crate::log::stamp::{APACHE, ISO, Moment, Stamp};

/// Longest method that is written whole, in bytes as received.
const METHOD_MAX: usize = 32;
/// Longest request target that is written whole, in bytes as received.
const TARGET_MAX: usize = 2048;
/// Longest version text that is written whole.
const VERSION_MAX: usize = 16;
/// Longest `Referer` that is written whole, in bytes as received.
const REFERER_MAX: usize = 1024;
/// Longest value of another header field, in bytes as received.
const HEADER_MAX: usize = 512;
/// Longest name of a user, a site, a route, a cipher suite.
const NAME_MAX: usize = 200;
/// Longest IPv6 address.
const ADDRESS: usize = 45;
/// Longest number.
const NUMBER: usize = 20;

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Client,
    User,
    Time,
    Iso,
    Unix,
    Request,
    Method,
    Target,
    Version,
    Status,
    Bytes,
    Duration,
    Site,
    Route,
    Tls,
    Cipher,
    Header(HeaderName),
}

/// What stands in braces for each; besides, `header:NAME` is any header field.
pub(super) const FIELDS: &[(&str, Field)] = &[
    ("client", Field::Client),
    ("user", Field::User),
    ("time", Field::Time),
    ("iso", Field::Iso),
    ("unix", Field::Unix),
    ("request", Field::Request),
    ("method", Field::Method),
    ("target", Field::Target),
    ("version", Field::Version),
    ("status", Field::Status),
    ("bytes", Field::Bytes),
    ("duration", Field::Duration),
    ("referer", Field::Header(REFERER)),
    ("agent", Field::Header(USER_AGENT)),
    ("host", Field::Header(HOST)),
    ("site", Field::Site),
    ("route", Field::Route),
    ("tls", Field::Tls),
    ("cipher", Field::Cipher),
];

impl Field {
    /// How many bytes it has at most.
    pub(super) fn longest(&self, escape: Escape) -> usize {
        let escaped = |max: usize| escape.longest() * max + CUT.len() + 2;
        match self {
            Self::Client => ADDRESS + 2,
            Self::Time => APACHE + 2,
            Self::Iso => ISO + 2,
            Self::Unix | Self::Status | Self::Bytes => NUMBER,
            Self::Duration => NUMBER + 7,
            Self::Request => escaped(METHOD_MAX) + escaped(TARGET_MAX) + escaped(VERSION_MAX),
            Self::Method => escaped(METHOD_MAX),
            Self::Target => escaped(TARGET_MAX),
            Self::Version => escaped(VERSION_MAX),
            Self::User | Self::Site | Self::Route | Self::Tls | Self::Cipher => escaped(NAME_MAX),
            Self::Header(name) => escaped(header_max(name)),
        }
    }

    /// Appends it.
    pub(super) fn write(
        &self,
        style: Style,
        line: &Line<'_>,
        at: Moment,
        stamp: &mut Stamp,
        out: &mut Vec<u8>,
    ) {
        let text = |bytes: &[u8], max: usize, out: &mut Vec<u8>| text(style, bytes, max, out);
        match self {
            Self::Client => match line.client {
                Some(client) => quoted(style, out, |out| write_address(client, out)),
                None => absent(style, out),
            },
            Self::Time => quoted(style, out, |out| out.extend_from_slice(stamp.apache(at))),
            Self::Iso => quoted(style, out, |out| out.extend_from_slice(stamp.iso(at))),
            Self::Unix => write_number(at.second, out),
            Self::Request if line.method.is_empty() => absent(style, out),
            Self::Request => quoted(style, out, |out| {
                let escape = escape(style);
                escape.write(line.method, METHOD_MAX, out);
                out.push(b' ');
                escape.write(line.target, TARGET_MAX, out);
                out.push(b' ');
                escape.write(line.version, VERSION_MAX, out);
            }),
            Self::Method => text(line.method, METHOD_MAX, out),
            Self::Target => text(line.target, TARGET_MAX, out),
            Self::Version => text(line.version, VERSION_MAX, out),
            Self::Status => write_number(line.status.into(), out),
            Self::Bytes => write_number(line.body_bytes, out),
            Self::Duration => {
                write_number(line.duration.as_secs(), out);
                // Six digits, with their zeros: those of a number with a one before them.
                let micros = 1_000_000 + line.duration.subsec_micros();
                let start = out.len();
                write_number(micros.into(), out);
                out[start] = b'.';
            }
            Self::User => match (line.user, style) {
                // It stands without quotes in Apache's formats.
                (Some(user), Style::Text) if !user.is_empty() => {
                    Escape::Word.write(user, NAME_MAX, out);
                }
                (user, _) => text(user.unwrap_or_default(), NAME_MAX, out),
            },
            Self::Site => text(line.site.as_bytes(), NAME_MAX, out),
            Self::Route => text(line.route.as_bytes(), NAME_MAX, out),
            Self::Tls => text(line.tls.map_or("", |tls| tls.0).as_bytes(), NAME_MAX, out),
            Self::Cipher => text(line.tls.map_or("", |tls| tls.1).as_bytes(), NAME_MAX, out),
            Self::Header(name) => {
                let value = (line.headers)(name.as_str()).unwrap_or_default();
                text(value, header_max(name), out);
            }
        }
    }
}

fn header_max(name: &HeaderName) -> usize {
    if *name == REFERER {
        REFERER_MAX
    } else {
        HEADER_MAX
    }
}

fn escape(style: Style) -> Escape {
    match style {
        Style::Text => Escape::Text,
        Style::Json => Escape::Json,
    }
}

fn absent(style: Style, out: &mut Vec<u8>) {
    match style {
        Style::Text => out.push(b'-'),
        Style::Json => out.extend_from_slice(b"null"),
    }
}

fn text(style: Style, bytes: &[u8], max: usize, out: &mut Vec<u8>) {
    if bytes.is_empty() {
        return absent(style, out);
    }
    quoted(style, out, |out| escape(style).write(bytes, max, out));
}

/// In quotes, if it is JSON.
fn quoted(style: Style, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    if style == Style::Json {
        out.push(b'"');
    }
    write(out);
    if style == Style::Json {
        out.push(b'"');
    }
}
