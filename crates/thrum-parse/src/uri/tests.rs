//! The RFC's examples, and what lies around its edges.

use super::UriError::*;
use super::*;
use crate::{In, Parsed, Stop};
use proptest::prelude::*;

#[test]
fn the_examples_of_the_rfc() {
    // RFC 3986, 1.1.2, and others of its forms
    for text in [
        "ftp://ftp.is.co.za/rfc/rfc1808.txt",
        "http://www.ietf.org/rfc/rfc2396.txt",
        "ldap://[2001:db8::7]/c=GB?objectClass?one",
        "mailto:John.Doe@example.com",
        "news:comp.infosystems.www.servers.unix",
        "tel:+1-816-555-1212",
        "telnet://192.0.2.16:80/",
        "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
        "foo://example.com:8042/over/there?name=ferret#nose",
        "a:",
        "a:b",
        "a:?",
        "a:#",
        "a://",
        "file:///etc/hosts",
        "http://u:p%40@h?q#f",
        "http://a.b/%7Ea//b/;c=1,2?a/b?c=@:#/?",
        "http://%e3%81%82/",
    ] {
        let uri = parse_uri(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(uri.to_string(), text);
        assert_eq!(parse_reference(text), Ok(uri));
    }
}

#[test]
fn parts() {
    let uri = parse_uri("Foo+1://us:er@EXAMPLE.com:8042/over/there?name=ferret#nose").unwrap();
    let expected = UriReference {
        scheme: Some("Foo+1"),
        authority: Some(Authority {
            userinfo: Some("us:er"),
            host: Host::Name("EXAMPLE.com"),
            port: Some(8042),
        }),
        path: "/over/there",
        query: Some("name=ferret"),
        fragment: Some("nose"),
    };
    assert_eq!(uri, expected);
}

#[test]
fn mistakes_have_names() {
    for (text, expected) in [
        ("", Truncated),
        ("/a", NoScheme),
        ("1a:b", NoScheme),
        (":a", NoScheme),
        ("http", Truncated),
        ("http://[::1", Truncated),
        ("http://[::g]/", BadHost),
        ("http://[1:2]/", BadHost),
        ("http://[fe80::1%25eth0]/", BadHost),
        ("http://[v1.a]/", BadHost),
        ("http://[127.0.0.1]/", BadHost),
        ("http://a:65536/", BadPort),
        ("http://a:99999999999999999999/", BadPort),
        ("http://a:8x/", BadByte),
        ("http://a:-1/", BadByte),
        ("http://a@b@c/", BadByte),
        ("http://a b/", BadByte),
        ("http://a/b c", BadByte),
        ("http://a/\u{e9}", BadByte),
        ("http://a/<b>", BadByte),
        ("http://a/?[b]", BadByte),
        ("http://a/#b#c", BadByte),
        ("http://a\\b/", BadByte),
        ("http://a/%", BadEscape),
        ("http://a/%4", BadEscape),
        ("http://a/%zz", BadEscape),
        ("http://%zz/", BadEscape),
        ("http://a/?%4g", BadEscape),
    ] {
        assert_eq!(parse_uri(text).map(|_| ()), Err(expected), "{text}");
    }
    for text in ["1a:b", ":a", "a%20b:c", "//[", "a\u{e9}"] {
        assert!(parse_reference(text).is_err(), "{text}");
    }
    let long = "a".repeat(URI_BYTES);
    assert!(parse_reference(&long).is_ok());
    assert_eq!(parse_reference(&(long + "a")), Err(TooLong));
}

#[test]
fn mistakes_are_explained() {
    let explanation = crate::explain(uri, b"http://a:70000/").unwrap();
    assert!(
        explanation.to_string().starts_with("1:14: "),
        "{explanation}"
    );
    assert_eq!(explanation.inside, ["a port"]);
}

#[test]
fn addresses_and_names() {
    let host =
        |text| parse_host(text).map(|authority| (authority.host.to_string(), authority.port));
    let ok = |host: &str, port| Ok((host.to_owned(), port));
    for (text, expected) in [
        ("", ok("", None)),
        ("a", ok("a", None)),
        ("a:", ok("a", None)),
        ("a:0", ok("a", Some(0))),
        ("a:0080", ok("a", Some(80))),
        ("A-b_c.example.:65535", ok("A-b_c.example.", Some(65535))),
        ("192.0.2.1:80", ok("192.0.2.1", Some(80))),
        ("[2001:DB8:0::1]:80", ok("[2001:db8::1]", Some(80))),
        ("[::ffff:192.0.2.1]", ok("[::ffff:192.0.2.1]", None)),
        ("[1:2:3:4:5:6:7::]", ok("[1:2:3:4:5:6:7:0]", None)),
        ("256.0.0.1", ok("256.0.0.1", None)),
        ("%41", ok("%41", None)),
        (":80", Err(BadHost)),
        ("[::1", Err(Truncated)),
        ("[::1]x", Err(BadByte)),
        ("[]", Err(BadHost)),
        ("[::1::]", Err(BadHost)),
        ("[1:2:3:4:5:6:7:8:9]", Err(BadHost)),
        ("a:65536", Err(BadPort)),
        ("a:80:80", Err(BadByte)),
        ("u@a", Err(BadByte)),
        ("a/b", Err(BadByte)),
        ("a,b c", Err(BadByte)),
        ("a b", Err(BadByte)),
        ("::1", Err(BadByte)),
        ("%4", Err(BadEscape)),
    ] {
        assert_eq!(host(text.as_bytes()), expected, "{text}");
    }
    assert!(matches!(
        parse_host(b"127.0.0.1").unwrap().host,
        Host::Ip(_)
    ));
    for name in ["127.1", "127.0.0.01", "0x7f.0.0.1", "127.0.0.1."] {
        assert_eq!(parse_host(name.as_bytes()).unwrap().host, Host::Name(name));
    }
}

#[test]
fn four_forms_of_targets() {
    let form = |method: &str, target| match request_target(method.as_bytes(), target)? {
        RequestTarget::Origin { path, query } => Ok(format!("origin {path} {query:?}")),
        RequestTarget::Absolute(uri) => Ok(format!("absolute {uri}")),
        RequestTarget::Authority(authority) => Ok(format!("authority {authority}")),
        RequestTarget::Asterisk => Ok("asterisk".to_owned()),
    };
    for (method, target, expected) in [
        ("GET", "/", Ok("origin / None")),
        ("GET", "//a/b", Ok("origin //a/b None")),
        ("GET", "/a?", Ok("origin /a Some(\"\")")),
        ("OPTIONS", "/a?b?c", Ok("origin /a Some(\"b?c\")")),
        ("GET", "http://a:80/b?c", Ok("absolute http://a:80/b?c")),
        ("GET", "urn:a", Ok("absolute urn:a")),
        ("OPTIONS", "http://a", Ok("absolute http://a")),
        ("OPTIONS", "*", Ok("asterisk")),
        ("CONNECT", "a:443", Ok("authority a:443")),
        ("CONNECT", "[::1]:443", Ok("authority [::1]:443")),
        ("CONNECT", "a", Err(BadPort)),
        ("CONNECT", ":443", Err(BadHost)),
        ("CONNECT", "/", Err(BadByte)),
        ("CONNECT", "u@a:443", Err(BadByte)),
        ("CONNECT", "a:443/", Err(BadByte)),
        ("GET", "*", Err(NoScheme)),
        ("GET", "", Err(Truncated)),
        ("GET", "a", Err(Truncated)),
        ("GET", "?a", Err(NoScheme)),
        ("GET", "/a#b", Err(BadByte)),
        ("GET", "http://a/#b", Err(BadByte)),
        ("GET", "/a\\b", Err(BadByte)),
        ("GET", "/%0", Err(BadEscape)),
        ("OPTIONS", "**", Err(NoScheme)),
    ] {
        let found = form(method, target.as_bytes());
        assert_eq!(found, expected.map(String::from), "{method} {target}");
    }
}

/// RFC 3986, 5.4.1 and 5.4.2
#[test]
fn references_are_resolved_as_the_rfc_has_it() {
    let base = parse_uri("http://a/b/c/d;p?q").unwrap();
    for (reference, expected) in [
        ("g:h", "g:h"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"),
        ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."),
        ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"),
        ("http:g", "http:g"),
    ] {
        let reference = parse_reference(reference).unwrap();
        assert_eq!(reference.resolve(&base), expected, "{reference}");
    }
    for (base, reference, expected) in [
        ("http://a", "g", "http://a/g"),
        ("http://a", "", "http://a"),
        ("http://a", "?q", "http://a?q"),
        ("mailto:x", "y", "mailto:y"),
        // No reference makes a host of what was a path.
        ("a:/b", "..//c", "a:/.//c"),
        ("http://u@a:1/b/./c", "", "http://u@a:1/b/./c"),
        ("http://a/b", "x:/../y", "x:/y"),
    ] {
        let base = parse_uri(base).unwrap();
        let resolved = parse_reference(reference).unwrap().resolve(&base);
        assert_eq!(resolved, expected, "{base} {reference}");
    }
}

#[test]
fn paths() {
    for (path, expected) in [
        ("", ""),
        ("/", "/"),
        ("/a//b/", "/a//b/"),
        ("/a/b/c/./../../g", "/a/g"),
        ("mid/content=5/../6", "mid/6"),
        ("/..", "/"),
        ("/../../../a", "/a"),
        ("/a/..", "/"),
        ("/a/../..", "/"),
        ("a/../..", "/"),
        ("../a", "a"),
        ("./../.", ""),
        ("..", ""),
        ("/a/.../b", "/a/.../b"),
        ("../\u{e9}/./a", "\u{e9}/a"),
        ("/%2e%2e/a", "/%2e%2e/a"),
    ] {
        assert_eq!(remove_dot_segments(path), expected, "{path}");
    }
    for (path, expected) in [
        ("/a/b", Ok("/a/b")),
        ("/%61/%2e%2E/%2fb", Ok("/%2Fb")),
        ("/.%2e/a", Ok("/a")),
        ("/%e3%81%82", Ok("/%E3%81%82")),
        ("/%2525", Ok("/%2525")),
        ("/%", Err(BadEscape)),
        ("/%4\u{e9}", Err(BadEscape)),
    ] {
        assert_eq!(
            normalize_path(path).as_deref(),
            expected.as_ref().map(|path| *path),
            "{path}"
        );
    }
}

#[test]
fn encodings() {
    for (text, expected) in [
        ("", Ok("")),
        ("a+b", Ok("a+b")),
        ("%41%4a%4A", Ok("AJJ")),
        ("a%20%e3%81%82z", Ok("a あz")),
        ("%2525", Ok("%25")),
        ("%ff", Err(NotUtf8)),
        ("%", Err(BadEscape)),
        ("a%4", Err(BadEscape)),
        ("%+1", Err(BadEscape)),
        ("%g0", Err(BadEscape)),
        ("%\u{e9}", Err(BadEscape)),
    ] {
        assert_eq!(
            decode_str(text).as_deref(),
            expected.as_ref().map(|text| *text),
            "{text}"
        );
    }
    assert!(matches!(
        decode(b"plain"),
        Ok(std::borrow::Cow::Borrowed(_))
    ));
}

#[test]
fn pairs_of_a_query() {
    let pairs = |query, limit| -> Result<Vec<_>, _> {
        let pair = |(name, value): (_, _)| format!("{name}={value}");
        query_pairs(query, limit)
            .map(|found| found.map(pair))
            .collect()
    };
    let ok = |pairs: &[&str]| Ok(pairs.iter().map(|pair| pair.to_string()).collect());
    for (query, expected) in [
        ("", ok(&[])),
        ("&&", ok(&[])),
        ("a", ok(&["a="])),
        ("=", ok(&["="])),
        ("a=1&b=2&&a=3", ok(&["a=1", "b=2", "a=3"])),
        ("a+b=c%2Bd=e", ok(&["a b=c+d=e"])),
        ("+%20=+", ok(&["  = "])),
        ("a[]=|", ok(&["a[]=|"])),
        ("a=%", Err(BadEscape)),
        ("a=+%ff", Err(NotUtf8)),
        ("a&b&c&d&e", Err(TooLong)),
    ] {
        assert_eq!(pairs(query, 4), expected, "{query}");
    }
    assert_eq!(query_pairs("a&b&c", 1).count(), 2, "too many is said once");
}

proptest! {
    #[test]
    fn what_is_displayed_parses_back(text in "[a-c:/?#@.%0-9\\[\\]]{0,24}") {
        if let Ok(uri) = parse_reference(&text) {
            let again = uri.to_string();
            let again = parse_reference(&again).unwrap();
            prop_assert_eq!(again.to_string(), uri.to_string());
            prop_assert_eq!(again.authority, uri.authority);
        }
    }

    #[test]
    fn what_is_resolved_is_a_uri(base in "[a-c]:[a-c:/?.]{0,12}", reference in "[a-c:/?#.]{0,16}") {
        if let (Ok(base), Ok(reference)) = (parse_uri(&base), parse_reference(&reference)) {
            let resolved = reference.resolve(&base);
            let uri = parse_uri(&resolved).unwrap();
            prop_assert!(reference.path.is_empty() || !uri.path.split('/').any(|s| s == "..") , "{}", resolved);
            let authority = if reference.scheme.is_some() { reference.authority } else { reference.authority.or(base.authority) };
            prop_assert_eq!(uri.authority, authority, "{}", resolved);
        }
    }

    #[test]
    fn what_is_encoded_decodes(text: String) {
        let encoded = encode(&text).to_string();
        prop_assert_eq!(decode_str(&encoded).unwrap(), text.as_str());
        let segment = ["/", &encoded].concat();
        prop_assert_eq!(request_target(b"GET", segment.as_bytes()), Ok(RequestTarget::Origin { path: &segment, query: None }));
    }

    #[test]
    fn normal_paths_stay_and_lead_nowhere(path in "/([./%2eEfF]|[a-c]){0,20}") {
        if let Ok(normal) = normalize_path(&path) {
            prop_assert!(normal.starts_with('/') && !normal.split('/').any(|s| s == "." || s == ".."));
            prop_assert_eq!(normalize_path(&normal).unwrap(), normal.clone());
        }
    }

    #[test]
    fn no_input_panics(bytes in prop::collection::vec(any::<u8>(), 0..40), text in "([./]|\\PC){0,20}") {
        let _ = (request_target(b"GET", &bytes), request_target(b"CONNECT", &bytes), parse_host(&bytes));
        let _ = (decode(&bytes), normalize_path(&text), query_pairs(&text, 3).count(), parse_reference(&text));
    }
}

proptest! {
    /// What a grammar answers to the beginning of an input, it stands by when the rest has come.
    #[test]
    fn an_answer_stands(text in "(a:)?(//)?(u@)?(\\[::1\\]|h|1.2.3.4)?(:[0-9]{0,2})?(/%41)?(\\?q)?(#f)? ?") {
        fn stands<T: PartialEq + fmt::Debug>(text: &str, grammar: fn(&mut In<'_>) -> Parsed<T>) {
            let whole = grammar(&mut In::whole(text.as_bytes()));
            for end in 0..=text.len() {
                match grammar(&mut In::partial(&text.as_bytes()[..end])) {
                    Err(Stop::Need(_)) => {}
                    answer => assert_eq!(answer, whole, "{text} at {end}"),
                }
            }
        }
        stands(&text, |i| uri(i).map(|uri| uri.to_string()));
        stands(&text, |i| uri_reference(i).map(|uri| uri.to_string()));
        stands(&text, |i| authority(i).map(|authority| authority.to_string()));
        stands(&text, |i| host_and_port(i).map(|authority| authority.to_string()));
    }
}

#[test]
fn a_plain_host_is_a_host() {
    for host in [
        "a",
        "a.b:80",
        "127.0.0.1:8080",
        "a_b",
        "-",
        "1.2.3.999",
        "a:1",
    ] {
        assert!(is_plain_host(host.as_bytes()), "{host}");
        assert!(parse_host(host.as_bytes()).is_ok(), "{host}");
    }
    for host in [
        "", ":80", "a:", "a:b", "a:12345", "a b", "[::1]", "a:1:2", "a/", "%41",
    ] {
        assert!(!is_plain_host(host.as_bytes()), "{host}");
    }
}

proptest::proptest! {
    #[test]
    fn what_is_plain_is_what_the_grammar_says(host in "[a-z0-9.:_-]{0,12}") {
        proptest::prop_assert!(!is_plain_host(host.as_bytes()) || parse_host(host.as_bytes()).is_ok());
    }
}
