//! Which hosts the admin page may be called by.

use std::net::{Ipv4Addr, Ipv6Addr};

use http::Request;
use thrum_http::Body;

use crate::site::host_of;

/// Whether a request names the server by an address or as `localhost`: such names are nobody's to lead elsewhere.
pub(super) fn is_allowed(request: &Request<Body>) -> bool {
    let host = host_of(request);
    if let Some(address) = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
    {
        return address.parse::<Ipv6Addr>().is_ok();
    }
    let is_local = host
        .to_ascii_lowercase()
        .rsplit('.')
        .next()
        .is_some_and(|last| last == "localhost");
    is_local || host.parse::<Ipv4Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_local_names() {
        for (host, allowed) in [
            ("localhost", true),
            ("LOCALHOST:9900", true),
            ("thrum.localhost", true),
            ("localhost.", true),
            ("127.0.0.1:9900", true),
            ("[::1]:9900", true),
            ("192.0.2.7", true),
            ("example.com", false),
            ("localhost.example.com", false),
            ("127.0.0.1.example.com", false),
            ("notlocalhost", false),
            ("[::1].example.com", false),
        ] {
            let request = Request::get("/").header("host", host);
            let request = request.body(Body::empty()).unwrap();
            assert_eq!(is_allowed(&request), allowed, "{host}");
        }
        assert!(!is_allowed(&Request::new(Body::empty())), "no host at all");
    }
}
