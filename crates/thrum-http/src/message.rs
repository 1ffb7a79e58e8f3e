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

/// Whether bodies of a media type are worth compressing: text, and what is known not to be compressed already. Not: images but
/// SVG and bitmaps, sound, film, archives, WOFF; server-sent events. Parameters do not matter.
///
/// ```
/// assert!(thrum_http::is_compressible_type("text/html; charset=utf-8"));
/// assert!(!thrum_http::is_compressible_type("image/png"));
/// ```
pub fn is_compressible_type(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or("").trim();
    shrinks(&essence.to_ascii_lowercase())
}

fn shrinks(essence: &str) -> bool {
    match essence.split_once('/') {
        Some(("text", kind)) => kind != "event-stream",
        Some(("application", kind)) => {
            kind.ends_with("+json")
                || kind.ends_with("+xml")
                || matches!(
                    kind,
                    "javascript"
                        | "json"
                        | "manifest+json"
                        | "rtf"
                        | "vnd.ms-fontobject"
                        | "wasm"
                        | "x-javascript"
                        | "x-ndjson"
                        | "xml"
                )
        }
        Some(("image", kind)) => {
            matches!(kind, "bmp" | "svg+xml" | "vnd.microsoft.icon" | "x-icon")
        }
        Some(("font", kind)) => matches!(kind, "collection" | "otf" | "sfnt" | "ttf"),
        _ => false,
    }
}
