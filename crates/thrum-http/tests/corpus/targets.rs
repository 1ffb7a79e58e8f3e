//! Targets: the four forms of RFC 9112, 3.2, and what a target is made of.
//!
//! The engine hands on what was sent and decodes nothing: what `%2e` and `%00` mean is for who maps a path to something.

use crate::case::{Case, case, line};

#[rustfmt::skip]
pub(crate) fn cases() -> Vec<Case> {
    vec![
        // origin-form: section 3.2.1.
        case("a path", "RFC 9112, 3.2.1", line("GET /a/b.c HTTP/1.1"), &["GET /a/b.c"]),
        case("a path and a query", "RFC 9112, 3.2.1", line("GET /a?b=c&d=%20e HTTP/1.1"), &["GET /a?b=c&d=%20e"]),
        case("an empty query", "RFC 9112, 3.2.1", line("GET /a? HTTP/1.1"), &["GET /a?"]),
        case("a query with slashes and question marks", "RFC 3986, 3.4", line("GET /a?b/c?d HTTP/1.1"), &["GET /a?b/c?d"]),
        case("a path that starts with two slashes", "RFC 9112, 3.2.1: no authority", line("GET //b/c HTTP/1.1"), &["GET //b/c"]),
        case("a path that looks like a URI", "RFC 9112, 3.2.1", line("GET /http://b/c HTTP/1.1"), &["GET /http://b/c"]),
        case("a path with an at sign", "RFC 3986, 3.3", line("GET /@b:80/c HTTP/1.1"), &["GET /@b:80/c"]),
        case("dots are left", "RFC 3986, 5.2.4 is for who maps it; CVE-2021-41773 (Apache)", line("GET /a/../../etc HTTP/1.1"), &["GET /a/../../etc"]),
        case("escaped dots are left", "CVE-2021-41773 (Apache)", line("GET /.%2e/%2e%2e/etc HTTP/1.1"), &["GET /.%2e/%2e%2e/etc"]),
        case("escaped dots, escaped again, are left", "CVE-2021-42013 (Apache decoded twice)", line("GET /%252e%252e/etc HTTP/1.1"), &["GET /%252e%252e/etc"]),
        case("an escaped slash is left", "CVE-2026-6414 (fastify)", line("GET /a%2fb HTTP/1.1"), &["GET /a%2fb"]),
        case("an escaped NUL is left", "RFC 3986, 2.1; CVE-2013-4547 (nginx)", line("GET /a%00b HTTP/1.1"), &["GET /a%00b"]),
        case("escaped line ends are left", "RFC 3986, 2.1", line("GET /a%0d%0aHost:%20b HTTP/1.1"), &["GET /a%0d%0aHost:%20b"]),
        case("an escape beyond UTF-8 is left", "RFC 3986, 2.1", line("GET /%c0%ae%ff HTTP/1.1"), &["GET /%c0%ae%ff"]),
        case("sub-delims and the rest", "RFC 3986, 2.2", line("GET /-._~!$&'()*+,;=:@ HTTP/1.1"), &["GET /-._~!$&'()*+,;=:@"]),
        case("a semicolon is left", "RFC 3986, 3.3", line("GET /a;b=c/d HTTP/1.1"), &["GET /a;b=c/d"]),
        case("a target of just what is allowed", "RFC 9112, 3", line(format!("GET /{} HTTP/1.1", "a".repeat(511))), &[concat!("GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")]),

        // What a target may not hold.
        case("a fragment", "RFC 9112, 3.2: never sent; CVE-2023-45539 (HAProxy)", line("GET /#a HTTP/1.1"), &["400 BadTarget"]),
        case("a fragment behind a suffix", "CVE-2023-45539 (HAProxy matched the end of it)", line("GET /index.html#.png HTTP/1.1"), &["400 BadTarget"]),
        case("a fragment in a query", "RFC 9112, 3.2", line("GET /?a#b HTTP/1.1"), &["400 BadTarget"]),
        case("a space within", "RFC 9112, 3.2: not even with good will", line("GET /a b HTTP/1.1"), &["400 Head(BadVersion)"]),
        case("a request smuggled in a target", "CVE-2023-25690 (Apache), CVE-2025-67735 (Netty)", line("GET /a HTTP/1.1 Host: b GET /c HTTP/1.1"), &["400 Head(BadVersion)"]),
        case("a control byte", "RFC 9112, 3.2", line("GET /\x01 HTTP/1.1"), &["400 Head(BadTarget)"]),
        case("DEL", "RFC 9112, 3.2", line("GET /\x7f HTTP/1.1"), &["400 Head(BadTarget)"]),
        case("NUL", "CVE-2013-4547 (nginx)", line("GET /a\0.php HTTP/1.1"), &["400 Head(BadTarget)"]),
        case("space and NUL", "CVE-2013-4547 (nginx)", line("GET /a \0.php HTTP/1.1"), &["400 Head(BadVersion)"]),
        case("a byte beyond ASCII", "RFC 9112, 3.2", line(b"GET /\xe9 HTTP/1.1"), &["400 Head(BadTarget)"]),
        case("UTF-8", "RFC 9112, 3.2: escaped, or not at all", line("GET /\u{e9} HTTP/1.1"), &["400 Head(BadTarget)"]),
        case("a backslash first", "RFC 9112, 3.2; RUSTSEC-2021-0135 (tower-http)", line("GET \\a HTTP/1.1"), &["400 BadTarget"]),
        case("a less-than sign", "RFC 3986, 2", line("GET /<script> HTTP/1.1"), &["400 BadTarget"]),
        case("a target in angle brackets", "RFC 9112, 3.2", line("GET </> HTTP/1.1"), &["400 BadTarget"]),
        // Escapes that are none: browsers send them (WHATWG URL), so they are handed on too, and refused by who decodes them.
        case("an escape that is none", "RFC 3986, 2.1: two digits", line("GET /%zz HTTP/1.1"), &["GET /%zz"]),
        case("an escape of one digit", "RFC 3986, 2.1", line("GET /%4 HTTP/1.1"), &["GET /%4"]),
        case("a percent sign last", "RFC 3986, 2.1", line("GET /100% HTTP/1.1"), &["GET /100%"]),
        case("an escape of Microsoft's", "RFC 3986, 2.1", line("GET /%u002e HTTP/1.1"), &["GET /%u002e"]),
        case("an escape that is none, in a query", "RFC 3986, 2.1", line("GET /?a=%zz HTTP/1.1"), &["GET /?a=%zz"]),

        // What is no form of a target.
        case("no target", "RFC 9112, 3", "GET HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BadVersion)"]),
        case("a query alone", "RFC 9112, 3.2.1: the path is not empty", line("GET ?a HTTP/1.1"), &["400 BadTarget"]),
        case("a relative path", "RFC 9112, 3.2.1", line("GET a HTTP/1.1"), &["400 BadTarget"]),
        case("a relative path with dots", "RFC 9112, 3.2.1", line("GET ../a HTTP/1.1"), &["400 BadTarget"]),
        case("an exclamation mark", "HTTP Garden: aiohttp", line("GET ! HTTP/1.1"), &["400 BadTarget"]),
        case("an at sign first", "Kettle, Cracking the Lens: a proxy made user@host of it; RFC 9112, 3.2", line("GET @b/c HTTP/1.1"), &["400 BadTarget"]),
        case("a colon first", "RFC 9112, 3.2", line("GET :80/ HTTP/1.1"), &["400 BadTarget"]),
        case("a host and a path", "RFC 9112, 3.2", line("GET a/b HTTP/1.1"), &["400 BadTarget"]),

        // authority-form: section 3.2.3, for CONNECT only, which this is no proxy for.
        case("an authority with GET", "RFC 9112, 3.2.3", "GET a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", &["400 BadTarget"]),
        case("CONNECT", "RFC 9110, 9.3.6", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", &["501 Connect"]),
        case("CONNECT with a path", "RFC 9112, 3.2.3", line("CONNECT / HTTP/1.1"), &["501 Connect"]),
        case("CONNECT with a body", "RFC 9110, 9.3.6", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nContent-Length: 5\r\n\r\nhello", &["501 Connect"]),

        // asterisk-form: section 3.2.4, for OPTIONS only.
        case("OPTIONS *", "RFC 9112, 3.2.4", line("OPTIONS * HTTP/1.1"), &["OPTIONS *"]),
        case("OPTIONS of a path", "RFC 9110, 9.3.7", line("OPTIONS / HTTP/1.1"), &["OPTIONS /"]),
        case("OPTIONS **", "RFC 9112, 3.2.4", line("OPTIONS ** HTTP/1.1"), &["400 BadTarget"]),
        case("OPTIONS *?a", "RFC 9112, 3.2.4", line("OPTIONS *?a HTTP/1.1"), &["400 BadTarget"]),
        case("GET *", "RFC 9112, 3.2.4", line("GET * HTTP/1.1"), &["400 BadTarget"]),
        case("a star in a path", "RFC 3986, 3.3", line("GET /* HTTP/1.1"), &["GET /*"]),

        // absolute-form: section 3.2.2; a server must take it, and must see that Host agrees or is overruled.
        case("an absolute target", "RFC 9112, 3.2.2", line("GET http://a/b?c HTTP/1.1"), &["GET http://a/b?c"]),
        case("an absolute target without a path", "RFC 9110, 4.2.3", line("GET http://a HTTP/1.1"), &["GET http://a/"]),
        case("an absolute target with a query and no path", "RFC 9110, 4.2.3", line("GET http://a?b HTTP/1.1"), &["GET http://a/?b"]),
        case("an absolute target of https", "RFC 9110, 4.2.2", line("GET https://a/b HTTP/1.1"), &["GET https://a/b"]),
        case("a scheme in capitals", "RFC 3986, 3.1", line("GET HTTP://a/b HTTP/1.1"), &["GET http://a/b"]),
        case("a host in another case", "RFC 3986, 3.2.2", "GET http://a/b HTTP/1.1\r\nHost: A\r\n\r\n", &["GET http://a/b"]),
        case("an absolute target with a port", "RFC 9112, 3.2.2", "GET http://a:80/ HTTP/1.1\r\nHost: a:80\r\n\r\n", &["GET http://a:80/"]),
        case("an absolute target with an IPv6 address", "RFC 3986, 3.2.2", "GET http://[::1]:8080/ HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", &["GET http://[::1]:8080/"]),
        case("OPTIONS of an absolute target without a path", "RFC 9112, 3.2.4: a proxy makes * of it", line("OPTIONS http://a HTTP/1.1"), &["OPTIONS http://a/"]),
        case("Host of another name", "RFC 9112, 3.2.2; Kettle, Cracking the Lens", "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", &["400 BadHost"]),
        case("Host of another port", "RFC 9112, 3.2.2", "GET http://a:80/ HTTP/1.1\r\nHost: a:81\r\n\r\n", &["400 BadHost"]),
        case("Host without the port", "RFC 9112, 3.2.2: identical to the authority", "GET http://a:8080/ HTTP/1.1\r\nHost: a\r\n\r\n", &["400 BadHost"]),
        case("Host with the end of the name", "RFC 9112, 3.2.2", "GET http://b.a/ HTTP/1.1\r\nHost: a\r\n\r\n", &["400 BadHost"]),
        case("an empty Host and an absolute target", "RFC 9112, 3.2.2", "GET http://a/ HTTP/1.1\r\nHost:\r\n\r\n", &["400 BadHost"]),
        case("an absolute target without Host", "RFC 9112, 3.2", "GET http://a/ HTTP/1.1\r\n\r\n", &["400 MissingHost"]),
        case("an absolute target in HTTP/1.0 without Host", "RFC 9112, 3.2.2", "GET http://a/b HTTP/1.0\r\n\r\n", &["GET http://a/b"]).closes(),
        case("a user in an absolute target", "RFC 9110, 4.2.4", line("GET http://u@a/ HTTP/1.1"), &["400 BadTarget"]),
        case("a user and a password in an absolute target", "RFC 9110, 4.2.4", line("GET http://u:p@a/ HTTP/1.1"), &["400 BadTarget"]),
        case("an absolute target with an empty host", "RFC 9110, 4.2.1", line("GET http:///b HTTP/1.1"), &["400 BadTarget"]),
        case("an absolute target with a port and no host", "RFC 9110, 4.2.1", line("GET http://:80/b HTTP/1.1"), &["400 BadTarget"]),
        case("http and no slashes", "RFC 9110, 4.2.1", line("GET http:b HTTP/1.1"), &["400 BadTarget"]),
        case("http and one slash", "RFC 9110, 4.2.1", line("GET http:/b HTTP/1.1"), &["400 BadTarget"]),
        case("no scheme and slashes", "RFC 9112, 3.2.2", line("GET ://a/b HTTP/1.1"), &["400 BadTarget"]),
        case("a backslash for a slash", "RFC 3986, 3.2", line("GET http:\\\\a\\b HTTP/1.1"), &["400 BadTarget"]),
        case("a backslash in an authority", "RFC 3986, 3.2", line("GET http://a\\b/ HTTP/1.1"), &["400 BadTarget"]),
        case("another scheme", "RFC 9110, 4.2", line("GET ftp://a/ HTTP/1.1"), &["400 BadTarget"]),
        case("a file", "RFC 9110, 4.2", line("GET file:///etc HTTP/1.1"), &["400 BadTarget"]),
        case("a scheme of javascript", "RFC 9110, 4.2", line("GET javascript:alert(1) HTTP/1.1"), &["400 BadTarget"]),
        case("a fragment in an absolute target", "RFC 9112, 3.2.2", line("GET http://a/#b HTTP/1.1"), &["400 BadTarget"]),
        case("a port and no host in HTTP/1.0 without Host", "RFC 9110, 4.2.1: an empty host is refused", "GET http://:80/b HTTP/1.0\r\n\r\n", &["400 BadTarget"]),
        case("a port that is too large in HTTP/1.0 without Host", "RFC 3986, 3.2.3", "GET http://a:99999/ HTTP/1.0\r\n\r\n", &["400 BadTarget"]),
        case("an escape that is none in an authority", "RFC 3986, 3.2.2", "GET http://a%zz/ HTTP/1.1\r\nHost: a%zz\r\n\r\n", &["400 BadTarget"]),
        case("a port that is too large in an absolute target", "RFC 3986, 3.2.3", "GET http://a:99999/ HTTP/1.1\r\nHost: a:99999\r\n\r\n", &["400 BadTarget"]),
    ]
}
