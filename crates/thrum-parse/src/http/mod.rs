//! HTTP/1.1 messages: heads, chunk lines and trailers, strictly as RFC 9112 has them; and the heads of CGI programs.
//!
//! | module | what is in it |
//! |---|---|
//! | `grammar` | the grammar, in about 60 lines for each direction |
//! | `head` | [`HeadParser`], which runs it over a buffer that grows; [`explain_head`] |
//! | `request`, `response` | [`RequestHead`], [`ResponseHead`]: where the parts of a head are |
//! | `cgi` | [`CgiHead`], what a CGI program puts before its document (RFC 3875), with its grammar; [`CgiResponse`] |
//! | `fields` | [`Field`], where a header or trailer field is; [`TrailerParser`] |
//! | `chunk` | [`ChunkParser`], for the line before each chunk of a body |
//! | `error` | [`HeadError`] and [`ChunkError`]: what a peer did wrong |
//! | `terminals` | the sets of bytes that all of these are made of |
//! | [`value`] | header field values: lists, media types, ranges, dates, cookies ... |
//!
//! # Strictness
//! Two programs that read one message differently are how requests get smuggled past the first of them, so nothing is
//! guessed. Lines end in CR LF, never in a bare LF. There is no space before a colon and no folded line. A header value
//! holds tabs, spaces, visible ASCII and bytes from 0x80, a target visible ASCII only. One empty line before a request
//! line is skipped, as RFC 9112 section 2.2 asks, and no more; before a status line there is none. What is refused is
//! refused by name: see [`HeadError`].
//!
//! One thing is taken that the RFC does not have, because it is common and can be read in one way only: a status line may
//! end behind the status, `HTTP/1.1 200` CR LF, without the space that section 4 wants before a reason that is not there.
//! Lines of CGI programs may end in LF alone (RFC 3875, 7.2): nobody else divides what they write.
//!
//! ```
//! use thrum_parse::http::{HeadLimits, HeadParser, RequestHead, Status};
//!
//! let mut parser = HeadParser::new(HeadLimits::default());
//! let mut head = RequestHead::new();
//! let buffer = b"GET /index.html HTTP/1.1\r\nHost: example.com\r\n\r\n";
//! let status = parser.parse(buffer, false, &mut head).unwrap();
//! assert_eq!(status, Status::Complete { consumed: buffer.len() });
//! assert_eq!(head.target.of(buffer), b"/index.html");
//! assert_eq!(head.headers()[0].value.of(buffer), b"example.com");
//! ```

mod cgi;
mod chunk;
mod error;
mod fields;
mod grammar;
mod head;
mod request;
mod response;
mod terminals;
pub mod value;

pub use cgi::{CgiError, CgiHead, CgiResponse, CgiStatus};
pub use chunk::{ChunkLine, ChunkParser};
pub use error::{ChunkError, HeadError};
pub use fields::{Field, TrailerParser};
pub use grammar::METHOD_BYTES;
pub use head::{Head, HeadLimits, HeadParser, Status, Version, explain_head};
pub use request::RequestHead;
pub use response::ResponseHead;
