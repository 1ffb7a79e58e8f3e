//! Connection and Upgrade: who goes on (RFC 9112, 9.3), and what is not switched to.

use crate::case::{Case, case, get, next, post};

#[rustfmt::skip]
pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("close", "RFC 9112, 9.6", get("Connection: close"), &["GET /"]).closes(),
        case("CLOSE", "RFC 9110, 7.6.1: case-insensitive", get("Connection: CLOSE"), &["GET /"]).closes(),
        case("close in a list", "RFC 9110, 7.6.1", get("Connection: x, CLOSE ,y"), &["GET /"]).closes(),
        case("close in a list with nothing in it", "RFC 9110, 5.6.1.2", get("Connection: ,, close"), &["GET /"]).closes(),
        case("close in a second field", "RFC 9110, 5.3", get("Connection: x\r\nConnection: close"), &["GET /"]).closes(),
        case("close and keep-alive", "RFC 9112, 9.3: close first", get("Connection: keep-alive, close"), &["GET /"]).closes(),
        case("close behind a body", "RFC 9112, 9.6", post("Connection: close\r\nContent-Length: 5", "hello"), &["POST / \"hello\""]).closes(),
        case("close, and a body that is a request", "RFC 9112, 9.6", post("Connection: close", next("/never")), &["POST /"]).closes(),
        case("closed is another word", "RFC 9110, 7.6.1", get("Connection: closed"), &["GET /"]),
        case("close in quotes", "RFC 9110, 7.6.1: a token", get("Connection: \"close\""), &["GET /"]),
        case("close in a value of something", "RFC 9110, 7.6.1", get("Connection: x=close"), &["GET /"]),
        case("keep-alive", "RFC 9112, 9.3", get("Connection: keep-alive"), &["GET /"]),
        case("an empty Connection", "RFC 9110, 7.6.1", get("Connection:"), &["GET /"]),
        case("Keep-Alive alone", "RFC 9112, C.2.2", "GET / HTTP/1.0\r\nKeep-Alive: timeout=5\r\n\r\n", &["GET /"]).closes(),
        case("keep-alive in HTTP/1.0", "RFC 9112, 9.3", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", &["GET /"]),
        case("keep-alive in HTTP/1.0 in any case", "RFC 9112, 9.3", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", &["GET /"]),
        case("keep-alive and close in HTTP/1.0", "RFC 9112, 9.3", "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", &["GET /"]).closes(),
        case("Proxy-Connection is not looked at", "RFC 9112, C.2.2", "GET / HTTP/1.0\r\nProxy-Connection: keep-alive\r\n\r\n", &["GET /"]).closes(),
        case("Proxy-Connection close is not looked at", "RFC 9112, C.2.2", get("Proxy-Connection: close"), &["GET /"]),
        case("Host named as an option", "RFC 9110, 7.6.1: that is for who forwards", get("Connection: Host"), &["GET /"]),

        // Upgrades that nobody here takes: the request is answered, and what follows is HTTP.
        case("an upgrade to HTTP/2", "RFC 9113, 3.1: gone", get("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"), &["GET /"]),
        case("an upgrade to WebSocket", "RFC 9110, 7.8: a server may ignore it; CVE-2026-2833 (Pingora went over before the 101)", get("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="), &["GET /"]),
        case("an upgrade to nonsense", "RFC 9110, 7.8", get("Connection: Upgrade\r\nUpgrade: x/1, y"), &["GET /"]),
        case("an upgrade with a body", "RFC 9110, 7.8: the body is HTTP still", post("Connection: Upgrade\r\nUpgrade: x\r\nContent-Length: 5", "hello"), &["POST / \"hello\""]),
        case("Upgrade without the option", "RFC 9110, 7.8", get("Upgrade: websocket"), &["GET /"]),
        case("an upgrade and a request behind it", "CVE-2026-2833 (Pingora)", format!("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n{}", next("/own")), &["GET /", "GET /own"]),
    ]
}
