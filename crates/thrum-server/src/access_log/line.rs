//! What there is to say of an exchange.

use std::net::IpAddr;
use std::time::Duration;

/// What a line can tell. An empty method means that the request could not be parsed.
pub(super) struct Line<'a> {
    /// None over a Unix socket.
    pub(super) client: Option<IpAddr>,
    pub(super) user: Option<&'a [u8]>,
    pub(super) method: &'a [u8],
    pub(super) target: &'a [u8],
    pub(super) version: &'a [u8],
    pub(super) status: u16,
    pub(super) body_bytes: u64,
    pub(super) duration: Duration,
    /// Empty if none was found.
    pub(super) site: &'a str,
    /// Empty if none was found.
    pub(super) route: &'a str,
    /// Version and cipher suite.
    pub(super) tls: Option<(&'a str, &'a str)>,
    /// The request's header fields, by their names in lower case.
    pub(super) headers: &'a dyn Fn(&str) -> Option<&'a [u8]>,
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::access_log::Format;
    use crate::log::Facility;
    use crate::log::stamp::{Moment, Stamp};
    use crate::log::target::Envelope;

    pub(in crate::access_log) fn get_x() -> Line<'static> {
        Line {
            client: "192.0.2.7".parse().ok(),
            user: None,
            method: b"GET",
            target: b"/x",
            version: b"HTTP/1.1",
            status: 200,
            body_bytes: 612,
            duration: Duration::from_micros(1234),
            site: "example.com",
            route: "/",
            tls: None,
            headers: &|_| None,
        }
    }

    pub(in crate::access_log) fn written(format: &Format, line: &Line<'_>) -> String {
        let mut out = Vec::new();
        let at = Moment {
            second: 1_795_226_820,
            millisecond: 123,
        };
        format.write(line, at, &mut Stamp::new(), &mut out);
        assert!(out.len() <= format.longest());
        String::from_utf8(out).expect("a line is UTF-8 if its template is")
    }

    #[test]
    fn what_is_absent_is_a_dash() {
        let line = Line {
            client: None,
            method: b"",
            target: b"",
            version: b"",
            status: 400,
            body_bytes: 0,
            ..get_x()
        };
        assert_eq!(
            written(&Format::combined(), &line),
            "- - - [21/Nov/2026:02:07:00 +0000] \"-\" 400 0 \"-\" \"-\""
        );
    }

    #[test]
    fn long_fields_are_cut_and_no_line_is_longer_than_the_longest() {
        let long = vec![0xff; 100_000];
        let text = "\u{1}".repeat(1000);
        let line = Line {
            client: "1111:2222:3333:4444:5555:6666:7777:8888".parse().ok(),
            user: Some(&long),
            method: &long,
            target: &long,
            version: &long,
            status: 599,
            body_bytes: u64::MAX,
            duration: Duration::MAX,
            site: &text,
            route: &text,
            tls: Some((&text, &text)),
            headers: &|_| Some(&long),
        };
        let all = "{client}{user}{time}{iso}{unix}{request}{status}{bytes}{duration}{referer}{agent}{site}{route}{tls}{cipher}";
        for format in ["combined", "common", "json", all] {
            let format: Format = format.parse().unwrap();
            assert!(written(&format, &line).contains("..."));
        }
    }

    #[test]
    fn mapped_addresses_are_written_as_ipv4() {
        let line = Line {
            client: "::ffff:192.0.2.1".parse().ok(),
            ..get_x()
        };
        assert!(written(&Format::combined(), &line).starts_with("192.0.2.1 - - "));
    }

    /// What a log analyser does: splits at quotes, undoes `\xHH`.
    fn parsed(line: &str) -> (Vec<Vec<u8>>, Vec<String>) {
        let mut parts = line.split('"');
        let (mut bare, mut quoted) = (Vec::new(), Vec::new());
        while let Some(outside) = parts.next() {
            bare.push(outside.trim().to_owned());
            if let Some(inside) = parts.next() {
                quoted.push(unescaped(inside));
            }
        }
        (quoted, bare)
    }

    fn unescaped(mut rest: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        while let Some(at) = rest.find("\\x") {
            bytes.extend_from_slice(&rest.as_bytes()[..at]);
            bytes.push(u8::from_str_radix(&rest[at + 2..at + 4], 16).unwrap());
            rest = &rest[at + 4..];
        }
        bytes.extend_from_slice(rest.as_bytes());
        bytes
    }

    fn bytes(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(any::<u8>(), length)
    }

    proptest! {
        #[test]
        fn one_request_is_one_line_in_every_format(
            client: Option<IpAddr>,
            (method, target, version) in (bytes(0..40), bytes(0..2100), bytes(0..20)),
            (user, header) in (proptest::option::of(bytes(0..300)), proptest::option::of(bytes(0..1100))),
            (site, route) in (any::<String>(), any::<String>()),
            status in 100_u16..1000,
            body_bytes: u64,
            micros: u64,
        ) {
            let line = Line {
                client,
                user: user.as_deref(),
                method: &method,
                target: &target,
                version: &version,
                status,
                body_bytes,
                duration: Duration::from_micros(micros),
                site: &site,
                route: &route,
                tls: Some((&site, &route)),
                headers: &|_| header.as_deref(),
            };
            let template = "{client} {user} {time} \"{request}\" {status} {referer} {header:X} {site} {route} {tls} {cipher}";
            for format in ["combined", "common", "json", template] {
                let format: Format = format.parse().unwrap();
                let text = written(&format, &line);
                prop_assert!(text.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{}", text);
                let syslog = Envelope::Syslog(Facility::default());
                for (envelope, lines) in [(Envelope::Bare, 1), (syslog, 1), (Envelope::Journald, 13)] {
                    let text = written(&format.wrapped(envelope).unwrap(), &line);
                    prop_assert_eq!(text.bytes().filter(|byte| *byte < 0x20).count(), lines);
                    prop_assert_eq!(text.matches("\n\n").count(), usize::from(envelope == Envelope::Journald));
                }
            }
            let json = written(&Format::json(), &line);
            let json: serde_json::Value = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(json.as_object().unwrap().len(), 15);
        }

        #[test]
        fn a_combined_line_parses_back(
            client: IpAddr,
            (method, target) in (bytes(1..30), bytes(1..2048)),
            (referer, agent) in (bytes(1..1000), bytes(1..500)),
            user in bytes(1..200),
        ) {
            let line = Line {
                client: Some(client),
                user: Some(&user),
                method: &method,
                target: &target,
                headers: &|name| Some(if name == "referer" { &referer } else { &agent }),
                ..get_x()
            };
            let (quoted, bare) = parsed(&written(&Format::combined(), &line));
            let request = [&method[..], b" ", &target[..], b" HTTP/1.1"].concat();
            prop_assert_eq!(quoted, [request, referer, agent]);
            let address = client.to_canonical().to_string();
            let words: Vec<&str> = bare[0].split(' ').collect();
            prop_assert_eq!(words.len(), 5);
            prop_assert_eq!(&words[..2], [&address[..], "-"]);
            prop_assert_eq!(unescaped(words[2]), user);
            prop_assert_eq!(&bare[1], "200 612");
        }
    }
}
