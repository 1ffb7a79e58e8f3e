//! An event as a line.

use std::fmt::{self, Write};

use tracing::field::{Field, Visit};
use tracing::{Event, Level};

use super::ErrorFormat;
use crate::log::escape::write_json_text;
use crate::log::stamp::ISO;
use crate::log::target::Envelope;
use crate::log::{LONGEST as LONGEST_OF_LOGS, Severity, syslog_origin};

/// How much of an event's texts is kept, together.
const TEXT_MAX: usize = 6 * 1024;
/// What follows a text that was cut.
const CUT: &str = "...";
/// How many fields of an event are kept.
const FIELDS_MAX: usize = 64;

/// The longest line: each byte may become six.
pub(super) const LONGEST: usize = LONGEST_OF_LOGS;
const _: () = assert!(6 * TEXT_MAX + FIELDS_MAX * 16 + 1024 <= LONGEST);

/// What an event says.
pub(super) struct Told {
    level: Level,
    target: String,
    message: String,
    fields: Vec<(&'static str, String)>,
    code: (&'static str, u32),
    /// How many more bytes are kept.
    left: usize,
}

impl Told {
    pub(super) fn of(event: &Event<'_>) -> Self {
        let metadata = event.metadata();
        let mut told = Self {
            level: *metadata.level(),
            target: String::new(),
            message: String::new(),
            fields: Vec::new(),
            code: (
                metadata.file().unwrap_or_default(),
                metadata.line().unwrap_or_default(),
            ),
            left: TEXT_MAX,
        };
        told.target = told.text(format_args!("{}", metadata.target()));
        event.record(&mut told);
        told
    }

    fn text(&mut self, text: fmt::Arguments<'_>) -> String {
        let mut kept = Kept {
            text: String::new(),
            left: self.left,
        };
        if kept.write_fmt(text).is_err() {
            kept.text.push_str(CUT);
        }
        self.left = kept.left;
        kept.text
    }

    fn put(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        if field.name() == "message" {
            self.message = self.text(value);
        } else if self.fields.len() < FIELDS_MAX && self.left > field.name().len() {
            self.left -= field.name().len();
            let text = self.text(value);
            self.fields.push((field.name(), text));
        }
    }
}

impl Visit for Told {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format_args!("{value:?}"));
    }
}

/// The beginning of a text, of so many bytes at most.
pub(super) fn up_to(text: &str, most: usize) -> &str {
    let mut ends = (0..=most.min(text.len())).rev();
    let end = ends.find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// So much of a text; then it is an error to write more.
struct Kept {
    text: String,
    left: usize,
}

impl Write for Kept {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let kept = up_to(text, self.left);
        self.text.push_str(kept);
        self.left -= kept.len();
        if kept.len() < text.len() {
            self.left = 0;
            return Err(fmt::Error);
        }
        Ok(())
    }
}

/// How a line is made of an event.
#[derive(Clone, Debug)]
pub(super) struct Wrap {
    envelope: Envelope,
    format: ErrorFormat,
    /// For syslog: what follows the time.
    origin: String,
}

impl Wrap {
    pub(super) fn new(envelope: Envelope, format: ErrorFormat) -> Self {
        Self {
            envelope,
            format,
            origin: syslog_origin("error"),
        }
    }

    /// Appends the line, and what the target wants around it.
    pub(super) fn write(&self, told: &Told, time: &[u8; ISO], out: &mut Vec<u8>) {
        let time = std::str::from_utf8(time).unwrap_or_default();
        let mut line = String::new();
        let severity = severity(told.level);
        let end = match self.envelope {
            Envelope::Bare => {
                if self.format == ErrorFormat::Text {
                    let _ = write!(line, "{time} {} ", told.level);
                }
                "\n"
            }
            Envelope::Syslog(facility) => {
                let _ = write!(
                    line,
                    "<{}>1 {time}{}",
                    facility.priority(severity),
                    self.origin
                );
                "\n"
            }
            Envelope::Journald => {
                line.push_str("MESSAGE=");
                "\n\n"
            }
        };
        match self.format {
            ErrorFormat::Text => text(told, &mut line),
            ErrorFormat::Json => json(told, time, &mut line),
        }
        if self.envelope == Envelope::Journald {
            let (file, number) = told.code;
            let _ = write!(
                line,
                "\nPRIORITY={}\nSYSLOG_IDENTIFIER=thrum\nCODE_FILE={file}\nCODE_LINE={number}",
                severity as u8
            );
        }
        line.push_str(end);
        out.extend_from_slice(line.as_bytes());
    }
}

fn text(told: &Told, out: &mut String) {
    one_line(&told.target, out);
    out.push_str(": ");
    one_line(&told.message, out);
    for (name, value) in &told.fields {
        let _ = write!(out, " {name}=");
        one_line(value, out);
    }
}

fn json(told: &Told, time: &str, out: &mut String) {
    let _ = write!(out, "{{\"time\":\"{time}\",\"level\":\"{}\"", told.level);
    let own = [("target", &told.target), ("message", &told.message)];
    let fields = told.fields.iter().map(|(name, value)| (*name, value));
    for (name, value) in own.into_iter().chain(fields) {
        out.push(',');
        write_json_text(name, out);
        out.push(':');
        write_json_text(value, out);
    }
    out.push('}');
}

/// A text without control characters.
fn one_line(text: &str, out: &mut String) {
    for character in text.chars() {
        if character.is_control() {
            let _ = write!(out, "\\x{:02X}", u32::from(character));
        } else {
            out.push(character);
        }
    }
}

fn severity(level: Level) -> Severity {
    match level {
        Level::ERROR => Severity::Error,
        Level::WARN => Severity::Warning,
        Level::INFO => Severity::Info,
        _ => Severity::Debug,
    }
}
