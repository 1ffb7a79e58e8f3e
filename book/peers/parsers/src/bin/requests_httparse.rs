//! Parses all requests of a file with httparse.

use std::hint::black_box;
use std::mem::MaybeUninit;

use httparse::Status::Complete;
use parser_peers::{FIELDS, heads};

fn main() {
    heads("request", |bytes| {
        // The fast way to call it: nothing is cleared beforehand.
        let mut headers = [const { MaybeUninit::uninit() }; FIELDS];
        let mut request = httparse::Request::new(&mut []);
        match request.parse_with_uninit_headers(bytes, &mut headers) {
            Ok(Complete(consumed)) => {
                black_box(&request);
                Some((consumed, request.headers.len()))
            }
            _ => None,
        }
    });
}
