//! `Content-Disposition`, RFC 6266, and the extended parameters of RFC 8187.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::syntax::{token, write_quoted};
use super::{FieldValue, Parameters, Text};
use crate::In;
use crate::http::terminals::TCHAR;
use crate::stop::Parsed;

/// What to do with a response, or with a part of a form: the value of `Content-Disposition`.
///
/// ```
/// use thrum_parse::http::value::{ContentDisposition, FieldValue};
///
/// let value = b"attachment; filename=\"EURO.txt\"; filename*=UTF-8''%e2%82%ac.txt";
/// let disposition = ContentDisposition::parse(value).unwrap();
/// assert!(disposition.is("attachment"));
/// assert_eq!(disposition.filename().unwrap(), "\u{20ac}.txt");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ContentDisposition<'a> {
    kind: &'a str,
    parameters: Parameters<'a>,
}

impl<'a> ContentDisposition<'a> {
    /// `inline`, `attachment`, `form-data`, or a type of somebody's own, in the case it was written in.
    pub fn kind(&self) -> &'a str {
        self.kind
    }

    /// Whether its type is `kind`, in any case.
    pub fn is(&self, kind: &str) -> bool {
        self.kind.eq_ignore_ascii_case(kind)
    }

    /// The parameters.
    pub fn parameters(&self) -> Parameters<'a> {
        self.parameters
    }

    /// The name of the form's field, of a part of one (RFC 7578, 4.2).
    pub fn name(&self) -> Option<Cow<'a, str>> {
        self.parameters.get("name")?.to_text()
    }

    /// What to call the file: `filename*` if it can be read, else `filename`, of which bytes that are no UTF-8 are taken
    /// for ISO 8859-1.
    ///
    /// Only what follows the last slash or backslash is given, and nothing that is empty, `.`, `..` or has control
    /// characters: it is not to lead anywhere (RFC 6266, 4.3). It may still be the name of a device, or of a file that
    /// exists.
    pub fn filename(&self) -> Option<String> {
        let extended = self.parameters.get("filename*").and_then(extended);
        let name = match extended {
            Some(name) => name,
            None => latin_or_utf8(self.parameters.get("filename")?),
        };
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let leads_nowhere = !matches!(name, "" | "." | "..") && !name.contains(char::is_control);
        leads_nowhere.then(|| name.to_owned())
    }

    /// The value that has a response saved as `filename`: `attachment` with the name, and with `filename*` if not all of
    /// it is ASCII. Control characters become `_`.
    ///
    /// ```
    /// use thrum_parse::http::value::ContentDisposition;
    ///
    /// let value = ContentDisposition::attachment("na\u{ef}ve plan.pdf");
    /// assert_eq!(value, "attachment; filename=\"na_ve plan.pdf\"; filename*=UTF-8''na%C3%AFve%20plan.pdf");
    /// ```
    pub fn attachment(filename: &str) -> String {
        let plain = filename.chars().map(|letter| match letter {
            ' '..='~' => letter as u8,
            _ => b'_',
        });
        let mut value = Vec::from(b"attachment; filename=");
        write_quoted(plain, &mut value);
        let mut value: String = value.into_iter().map(char::from).collect();
        if !filename.is_ascii() {
            value.push_str("; filename*=UTF-8''");
            for byte in filename.replace(char::is_control, "_").bytes() {
                if is_attr_char(byte) {
                    value.push(char::from(byte));
                } else {
                    // Writing to a string does not fail.
                    let _ = write!(value, "%{byte:02X}");
                }
            }
        }
        value
    }
}

impl<'a> FieldValue<'a> for ContentDisposition<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let kind = token(i)?;
        let parameters = Parameters::read(i)?;
        Ok(ContentDisposition { kind, parameters })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.kind.as_bytes());
        self.parameters.write(out);
    }
}

impl PartialEq for ContentDisposition<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.is(other.kind) && self.parameters == other.parameters
    }
}

impl Eq for ContentDisposition<'_> {}

/// ext-value = charset "'" [ language ] "'" value-chars, where the charset is UTF-8 or ISO 8859-1 (RFC 8187, 3.2.1).
fn extended(text: Text<'_>) -> Option<String> {
    let mut parts = text.plain()?.splitn(3, |&byte| byte == b'\'');
    let (charset, _language, value) = (parts.next()?, parts.next()?, parts.next()?);
    let bytes = percent_decoded(value)?;
    if charset.eq_ignore_ascii_case(b"utf-8") {
        String::from_utf8(bytes).ok()
    } else if charset.eq_ignore_ascii_case(b"iso-8859-1") {
        Some(bytes.into_iter().map(char::from).collect())
    } else {
        None
    }
}

/// value-chars = *( "%" HEXDIG HEXDIG / attr-char )
fn percent_decoded(value: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.iter();
    while let Some(&byte) = rest.next() {
        let digit = |byte: &u8| char::from(*byte).to_digit(16);
        bytes.push(match byte {
            b'%' => u8::try_from(digit(rest.next()?)? * 16 + digit(rest.next()?)?).ok()?,
            _ if is_attr_char(byte) => byte,
            _ => return None,
        });
    }
    Some(bytes)
}

/// What a token may have without `*`, `'` and `%`.
fn is_attr_char(byte: u8) -> bool {
    TCHAR.contains(byte) && !b"*'%".contains(&byte)
}

fn latin_or_utf8(text: Text<'_>) -> String {
    match text.to_text() {
        Some(text) => text.into_owned(),
        None => text.bytes().map(char::from).collect(),
    }
}
