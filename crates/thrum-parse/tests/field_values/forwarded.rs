//! RFC 7239, and `X-Forwarded-For`.

use thrum_parse::http::value::Fault::*;
use thrum_parse::http::value::{
    FieldValue, Forwarded, NodeName, NodePort, ValueError, XForwardedFor,
};

#[test]
fn forwarded() {
    good!(
        Forwarded<'_>,
        [
            ("", ""),
            ("for=192.0.2.60", "for=192.0.2.60"),
            ("for=\"_gazonk\"", "for=_gazonk"),
            (
                "For=\"[2001:db8:cafe::17]:4711\"",
                "For=\"[2001:db8:cafe::17]:4711\""
            ),
            (
                "for=192.0.2.60;proto=http;by=203.0.113.43",
                "for=192.0.2.60;proto=http;by=203.0.113.43"
            ),
            ("for=192.0.2.60; proto=http", "for=192.0.2.60;proto=http"),
            (
                "for=192.0.2.43, for=198.51.100.17",
                "for=192.0.2.43, for=198.51.100.17"
            ),
            ("for=\"192.0.2.43:47011\"", "for=\"192.0.2.43:47011\""),
            ("for=unknown", "for=unknown"),
            ("for=\"unknown:_p\"", "for=\"unknown:_p\""),
            ("for=_hidden, for=_SEVKISEK", "for=_hidden, for=_SEVKISEK"),
            ("host=\"example.com:80\"", "host=\"example.com:80\""),
            ("for=_a;;proto=https;", "for=_a;proto=https"),
            (";for=_a", "for=_a"),
            ("secret=x;for=_a", "secret=x;for=_a"),
            (";", ";"),
        ]
    );
    bad!(
        Forwarded<'_>,
        [
            ("for", Truncated, 3),
            ("for=", Truncated, 4),
            ("for=2001:db8::1", BadNode, 0),
            ("for=[2001:db8::1]", BadToken, 4),
            ("for=\"2001:db8::1\"", BadNode, 0),
            ("for=\"[2001:db8::1\"", BadNode, 0),
            ("for=\"[192.0.2.1]\"", BadNode, 0),
            ("for=192.0.2.43:80", Unseparated, 14),
            ("for=\"192.0.2.43:\"", BadNode, 0),
            ("for=\"192.0.2.43:65536\"", BadNode, 0),
            ("for=\"192.0.2.43:123456\"", BadNode, 0),
            ("for=\"192.0.2.43:-1\"", BadNode, 0),
            ("for=192.0.2.256", BadNode, 0),
            ("for=192.0.2", BadNode, 0),
            ("for=example.com", BadNode, 0),
            ("for=_", BadNode, 0),
            ("for=\"_a b\"", BadNode, 0),
            ("for=\"\"", BadNode, 0),
            ("for=\"\\_a\"", BadNode, 0),
            ("for=_a, by=x", BadNode, 8),
            ("for=_a;for=_b", DuplicateParameter, 6),
            ("for=_a;For=_b", DuplicateParameter, 6),
            ("for =_a", BadParameter, 3),
        ]
    );
}

#[test]
fn what_a_proxy_said() {
    let value = b"For=\"[2001:db8::1]:4711\";Host=\"a:80\";PROTO=https, by=\"_me:_here\"";
    let value = Forwarded::parse(value).unwrap();
    let hops: Vec<_> = value.iter().collect();
    let node = hops[0].for_node.unwrap();
    assert_eq!(node.name, NodeName::Ip("2001:db8::1".parse().unwrap()));
    assert_eq!(node.port, Some(NodePort::Number(4711)));
    assert!(hops[0].host().unwrap().is("a:80") && hops[0].proto().unwrap().is("HTTPS"));
    assert_eq!(hops[0].by_node, None);
    let node = hops[1].by_node.unwrap();
    assert_eq!(node.name, NodeName::Obfuscated("_me"));
    assert_eq!(node.port, Some(NodePort::Obfuscated("_here")));
}

#[test]
fn x_forwarded_for() {
    good!(
        XForwardedFor<'_>,
        [
            ("", ""),
            ("192.0.2.1", "192.0.2.1"),
            ("192.0.2.1:80", "192.0.2.1:80"),
            ("2001:db8::1", "2001:db8::1"),
            ("2001:DB8:0::1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:db8::1]:80", "[2001:db8::1]:80"),
            ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
            ("unknown", "unknown"),
            ("_a", "_a"),
            ("192.0.2.1,10.0.0.1 , ::1", "192.0.2.1, 10.0.0.1, ::1"),
            (", 192.0.2.1", "192.0.2.1"),
            ("_a:_b", "_a:_b"),
            ("unknown:5", "unknown:5"),
            ("::", "::"),
        ]
    );
    bad!(
        XForwardedFor<'_>,
        [
            ("localhost", BadNode, 0),
            ("192.0.2", BadNode, 0),
            ("192.0.2.1:", BadNode, 0),
            ("192.0.2.1:65536", BadNode, 0),
            ("192.0.2.01", BadNode, 0),
            ("2001:db8::1::", BadNode, 0),
            ("[2001:db8::1]80", BadNode, 0),
            ("[::1", BadNode, 0),
            ("::1%eth0", Unseparated, 3),
            ("192.0.2.1 10.0.0.1", Unseparated, 10),
            ("\"192.0.2.1\"", BadNode, 0),
            ("10.0.0.1, x", BadNode, 10),
            ("for=10.0.0.1", BadNode, 0),
            ("-", BadNode, 0),
            ("10.0.0.1;x", Unseparated, 8),
        ]
    );
}
