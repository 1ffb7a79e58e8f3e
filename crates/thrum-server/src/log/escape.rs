//! What a client sent, as text that ends no line and no quoted field, and that no terminal obeys; and the numbers of a line,
//! written without the formatting machinery, which costs more than all the rest.

use std::fmt::Write;
use std::net::IpAddr;

/// What ends a text that was cut.
pub(crate) const CUT: &[u8] = b"...";

/// How bytes that are not plain are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// `\xHH`: Apache's way.
    Text,
    /// `\xHH`, also for spaces: for a field without quotes.
    Word,
    /// `\u00HH`, so bytes are taken as characters of Latin-1, and text is valid JSON whatever it was.
    Json,
}

impl Escape {
    /// How many bytes become of one at most.
    pub(crate) const fn longest(self) -> usize {
        match self {
            Self::Text | Self::Word => 4,
            Self::Json => 6,
        }
    }

    /// Appends at most `max` bytes, escaped, and [`CUT`] if there were more.
    pub(crate) fn write(self, bytes: &[u8], max: usize, out: &mut Vec<u8>) {
        let kept = &bytes[..bytes.len().min(max)];
        match self {
            Self::Text => write_escaped(kept, b"\\x", is_plain, out),
            Self::Word => write_escaped(kept, b"\\x", |byte| is_plain(byte) & (byte != b' '), out),
            Self::Json => write_escaped(kept, b"\\u00", is_plain, out),
        }
        if kept.len() < bytes.len() {
            out.extend_from_slice(CUT);
        }
    }
}

#[inline]
fn write_escaped(bytes: &[u8], mark: &[u8], is_plain: impl Fn(u8) -> bool, out: &mut Vec<u8>) {
    // Nearly all is plain. A fold without an early exit is compiled to vector instructions; `all` is not.
    if bytes
        .iter()
        .fold(true, |plain, &byte| plain & is_plain(byte))
    {
        out.extend_from_slice(bytes);
        return;
    }
    for &byte in bytes {
        if is_plain(byte) {
            out.push(byte);
        } else {
            const HEX: &[u8; 16] = b"0123456789ABCDEF";
            out.extend_from_slice(mark);
            out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    }
}

/// Printable ASCII, except for what would end or escape a quoted field.
fn is_plain(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte) & (byte != b'"') & (byte != b'\\')
}

pub(crate) fn write_number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// An IPv4 client of a socket that listens on both families is an IPv4 client.
pub(crate) fn write_address(address: IpAddr, out: &mut Vec<u8>) {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            write_number(a.into(), out);
            for octet in [b, c, d] {
                out.push(b'.');
                write_number(octet.into(), out);
            }
        }
        IpAddr::V6(address) => write_ipv6(&address.segments(), out),
    }
}

/// As RFC 5952 has it, and as the standard library prints it in twice the time of all the rest of a line: the
/// longest run of zeros (the first of equals, two at least) is `::`.
fn write_ipv6(segments: &[u16; 8], out: &mut Vec<u8>) {
    let (mut zeros, mut run) = (0..0, 0..0);
    for (at, segment) in segments.iter().enumerate() {
        if *segment != 0 {
            run = at + 1..at + 1;
            continue;
        }
        run.end = at + 1;
        if run.len() > zeros.len().max(1) {
            zeros = run.clone();
        }
    }
    for (at, segment) in segments.iter().enumerate() {
        if zeros.contains(&at) {
            if at == zeros.start {
                out.extend_from_slice(b"::");
            }
            continue;
        }
        if at > 0 && at != zeros.end {
            out.push(b':');
        }
        let digits = (4 - segment.leading_zeros() / 4).max(1);
        for digit in (0..digits).rev() {
            out.push(b"0123456789abcdef"[usize::from(segment >> (4 * digit) & 15)]);
        }
    }
}

/// Appends a text of our own as a JSON string.
pub(crate) fn write_json_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped(escape: Escape, bytes: &[u8]) -> String {
        let mut out = Vec::new();
        escape.write(bytes, 10, &mut out);
        assert!(out.len() <= escape.longest() * 10 + CUT.len());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_not_plain() {
        assert_eq!(
            escaped(Escape::Text, b"a b\"\\\x1b\xff"),
            r"a b\x22\x5C\x1B\xFF"
        );
        assert_eq!(escaped(Escape::Word, b"a b"), r"a\x20b");
        assert_eq!(
            escaped(Escape::Json, b"a \"\n\xe9"),
            r"a \u0022\u000A\u00E9"
        );
        assert_eq!(escaped(Escape::Text, b"0123456789a"), "0123456789...");
    }

    proptest! {
        #[test]
        fn ipv6_as_the_standard_library_prints_it(
            segments in proptest::array::uniform8(prop_oneof![3 => Just(0), 1 => 1..16_u16, 1 => any::<u16>()]),
        ) {
            let mut out = Vec::new();
            write_ipv6(&segments, &mut out);
            let address = std::net::Ipv6Addr::from(segments);
            // It prints these with dots; they are written as IPv4 before they get here.
            prop_assume!(address.to_ipv4_mapped().is_none());
            prop_assert_eq!(String::from_utf8(out).unwrap(), address.to_string());
        }
    }
}
