//! One line in Apache's Combined format, written by hand into a buffer.
//!
//! Everything a client sent is escaped, so a line is always one line, a quoted field always ends where its quote
//! does, and a terminal that shows the log obeys nobody. Fields are bounded, so a line is too.

use std::net::IpAddr;

use super::stamp::STAMP;

/// Longest method that is written whole, in bytes as received.
const METHOD_MAX: usize = 32;
/// Longest request target that is written whole, in bytes as received.
const TARGET_MAX: usize = 2048;
/// Longest version text that is written whole.
const VERSION_MAX: usize = 16;
/// Longest `Referer` that is written whole, in bytes as received.
const REFERER_MAX: usize = 1024;
/// Longest `User-Agent` that is written whole, in bytes as received.
const USER_AGENT_MAX: usize = 512;

/// What ends a field that was cut.
const CUT: &[u8] = b"...";

/// Room for all of a line that does not depend on the client: address (45), stamp, numbers (3 + 20), punctuation.
const FIXED: usize = 45 + STAMP + 23 + 5 * CUT.len() + 32;

/// The longest line there can be; a buffer must have this much room when it is empty.
pub(super) const LINE_MAX: usize =
    FIXED + 4 * (METHOD_MAX + TARGET_MAX + VERSION_MAX + REFERER_MAX + USER_AGENT_MAX);

/// What a line tells. An empty method means that the request could not be parsed.
pub(super) struct Line<'a> {
    /// None over a Unix socket.
    pub(super) peer: Option<IpAddr>,
    pub(super) method: &'a [u8],
    pub(super) target: &'a [u8],
    pub(super) version: &'a [u8],
    pub(super) status: u16,
    pub(super) body_bytes: u64,
    pub(super) referer: Option<&'a [u8]>,
    pub(super) user_agent: Option<&'a [u8]>,
}

impl Line<'_> {
    /// How many bytes [`write`](Line::write) adds at most.
    pub(super) fn bound(&self) -> usize {
        let field = |bytes: &[u8], max: usize| 4 * bytes.len().min(max);
        FIXED
            + field(self.method, METHOD_MAX)
            + field(self.target, TARGET_MAX)
            + field(self.version, VERSION_MAX)
            + field(self.referer.unwrap_or_default(), REFERER_MAX)
            + field(self.user_agent.unwrap_or_default(), USER_AGENT_MAX)
    }

    /// Appends the line. The buffer does not grow if it has room for [`bound`](Line::bound) more bytes.
    pub(super) fn write(&self, stamp: &[u8; STAMP], out: &mut Vec<u8>) {
        match self.peer {
            Some(peer) => write_address(peer, out),
            None => out.push(b'-'),
        }
        out.extend_from_slice(b" - - ");
        out.extend_from_slice(stamp);
        out.extend_from_slice(b" \"");
        if self.method.is_empty() {
            out.push(b'-');
        } else {
            write_escaped(self.method, METHOD_MAX, out);
            out.push(b' ');
            write_escaped(self.target, TARGET_MAX, out);
            out.push(b' ');
            write_escaped(self.version, VERSION_MAX, out);
        }
        out.extend_from_slice(b"\" ");
        write_number(self.status.into(), out);
        out.push(b' ');
        write_number(self.body_bytes, out);
        write_quoted(self.referer, REFERER_MAX, out);
        write_quoted(self.user_agent, USER_AGENT_MAX, out);
        out.push(b'\n');
    }
}

/// A header value in quotes with a space before it; `"-"` if the request had none.
fn write_quoted(value: Option<&[u8]>, max: usize, out: &mut Vec<u8>) {
    match value {
        Some(value) if !value.is_empty() => {
            out.extend_from_slice(b" \"");
            write_escaped(value, max, out);
            out.push(b'"');
        }
        _ => out.extend_from_slice(b" \"-\""),
    }
}

/// At most `max` bytes of what a client sent, with `\xHH` for each that is not plain.
fn write_escaped(bytes: &[u8], max: usize, out: &mut Vec<u8>) {
    let kept = &bytes[..bytes.len().min(max)];
    // Nearly all is plain. A fold without an early exit is compiled to vector instructions; `all` is not.
    if kept
        .iter()
        .fold(true, |plain, &byte| plain & is_plain(byte))
    {
        out.extend_from_slice(kept);
    } else {
        for &byte in kept {
            if is_plain(byte) {
                out.push(byte);
            } else {
                const HEX: &[u8; 16] = b"0123456789ABCDEF";
                let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
                out.extend_from_slice(&[b'\\', b'x', HEX[high], HEX[low]]);
            }
        }
    }
    if kept.len() < bytes.len() {
        out.extend_from_slice(CUT);
    }
}

/// Printable ASCII, except for what would end or escape a quoted field.
fn is_plain(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte) & (byte != b'"') & (byte != b'\\')
}

