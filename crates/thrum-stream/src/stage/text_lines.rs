//! Lines of text.

use bytestring::ByteString;

use super::{Stage, lines, map};

/// The lines of text, as [`lines`] of bytes: behind [`decode`](super::decode()), for any encoding. (`lines` first and
/// `decode` after it would take UTF-16 apart, and make one text of all lines.)
///
/// Buffer: one line, at most `limit` bytes of UTF-8 with its end.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let bytes = source::reader(&b"o\0n\0e\0\n\0t\0w\0o\0"[..]);
/// let lines = bytes.pipe(stage::decode(encoding_rs::UTF_16LE)).pipe(stage::text_lines(80));
/// assert_eq!(lines.run(sink::collect(9)).await?, ["one", "two"]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
///
/// # Errors
/// Those of [`lines`].
pub fn text_lines(limit: usize) -> impl Stage<ByteString, Item = ByteString> {
    let text = |line| ByteString::try_from(line).expect("LF is no part of another character");
    map(ByteString::into_bytes)
        .then(lines(limit))
        .then(map(text))
}
