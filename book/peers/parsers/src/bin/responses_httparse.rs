//! Parses all response heads of a file with httparse.

use std::hint::black_box;
use std::mem::MaybeUninit;

use httparse::ParserConfig;
use httparse::Status::Complete;
use parser_peers::{FIELDS, heads};

fn main() {
    let config = ParserConfig::default();
    heads("response", |bytes| {
        // The fast way to call it: nothing is cleared beforehand.
        let mut headers = [const { MaybeUninit::uninit() }; FIELDS];
        let mut response = httparse::Response::new(&mut []);
        match config.parse_response_with_uninit_headers(&mut response, bytes, &mut headers) {
            Ok(Complete(consumed)) => {
                black_box(&response);
                Some((consumed, response.headers.len()))
            }
            _ => None,
        }
    });
}
