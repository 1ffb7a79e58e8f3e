//! The parser of what CGI programs answer. The first byte of the input says how it is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thrum_parse::http::{CgiHead, CgiResponse};

mod heads;

fuzz_target!(|input: &[u8]| {
    let Some((bytes, head)) = heads::parse_cut::<CgiHead>(input) else {
        return;
    };
    assert!(bytes.ends_with(b"\n"));
    assert!(
        head.status
            .is_none_or(|status| (100..=999).contains(&status.code))
    );
    heads::check_fields(bytes, head.headers(), 0);
    let place = match head.response(bytes) {
        Ok(CgiResponse::LocalRedirect { target }) => {
            assert!(target.of(bytes).starts_with(b"/"));
            target
        }
        Ok(CgiResponse::ClientRedirect { uri }) => uri,
        Ok(CgiResponse::ClientRedirectDocument { uri, .. }) => uri,
        Ok(CgiResponse::Document { .. }) | Err(_) => return,
    };
    assert!(!place.is_empty() && place.of(bytes).iter().all(u8::is_ascii_graphic));
});