fn write_number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// An IPv4 client of a socket that listens on both families is an IPv4 client.
fn write_address(address: IpAddr, out: &mut Vec<u8>) {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STAMP_TEXT: &[u8; STAMP] = b"[21/Nov/2026:02:07:00 +0000]";

    fn written(line: &Line<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        line.write(STAMP_TEXT, &mut out);
        out
    }

    fn get_x() -> Line<'static> {
        Line {
            peer: "192.0.2.7".parse().ok(),
            method: b"GET",
            target: b"/x",
            version: b"HTTP/1.1",
            status: 200,
            body_bytes: 612,
            referer: None,
            user_agent: None,
        }
    }

    #[test]
    fn combined_format() {
        let line = Line {
            referer: Some(b"http://example.com/"),
            user_agent: Some(b"curl/8.5 (x86_64)"),
            ..get_x()
        };
        assert_eq!(
            String::from_utf8(written(&line)).unwrap(),
            "192.0.2.7 - - [21/Nov/2026:02:07:00 +0000] \"GET /x HTTP/1.1\" 200 612 \
             \"http://example.com/\" \"curl/8.5 (x86_64)\"\n"
        );
    }

    #[test]
    fn what_is_absent_is_a_dash() {
        let line = Line {
            method: b"",
            target: b"",
            version: b"",
            status: 400,
            body_bytes: 0,
            ..get_x()
        };
        let text = String::from_utf8(written(&line)).unwrap();
        assert!(text.ends_with(" \"-\" 400 0 \"-\" \"-\"\n"), "{text}");
    }

    #[test]
    fn injection_is_escaped() {
        let line = Line {
            target: b"/\"\r\n127.0.0.1 - - [] \"GET \\",
            user_agent: Some(b"\x1b[2J\x7f\xff\t"),
            ..get_x()
        };
        let text = String::from_utf8(written(&line)).unwrap();
        assert!(
            text.contains(
                r#""GET /\x22\x0D\x0A127.0.0.1 - - [] \x22GET \x5C HTTP/1.1" 200 612 "-" "\x1B[2J\x7F\xFF\x09""#
            ),
            "{text}"
        );
    }

    #[test]
    fn long_fields_are_cut_and_the_line_stays_below_its_maximum() {
        let long = vec![0xff; 100_000];
        let line = Line {
            peer: "1111:2222:3333:4444:5555:6666:7777:8888".parse().ok(),
            method: &long,
            target: &long,
            version: &long,
            status: 599,
            body_bytes: u64::MAX,
            referer: Some(&long),
            user_agent: Some(&long),
        };
        let text = written(&line);
        assert!(text.len() <= line.bound());
        assert!(line.bound() <= LINE_MAX);
        assert_eq!(text.windows(3).filter(|three| three == b"...").count(), 5);
    }

    #[test]
    fn mapped_addresses_are_written_as_ipv4() {
        let line = Line {
            peer: "::ffff:192.0.2.1".parse().ok(),
            ..get_x()
        };
        assert!(written(&line).starts_with(b"192.0.2.1 - - "));
    }

    /// What a log analyser does: splits at quotes, undoes `\xHH`.
    fn parsed(line: &[u8]) -> (Vec<Vec<u8>>, Vec<String>) {
        let text = std::str::from_utf8(line).unwrap();
        let mut parts = text.strip_suffix('\n').unwrap().split('"');
        let mut bare = Vec::new();
        let mut quoted = Vec::new();
        while let Some(outside) = parts.next() {
            bare.push(outside.trim().to_owned());
            if let Some(inside) = parts.next() {
                let mut bytes = Vec::new();
                let mut rest = inside;
                while let Some(at) = rest.find("\\x") {
                    bytes.extend_from_slice(&rest.as_bytes()[..at]);
                    bytes.push(u8::from_str_radix(&rest[at + 2..at + 4], 16).unwrap());
                    rest = &rest[at + 4..];
                }
                bytes.extend_from_slice(rest.as_bytes());
                quoted.push(bytes);
            }
        }
        (quoted, bare)
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

        #[test]
        fn always_one_line_that_parses_back(
            peer: IpAddr,
            method in proptest::collection::vec(any::<u8>(), 1..METHOD_MAX),
            target in proptest::collection::vec(any::<u8>(), 0..TARGET_MAX),
            referer in proptest::option::of(proptest::collection::vec(any::<u8>(), 1..REFERER_MAX)),
            user_agent in proptest::option::of(proptest::collection::vec(any::<u8>(), 1..USER_AGENT_MAX)),
            status in 100_u16..1000,
            body_bytes: u64,
        ) {
            let line = Line {
                peer: Some(peer),
                method: &method,
                target: &target,
                version: b"HTTP/1.0",
                status,
                body_bytes,
                referer: referer.as_deref(),
                user_agent: user_agent.as_deref(),
            };
            let out = written(&line);
            prop_assert!(out.len() <= line.bound());
            prop_assert!(out[..out.len() - 1].iter().all(|byte| (0x20..0x7f).contains(byte)));
            prop_assert_eq!(out.last(), Some(&b'\n'));

            let (quoted, bare) = parsed(&out);
            prop_assert_eq!(quoted.len(), 3);
            let request = [&method[..], b" ", &target[..], b" HTTP/1.0"].concat();
            prop_assert_eq!(&quoted[0], &request);
            prop_assert_eq!(&quoted[1], &referer.unwrap_or_else(|| b"-".to_vec()));
            prop_assert_eq!(&quoted[2], &user_agent.unwrap_or_else(|| b"-".to_vec()));
            let address = peer.to_canonical();
            prop_assert_eq!(&bare[0], &format!("{address} - - [21/Nov/2026:02:07:00 +0000]"));
            prop_assert_eq!(&bare[1], &format!("{status} {body_bytes}"));
        }
    }
}
