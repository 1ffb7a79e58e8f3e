//! What requests and responses have in common, whoever sends them.

use http::StatusCode;

/// Appends a field line.
pub(crate) fn field(output: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    output.reserve(name.len() + value.len() + 4);
    output.extend_from_slice(name);
    output.extend_from_slice(b": ");
    output.extend_from_slice(value);
    output.extend_from_slice(b"\r\n");
}

/// Whether a response of this status has no body, whatever its fields say (RFC 9112 section 6.3).
pub(crate) fn is_bodiless(status: StatusCode) -> bool {
    status.is_informational()
        || status == StatusCode::NO_CONTENT
        || status == StatusCode::NOT_MODIFIED
}

/// The parts of a value that is a list of words, such as Connection's. Empty ones are among them. The grammar of lists takes four
/// times as long, for quoted strings that cannot occur in these.
pub(crate) fn words(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

/// Whether one of the words of a list is this one, in any case.
pub(crate) fn has_word(value: &[u8], word: &[u8]) -> bool {
    words(value).any(|found| found.eq_ignore_ascii_case(word))
}
