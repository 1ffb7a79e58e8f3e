//! Huge and many: heads beyond the limits of `server`, and just within them.

use crate::case::{Case, case, get, line};

#[rustfmt::skip]
pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("a target of a byte too many", "RFC 9112, 3: 414", line(format!("GET /{} HTTP/1.1", "a".repeat(512))), &["414 Head(TargetTooLong)"]),
        case("a target that is never over", "RFC 9112, 3: 414", format!("GET /{}", "a".repeat(70_000)), &["414 Head(TargetTooLong)"]),
        case("a query that is too long", "RFC 9112, 3: 414", line(format!("GET /?{} HTTP/1.1", "a=b&".repeat(130))), &["414 Head(TargetTooLong)"]),
        case("an absolute target that is too long", "RFC 9112, 3: 414", line(format!("GET http://a/{} HTTP/1.1", "a".repeat(600))), &["414 Head(TargetTooLong)"]),
        case("ten fields", "RFC 9110, 5.4", get("A: b\r\n".repeat(8) + "X: 1"), &["GET / [1]"]),
        case("eleven fields", "RFC 6585, 5", get("A: b\r\n".repeat(9) + "X: 1"), &["431 Head(TooManyFields)"]),
        case("fields that are never over", "RFC 6585, 5", format!("GET / HTTP/1.1\r\nHost: a\r\n{}", "A: b\r\n".repeat(10_000)), &["431 Head(TooManyFields)"]),
        case("many empty fields", "RFC 6585, 5", get("A:\r\n".repeat(100) + "X: 1"), &["431 Head(TooManyFields)"]),
        case("a long value", "RFC 9110, 5.4", get(format!("A: {}", "a".repeat(1500))), &["GET /"]),
        case("a head of just what is allowed", "RFC 9110, 5.4", get(format!("A: {}", "a".repeat(2048 - 32))), &["GET /"]),
        case("a head of a byte too many", "RFC 6585, 5", get(format!("A: {}", "a".repeat(2048 - 31))), &["431 Head(HeadTooLarge)"]),
        case("a value that is too long", "RFC 6585, 5", get(format!("A: {}", "a".repeat(3000))), &["431 Head(HeadTooLarge)"]),
        case("a value that is never over", "RFC 6585, 5", format!("GET / HTTP/1.1\r\nHost: a\r\nA: {}", "a".repeat(70_000)), &["431 Head(HeadTooLarge)"]),
        case("a name that is too long", "RFC 6585, 5", get(format!("{}: b", "A".repeat(3000))), &["431 Head(HeadTooLarge)"]),
        case("a name that is never over", "RFC 6585, 5", format!("GET / HTTP/1.1\r\nHost: a\r\n{}", "A".repeat(70_000)), &["431 Head(HeadTooLarge)"]),
        case("long values that are too much together", "RFC 6585, 5", get(format!("A: {}\r\n", "a".repeat(500)).repeat(5) + "X: 1"), &["431 Head(HeadTooLarge)"]),
        case("spaces before a value that are never over", "RFC 6585, 5", format!("GET / HTTP/1.1\r\nHost: a\r\nA:{}", " ".repeat(5000)), &["431 Head(HeadTooLarge)"]),
        case("a Host that is too long", "RFC 6585, 5", format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", "a".repeat(3000)), &["431 Head(HeadTooLarge)"]),
        case("empty lines that are never over", "RFC 9112, 2.2: one", "\r\n".repeat(2000), &["400 Head(BadMethod)"]),
        case("spaces that are never over", "RFC 9112, 3", " ".repeat(5000), &["400 Head(BadMethod)"]),
        case("NULs that are never over", "RFC 9112, 3", "\0".repeat(5000), &["400 Head(BadMethod)"]),
        case("bytes of every value", "RFC 9112, 3", (0..=255u8).collect::<Vec<_>>(), &["400 Head(BadMethod)"]),
        case("a version that is never over", "RFC 9112, 2.3", format!("GET / HTTP/1.{}", "1".repeat(5000)), &["400 Head(BadVersion)"]),
    ]
}
