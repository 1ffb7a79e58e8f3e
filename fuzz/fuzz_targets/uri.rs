//! URIs: no input makes the parsers panic; what they take is written back as a URI with the same authority, wherever a
//! reference leads; paths lead nowhere.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thrum_parse::uri::{
    decode, encode, normalize_path, parse_host, parse_reference, parse_uri, query_pairs,
    request_target,
};

fuzz_target!(|input: &[u8]| {
    for method in [&b"GET"[..], b"OPTIONS", b"CONNECT"] {
        let _ = request_target(method, input);
    }
    let _ = decode(input);
    if let Ok(authority) = parse_host(input) {
        let written = authority.to_string();
        assert_eq!(parse_host(written.as_bytes()), Ok(authority));
    }
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    assert_eq!(
        &*decode(encode(text).to_string().as_bytes()).expect("it was encoded"),
        input
    );
    assert!(query_pairs(text, 8).count() <= 9);
    if let Ok(path) = normalize_path(text) {
        assert!(!path.split('/').any(|segment| segment == ".."));
        assert_eq!(normalize_path(&path).as_deref(), Ok(&*path));
    }
    // A reference, and behind a space the base it is relative to.
    let (reference, base) = text.split_once(' ').unwrap_or((text, "http://a/b/c"));
    if let (Ok(reference), Ok(base)) = (parse_reference(reference), parse_uri(base)) {
        let resolved = reference.resolve(&base);
        let uri = parse_uri(&resolved).expect("it was resolved");
        let expected = match reference.scheme {
            Some(_) => reference.authority,
            None => reference.authority.or(base.authority),
        };
        assert_eq!(uri.authority, expected, "{resolved}");
    }
});
