//! Header field values, each by the grammar of its RFC.
//!
//! All of them are read by [`FieldValue::parse`] from a whole value, and written by [`FieldValue::write`]. They borrow
//! the value: what has been read has been checked, and is taken apart again, without a copy, by whoever asks. What is
//! wrong has a name and a place: [`ValueError`]. Every list and every set of parameters has a limit.
//!
//! | module | what is in it |
//! |---|---|
//! | `syntax` | [`FieldValue`]; [`Token`]; [`Text`], a token or a quoted string |
//! | `list`, `parameter` | [`List`], [`Tokens`]; [`Parameters`] |
//! | `media_type` | [`MediaType`]: `Content-Type` |
//! | `weight`, `accept`, `language` | [`Accept`], [`AcceptCharset`], [`AcceptEncoding`], [`AcceptLanguage`]; [`best`] of what is offered |
//! | `date` | [`HttpDate`] |
//! | `entity_tag` | [`EntityTag`], [`EntityTags`]: `If-Match`, `If-None-Match`; [`IfRange`] |
//! | `range` | [`ByteRanges`]: `Range`; [`ContentRange`] |
//! | `framing` | [`ContentLength`], [`TransferEncoding`]; [`Expect`], [`Upgrade`] |
//! | `cookie`, `set_cookie` | [`Cookies`], [`SetCookie`] |
//! | `cache_control` | [`CacheControl`] |
//! | `forwarded` | [`Forwarded`], [`XForwardedFor`] |
//! | `disposition` | [`ContentDisposition`] |
//! | `credentials` | [`Credentials`]: `Authorization`; [`Challenges`]: `WWW-Authenticate` |
//! | `error` | [`ValueError`], [`Fault`] |
//!
//! ```
//! use thrum_parse::http::value::{EntityTags, FieldValue, MediaType};
//!
//! let form = MediaType::parse(b"multipart/form-data; boundary=\"a b\"").unwrap();
//! assert_eq!(form.boundary().as_deref(), Some(&b"a b"[..]));
//!
//! let error = EntityTags::parse(b"\"a\" \"b\"").unwrap_err();
//! assert_eq!(error.to_string(), "no comma separates two elements, at byte 4");
//! ```

mod accept;
mod cache_control;
mod cookie;
mod cookie_date;
mod credentials;
mod date;
mod disposition;
mod entity_tag;
mod error;
mod forwarded;
mod framing;
mod language;
mod list;
mod media_type;
mod parameter;
mod range;
mod set_cookie;
mod syntax;
mod weight;

pub use accept::{Accept, AcceptCharset, AcceptEncoding, CharsetRange, CodingRange, MediaRange};
pub use cache_control::{CacheControl, Directive};
pub use cookie::{Cookie, Cookies};
pub use credentials::{Challenges, Credentials};
pub use date::HttpDate;
pub use disposition::ContentDisposition;
pub use entity_tag::{EntityTag, EntityTags, IfRange};
pub use error::{Fault, ValueError};
pub use forwarded::{
    Forwarded, ForwardedElement, Node, NodeName, NodePort, XForwardedFor, XForwardedNode,
};
pub use framing::{
    ContentLength, Expect, Expectation, Protocol, TransferCoding, TransferEncoding, Upgrade,
};
pub use language::{AcceptLanguage, LanguageRange};
pub use list::{Elements, List, Tokens};
pub use media_type::MediaType;
pub use parameter::{Parameter, Parameters};
pub use range::{ByteRange, ByteRanges, ContentRange};
pub use set_cookie::{SameSite, SetCookie};
pub use syntax::{FieldValue, Text, Token};
pub use weight::{Weight, Weighted, best};
